//! From bytes to what counts of them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::charset::{decode, in_content_type};
use crate::filter::filter;
use crate::html::{Basis, Extracted, LeftOut, extract, is_single_spaced, push_collapsed};
use crate::kind::Kind;
use crate::noise::{Line, noise};
use crate::normal::push_normal;
use crate::settings::Settings;
use crate::sketch::Sketch;
use crate::stored::{Mark, RULES, Stored};
use crate::xml::Xml;
use crate::{json, pdf, xml};

/// A document as it was fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its body, decompressed.
    pub bytes: &'a [u8],
    /// The content type that the server named, with parameters or without.
    pub content_type: Option<&'a str>,
    /// The encoding of the text, if someone found it out already.
    pub charset: Option<&'a str>,
}

impl<'a> Document<'a> {
    /// Bytes of which nothing else is known.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }
}

/// What counts of a document.
#[derive(Clone, Debug)]
pub struct Reading {
    /// By what it is known again.
    pub mark: Mark,
    /// What counts, in lines; empty for bytes.
    pub text: String,
    /// What part of a page it is.
    pub basis: Basis,
    /// The length of the document.
    pub bytes: usize,
    /// What does not count, and why; only if asked for.
    pub left_out: Vec<LeftOut>,
    /// Selectors, pointers and paths of the settings that lead to nothing in the document, as they
    /// are written.
    pub unmatched: Vec<String>,
    /// It is not what its kind says (or is nested too deep), and was read as text.
    pub as_text: bool,
    /// Made when it is asked for: whether something changed is known without it.
    sketch: OnceLock<Sketch>,
}

impl Reading {
    /// What is to be kept until the next reading.
    #[must_use]
    pub fn stored(&self) -> Stored {
        Stored { mark: self.mark, sketch: *self.sketch() }
    }

    /// What the text is like.
    pub fn sketch(&self) -> &Sketch {
        self.sketch.get_or_init(|| Sketch::of(&self.text))
    }
}

/// Reads documents by the same settings.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    pub(crate) settings: Settings,
}

