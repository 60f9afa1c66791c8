//! Text that is read piece by piece.

pub(crate) mod line_map;
pub(crate) mod lines;
pub(crate) mod records;

use std::io::Read;

use crate::error::{Place, TableError};

/// How much is read at a time: it stays in the cache while it is taken apart.
const CHUNK: usize = 256 << 10;

/// A longer row is an unclosed quote or no table at all.
const LONGEST: usize = 16 << 20;

/// A window on a text that moves forward.
pub(crate) struct Window<R> {
    reader: R,
    file: String,
    text: String,
    /// What of `text` has been taken.
    taken: usize,
    /// Bytes after `text` that are no text, or not yet.
    tail: Vec<u8>,
    /// The tail can become no text, whatever follows.
    broken: bool,
    ended: bool,
    chunk: usize,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R, file: &str) -> Self {
        Self::with_chunk(reader, file, CHUNK)
    }

    fn with_chunk(reader: R, file: &str, chunk: usize) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            text: String::new(),
            taken: 0,
            tail: Vec::new(),
            broken: false,
            ended: false,
            chunk,
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// What has been read and not taken.
    pub(crate) fn rest(&self) -> &str {
        &self.text[self.taken..]
    }

    /// Whether nothing follows [`Window::rest`].
    pub(crate) fn ended(&self) -> bool {
        self.ended && !self.broken
    }

    pub(crate) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// A part of the text, by offsets that were measured before the last `take`.
    pub(crate) fn taken(&self, start: usize, end: usize) -> &str {
        &self.text[start..end]
    }

    pub(crate) fn position(&self) -> usize {
        self.taken
    }

    /// Reads on, so that the rest grows or the end is reached. `line` is the line on which the
    /// rest begins.
    pub(crate) fn more(&mut self, line: u64) -> Result<(), TableError> {
        if self.broken {
            let before = line_ends(self.rest().as_bytes());
            return Err(TableError::NotUtf8 { at: Place::line(&self.file, line + before) });
        }
        if self.rest().len() > LONGEST {
            return Err(TableError::TooLong { at: Place::line(&self.file, line), limit: LONGEST });
        }
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.drain(..self.taken);
        self.taken = 0;
        bytes.append(&mut self.tail);
        bytes.reserve(self.chunk);
        let read = self
            .reader
            .by_ref()
            .take(self.chunk as u64)
            .read_to_end(&mut bytes)
            .map_err(|source| TableError::read(&self.file, source))?;
        self.ended = read < self.chunk;
        match String::from_utf8(bytes) {
            Ok(text) => self.text = text,
            Err(error) => {
                let cut = error.utf8_error();
                self.broken = cut.error_len().is_some() || self.ended;
                let mut bytes = error.into_bytes();
                self.tail = bytes.split_off(cut.valid_up_to());
                // Valid up to here, so nothing is replaced.
                self.text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Takes the mark that some programs put before a UTF-8 text.
    pub(crate) fn skip_mark(&mut self) -> Result<(), TableError> {
        while self.rest().is_empty() && !self.ended() {
            self.more(1)?;
        }
        if self.rest().starts_with('\u{feff}') {
            self.take('\u{feff}'.len_utf8());
        }
        Ok(())
    }
}

/// Line ends of any kind: LF, CR LF, or CR alone.
fn line_ends(bytes: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let lone = memchr::memchr_iter(b'\r', bytes).filter(|&i| bytes.get(i + 1) != Some(&b'\n'));
    (feeds + lone.count()) as u64
}
