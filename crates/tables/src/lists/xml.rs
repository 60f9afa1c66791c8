//! XML, read piece by piece, with the line that the reading is at.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::ListError;

/// Elements in each other, at most.
const DEEPEST: usize = 256;
/// Bytes of a piece at most, a text or a tag.
const LONGEST: usize = 1 << 20;

/// A text in XML.
pub(super) struct Xml<'a> {
    reader: Reader<Counted<'a>>,
    line: Rc<Cell<u64>>,
    /// Of the piece that is being read.
    bytes: Rc<Cell<usize>>,
    buffer: Vec<u8>,
    depth: usize,
}

/// A piece of it.
pub(super) enum Piece {
    /// An element begins: its name without prefix, and its attributes.
    Begin(String, Vec<(String, String)>),
    /// An element ends.
    End,
    /// A text.
    Text(String),
}

impl<'a> Xml<'a> {
    pub(super) fn new(inner: &'a mut dyn BufRead) -> Self {
        let (line, bytes) = (Rc::new(Cell::new(1)), Rc::new(Cell::new(0)));
        let counted = Counted { inner, line: Rc::clone(&line), bytes: Rc::clone(&bytes) };
        let mut reader = Reader::from_reader(counted);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, line, bytes, buffer: Vec::new(), depth: 0 }
    }

    /// The line that the last piece ended in.
    pub(super) fn line(&self) -> u64 {
        self.line.get()
    }

    /// The next piece; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, ListError> {
        loop {
            self.buffer.clear();
            self.bytes.set(0);
            let event = self.reader.read_event_into(&mut self.buffer);
            let fault = |why: String| ListError::Xml { line: self.line.get(), why };
            let event = event.map_err(|error| fault(error.to_string()))?;
            let piece = match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(fault(format!("more than {DEEPEST} elements in each other")));
                    }
                    begin(&start)
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    Piece::End
                }
                Event::Text(text) => Piece::Text(text.to_string()),
                Event::CData(text) => Piece::Text(text.to_string()),
                Event::GeneralRef(name) => Piece::Text(plain(&format!("&{};", &*name))),
                Event::Eof if self.depth > 0 => return Err(fault("it ends too soon".to_owned())),
                Event::Eof => return Ok(None),
                _ => continue,
            };
            return Ok(Some(piece));
        }
    }
}

fn begin(start: &BytesStart<'_>) -> Piece {
    let name = start.local_name().as_ref().to_owned();
    let mut attributes = start.attributes();
    let attributes = attributes.with_checks(false).flatten();
    let attributes = attributes.map(|it| (it.key.as_ref().to_owned(), plain(&it.value))).collect();
    Piece::Begin(name, attributes)
}

/// With the few entities that XML itself has; others stay as they are written, so none can grow.
fn plain(text: &str) -> String {
    unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// Counts lines, and the bytes of a piece: one without an end is not read to its end.
struct Counted<'a> {
    inner: &'a mut dyn BufRead,
    line: Rc<Cell<u64>>,
    bytes: Rc<Cell<usize>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = {
            let buffer = self.fill_buf()?;
            let length = buffer.len().min(out.len());
            out[..length].copy_from_slice(&buffer[..length]);
            length
        };
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.get() > LONGEST {
            return Err(io::Error::other(format!("a piece of more than {LONGEST} bytes")));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        if let Ok(buffer) = self.inner.fill_buf() {
            let lines = memchr::memchr_iter(b'\n', &buffer[..length.min(buffer.len())]);
            self.line.set(self.line.get() + lines.count() as u64);
        }
        self.bytes.set(self.bytes.get() + length);
        self.inner.consume(length);
    }
}

/// Appends a text, as far as it can be an address.
pub(super) fn push(run: &mut String, text: &str) {
    if run.len() + text.len() <= LONGEST {
        run.push_str(text);
    }
}
