//! Streaming XML reader with line numbers.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::ListError;

/// Deepest nesting of elements.
const DEEPEST: usize = 256;
/// Longest text or tag in bytes.
const LONGEST: usize = 1 << 20;

/// A text in XML.
pub(super) struct Xml<'a> {
    reader: Reader<Counted<'a>>,
    line: Rc<Cell<u64>>,
    /// Bytes of the current piece.
    bytes: Rc<Cell<usize>>,
    buffer: Vec<u8>,
    depth: usize,
}

/// An event of the reader.
pub(super) enum Piece {
    /// Start of an element: name without prefix, and attributes.
    Begin(String, Vec<(String, String)>),
    /// End of an element.
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

    /// Returns the line in which the last event ended.
    pub(super) fn line(&self) -> u64 {
        self.line.get()
    }

    /// Returns the next event, or `None` at the end.
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
                        return Err(fault(format!(
                            "elements are nested more than {DEEPEST} levels deep"
                        )));
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

/// Expands only the entities of XML itself; others stay as written, so no text can grow.
fn plain(text: &str) -> String {
    unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// Counts lines, and limits the bytes of an event.
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

/// Appends a text up to the longest URL.
pub(super) fn push(run: &mut String, text: &str) {
    if run.len() + text.len() <= LONGEST {
        run.push_str(text);
    }
}
