//! From bytes to text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How many bytes are searched for what a page says of its own encoding.
const PRESCAN: usize = 1024;

/// Text by its byte order mark, else the encoding that is named, else what the page says, else UTF-8,
/// else windows-1252. Bytes that mean nothing become `U+FFFD`.
pub(crate) fn decode<'a>(bytes: &'a [u8], named: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding.decode_with_bom_removal(bytes).0;
    }
    if let Some(encoding) = named.and_then(|it| Encoding::for_label(it.as_bytes())) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => said(bytes).unwrap_or_else(|| guess(bytes)).decode_without_bom_handling(bytes).0,
    }
}

/// Whether an encoding has this name, or is also called so.
#[must_use]
pub fn is_charset(name: &str) -> bool {
    Encoding::for_label(name.as_bytes()).is_some()
}

/// The name of an encoding in a content type.
pub(crate) fn in_content_type(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|it| {
        let (name, value) = it.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// What `<meta charset>` or an XML declaration says.
fn said(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(PRESCAN)].to_ascii_lowercase();
    for mark in [&b"charset="[..], b"encoding="] {
        for at in memchr::memmem::find_iter(&head, mark) {
            let rest = &head[at + mark.len()..];
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            let end =
                rest.iter().position(|it| !it.is_ascii_alphanumeric() && !b"-_:".contains(it));
            if let Some(found) = Encoding::for_label(&rest[..end.unwrap_or(rest.len())]) {
                // What can be searched for this is no UTF-16.
                let ascii = found.is_ascii_compatible();
                return Some(if ascii { found } else { UTF_8 });
            }
        }
    }
    None
}

/// UTF-8 with a few faults is still UTF-8.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let text = String::from_utf8_lossy(bytes);
    let wrong = text.matches('\u{fffd}').count();
    let right = text.chars().filter(|it| !it.is_ascii() && *it != '\u{fffd}').count();
    if right > wrong { UTF_8 } else { WINDOWS_1252 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], named: Option<&str>, expect: &str) {
        assert_eq!(decode(bytes, named), expect);
    }

    #[test]
    fn encodings() {
        check("größe".as_bytes(), None, "größe");
        check(b"gr\xf6\xdfe", None, "größe");
        check(b"gr\xf6\xdfe", Some("iso-8859-1"), "größe");
        check(b"\xff\xfea\0b\0", Some("utf-8"), "ab");
        check(b"\xef\xbb\xbfa", None, "a");
        check(b"<meta charset='shift_jis'>\x82\xa0", None, "<meta charset='shift_jis'>あ");
        check(b"\x81\xff", Some("no such"), "\u{81}ÿ");
        check("ä ö ü € \u{0}".as_bytes(), None, "ä ö ü € \u{0}");
    }

    #[test]
    fn in_the_content_type() {
        assert_eq!(in_content_type("text/html; charset=\"Latin1\""), Some("Latin1"));
        assert_eq!(in_content_type("text/html"), None);
    }
}
