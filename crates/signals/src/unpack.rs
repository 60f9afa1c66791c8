//! Bytes out of their compression, within a limit. What goes wrong ends the document and is noted.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

/// Compressed documents in compressed documents, at most.
const LAYERS: usize = 2;
/// The first bytes of what gzip compressed.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const CHUNK: usize = 1 << 16;

/// Why the bytes ended before the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Whoever gives them failed.
    Unreadable,
    /// Compressed data end in the middle.
    CutOff,
    /// Compressed data are damaged.
    Damaged,
    /// There are more than the limit.
    OverLimit,
}

/// The bytes of a document. They end without an error; `ended` says why.
pub(crate) struct Unpacked<'a> {
    inner: Box<dyn BufRead + 'a>,
    failed: Rc<Cell<bool>>,
    /// Whether some layer of compression gave more than it may.
    over: Rc<Cell<bool>>,
    left: u64,
    pub(crate) count: u64,
    pub(crate) compressed: bool,
    pub(crate) ended: Option<Ended>,
}

impl<'a> Unpacked<'a> {
    pub(crate) fn new(reader: &'a mut dyn BufRead, limit: u64) -> Self {
        let failed = Rc::new(Cell::new(false));
        let source = Source { inner: reader, failed: Rc::clone(&failed) };
        let mut unpacked = Self {
            inner: Box::new(source),
            failed,
            over: Rc::default(),
            left: limit,
            count: 0,
            compressed: false,
            ended: None,
        };
        // What is compressed twice can be long and come to nothing.
        let most = limit.saturating_mul(2).saturating_add(CHUNK as u64);
        for layer in 0..=LAYERS {
            let head = unpacked.head();
            let inner = std::mem::replace(&mut unpacked.inner, Box::new(io::empty()));
            let is_compressed = head == MAGIC && layer < LAYERS;
            let whole = Cursor::new(head).chain(inner);
            if !is_compressed {
                unpacked.inner = Box::new(whole);
                break;
            }
            unpacked.compressed = true;
            let over = Rc::clone(&unpacked.over);
            let decoder = Within { inner: MultiGzDecoder::new(whole), left: most, over };
            unpacked.inner = Box::new(BufReader::with_capacity(CHUNK, decoder));
        }
        unpacked
    }

    /// The first bytes.
    fn head(&mut self) -> Vec<u8> {
        let mut head = Vec::with_capacity(MAGIC.len());
        let read = (&mut *self.inner).take(MAGIC.len() as u64).read_to_end(&mut head);
        if let Err(error) = read {
            self.note(&error);
        }
        head
    }

    fn note(&mut self, error: &io::Error) {
        self.ended.get_or_insert(match error.kind() {
            _ if self.failed.get() => Ended::Unreadable,
            _ if self.over.get() => Ended::OverLimit,
            ErrorKind::UnexpectedEof => Ended::CutOff,
            _ => Ended::Damaged,
        });
    }

    /// What comes next, to be consumed; nothing at the end.
    pub(crate) fn fill(&mut self) -> &[u8] {
        if self.ended.is_some() {
            return &[];
        }
        // Asked twice, as what is borrowed in a loop stays so.
        let asked = loop {
            match self.inner.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
                Ok(bytes) => break Ok(bytes.is_empty()),
            }
        };
        match asked {
            Err(error) => {
                self.note(&error);
                &[]
            }
            Ok(is_end) if self.left == 0 => {
                if !is_end {
                    self.ended = Some(Ended::OverLimit);
                }
                &[]
            }
            Ok(_) => {
                let bytes = self.inner.fill_buf().unwrap_or_default();
                let most = usize::try_from(self.left).unwrap_or(usize::MAX);
                &bytes[..bytes.len().min(most)]
            }
        }
    }

    pub(crate) fn consume(&mut self, length: usize) {
        self.inner.consume(length);
        self.left = self.left.saturating_sub(length as u64);
        self.count += length as u64;
    }
}

/// What comes out of a layer of compression, up to a limit: what is in the next one may be nothing, however
/// much that is.
struct Within<R> {
    inner: R,
    left: u64,
    over: Rc<Cell<bool>>,
}

impl<R: Read> Read for Within<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.over.set(true);
            return Err(io::Error::other("it decompresses to more than the limit"));
        }
        let read = self.inner.read(out)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Whoever gives the bytes; it is noted if it was him who failed.
struct Source<'a> {
    inner: &'a mut dyn BufRead,
    failed: Rc<Cell<bool>>,
}

impl Source<'_> {
    fn noted<T>(failed: &Cell<bool>, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            failed.set(failed.get() || error.kind() != ErrorKind::Interrupted);
        }
        result
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Self::noted(&self.failed, self.inner.read(out))
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Self::noted(&self.failed, self.inner.fill_buf())
    }

    fn consume(&mut self, length: usize) {
        self.inner.consume(length);
    }
}
