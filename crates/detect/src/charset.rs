//! Decodes text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Number of bytes that are searched for a declaration of the encoding.
const PRESCAN_LEN: usize = 1024;

/// Decodes text by its byte order mark, or else by the given encoding, by the encoding that the
/// document declares, as UTF-8, or as windows-1252. Invalid bytes become `U+FFFD`.
pub(crate) fn decode<'a>(bytes: &'a [u8], charset: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding.decode_with_bom_removal(bytes).0;
    }
    if let Some(encoding) = charset.and_then(|it| Encoding::for_label(it.as_bytes())) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            declared_encoding(bytes)
                .unwrap_or_else(|| guess_encoding(bytes))
                .decode_without_bom_handling(bytes)
                .0
        }
    }
}

/// True if an encoding has this name or label.
#[must_use]
pub fn is_charset(name: &str) -> bool {
    Encoding::for_label(name.as_bytes()).is_some()
}

/// Returns the `charset` parameter of a content type.
pub(crate) fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|it| {
        let (name, value) = it.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Returns the encoding that `<meta charset>` or an XML declaration names.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(PRESCAN_LEN)].to_ascii_lowercase();
    for mark in [&b"charset="[..], b"encoding="] {
        for at in memchr::memmem::find_iter(&head, mark) {
            let rest = &head[at + mark.len()..];
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            let end =
                rest.iter().position(|it| !it.is_ascii_alphanumeric() && !b"-_:".contains(it));
            if let Some(encoding) = Encoding::for_label(&rest[..end.unwrap_or(rest.len())]) {
                // A text in UTF-16 would not contain the declaration in ASCII.
                let is_ascii_compatible = encoding.is_ascii_compatible();
                return Some(if is_ascii_compatible { encoding } else { UTF_8 });
            }
        }
    }
    None
}

/// Guesses the encoding of text that is not valid UTF-8. With more valid characters than errors, it
/// is UTF-8.
fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let text = String::from_utf8_lossy(bytes);
    let errors = text.matches('\u{fffd}').count();
    let valid = text.chars().filter(|it| !it.is_ascii() && *it != '\u{fffd}').count();
    if valid > errors { UTF_8 } else { WINDOWS_1252 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], charset: Option<&str>, expect: &str) {
        assert_eq!(decode(bytes, charset), expect);
    }

    #[test]
    fn text_is_decoded_by_its_encoding() {
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
    fn the_charset_parameter_is_found() {
        assert_eq!(charset_parameter("text/html; charset=\"Latin1\""), Some("Latin1"));
        assert_eq!(charset_parameter("text/html"), None);
    }
}
