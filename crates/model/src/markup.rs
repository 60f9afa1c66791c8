//! Text in HTML and XML.

use std::borrow::Cow;

/// Escapes `&`, `<`, `>`, `"` and `'`, so that a text may stand between tags and in quoted attributes of HTML
/// and XML. All other characters are left as they are, also those that XML does not allow.
#[must_use]
pub fn escape_markup(text: &str) -> Cow<'_, str> {
    let entity = |byte: u8| match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'"' => Some("&quot;"),
        // HTML 4 has no `&apos;`.
        b'\'' => Some("&#39;"),
        _ => None,
    };
    let mut escaped = String::new();
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(entity) = entity(byte) {
            escaped.push_str(&text[copied..at]);
            escaped.push_str(entity);
            copied = at + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(escape_markup(text), expect);
    }

    #[test]
    fn each_special_character_becomes_an_entity() {
        check("&<>\"'", "&amp;&lt;&gt;&quot;&#39;");
        check(
            "<b title=\"x\">it's & that</b>",
            "&lt;b title=&quot;x&quot;&gt;it&#39;s &amp; that&lt;/b&gt;",
        );
        check("Zoë < 日本 >", "Zoë &lt; 日本 &gt;");
    }

    #[test]
    fn an_escaped_text_is_escaped_again() {
        check("&amp;", "&amp;amp;");
    }

    #[test]
    fn a_text_without_special_characters_is_not_copied() {
        for text in ["", "plain text, Zoë"] {
            assert!(matches!(escape_markup(text), Cow::Borrowed(it) if it == text));
        }
    }
}
