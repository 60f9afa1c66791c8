//! From bytes to text: which encoding, and how it is known.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Where pages declare their encoding (HTML §13.2.3.2).
const PRESCAN: usize = 1024;
/// What a guess is made from.
const GUESSED_FROM: usize = 256 * 1024;

/// An encoding of text, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    encoding: &'static Encoding,
    /// How it is known.
    pub known: CharsetSource,
}

/// How an encoding is known, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// By a byte-order mark.
    Mark,
    /// By the header `Content-Type`.
    Header,
    /// By the page itself: a `meta` element or the XML declaration.
    Page,
    /// By a guess from the bytes.
    Guess,
}

/// A text, and whether all bytes had a meaning in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text; what had no meaning is U+FFFD.
    pub text: Cow<'a, str>,
    /// Whether there was such.
    pub lossy: bool,
}

impl Charset {
    /// Finds the encoding of a body: by its mark, by what the header says, by what the page says, by
    /// a guess that the host's last label may help. A label that nobody knows says nothing.
    #[must_use]
    pub fn find(body: &[u8], header: Option<&str>, host: Option<&str>) -> Self {
        if let Some((encoding, _)) = Encoding::for_bom(body) {
            return Self { encoding, known: CharsetSource::Mark };
        }
        if let Some(encoding) = header.and_then(|label| Encoding::for_label(label.as_bytes())) {
            return Self { encoding, known: CharsetSource::Header };
        }
        if let Some(encoding) = declared(&body[..body.len().min(PRESCAN)]) {
            return Self { encoding, known: CharsetSource::Page };
        }
        Self { encoding: guess(body, host), known: CharsetSource::Guess }
    }

    /// Its name in the Encoding standard.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.encoding.name()
    }

    /// The text of a body without its mark.
    #[must_use]
    pub fn decode(self, body: &[u8]) -> Text<'_> {
        let (text, _, lossy) = self.encoding.decode(body);
        Text { text, lossy }
    }
}

impl CharsetSource {
    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Header => "header",
            Self::Page => "page",
            Self::Guess => "guess",
        }
    }
}

fn guess(body: &[u8], host: Option<&str>) -> &'static Encoding {
    if std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let label = host.and_then(|host| host.trim_end_matches('.').rsplit('.').next());
    // The detector takes nothing but a label in lower case, which a parsed host has.
    let label = label.filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase()));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&body[..body.len().min(GUESSED_FROM)], true);
    detector.guess(label.map(str::as_bytes), Utf8Detection::Allow)
}

/// What a page says of itself. What can be read as ASCII cannot be UTF-16.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    // XML 1.0, appendix F.1: a declaration of two bytes each character.
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    let label = of_xml(head).or_else(|| of_meta(head))?;
    match Encoding::for_label(label)? {
        it if it == UTF_16BE || it == UTF_16LE => Some(UTF_8),
        it if it.name() == "x-user-defined" => Some(WINDOWS_1252),
        it => Some(it),
    }
}

/// `<?xml version="1.0" encoding="…"?>`
fn of_xml(head: &[u8]) -> Option<&[u8]> {
    let rest = head.strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memmem::find(rest, b"?>")?];
    let value = declaration[memchr::memmem::find(declaration, b"encoding")?..].get(8..)?;
    value_of(value.trim_ascii_start().strip_prefix(b"=")?)
}

/// `<meta charset=…>` or `<meta http-equiv=Content-Type content="…; charset=…">`
fn of_meta(head: &[u8]) -> Option<&[u8]> {
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
            if let Some(label) = after_charset(tag) {
                return Some(label);
            }
        }
    }
    None
}

/// The value after the first `charset=`.
fn after_charset(tag: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"charset";
    let mut at = 0;
    while let Some(found) = tag.get(at..at + KEY.len()) {
        at += 1;
        if found.eq_ignore_ascii_case(KEY) {
            let rest = tag[at - 1 + KEY.len()..].trim_ascii_start();
            if let Some(value) = rest.strip_prefix(b"=") {
                return value_of(value);
            }
        }
    }
    None
}

/// A value, quoted or up to what cannot be in it.
fn value_of(text: &[u8]) -> Option<&[u8]> {
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
        let charset = Charset::find(body, header, Some("example.com"));
        assert_eq!((charset.name(), charset.known), (name, known), "{}", body.escape_ascii());
    }

    #[test]
    fn the_surest_source_wins() {
        let meta = b"<html><meta charset=koi8-r>";
        check(b"\xef\xbb\xbfx", Some("iso-8859-1"), "UTF-8", CharsetSource::Mark);
        check(b"\xff\xfex\0", None, "UTF-16LE", CharsetSource::Mark);
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
    fn pages_declare_it_in_many_ways() {
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
        let mut late = vec![b' '; PRESCAN];
        late.extend(b"<meta charset=koi8-r>");
        check(&late, None, "UTF-8", CharsetSource::Guess);
    }

    #[test]
    fn text_says_what_was_lost() {
        let charset = Charset::find(b"a\xffb", Some("utf-8"), None);
        let text = charset.decode(b"a\xffb");
        assert_eq!((text.text.as_ref(), text.lossy), ("a\u{fffd}b", true));
        let charset = Charset::find(b"\xf6", Some("latin1"), None);
        assert_eq!(charset.decode(b"\xf6").text, "ö");
        assert!(!charset.decode(b"\xf6").lossy);
    }
}
