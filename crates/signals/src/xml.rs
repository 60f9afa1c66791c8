//! XML, read to its end whatever is in it.

use std::io::BufRead;
use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::errors::Error;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

use crate::defect::Defect;
use crate::document::Document;
use crate::entry_sink::EntrySink;
use crate::names;
use crate::report::Format;
use crate::text::Text;

/// Bytes of names after which another reader goes on: it keeps those of elements that do not end.
const FORGET: usize = 1 << 20;
/// Bytes that are looked at to see whether an element begins an entry.
const NAME: usize = 96;

/// How the reading of a stretch ended.
enum Way {
    /// There is no more, or it is to be read no further.
    Over,
    /// It goes on right here.
    On,
    /// It is not XML here.
    Lost,
}

/// Reads a document; says whether it was read to its end.
pub(crate) fn read(text: &mut Text<'_>, teller: &mut EntrySink<'_>) -> bool {
    let mut document = Document::new(teller);
    let mut buffer = Vec::new();
    loop {
        match stretch(text, &mut document, &mut buffer) {
            Way::Over => break,
            Way::On => {}
            Way::Lost => {
                document.give_up();
                if document.format() == Format::Unknown || !find_entry(text, &document) {
                    break;
                }
            }
        }
    }
    if document.format() == Format::Unknown {
        document.none_found();
    }
    document.over
}

/// Reads as far as it is XML.
fn stretch(text: &mut Text<'_>, document: &mut Document<'_, '_>, buffer: &mut Vec<u8>) -> Way {
    let piece = text.piece();
    let mut reader = Reader::from_reader(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut kept = 0;
    loop {
        buffer.clear();
        piece.begin();
        let going = match reader.read_event_into(buffer) {
            Ok(Event::Start(start)) => {
                kept += start.name().as_ref().len() + size_of::<usize>();
                document.begin(&start)
            }
            Ok(Event::Empty(start)) => {
                let begun = document.begin(&start);
                if begun.is_break() { begun } else { document.end(start.name().as_ref()) }
            }
            Ok(Event::End(end)) => document.end(end.name().as_ref()),
            Ok(Event::Text(text)) => {
                if text.starts_with('&') {
                    document.defect(Defect::BareAmpersand);
                }
                document.text(&text);
                ControlFlow::Continue(())
            }
            Ok(Event::CData(text)) => {
                document.text(&text);
                ControlFlow::Continue(())
            }
            Ok(Event::GeneralRef(name)) => {
                reference(&name, document);
                ControlFlow::Continue(())
            }
            Ok(Event::DocType(text)) => document.doctype(&text),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => ControlFlow::Continue(()),
            Ok(Event::Eof) => return Way::Over,
            Err(Error::IllFormed(_)) => {
                document.defect(Defect::BadXml);
                ControlFlow::Continue(())
            }
            Err(_) if piece.is_too_long() => {
                document.defect(Defect::LongPiece);
                return Way::Lost;
            }
            Err(_) => {
                let is_end = reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty);
                if is_end {
                    return Way::Over;
                }
                document.defect(Defect::BadXml);
                return Way::Lost;
            }
        };
        if going.is_break() {
            return Way::Over;
        }
        if kept > FORGET {
            return Way::On;
        }
    }
}

/// A reference in a text. Only those that XML itself has are resolved, so that none can grow.
fn reference(name: &BytesRef<'_>, document: &mut Document<'_, '_>) {
    if let Some(text) = resolve_predefined_entity(name) {
        return document.text(text);
    }
    if let Ok(Some(sign)) = name.resolve_char_ref() {
        return document.text(sign.encode_utf8(&mut [0; 4]));
    }
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '#');
    document.defect(if is_name { Defect::UnknownEntity } else { Defect::BareAmpersand });
    document.text("&");
    document.text(name);
    document.text(";");
}

/// Goes to where the next entry begins, if there is one.
fn find_entry(text: &mut Text<'_>, document: &Document<'_, '_>) -> bool {
    text.piece().begin();
    loop {
        let bytes = text.peek(NAME);
        let Some(place) = memchr::memchr(b'<', bytes) else {
            let length = bytes.len();
            if length == 0 {
                return false;
            }
            text.consume(length);
            continue;
        };
        text.consume(place);
        let bytes = text.peek(NAME);
        let bytes = &bytes[1..bytes.len().min(NAME)];
        let end =
            bytes.iter().position(|it| matches!(it, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'));
        let name = std::str::from_utf8(&bytes[..end.unwrap_or(0)]).unwrap_or_default();
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let is_own = prefix.is_empty() || prefix == document.prefix();
        if is_own && names::entry(document.format(), local).is_some() {
            return true;
        }
        text.consume(1);
    }
}
