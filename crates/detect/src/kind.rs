//! What kind of document bytes are.

use std::fmt;
use std::str::FromStr;

use crate::DetectError;

/// A kind of document, each read in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Web pages: the main text counts.
    Html = 1,
    /// JSON: values and their places count.
    Json = 2,
    /// XML and feeds: texts, attributes, entries.
    Xml = 3,
    /// Text: lines count.
    Text = 4,
    /// PDF: bytes, but for the dates and numbers that a new copy of the same text has.
    Pdf = 5,
    /// Anything else: each byte counts.
    Bytes = 6,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Html, Self::Json, Self::Xml, Self::Text, Self::Pdf, Self::Bytes];

    /// As it is written in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Text => "text",
            Self::Pdf => "pdf",
            Self::Bytes => "bytes",
        }
    }

    /// By the content type that a server names, else by the bytes. A type that says little, such
    /// as `text/plain`, gives way to what the bytes plainly are.
    #[must_use]
    pub fn of(content_type: Option<&str>, bytes: &[u8]) -> Self {
        let named = content_type.and_then(Self::of_type);
        match named {
            Some(Self::Text | Self::Bytes) | None => Self::sniff(bytes).or(named),
            Some(_) => named,
        }
        .unwrap_or_else(|| if looks_like_text(bytes) { Self::Text } else { Self::Bytes })
    }

    fn of_type(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Some(match kind.as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/json" | "text/json" | "application/x-ndjson" | "application/jsonl" => {
                Self::Json
            }
            "application/pdf" => Self::Pdf,
            "text/xml" | "application/xml" => Self::Xml,
            _ if kind.ends_with("+json") => Self::Json,
            _ if kind.ends_with("+xml") => Self::Xml,
            _ if kind.starts_with("text/") => Self::Text,
            "application/javascript" | "application/yaml" | "application/toml" => Self::Text,
            "application/octet-stream" | "" => return None,
            _ => Self::Bytes,
        })
    }

    /// What the first bytes plainly are.
    fn sniff(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = bytes.trim_ascii_start();
        let head = start[..start.len().min(1024)].to_ascii_lowercase();
        let has = |text: &str| head.windows(text.len()).any(|it| it == text.as_bytes());
        match head.first()? {
            b'<' if head.starts_with(b"<!doctype html") || has("<html") => Some(Self::Html),
            b'<' if head.starts_with(b"<?xml") || has("<rss") || has("<feed") || has("<urlset") => {
                Some(Self::Xml)
            }
            b'<' if [
                "<head", "<body", "<title", "<div", "<p>", "<table", "<h1", "<!--", "<script",
            ]
            .iter()
            .any(|it| has(it)) =>
            {
                Some(Self::Html)
            }
            b'{' | b'[' => looks_like_json(start).then_some(Self::Json),
            _ => None,
        }
    }
}

/// Whether it begins and ends as JSON does.
fn looks_like_json(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    let second = bytes[1..].trim_ascii_start().first().copied().unwrap_or(b' ');
    let fits = match bytes[0] {
        b'{' => matches!(second, b'"' | b'}'),
        _ => {
            second.is_ascii_digit()
                || matches!(second, b'"' | b'{' | b'[' | b']' | b't' | b'f' | b'n' | b'-')
        }
    };
    fits && matches!(bytes.last(), Some(b'}' | b']'))
}

/// Whether there are no bytes that texts do not have.
fn looks_like_text(bytes: &[u8]) -> bool {
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let head = &bytes[..bytes.len().min(4096)];
    utf16 || !head.iter().any(|it| matches!(it, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = DetectError;

    fn from_str(text: &str) -> Result<Self, DetectError> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| DetectError::UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: Option<&str>, bytes: &[u8], expect: Kind) {
        assert_eq!(Kind::of(content_type, bytes), expect, "{content_type:?}");
    }

    #[test]
    fn by_content_type() {
        check(Some("text/html; charset=utf-8"), b"{}", Kind::Html);
        check(Some("application/ld+json"), b"", Kind::Json);
        check(Some("application/rss+xml"), b"", Kind::Xml);
        check(Some("text/csv"), b"a,b", Kind::Text);
        check(Some("image/png"), b"\x89PNG", Kind::Bytes);
    }

    #[test]
    fn by_the_bytes() {
        check(None, b" \n<!DOCTYPE html><p>", Kind::Html);
        check(None, b"<?xml version='1.0'?><a/>", Kind::Xml);
        check(Some("text/plain"), b"{\"a\": 1}", Kind::Json);
        check(None, b"{not json}", Kind::Text);
        check(None, b"[section]\na = 1", Kind::Text);
        check(None, b"%PDF-1.7 ...", Kind::Pdf);
        check(None, b"\0\x01\x02", Kind::Bytes);
        check(Some("application/octet-stream"), b"plain words", Kind::Text);
        check(None, b"", Kind::Text);
    }
}
