//! Detects the character encoding of a body and decodes it.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Length of the prefix in which pages declare their encoding (HTML §13.2.3.2).
const PRESCAN_LEN: usize = 1024;
/// Maximum number of bytes examined for a guess.
const MAX_DETECTION_LEN: usize = 256 * 1024;

/// Character encoding and how it was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    encoding: &'static Encoding,
    /// How the encoding was detected.
    pub source: CharsetSource,
}

/// How an encoding was detected, most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// Byte-order mark.
    ByteOrderMark,
    /// `Content-Type` header.
    Header,
    /// The page itself: a `meta` element or the XML declaration.
    Page,
    /// Guess from the bytes.
    Guess,
}

/// Decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// Text, with U+FFFD in place of invalid bytes.
    pub text: Cow<'a, str>,
    /// True if the body had invalid bytes.
    pub lossy: bool,
}

impl Charset {
    /// Detects the encoding of a body: by its byte-order mark, the header, the declaration in the
    /// page, or a guess that takes the top-level domain of the host into account. Unknown labels
    /// are ignored.
    #[must_use]
    pub fn detect(body: &[u8], header: Option<&str>, host: Option<&str>) -> Self {
        if let Some((encoding, _)) = Encoding::for_bom(body) {
            return Self { encoding, source: CharsetSource::ByteOrderMark };
        }
        if let Some(encoding) = header.and_then(|label| Encoding::for_label(label.as_bytes())) {
            return Self { encoding, source: CharsetSource::Header };
        }
        if let Some(encoding) = declared_encoding(&body[..body.len().min(PRESCAN_LEN)]) {
            return Self { encoding, source: CharsetSource::Page };
        }
        Self { encoding: detect_encoding(body, host), source: CharsetSource::Guess }
    }

    /// Returns the name in the Encoding standard.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.encoding.name()
    }

    /// Decodes a body, without its byte-order mark.
    #[must_use]
    pub fn decode(self, body: &[u8]) -> DecodedText<'_> {
        let (text, _, lossy) = self.encoding.decode(body);
        DecodedText { text, lossy }
    }
}

impl CharsetSource {
    /// Returns the stable name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "mark",
            Self::Header => "header",
            Self::Page => "page",
            Self::Guess => "guess",
        }
    }
}

fn detect_encoding(body: &[u8], host: Option<&str>) -> &'static Encoding {
    if std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let label = host.and_then(|host| host.trim_end_matches('.').rsplit('.').next());
    // The detector accepts only lower-case labels, which a parsed host has.
    let label = label.filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase()));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&body[..body.len().min(MAX_DETECTION_LEN)], true);
    detector.guess(label.map(str::as_bytes), Utf8Detection::Allow)
}

/// Returns the encoding that a page declares. A declaration that is readable as ASCII cannot be
/// UTF-16.
fn declared_encoding(head: &[u8]) -> Option<&'static Encoding> {
    // XML 1.0, appendix F.1: a declaration with two bytes per character.
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    let label = xml_encoding(head).or_else(|| meta_charset(head))?;
    match Encoding::for_label(label)? {
        it if it == UTF_16BE || it == UTF_16LE => Some(UTF_8),
        it if it.name() == "x-user-defined" => Some(WINDOWS_1252),
        it => Some(it),
    }
}

/// Returns the value of `<?xml version="1.0" encoding="…"?>`.
fn xml_encoding(head: &[u8]) -> Option<&[u8]> {
    let rest = head.strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memmem::find(rest, b"?>")?];
    let value = declaration[memchr::memmem::find(declaration, b"encoding")?..].get(8..)?;
    attribute_value(value.trim_ascii_start().strip_prefix(b"=")?)
}

/// Returns the value of `<meta charset=…>` or `<meta http-equiv=Content-Type content="…;
/// charset=…">`.
fn meta_charset(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            rest = &rest[memchr::memmem::find(rest, b"-->")?..];
            continue;
        }
        let name = rest.get(1..5).unwrap_or_default();
        let next = rest.get(5).copied().unwrap_or_default();
        rest = &rest[1..];
        if name.eq_ignore_ascii_case(b"meta") && (next.is_ascii_whitespace() || next == b'/') {
            let tag = &rest[..memchr::memchr(b'>', rest).unwrap_or(rest.len())];
            if let Some(label) = charset_value(tag) {
                return Some(label);
            }
        }
    }
    None
}

