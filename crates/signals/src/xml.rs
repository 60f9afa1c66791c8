//! Reads XML to its end, whatever it contains.

use std::io::BufRead;
use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::errors::Error;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use crate::defect::Defect;
use crate::elements;
use crate::entry_sink::EntrySink;
use crate::report::DocumentFormat;
use crate::text_reader::TextReader;
use crate::xml_document::XmlDocument;

/// Total length of element names after which the reader is replaced: it keeps the names of unclosed
/// elements.
const READER_RESET_LEN: usize = 1 << 20;
/// Length of the prefix that determines whether a tag begins an entry.
const TAG_PREFIX_LEN: usize = 96;

/// Reason for which a stretch of XML ended.
enum StretchEnd {
    /// The document ended, or reading must stop.
    Finished,
    /// Reading continues at the same position.
    Continue,
    /// The input is not XML at this position.
    Malformed,
}

/// Reads a document; returns true if it was read to its end.
pub(crate) fn read(text: &mut TextReader<'_>, sink: &mut EntrySink<'_>) -> bool {
    let mut document = XmlDocument::new(sink);
    let mut buffer = Vec::new();
    loop {
        match read_stretch(text, &mut document, &mut buffer) {
            StretchEnd::Finished => break,
            StretchEnd::Continue => {}
            StretchEnd::Malformed => {
                document.abandon_entry();
                if document.format() == DocumentFormat::Unknown || !find_entry(text, &document) {
                    break;
                }
            }
        }
    }
    if document.format() == DocumentFormat::Unknown {
        document.finish_without_root();
    }
    document.is_complete
}

/// Reads until the input is not XML.
fn read_stretch(
    text: &mut TextReader<'_>,
    document: &mut XmlDocument<'_, '_>,
    buffer: &mut Vec<u8>,
) -> StretchEnd {
    let piece = text.piece();
    let mut reader = Reader::from_reader(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut names_len = 0;
    loop {
        buffer.clear();
        piece.reset();
        let flow = match reader.read_event_into(buffer) {
            Ok(Event::Start(start)) => {
                names_len += start.name().as_ref().len() + size_of::<usize>();
                document.on_start(&start)
            }
            Ok(Event::Empty(start)) => {
                let started = document.on_start(&start);
                if started.is_break() { started } else { document.on_end(start.name().as_ref()) }
            }
            Ok(Event::End(end)) => document.on_end(end.name().as_ref()),
            Ok(Event::Text(text)) => {
                if text.starts_with('&') {
                    document.add_defect(Defect::BareAmpersand);
                }
                document.on_text(&text);
                ControlFlow::Continue(())
            }
            Ok(Event::CData(text)) => {
                document.on_text(&text);
                ControlFlow::Continue(())
            }
            Ok(Event::GeneralRef(name)) => {
                on_reference(&name, document);
                ControlFlow::Continue(())
            }
            Ok(Event::DocType(text)) => document.on_doctype(&text),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => ControlFlow::Continue(()),
            Ok(Event::Eof) => return StretchEnd::Finished,
            Err(Error::IllFormed(_)) => {
                document.add_defect(Defect::BadXml);
                ControlFlow::Continue(())
            }
            Err(_) if piece.is_too_long() => {
                document.add_defect(Defect::LongPiece);
                return StretchEnd::Malformed;
            }
            Err(_) => {
                let is_end = reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty);
                if is_end {
                    return StretchEnd::Finished;
                }
                document.add_defect(Defect::BadXml);
                return StretchEnd::Malformed;
            }
        };
        if flow.is_break() {
            return StretchEnd::Finished;
        }
        if names_len > READER_RESET_LEN {
            return StretchEnd::Continue;
        }
    }
}

/// Handles an entity reference. Resolves only XML's own entities, so that no reference can grow.
fn on_reference(name: &BytesRef<'_>, document: &mut XmlDocument<'_, '_>) {
    if let Some(text) = resolve_predefined_entity(name) {
        return document.on_text(text);
    }
    if let Ok(Some(character)) = name.resolve_char_ref() {
        return document.on_text(character.encode_utf8(&mut [0; 4]));
    }
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '#');
    document.add_defect(if is_name { Defect::UnknownEntity } else { Defect::BareAmpersand });
    document.on_text("&");
    document.on_text(name);
    document.on_text(";");
}

/// Skips to the next entry; returns true if there is one.
fn find_entry(text: &mut TextReader<'_>, document: &XmlDocument<'_, '_>) -> bool {
    text.piece().reset();
    loop {
        let bytes = text.peek(TAG_PREFIX_LEN);
        let Some(offset) = memchr::memchr(b'<', bytes) else {
            let length = bytes.len();
            if length == 0 {
                return false;
            }
            text.consume(length);
            continue;
        };
        text.consume(offset);
        let bytes = text.peek(TAG_PREFIX_LEN);
        let bytes = &bytes[1..bytes.len().min(TAG_PREFIX_LEN)];
        let end =
            bytes.iter().position(|it| matches!(it, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'));
        let name = std::str::from_utf8(&bytes[..end.unwrap_or(0)]).unwrap_or_default();
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let is_own = prefix.is_empty() || prefix == document.prefix();
        if is_own && elements::entry_target(document.format(), local).is_some() {
            return true;
        }
        text.consume(1);
    }
}
