//! Kinds of documents, and their detection.

use std::fmt;
use std::str::FromStr;

use crate::DetectError;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DocumentKind {
    /// Web page. Its main text is compared.
    Html = 1,
    /// JSON. Its values and their paths are compared.
    Json = 2,
    /// XML or feed. Its texts, attributes or entries are compared.
    Xml = 3,
    /// Plain text. Its lines are compared.
    Text = 4,
    /// PDF. Its bytes are compared, without the dates and identifiers that differ between copies.
    Pdf = 5,
    /// Anything else. All bytes are compared.
    Bytes = 6,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Html, Self::Json, Self::Xml, Self::Text, Self::Pdf, Self::Bytes];

    /// Returns the name of the kind in settings.
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

    /// Detects the kind by the content type, or by the bytes. A generic type such as `text/plain`
    /// gives way to the kind that the bytes show.
    #[must_use]
    pub fn detect(content_type: Option<&str>, bytes: &[u8]) -> Self {
        let named = content_type.and_then(Self::from_content_type);
        match named {
            Some(Self::Text | Self::Bytes) | None => Self::sniff(bytes).or(named),
            Some(_) => named,
        }
        .unwrap_or_else(|| if looks_like_text(bytes) { Self::Text } else { Self::Bytes })
    }

    fn from_content_type(content_type: &str) -> Option<Self> {
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

    /// Detects the kind by the first bytes.
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

/// True if the bytes begin and end like JSON.
fn looks_like_json(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    let second = bytes[1..].trim_ascii_start().first().copied().unwrap_or(b' ');
    let begins_like_json = match bytes[0] {
        b'{' => matches!(second, b'"' | b'}'),
        _ => {
            second.is_ascii_digit()
                || matches!(second, b'"' | b'{' | b'[' | b']' | b't' | b'f' | b'n' | b'-')
        }
    };
    begins_like_json && matches!(bytes.last(), Some(b'}' | b']'))
}

/// True if the first bytes have no control characters that texts do not contain.
fn looks_like_text(bytes: &[u8]) -> bool {
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let head = &bytes[..bytes.len().min(4096)];
    utf16 || !head.iter().any(|it| matches!(it, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f))
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DocumentKind {
    type Err = DetectError;

    fn from_str(text: &str) -> Result<Self, DetectError> {
        let kind = Self::ALL.into_iter().find(|it| it.name() == text);
        kind.ok_or_else(|| DetectError::UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: Option<&str>, bytes: &[u8], expect: DocumentKind) {
        assert_eq!(DocumentKind::detect(content_type, bytes), expect, "{content_type:?}");
    }

    #[test]
    fn the_content_type_decides() {
        check(Some("text/html; charset=utf-8"), b"{}", DocumentKind::Html);
        check(Some("application/ld+json"), b"", DocumentKind::Json);
        check(Some("application/rss+xml"), b"", DocumentKind::Xml);
        check(Some("text/csv"), b"a,b", DocumentKind::Text);
        check(Some("image/png"), b"\x89PNG", DocumentKind::Bytes);
    }

    #[test]
    fn the_bytes_decide_without_a_specific_content_type() {
        check(None, b" \n<!DOCTYPE html><p>", DocumentKind::Html);
        check(None, b"<?xml version='1.0'?><a/>", DocumentKind::Xml);
        check(Some("text/plain"), b"{\"a\": 1}", DocumentKind::Json);
        check(None, b"{not json}", DocumentKind::Text);
        check(None, b"[section]\na = 1", DocumentKind::Text);
        check(None, b"%PDF-1.7 ...", DocumentKind::Pdf);
        check(None, b"\0\x01\x02", DocumentKind::Bytes);
        check(Some("application/octet-stream"), b"plain words", DocumentKind::Text);
        check(None, b"", DocumentKind::Text);
    }
}
