//! A document of any kind, found out by its beginning.

use std::io::BufRead;

use url::Url;

use crate::defect::Defect;
use crate::entry::Entry;
use crate::entry_sink::{EntrySink, Take};
use crate::limits::Limits;
use crate::report::{Format, Report};
use crate::text::Text;
use crate::unpack::{Ended, Unpacked};
use crate::{json, lines, xml};

/// Bytes that are looked at to find out what a document is.
const HEAD: usize = 4096;
/// Bytes that a sitemap may have.
const ALLOWED: u64 = 50 << 20;

/// What a document seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Nothing,
    Xml { junk: bool },
    Object,
    Array,
    Lines,
}

/// Reads a document that was found at `base`: tells of its entries one after another, until it ends or
/// `take` wants no more, and reports what it was and what is wrong with it.
///
/// Memory stays bounded whatever comes: one entry is told before the next is read, and none is kept.
pub fn read(
    reader: &mut dyn BufRead,
    base: &Url,
    limits: Limits,
    take: &mut dyn FnMut(Entry) -> std::ops::ControlFlow<()>,
) -> Report {
    let take: Take<'_> = take;
    let mut text = Text::new(Unpacked::new(reader, limits.bytes));
    let mut teller = EntrySink::new(base, limits, take);
    let shape = Shape::of(text.peek(HEAD));
    let whole = match shape {
        Shape::Xml { junk } => {
            if junk {
                teller.defects.add(Defect::JunkBefore);
            }
            xml::read(&mut text, &mut teller)
        }
        Shape::Object => json::read(&mut text, &mut teller),
        Shape::Lines => lines::read(&mut text, &mut teller),
        Shape::Nothing | Shape::Array => false,
    };
    name_what_is_known(shape, &text, &mut teller, whole);
    teller.end();
    let complete = whole && !teller.stopped && text.unpacked().ended.is_none();
    let EntrySink { format, defects, links, entries, parts, .. } = teller;
    let (hub, itself) = (links.hub, links.itself);
    Report { format, entries, parts, complete, hub, itself, defects }
}

/// Names what is wrong with the document as a whole.
fn name_what_is_known(shape: Shape, text: &Text<'_>, teller: &mut EntrySink<'_>, whole: bool) {
    let (unpacked, format) = (text.unpacked(), teller.format);
    let ended = unpacked.ended;
    let is_over = ended == Some(Ended::OverLimit);
    let is_json = matches!(shape, Shape::Object | Shape::Array);
    let is_known = !matches!(format, Format::Unknown | Format::Html);
    let is_unknown = format == Format::Unknown && shape != Shape::Nothing;
    let untold = teller.entries + teller.parts == 0 && whole && !teller.stopped;
    // JSON that is none is not read to its end either.
    let why = [Defect::BadJson, Defect::LongPiece];
    let explained = is_json && why.iter().any(|it| teller.defects.has(*it));
    let cut = is_known && !whole && !teller.stopped && !explained && ended.is_none();
    for (is_so, defect) in [
        (text.bom && text.is_utf_8(), Defect::Bom),
        (text.malformed, Defect::BadEncoding),
        (format.is_sitemap() && !text.is_utf_8(), Defect::OtherEncoding),
        (format.is_sitemap() && unpacked.count > ALLOWED, Defect::Over50Mb),
        (ended == Some(Ended::Unreadable), Defect::Unreadable),
        (ended == Some(Ended::Damaged), Defect::BadGzip),
        (is_over && unpacked.compressed, Defect::GzipBomb),
        (is_over && !unpacked.compressed, Defect::TooLarge),
        (cut || ended == Some(Ended::CutOff), Defect::CutOff),
        (shape == Shape::Nothing || untold, Defect::Empty),
        (format == Format::Html, Defect::Html),
        (is_unknown && is_json, Defect::NoFeed),
        (is_unknown && !is_json, Defect::Unknown),
    ] {
        if is_so {
            teller.defects.add(defect);
        }
    }
}

impl Shape {
    fn of(head: &[u8]) -> Self {
        let space = head.iter().position(|it| !it.is_ascii_whitespace());
        let Some(begin) = space else { return Self::Nothing };
        let head = &head[begin..];
        match head[0] {
            b'<' => Self::Xml { junk: begin > 0 && head.starts_with(b"<?xml") },
            b'{' => Self::Object,
            b'[' => Self::Array,
            _ => {
                let signs: [&[u8]; 6] =
                    [b"<?xml", b"<urlset", b"<sitemapindex", b"<rss", b"<feed", b"<rdf:RDF"];
                let is_xml = signs.iter().any(|it| memchr::memmem::find(head, it).is_some());
                if is_xml { Self::Xml { junk: false } } else { Self::Lines }
            }
        }
    }
}
