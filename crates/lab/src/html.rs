//! HTML as text: tags balanced by the caller, text escaped here.

/// Text that says itself in HTML, between tags and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `<tag attributes>text</tag>`, the text escaped.
pub(crate) fn element(tag: &str, attributes: &str, text: &str) -> String {
    wrap(tag, attributes, &escape(text))
}

/// The same around what is HTML already.
pub(crate) fn wrap(tag: &str, attributes: &str, inner: &str) -> String {
    let blank = if attributes.is_empty() { "" } else { " " };
    format!("<{tag}{blank}{attributes}>{inner}</{tag}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text() {
        assert_eq!(element("p", "", "a < b & \"c\""), "<p>a &lt; b &amp; &quot;c&quot;</p>");
        assert_eq!(element("a", "href=\"#x\"", "x"), "<a href=\"#x\">x</a>");
    }
}
