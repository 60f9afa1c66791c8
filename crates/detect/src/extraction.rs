//! Extracts the content of a document.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::charset::{charset_parameter, decode};
use crate::document_kind::DocumentKind;
use crate::filter::filter;
use crate::html::{
    ExcludedText, ExtractedText, TextScope, extract, is_single_spaced, push_collapsed,
};
use crate::nfc::push_nfc;
use crate::noise::{Line, find_noise};
use crate::settings::DetectSettings;
use crate::signature::{ContentDigests, ContentSignature, RULES_VERSION};
use crate::sketch::Sketch;
use crate::xml::XmlContent;
use crate::{json, pdf, xml};

/// A document as fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Body, decompressed.
    pub bytes: &'a [u8],
    /// Content type from the server, with or without parameters.
    pub content_type: Option<&'a str>,
    /// Encoding of the text, if known from elsewhere.
    pub charset: Option<&'a str>,
}

impl<'a> Document<'a> {
    /// Returns a document without metadata.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }
}

/// The content of a document.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// Digests of the document, the settings and the content.
    pub digests: ContentDigests,
    /// Content in lines; empty for bytes and PDF.
    pub text: String,
    /// Part of the page that the content is from.
    pub scope: TextScope,
    /// Length of the document in bytes.
    pub document_len: usize,
    /// Excluded texts; only from [`Detector::explain`].
    pub excluded: Vec<ExcludedText>,
    /// Selectors, pointers and paths of the settings that match nothing in the document, as
    /// written.
    pub unmatched: Vec<String>,
    /// True if the document is malformed or nested too deeply for its kind, and was read as plain
    /// text.
    pub is_parsed_as_text: bool,
    /// Computed on first use: a comparison of fingerprints does not need it.
    sketch: OnceLock<Sketch>,
}

impl Extraction {
    /// Returns the signature to keep until the next extraction.
    #[must_use]
    pub fn signature(&self) -> ContentSignature {
        ContentSignature { digests: self.digests, sketch: *self.sketch() }
    }

    /// Returns the sketch of the text.
    pub fn sketch(&self) -> &Sketch {
        self.sketch.get_or_init(|| Sketch::from_text(&self.text))
    }
}

/// Extracts content by fixed settings, and compares it with earlier content.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    pub(crate) settings: DetectSettings,
}