/// A digest of raw bytes: equal bytes need no reading.
#[must_use]
pub fn digest(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

impl Detector {
    /// By these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// What counts of a document. No document is an error: what is not what it seems is read as
    /// text.
    #[must_use]
    pub fn read(&self, document: &Document<'_>) -> Reading {
        self.reading(document, None)
    }

    /// The same, with what does not count, and why.
    #[must_use]
    pub fn explain(&self, document: &Document<'_>) -> Reading {
        self.reading(document, Some(Vec::new()))
    }

    fn reading(&self, document: &Document<'_>, mut left_out: Option<Vec<LeftOut>>) -> Reading {
        let settings = &self.settings;
        let Document { bytes, content_type, charset } = *document;
        let kind = settings.kind.unwrap_or_else(|| Kind::of(content_type, bytes));
        let raw = digest(bytes);
        let mut parts = Parts::Text(String::new(), Vec::new());
        let mut found = Found::default();
        match kind {
            Kind::Bytes => {}
            Kind::Pdf => {}
            _ => {
                let charset = charset.or_else(|| content_type.and_then(in_content_type));
                let text = decode(bytes, charset);
                (parts, found) = self.parts(kind, text, &mut left_out);
            }
        }
        let fingerprint = match kind {
            Kind::Bytes => fingerprint(kind, [raw.to_le_bytes().as_slice()]),
            Kind::Pdf => fingerprint(kind, pdf::lasting(bytes)),
            _ => parts.fingerprint(kind),
        };
        let text = parts.text();
        let mark = Mark { kind, rules: RULES, settings: settings.digest, raw, fingerprint };
        let left_out = left_out.unwrap_or_default();
        let unmatched = found.unmatched.unwrap_or_else(|| settings.places());
        let (basis, as_text) = (found.basis, found.as_text);
        let (bytes, sketch) = (bytes.len(), OnceLock::new());
        Reading { mark, text, basis, bytes, left_out, unmatched, as_text, sketch }
    }

    fn parts(
        &self,
        kind: Kind,
        text: Cow<'_, str>,
        left_out: &mut Option<Vec<LeftOut>>,
    ) -> (Parts, Found) {
        let settings = &self.settings;
        let mut found = Found::default();
        let mut verbatim = Vec::new();
        let text = match kind {
            Kind::Html => {
                let Extracted { text, basis, verbatim: ranges, left_out: more, mut unmatched } =
                    extract(&text, &settings.html, left_out.is_some());
                verbatim = ranges;
                unmatched.extend(settings.json.places());
                if let Some(list) = left_out {
                    list.extend(more);
                }
                found = Found { basis, unmatched: Some(unmatched), as_text: false };
                text
            }
            Kind::Json => {
                if !settings.json.select.is_empty() {
                    found.basis = Basis::Selected;
                }
                match json::canonical(&text, &settings.json) {
                    Ok(canonical) => {
                        let mut unmatched = settings.html.program.texts().to_vec();
                        unmatched.extend(canonical.unmatched);
                        found.unmatched = Some(unmatched);
                        json_lines(canonical.text)
                    }
                    // Not what it says it is, or too deep: a change of any token counts.
                    Err(_) => {
                        found = Found { as_text: true, ..Found::default() };
                        lines(&text, true)
                    }
                }
            }
            // Selectors and paths name nothing in XML, so nothing counts.
            Kind::Xml if settings.selects() => {
                found.basis = Basis::Selected;
                String::new()
            }
            Kind::Xml => match xml::read(&text) {
                Some(Xml::Feed(entries)) => {
                    let mut filtered = |it| filter(it, &mut Vec::new(), settings, left_out);
                    let entries = entries.into_iter().map(&mut filtered).collect();
                    return (Parts::Unordered(entries), found);
                }
                Some(Xml::Lines(lines)) => lines,
                None => {
                    found.as_text = true;
                    lines(&text, settings.html.noise)
                }
            },
            _ => lines(&text, settings.html.noise),
        };
        let text = filter(text, &mut verbatim, settings, left_out);
        (Parts::Text(text, verbatim), found)
    }
}

/// In lines whatever its length, so that patterns and differences mean the same for each; only where
/// places would be many times as long as the values it stays as it is.
fn json_lines(canonical: String) -> String {
    json::lines(&canonical).unwrap_or(canonical)
}

/// What else was found in reading.
struct Found {
    basis: Basis,
    /// None if selectors mean nothing to the kind.
    unmatched: Option<Vec<String>>,
    as_text: bool,
}

impl Default for Found {
    fn default() -> Self {
        Self { basis: Basis::Whole, unmatched: None, as_text: false }
    }
}

/// Lines of plain text, with white space joined.
fn lines(text: &str, keep_noise: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut plain = String::new();
    for line in text.lines() {
        // Indentation can be all that matters, as in a list in YAML.
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        plain.clear();
        push_collapsed(body, false, &mut plain);
        let body = plain.trim_end();
        let is_noise = || noise(&Line::plain(body)).iter().any(|it| it.range == (0..body.len()));
        if body.is_empty() || !keep_noise && is_noise() {
            continue;
        }
        out.push_str(indent);
        push_normal(body, &mut out);
        out.push('\n');
    }
    if out.is_empty() && !keep_noise { lines(text, true) } else { out }
}

/// What is compared.
enum Parts {
    /// With the places where each space counts.
    Text(String, Vec<Range<usize>>),
    /// Parts whose order does not matter.
    Unordered(Vec<String>),
}

impl Parts {
    fn fingerprint(&self, kind: Kind) -> u128 {
        match self {
            // Where lines of a page break is layout.
            Self::Text(text, verbatim) if kind == Kind::Html => {
                fingerprint(kind, [flowing(text, verbatim).as_slice()])
            }
            Self::Text(text, _) => fingerprint(kind, [text.as_bytes()]),
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
            Self::Text(text, _) => text,
            Self::Unordered(parts) => parts.join("\n"),
        }
    }
}

/// Words with one space between them, without the signs between cells.
fn flowing(text: &str, verbatim: &[Range<usize>]) -> Vec<u8> {
    // Most texts are so already, but for the ends of lines.
    if verbatim.is_empty() && flows(text) {
        let mut out = text.as_bytes().to_vec();
        out.iter_mut().for_each(|it| *it = if *it == b'\n' { b' ' } else { *it });
        return out;
    }
    let mut out = String::with_capacity(text.len());
    let flow = |text: &str, out: &mut String| {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let (line, after) = end.map_or((rest, ""), |it| (&rest[..it], &rest[it + 1..]));
            rest = after;
            // Most lines are so already.
            if is_flowing(line) {
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
        flow(&text[at..range.start], &mut out);
        // A sign that no text has says that it begins.
        out.push('\0');
        out.push_str(text[range.clone()].trim_end_matches('\n'));
        out.push(' ');
        at = range.end;
    }
    flow(&text[at..], &mut out);
    out.into_bytes()
}

/// Whether each line of a text has one space between words, no other white space, and no sign between
/// cells, and ends.
fn flows(text: &str) -> bool {
    let bytes = text.as_bytes();
    let next = bytes.get(1..).unwrap_or_default();
    // Of two bytes side by side that are no signs, both are white space or one is wrong.
    let wrong = |one: u8, other: u8| {
        (one < b' ') & (one != b'\n') | (one == b'|') | (one.max(other) <= b' ')
    };
    let found =
        bytes.iter().zip(next).fold(0, |found, (&one, &other)| found | u8::from(wrong(one, other)));
    found == 0 && text.ends_with('\n') && !text.starts_with([' ', '\n'])
}

/// Whether a line has one space between words, no other white space, and no sign between cells.
fn is_flowing(line: &str) -> bool {
    let bytes = line.as_bytes();
    let wrong = bytes.iter().fold(false, |found, &it| found | (it < b' ') | (it == b'|'));
    !wrong
        && !line.is_empty()
        && !line.starts_with(' ')
        && !line.ends_with(' ')
        && is_single_spaced(bytes)
}

/// XXH3-128 over the version of the rules, the kind, and the parts.
fn fingerprint<'a>(kind: Kind, parts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&RULES.to_le_bytes());
    hasher.update(&[kind as u8]);
    for part in parts {
        hasher.update(part);
    }
    hasher.digest128()
}
