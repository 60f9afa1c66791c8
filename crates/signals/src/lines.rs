//! URLs, one on each line.

use std::io::{BufRead, Read};

use url::Url;

use crate::defect::Defect;
use crate::draft::{Draft, Rank, Run};
use crate::entry::Kind;
use crate::entry_sink::EntrySink;
use crate::report::Format;
use crate::text::Text;

/// Bytes of a line at most.
const LONGEST: u64 = 1 << 13;
/// Lines without a URL, after which there will be none.
const PATIENCE: u32 = 20;

/// Reads a list; says whether it was read to its end.
pub(crate) fn read(text: &mut Text<'_>, teller: &mut EntrySink<'_>) -> bool {
    let piece = text.piece();
    let mut draft = Draft::new();
    let mut bytes = Vec::new();
    let mut others = 0;
    loop {
        bytes.clear();
        piece.begin();
        // It is text, and cannot fail before a piece is too long.
        let read = (&mut *text).take(LONGEST).read_until(b'\n', &mut bytes).unwrap_or(0);
        if read == 0 {
            return teller.format == Format::Lines;
        }
        let is_cut = bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n");
        if is_cut {
            skip_line(text);
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_absolute = line.contains("://");
        if teller.format == Format::Unknown {
            if !is_absolute || !Url::parse(line).is_ok_and(|it| it.has_host()) {
                others += 1;
                if others > PATIENCE {
                    return false;
                }
                continue;
            }
            teller.found(Format::Lines);
            (0..others).for_each(|_| teller.defects.add(Defect::NotAUrl));
        }
        if is_cut {
            teller.defects.add(Defect::LongUrl);
        } else if is_absolute || line.starts_with('/') {
            draft.begin(Kind::Page);
            draft.offer(Rank::Link, &Run::of(line), None);
            if teller.tell(&draft).is_break() {
                return false;
            }
        } else {
            teller.defects.add(Defect::NotAUrl);
        }
    }
}

fn skip_line(text: &mut Text<'_>) {
    loop {
        let bytes = text.peek(1);
        let found = memchr::memchr(b'\n', bytes);
        let (is_over, length) = (found.is_some() || bytes.is_empty(), bytes.len());
        text.consume(found.map_or(length, |place| place + 1));
        if is_over {
            return;
        }
    }
}
