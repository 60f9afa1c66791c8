//! Removal of control characters, so that fetched text cannot control the terminal.

/// True for control characters and marks that change the direction of text.
fn is_unsafe(it: char) -> bool {
    // Direction marks can hide the meaning of the text that follows.
    it.is_control()
        || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces the control characters of a text, except line breaks and tabs.
pub(crate) fn sanitize_text(text: &str) -> String {
    text.chars().map(|it| if it != '\n' && it != '\t' { sanitize_char(it) } else { it }).collect()
}

/// Replaces the control characters of a line, including line breaks.
pub(crate) fn sanitize_line(text: &str) -> String {
    text.chars().map(sanitize_char).collect()
}

/// Escapes the control characters of JSON. Except for the line breaks between tokens, they can only
/// occur in strings.
pub(crate) fn escape_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if it != '\n' && is_unsafe(it) {
            out.push_str(&format!("\\u{:04x}", u32::from(it)));
        } else {
            out.push(it);
        }
    }
    out
}

fn sanitize_char(it: char) -> char {
    if is_unsafe(it) { '\u{fffd}' } else { it }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_or_escaped() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}b\r\nc\td";
        assert_eq!(sanitize_text(text), "a\u{fffd}[2J\u{fffd}2J\u{fffd}\u{fffd}b\u{fffd}\nc\td");
        assert_eq!(sanitize_line("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
        let written = escape_json(&serde_json::to_string(text).unwrap());
        assert!(!written.contains(is_unsafe), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
