//! URLs, one on each line.

use std::io::{BufRead, Read};
use std::path::Path;

use super::format::{open, unreadable};
use super::place::{Bad, Found, Place};
use super::{Each, Notes};
use crate::failure::Failure;

/// Bytes of a line at most: no URL is as long.
const LONGEST: u64 = 1 << 16;

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let mut file = open(path)?;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = file.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|error| unreadable(path, &error))? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            let why = Failure::new(format!("a line of more than {LONGEST} bytes"));
            each(Err(Bad { place: Place::Line(number), why }))?;
            skip_line(&mut file).map_err(|error| unreadable(path, &error))?;
            continue;
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            let why = Failure::new("not text in UTF-8");
            each(Err(Bad { place: Place::Line(number), why }))?;
            continue;
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() && !text.starts_with('#') {
            each(Ok(Found::new(text, Place::Line(number))))?;
        }
    }
    Ok(Notes::new())
}

fn skip_line(file: &mut dyn BufRead) -> std::io::Result<()> {
    loop {
        let buffer = file.fill_buf()?;
        let (end, length) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(place) => (true, place + 1),
            None => (buffer.is_empty(), buffer.len()),
        };
        file.consume(length);
        if end {
            return Ok(());
        }
    }
}