/// Returns the digest of raw bytes. Equal bytes need no extraction.
#[must_use]
pub fn digest(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

impl Detector {
    /// Returns a detector with these settings.
    #[must_use]
    pub fn new(settings: DetectSettings) -> Self {
        Self { settings }
    }

    /// Extracts the content of a document. This never fails: a malformed document is read as plain
    /// text.
    #[must_use]
    pub fn extract(&self, document: &Document<'_>) -> Extraction {
        self.extract_document(document, None)
    }

    /// Extracts the content of a document, with the excluded texts and the reasons.
    #[must_use]
    pub fn explain(&self, document: &Document<'_>) -> Extraction {
        self.extract_document(document, Some(Vec::new()))
    }

    fn extract_document(
        &self,
        document: &Document<'_>,
        mut excluded: Option<Vec<ExcludedText>>,
    ) -> Extraction {
        let settings = &self.settings;
        let Document { bytes, content_type, charset } = *document;
        let kind = settings.kind.unwrap_or_else(|| DocumentKind::detect(content_type, bytes));
        let raw = digest(bytes);
        let mut content = ComparedText::Ordered(String::new(), Vec::new());
        let mut details = ExtractionDetails::default();
        match kind {
            DocumentKind::Bytes | DocumentKind::Pdf => {}
            _ => {
                let charset = charset.or_else(|| content_type.and_then(charset_parameter));
                let text = decode(bytes, charset);
                (content, details) = self.extract_text(kind, text, &mut excluded);
            }
        }
        let fingerprint = match kind {
            DocumentKind::Bytes => fingerprint(kind, [raw.to_le_bytes().as_slice()]),
            DocumentKind::Pdf => fingerprint(kind, pdf::stable_parts(bytes)),
            _ => content.fingerprint(kind),
        };
        let text = content.text();
        let digests = ContentDigests {
            kind,
            rules_version: RULES_VERSION,
            settings: settings.digest,
            raw,
            fingerprint,
        };
        let excluded = excluded.unwrap_or_default();
        let unmatched = details.unmatched.unwrap_or_else(|| settings.selector_sources());
        let (scope, is_parsed_as_text) = (details.scope, details.is_parsed_as_text);
        Extraction {
            digests,
            text,
            scope,
            document_len: bytes.len(),
            excluded,
            unmatched,
            is_parsed_as_text,
            sketch: OnceLock::new(),
        }
    }

    fn extract_text(
        &self,
        kind: DocumentKind,
        text: Cow<'_, str>,
        excluded: &mut Option<Vec<ExcludedText>>,
    ) -> (ComparedText, ExtractionDetails) {
        let settings = &self.settings;
        let mut details = ExtractionDetails::default();
        let mut verbatim = Vec::new();
        let text = match kind {
            DocumentKind::Html => {
                let ExtractedText {
                    text,
                    scope,
                    verbatim: ranges,
                    excluded: html_excluded,
                    mut unmatched,
                } = extract(&text, &settings.html, excluded.is_some());
                verbatim = ranges;
                unmatched.extend(settings.json.path_sources());
                if let Some(list) = excluded {
                    list.extend(html_excluded);
                }
                details = ExtractionDetails {
                    scope,
                    unmatched: Some(unmatched),
                    is_parsed_as_text: false,
                };
                text
            }
            DocumentKind::Json => {
                if !settings.json.select.is_empty() {
                    details.scope = TextScope::Selected;
                }
                match json::canonicalize(&text, &settings.json) {
                    Ok(canonical) => {
                        let mut unmatched = settings.html.program.sources().to_vec();
                        unmatched.extend(canonical.unmatched);
                        details.unmatched = Some(unmatched);
                        json_lines(canonical.text)
                    }
                    // Malformed or too deep: as text, a change of any token counts.
                    Err(_) => {
                        details = ExtractionDetails {
                            is_parsed_as_text: true,
                            ..ExtractionDetails::default()
                        };
                        plain_text_lines(&text, true)
                    }
                }
            }
            // Selectors and paths match nothing in XML, so nothing is selected.
            DocumentKind::Xml if settings.has_selection() => {
                details.scope = TextScope::Selected;
                String::new()
            }
            DocumentKind::Xml => match xml::parse(&text) {
                Some(XmlContent::Feed(entries)) => {
                    let mut filtered = |it| filter(it, &mut Vec::new(), settings, excluded);
                    let entries = entries.into_iter().map(&mut filtered).collect();
                    return (ComparedText::Unordered(entries), details);
                }
                Some(XmlContent::Lines(lines)) => lines,
                None => {
                    details.is_parsed_as_text = true;
                    plain_text_lines(&text, settings.html.noise)
                }
            },
            _ => plain_text_lines(&text, settings.html.noise),
        };
        let text = filter(text, &mut verbatim, settings, excluded);
        (ComparedText::Ordered(text, verbatim), details)
    }
}

/// Returns canonical JSON as lines, so that patterns and diffs work the same for any length.
/// Returns it unchanged if the paths would be many times as long as the values.
fn json_lines(canonical: String) -> String {
    json::lines(&canonical).unwrap_or(canonical)
}

/// Details of an extraction besides the text.
struct ExtractionDetails {
    scope: TextScope,
    /// `None` if selectors do not apply to the kind of document.
    unmatched: Option<Vec<String>>,
    is_parsed_as_text: bool,
}

impl Default for ExtractionDetails {
    fn default() -> Self {
        Self { scope: TextScope::Whole, unmatched: None, is_parsed_as_text: false }
    }
}

/// Returns the lines of plain text, with collapsed white space.
fn plain_text_lines(text: &str, keep_noise: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut plain = String::new();
    for line in text.lines() {
        // Indentation is significant, as in YAML.
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        plain.clear();
        push_collapsed(body, false, &mut plain);
        let body = plain.trim_end();
        let is_noise =
            || find_noise(&Line::plain(body)).iter().any(|it| it.range == (0..body.len()));
        if body.is_empty() || !keep_noise && is_noise() {
            continue;
        }
        out.push_str(indent);
        push_nfc(body, &mut out);
        out.push('\n');
    }
    if out.is_empty() && !keep_noise { plain_text_lines(text, true) } else { out }
}

/// The text that is compared.
enum ComparedText {
    /// Text, and the ranges in which white space is significant.
    Ordered(String, Vec<Range<usize>>),
    /// Parts whose order is not significant.
    Unordered(Vec<String>),
}

impl ComparedText {
    fn fingerprint(&self, kind: DocumentKind) -> u128 {
        match self {
            // Line breaks of a page are layout.
            Self::Ordered(text, verbatim) if kind == DocumentKind::Html => {
                fingerprint(kind, [join_lines(text, verbatim).as_slice()])
            }
            Self::Ordered(text, _) => fingerprint(kind, [text.as_bytes()]),
            Self::Unordered(parts) => {
                let mut digests: Vec<u128> = parts.iter().map(|it| digest(it.as_bytes())).collect();
                digests.sort_unstable();
                let bytes: Vec<[u8; 16]> = digests.iter().map(|it| it.to_le_bytes()).collect();
                fingerprint(kind, bytes.iter().map(|it| it.as_slice()))
            }
        }
    }

    fn text(self) -> String {
        match self {
            Self::Ordered(text, _) => text,
            Self::Unordered(parts) => parts.join("\n"),
        }
    }
}

/// Joins the words of all lines with single spaces, and removes the separators between table cells.
fn join_lines(text: &str, verbatim: &[Range<usize>]) -> Vec<u8> {
    // A cheap test: most texts are joined by replacing the line breaks.
    if verbatim.is_empty() && is_joinable_text(text) {
        let mut out = text.as_bytes().to_vec();
        out.iter_mut().for_each(|it| *it = if *it == b'\n' { b' ' } else { *it });
        return out;
    }
    let mut out = String::with_capacity(text.len());
    let push_joined = |text: &str, out: &mut String| {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let (line, after) = end.map_or((rest, ""), |it| (&rest[..it], &rest[it + 1..]));
            rest = after;
            // Most lines have single spaces already.
            if is_joinable_line(line) {
                out.push_str(line);
                out.push(' ');
                continue;
            }
            for word in line.split_ascii_whitespace().filter(|it| *it != "|") {
                out.push_str(word);
                out.push(' ');
            }
        }
    };
    let mut at = 0;
    for range in verbatim {
        push_joined(&text[at..range.start], &mut out);
        // A NUL, which no text contains, marks the start of a verbatim range.
        out.push('\0');
        out.push_str(text[range.clone()].trim_end_matches('\n'));
        out.push(' ');
        at = range.end;
    }
    push_joined(&text[at..], &mut out);
    out.into_bytes()
}

