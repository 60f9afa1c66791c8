//! Decompresses input, within a limit. Errors end the document and are recorded.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

/// Maximum number of nested gzip layers.
const MAX_GZIP_LAYERS: usize = 2;
/// First bytes of gzip data.
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const BUFFER_LEN: usize = 1 << 16;

/// Reason for which the input ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    /// The underlying reader failed.
    Unreadable,
    /// The compressed data is truncated.
    CutOff,
    /// The compressed data is corrupt.
    Damaged,
    /// The data exceeds the limit.
    OverLimit,
}

/// Decompressed bytes of a document. Reading never fails; `end` holds the reason for an early end.
pub(crate) struct UnpackedInput<'a> {
    inner: Box<dyn BufRead + 'a>,
    input_failed: Rc<Cell<bool>>,
    /// True if the output of a gzip layer exceeded its limit.
    layer_over_limit: Rc<Cell<bool>>,
    remaining: u64,
    pub(crate) bytes_read: u64,
    pub(crate) is_compressed: bool,
    pub(crate) end: Option<InputEnd>,
}

impl<'a> UnpackedInput<'a> {
    pub(crate) fn new(reader: &'a mut dyn BufRead, limit: u64) -> Self {
        let failed = Rc::new(Cell::new(false));
        let tracked = TrackedInput { inner: reader, failed: Rc::clone(&failed) };
        let mut unpacked = Self {
            inner: Box::new(tracked),
            input_failed: failed,
            layer_over_limit: Rc::default(),
            remaining: limit,
            bytes_read: 0,
            is_compressed: false,
            end: None,
        };
        // Nested gzip layers can be long in between and decompress to nothing.
        let max_layer_output = limit.saturating_mul(2).saturating_add(BUFFER_LEN as u64);
        for layer in 0..=MAX_GZIP_LAYERS {
            let magic = unpacked.read_magic();
            let inner = std::mem::replace(&mut unpacked.inner, Box::new(io::empty()));
            let is_compressed = magic == GZIP_MAGIC && layer < MAX_GZIP_LAYERS;
            let input = Cursor::new(magic).chain(inner);
            if !is_compressed {
                unpacked.inner = Box::new(input);
                break;
            }
            unpacked.is_compressed = true;
            let over_limit = Rc::clone(&unpacked.layer_over_limit);
            let decoder = LimitedReader {
                inner: MultiGzDecoder::new(input),
                remaining: max_layer_output,
                over_limit,
            };
            unpacked.inner = Box::new(BufReader::with_capacity(BUFFER_LEN, decoder));
        }
        unpacked
    }

    /// Reads the first bytes.
    fn read_magic(&mut self) -> Vec<u8> {
        let mut head = Vec::with_capacity(GZIP_MAGIC.len());
        let read = (&mut *self.inner).take(GZIP_MAGIC.len() as u64).read_to_end(&mut head);
        if let Err(error) = read {
            self.record_error(&error);
        }
        head
    }

    fn record_error(&mut self, error: &io::Error) {
        self.end.get_or_insert(match error.kind() {
            _ if self.input_failed.get() => InputEnd::Unreadable,
            _ if self.layer_over_limit.get() => InputEnd::OverLimit,
            ErrorKind::UnexpectedEof => InputEnd::CutOff,
            _ => InputEnd::Damaged,
        });
    }

    /// Returns the next bytes without consuming them; an empty slice at the end.
    pub(crate) fn fill_buffer(&mut self) -> &[u8] {
        if self.end.is_some() {
            return &[];
        }
        // Filled twice, since the borrow checker extends a borrow that is returned from a loop.
        let filled = loop {
            match self.inner.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
                Ok(bytes) => break Ok(bytes.is_empty()),
            }
        };
        match filled {
            Err(error) => {
                self.record_error(&error);
                &[]
            }
            Ok(is_end) if self.remaining == 0 => {
                if !is_end {
                    self.end = Some(InputEnd::OverLimit);
                }
                &[]
            }
            Ok(_) => {
                let bytes = self.inner.fill_buf().unwrap_or_default();
                let max_len = usize::try_from(self.remaining).unwrap_or(usize::MAX);
                &bytes[..bytes.len().min(max_len)]
            }
        }
    }

    pub(crate) fn consume(&mut self, length: usize) {
        self.inner.consume(length);
        self.remaining = self.remaining.saturating_sub(length as u64);
        self.bytes_read += length as u64;
    }
}

/// Limits the output of a gzip layer: the next layer may turn any amount of it into nothing.
struct LimitedReader<R> {
    inner: R,
    remaining: u64,
    over_limit: Rc<Cell<bool>>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.remaining == 0 {
            self.over_limit.set(true);
            return Err(io::Error::other("it decompresses to more than the limit"));
        }
        let read = self.inner.read(out)?;
        self.remaining = self.remaining.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Underlying reader that records its own failures.
struct TrackedInput<'a> {
    inner: &'a mut dyn BufRead,
    failed: Rc<Cell<bool>>,
}

impl TrackedInput<'_> {
    fn track<T>(failed: &Cell<bool>, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            failed.set(failed.get() || error.kind() != ErrorKind::Interrupted);
        }
        result
    }
}

impl Read for TrackedInput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Self::track(&self.failed, self.inner.read(out))
    }
}

impl BufRead for TrackedInput<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Self::track(&self.failed, self.inner.fill_buf())
    }

    fn consume(&mut self, length: usize) {
        self.inner.consume(length);
    }
}
