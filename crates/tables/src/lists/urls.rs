//! Plain lists: one URL per line.

use std::io::{self, BufRead, Read};

use super::{BadLine, LineFault, ListError, Listed, TakeListed};

/// Longest line in bytes; no URL is longer.
const LONGEST: u64 = 1 << 16;

pub(super) fn read(list: &mut dyn BufRead, take: TakeListed<'_>) -> Result<(), ListError> {
    let mut bytes = Vec::new();
    for line in 1_u64.. {
        bytes.clear();
        let read = (&mut *list).take(LONGEST).read_until(b'\n', &mut bytes);
        if read.map_err(ListError::Read)? == 0 {
            break;
        }
        let bad = |fault: LineFault| Err(BadLine { line, fault });
        let told = if bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n") {
            skip_line(list).map_err(ListError::Read)?;
            take(bad(LineFault::TooLong(LONGEST)))
        } else if let Ok(text) = std::str::from_utf8(&bytes) {
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            take(Ok(Listed { url: text.to_owned(), line, folders: Vec::new() }))
        } else {
            take(bad(LineFault::NotUtf8))
        };
        if told.is_break() {
            break;
        }
    }
    Ok(())
}

fn skip_line(list: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = list.fill_buf()?;
        let (end, length) = match memchr::memchr(b'\n', buffer) {
            Some(place) => (true, place + 1),
            None => (buffer.is_empty(), buffer.len()),
        };
        list.consume(length);
        if end {
            return Ok(());
        }
    }
}
