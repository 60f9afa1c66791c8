//! Text metrics without a font: estimated widths and line breaks.

use freshet_model::escape_markup;

/// Font sizes in pixels, as in the style sheet.
pub(crate) const TITLE: f64 = 17.0;
pub(crate) const SUBTITLE: f64 = 13.0;
pub(crate) const PANEL_TITLE: f64 = 13.0;
pub(crate) const LABEL: f64 = 12.0;
pub(crate) const CAPTION: f64 = 11.0;

/// Width factor of semi-bold text.
pub(crate) const BOLD: f64 = 1.18;

/// Estimates a width in pixels, rather too large than too small, because the reader's font is unknown. The classes follow Helvetica and Segoe UI, widened
/// towards DejaVu Sans.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        'i' | 'j' | 'l' | '\'' | '|' | '!' => 0.29,
        ' ' | '\u{a0}' | '.' | ',' | ':' | ';' => 0.32,
        'f' | 'r' | 't' | 'I' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' | '"' => 0.4,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 0.95,
        '−' | '×' | '+' | '=' | '<' | '>' | '~' | '–' => 0.75,
        '0'..='9' => 0.62,
        'a'..='z' => 0.6,
        'A'..='Z' => 0.71,
        '\u{1100}'.. => 1.1,
        _ => 0.68,
    }
}

/// Returns the text if it fits, otherwise its beginning and an ellipsis.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size);
    let mut used = 0.0;
    let mut kept: String = text
        .chars()
        .take_while(|&c| {
            used += em(c) * size;
            used <= room
        })
        .collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Wraps text to at most `most` lines; long words and the rest of the text end in an ellipsis.
pub(crate) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line)
                if full || width(line, size) + width(" ", size) + width(word, size) <= room =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, size, room)).collect()
}

/// Escapes text for XML content and attribute values. Characters that XML forbids become U+FFFD; line breaks and tabs
/// become spaces. Explicit directional formatting characters are removed: one label could reverse the text after it.
pub(crate) fn escape_label(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => clean.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            '\u{fffe}' | '\u{ffff}' => clean.push('\u{fffd}'),
            c if c.is_control() => clean.push('\u{fffd}'),
            c => clean.push(c),
        }
    }
    escape_markup(&clean).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(escape_label(text), expect);
    }

    #[test]
    fn hostile_text_is_only_text() {
        check("</text><script>x()</script>", "&lt;/text&gt;&lt;script&gt;x()&lt;/script&gt;");
        check(r#"" onload="x()"#, "&quot; onload=&quot;x()");
        check("a&amp;b ]]> '", "a&amp;amp;b ]]&gt; &#39;");
        check(
            "nul\0 bell\u{7} del\u{7f} c1\u{85} last\u{ffff}",
            "nul\u{fffd} bell\u{fffd} del\u{fffd} c1\u{fffd} last\u{fffd}",
        );
        check("a\nb\tc", "a b c");
        check("abc\u{202e}def", "abcdef");
        check("日本語 ελληνικά 🙂", "日本語 ελληνικά 🙂");
    }

    #[test]
    fn text_is_shortened_to_its_room() {
        assert_eq!(fit("short", 12.0, 100.0), "short");
        let cut = fit(&"long ".repeat(100), 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
        assert_eq!(fit("", 12.0, 0.0), "");
        assert_eq!(fit("anything", 12.0, -5.0), "…");
    }

    #[test]
    fn wrapping_keeps_words_and_stops_at_the_last_line() {
        let lines = wrap("one two three four five six seven", 12.0, 80.0, 9);
        assert_eq!(lines.join(" "), "one two three four five six seven");
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 12.0) <= 80.0));
        let lines = wrap(&"word ".repeat(50), 12.0, 80.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(wrap("  \n ", 12.0, 80.0, 2).is_empty());
        assert_eq!(wrap(&"x".repeat(500), 12.0, 80.0, 2).len(), 1);
    }
}
