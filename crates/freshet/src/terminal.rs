//! What strangers write must not steer a terminal.

/// Whether a character moves, colours, turns round or otherwise does something to a text.
fn is_steering(it: char) -> bool {
    // Marks that reverse the direction of what follows hide what it says.
    it.is_control()
        || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of several lines.
pub(crate) fn lines(text: &str) -> String {
    text.chars().map(|it| if it != '\n' && it != '\t' { plain(it) } else { it }).collect()
}

/// A text that is to be one line.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(plain).collect()
}

/// JSON, which has a spelling for everything. All such characters in it are within strings, but for
/// the line breaks and blanks between them.
pub(crate) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if it != '\n' && is_steering(it) {
            out.push_str(&format!("\\u{:04x}", u32::from(it)));
        } else {
            out.push(it);
        }
    }
    out
}

fn plain(it: char) -> char {
    if is_steering(it) { '\u{fffd}' } else { it }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}b\r\nc\td";
        assert_eq!(lines(text), "a\u{fffd}[2J\u{fffd}2J\u{fffd}\u{fffd}b\u{fffd}\nc\td");
        assert_eq!(line("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
        let written = json(&serde_json::to_string(text).unwrap());
        assert!(!written.contains(is_steering), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
