//! Reads lists of URLs, one per line.

use std::io::{BufRead, Read};

use url::Url;

use crate::defect::Defect;
use crate::entry::EntryTarget;
use crate::entry_draft::{AddressRank, BoundedText, EntryDraft};
use crate::entry_sink::EntrySink;
use crate::report::DocumentFormat;
use crate::text_reader::TextReader;

/// Maximum length of a line in bytes.
const MAX_LINE_LEN: u64 = 1 << 13;
/// Maximum number of leading lines without a URL.
const MAX_PREAMBLE_LINES: u32 = 20;

/// Reads a list; returns true if it was read to its end.
pub(crate) fn read(text: &mut TextReader<'_>, sink: &mut EntrySink<'_>) -> bool {
    let piece = text.piece();
    let mut draft = EntryDraft::new();
    let mut bytes = Vec::new();
    let mut lines_without_url = 0;
    loop {
        bytes.clear();
        piece.reset();
        // The reader fails only if a piece is too long, which a limited line is not.
        let read = (&mut *text).take(MAX_LINE_LEN).read_until(b'\n', &mut bytes).unwrap_or(0);
        if read == 0 {
            return sink.format == DocumentFormat::UrlList;
        }
        let is_cut = bytes.len() as u64 == MAX_LINE_LEN && !bytes.ends_with(b"\n");
        if is_cut {
            skip_line(text);
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_absolute = line.contains("://");
        if sink.format == DocumentFormat::Unknown {
            if !is_absolute || !Url::parse(line).is_ok_and(|it| it.has_host()) {
                lines_without_url += 1;
                if lines_without_url > MAX_PREAMBLE_LINES {
                    return false;
                }
                continue;
            }
            sink.set_format(DocumentFormat::UrlList);
            (0..lines_without_url).for_each(|_| sink.defects.add(Defect::NotAUrl));
        }
        if is_cut {
            sink.defects.add(Defect::LongUrl);
        } else if is_absolute || line.starts_with('/') {
            draft.reset(EntryTarget::Page);
            draft.offer_address(AddressRank::Link, &BoundedText::from_text(line), None);
            if sink.emit(&draft).is_break() {
                return false;
            }
        } else {
            sink.defects.add(Defect::NotAUrl);
        }
    }
}

fn skip_line(text: &mut TextReader<'_>) {
    loop {
        let bytes = text.peek(1);
        let found = memchr::memchr(b'\n', bytes);
        let (is_over, length) = (found.is_some() || bytes.is_empty(), bytes.len());
        text.consume(found.map_or(length, |offset| offset + 1));
        if is_over {
            return;
        }
    }
}