/// True if each line of a text has single spaces between its words, no other white space and no
/// cell separator, and the last line has a line break.
fn is_joinable_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let next = bytes.get(1..).unwrap_or_default();
    // Two neighbouring bytes are invalid if both are white space.
    let is_invalid = |one: u8, other: u8| {
        (one < b' ') & (one != b'\n') | (one == b'|') | (one.max(other) <= b' ')
    };
    let invalid = bytes
        .iter()
        .zip(next)
        .fold(0, |found, (&one, &other)| found | u8::from(is_invalid(one, other)));
    invalid == 0 && text.ends_with('\n') && !text.starts_with([' ', '\n'])
}

/// True if a line has single spaces between its words, no other white space and no cell separator.
fn is_joinable_line(line: &str) -> bool {
    let bytes = line.as_bytes();
    let has_invalid = bytes.iter().fold(false, |found, &it| found | (it < b' ') | (it == b'|'));
    !has_invalid
        && !line.is_empty()
        && !line.starts_with(' ')
        && !line.ends_with(' ')
        && is_single_spaced(bytes)
}

/// Returns XXH3-128 over the version of the rules, the kind, and the parts.
fn fingerprint<'a>(kind: DocumentKind, parts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&RULES_VERSION.to_le_bytes());
    hasher.update(&[kind as u8]);
    for part in parts {
        hasher.update(part);
    }
    hasher.digest128()
}
