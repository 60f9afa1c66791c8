//! Streaming text reader.

pub(crate) mod line_map;
pub(crate) mod lines;
pub(crate) mod records;

use std::io::Read;

use crate::error::{Place, TableError};

/// Size of a read in bytes, chosen to stay in the cache during parsing.
const CHUNK: usize = 256 << 10;

/// Longest row in bytes; a longer one is an unclosed quote or not a table.
const LONGEST: usize = 16 << 20;

/// Window that moves forward over a text.
pub(crate) struct Window<R> {
    reader: R,
    file: String,
    text: String,
    /// Number of bytes of `text` that have been consumed.
    taken: usize,
    /// Bytes after `text` that are not valid text, or incomplete.
    tail: Vec<u8>,
    /// True if the tail is invalid whatever follows.
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

    /// Returns the text that has been read and not consumed.
    pub(crate) fn rest(&self) -> &str {
        &self.text[self.taken..]
    }

    /// Returns true if nothing follows [`Window::rest`].
    pub(crate) fn ended(&self) -> bool {
        self.ended && !self.broken
    }

    pub(crate) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Returns a part of the text, by offsets from before the last `take`.
    pub(crate) fn taken(&self, start: usize, end: usize) -> &str {
        &self.text[start..end]
    }

    pub(crate) fn position(&self) -> usize {
        self.taken
    }

    /// Reads more, so that the rest grows or the end is reached. `line` is the line of the start of the
    /// rest.
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
                // Valid up to here, so no character is replaced.
                self.text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Skips a byte order mark.
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
