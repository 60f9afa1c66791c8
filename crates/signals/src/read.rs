//! Reads a document of any format.

use std::io::BufRead;

use url::Url;

use crate::defect::Defect;
use crate::entry::DocumentEntry;
use crate::entry_sink::{EntryCallback, EntrySink};
use crate::limits::DocumentLimits;
use crate::report::{DocumentFormat, DocumentReport};
use crate::text_reader::TextReader;
use crate::unpack::{InputEnd, UnpackedInput};
use crate::{json_feed, url_list, xml};

/// Length of the prefix that determines the shape of a document.
const SHAPE_PREFIX_LEN: usize = 4096;
/// Maximum size that the sitemap protocol allows.
const MAX_SITEMAP_BYTES: u64 = 50 << 20;

/// Shape of a document, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentShape {
    Empty,
    Xml { has_junk: bool },
    Object,
    Array,
    Lines,
}

/// Reads a document that was found at `base`. Calls `callback` for each entry until the document
/// ends or the callback returns `Break`, and reports the format and the defects.
///
/// Memory is bounded for any input: entries are passed on one by one and not kept.
pub fn read_document(
    reader: &mut dyn BufRead,
    base: &Url,
    limits: DocumentLimits,
    callback: &mut dyn FnMut(DocumentEntry) -> std::ops::ControlFlow<()>,
) -> DocumentReport {
    let callback: EntryCallback<'_> = callback;
    let mut text = TextReader::new(UnpackedInput::new(reader, limits.max_bytes));
    let mut sink = EntrySink::new(base, limits, callback);
    let shape = DocumentShape::detect(text.peek(SHAPE_PREFIX_LEN));
    let is_complete = match shape {
        DocumentShape::Xml { has_junk } => {
            if has_junk {
                sink.defects.add(Defect::JunkBefore);
            }
            xml::read(&mut text, &mut sink)
        }
        DocumentShape::Object => json_feed::read(&mut text, &mut sink),
        DocumentShape::Lines => url_list::read(&mut text, &mut sink),
        DocumentShape::Empty | DocumentShape::Array => false,
    };
    add_document_defects(shape, &text, &mut sink, is_complete);
    sink.finish();
    let is_complete = is_complete && !sink.stopped && text.unpacked().end.is_none();
    let EntrySink { format, defects, links, pages, sitemaps, .. } = sink;
    DocumentReport {
        format,
        pages,
        sitemaps,
        is_complete,
        hubs: links.hubs,
        self_url: links.self_url,
        defects,
    }
}

/// Records the defects of the document as a whole.
fn add_document_defects(
    shape: DocumentShape,
    text: &TextReader<'_>,
    sink: &mut EntrySink<'_>,
    is_complete: bool,
) {
    let (unpacked, format) = (text.unpacked(), sink.format);
    let end = unpacked.end;
    let is_over_limit = end == Some(InputEnd::OverLimit);
    let is_json = matches!(shape, DocumentShape::Object | DocumentShape::Array);
    let is_known = !matches!(format, DocumentFormat::Unknown | DocumentFormat::Html);
    let is_unknown = format == DocumentFormat::Unknown && shape != DocumentShape::Empty;
    let is_empty = sink.pages + sink.sitemaps == 0 && is_complete && !sink.stopped;
    // Invalid JSON is not read to its end either.
    let json_defects = [Defect::BadJson, Defect::LongPiece];
    let is_explained = is_json && json_defects.iter().any(|it| sink.defects.contains(*it));
    let is_cut_off = is_known && !is_complete && !sink.stopped && !is_explained && end.is_none();
    for (is_present, defect) in [
        (text.has_bom && text.is_utf_8(), Defect::Bom),
        (text.is_malformed, Defect::BadEncoding),
        (format.is_sitemap() && !text.is_utf_8(), Defect::OtherEncoding),
        (format.is_sitemap() && unpacked.bytes_read > MAX_SITEMAP_BYTES, Defect::Over50Mb),
        (end == Some(InputEnd::Unreadable), Defect::Unreadable),
        (end == Some(InputEnd::Damaged), Defect::BadGzip),
        (is_over_limit && unpacked.is_compressed, Defect::GzipBomb),
        (is_over_limit && !unpacked.is_compressed, Defect::TooLarge),
        (is_cut_off || end == Some(InputEnd::CutOff), Defect::CutOff),
        (shape == DocumentShape::Empty || is_empty, Defect::Empty),
        (format == DocumentFormat::Html, Defect::Html),
        (is_unknown && is_json, Defect::NoFeed),
        (is_unknown && !is_json, Defect::Unknown),
    ] {
        if is_present {
            sink.defects.add(defect);
        }
    }
}

impl DocumentShape {
    fn detect(prefix: &[u8]) -> Self {
        let text_start = prefix.iter().position(|it| !it.is_ascii_whitespace());
        let Some(start) = text_start else { return Self::Empty };
        let prefix = &prefix[start..];
        match prefix[0] {
            b'<' => Self::Xml { has_junk: start > 0 && prefix.starts_with(b"<?xml") },
            b'{' => Self::Object,
            b'[' => Self::Array,
            _ => {
                let roots: [&[u8]; 6] =
                    [b"<?xml", b"<urlset", b"<sitemapindex", b"<rss", b"<feed", b"<rdf:RDF"];
                let is_xml = roots.iter().any(|it| memchr::memmem::find(prefix, it).is_some());
                if is_xml { Self::Xml { has_junk: false } } else { Self::Lines }
            }
        }
    }
}