/// Returns the value after the first `charset=`.
fn charset_value(tag: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"charset";
    let mut at = 0;
    while let Some(found) = tag.get(at..at + KEY.len()) {
        at += 1;
        if found.eq_ignore_ascii_case(KEY) {
            let rest = tag[at - 1 + KEY.len()..].trim_ascii_start();
            if let Some(value) = rest.strip_prefix(b"=") {
                return attribute_value(value);
            }
        }
    }
    None
}

/// Returns an attribute value, quoted or up to the first delimiter.
fn attribute_value(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start();
    let (text, end): (&[u8], &[u8]) = match text.first()? {
        b'"' => (&text[1..], b"\""),
        b'\'' => (&text[1..], b"'"),
        _ => (text, b"\"' \t\r\n\x0c;/>"),
    };
    let length = text.iter().position(|byte| end.contains(byte)).unwrap_or(text.len());
    Some(text[..length].trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &[u8], header: Option<&str>, name: &str, known: CharsetSource) {
        let charset = Charset::detect(body, header, Some("example.com"));
        assert_eq!((charset.name(), charset.source), (name, known), "{}", body.escape_ascii());
    }

    #[test]
    fn the_most_reliable_source_wins() {
        let meta = b"<html><meta charset=koi8-r>";
        check(b"\xef\xbb\xbfx", Some("iso-8859-1"), "UTF-8", CharsetSource::ByteOrderMark);
        check(b"\xff\xfex\0", None, "UTF-16LE", CharsetSource::ByteOrderMark);
        check(meta, Some("iso-8859-1"), "windows-1252", CharsetSource::Header);
        check(meta, Some("no-such-thing"), "KOI8-R", CharsetSource::Page);
        check(meta, None, "KOI8-R", CharsetSource::Page);
        check("schön".as_bytes(), None, "UTF-8", CharsetSource::Guess);
        check(
            b"sch\xf6n und gr\xfcn, \xfcber alle Ma\xdfen",
            None,
            "windows-1252",
            CharsetSource::Guess,
        );
        check(b"", None, "UTF-8", CharsetSource::Guess);
    }

    #[test]
    fn declarations_in_pages_have_many_forms() {
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "<?xml version='1.0'?><p>grün</p>".encode_utf16().flat_map(bytes).collect()
        };
        check(&wide(u16::to_le_bytes), None, "UTF-16LE", CharsetSource::Page);
        check(&wide(u16::to_be_bytes), None, "UTF-16BE", CharsetSource::Page);
        check(b"<META CHARSET = 'Shift_JIS' >", None, "Shift_JIS", CharsetSource::Page);
        check(
            b"<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">",
            None,
            "GBK",
            CharsetSource::Page,
        );
        check(
            b"<?xml version='1.0' encoding='iso-8859-2'?><a/>",
            None,
            "ISO-8859-2",
            CharsetSource::Page,
        );
        check(b"<meta charset=utf-16>", None, "UTF-8", CharsetSource::Page);
        check(
            b"<!-- <meta charset=koi8-r> --><meta charset=big5>",
            None,
            "Big5",
            CharsetSource::Page,
        );
        check(b"<metadata charset=koi8-r>", None, "UTF-8", CharsetSource::Guess);
        check(b"<meta charset", None, "UTF-8", CharsetSource::Guess);
        check(b"<meta charset=", None, "UTF-8", CharsetSource::Guess);
        check(b"<?xml encoding", None, "UTF-8", CharsetSource::Guess);
        let mut late = vec![b' '; PRESCAN_LEN];
        late.extend(b"<meta charset=koi8-r>");
        check(&late, None, "UTF-8", CharsetSource::Guess);
    }

    #[test]
    fn decoded_text_reports_invalid_bytes() {
        let charset = Charset::detect(b"a\xffb", Some("utf-8"), None);
        let text = charset.decode(b"a\xffb");
        assert_eq!((text.text.as_ref(), text.lossy), ("a\u{fffd}b", true));
        let charset = Charset::detect(b"\xf6", Some("latin1"), None);
        assert_eq!(charset.decode(b"\xf6").text, "ö");
        assert!(!charset.decode(b"\xf6").lossy);
    }
}
