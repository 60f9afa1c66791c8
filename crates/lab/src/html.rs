//! HTML writer; the caller balances tags.

use freshet_model::escape_markup;

/// `<tag attributes>text</tag>`, the text escaped.
pub(crate) fn element(tag: &str, attributes: &str, text: &str) -> String {
    wrap(tag, attributes, &escape_markup(text))
}

/// Returns an element around text that is already HTML.
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
