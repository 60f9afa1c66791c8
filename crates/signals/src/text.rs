//! Bytes to text in UTF-8, as they come.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::unpack::Unpacked;

/// Bytes of a piece at most: a text, a tag, an item of JSON.
pub(crate) const LONGEST_PIECE: usize = 4 << 20;
/// Bytes that are looked at to find the encoding.
const HEAD: usize = 1024;
const CHUNK: usize = 1 << 16;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A document as text. It gives valid UTF-8 only, and fails only where a piece is too long.
pub(crate) struct Text<'a> {
    inner: Unpacked<'a>,
    decoder: Decoder,
    encoding: &'static Encoding,
    /// Bytes that were looked at and are not decoded yet.
    head: Vec<u8>,
    /// What is decoded: from `begin` to `end`.
    out: Vec<u8>,
    begin: usize,
    end: usize,
    is_over: bool,
    piece: Piece,
    /// Whether it begins with a byte order mark.
    pub(crate) bom: bool,
    /// Whether there are bytes that are no text, or an encoding that nobody knows.
    pub(crate) malformed: bool,
}

/// How much has been read of a piece.
#[derive(Clone, Default)]
pub(crate) struct Piece(Rc<Cell<usize>>);

impl Piece {
    /// Another one begins.
    pub(crate) fn begin(&self) {
        self.0.set(0);
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.0.get() > LONGEST_PIECE
    }
}

impl<'a> Text<'a> {
    pub(crate) fn new(mut inner: Unpacked<'a>) -> Self {
        let mut head = Vec::with_capacity(HEAD);
        while head.len() < HEAD {
            let bytes = inner.fill();
            if bytes.is_empty() {
                break;
            }
            let length = bytes.len().min(HEAD - head.len());
            head.extend_from_slice(&bytes[..length]);
            inner.consume(length);
        }
        let found = Found::of(&head);
        head.drain(..found.bom);
        Self {
            inner,
            decoder: found.encoding.new_decoder_without_bom_handling(),
            encoding: found.encoding,
            head,
            out: vec![0; CHUNK],
            begin: 0,
            end: 0,
            is_over: false,
            piece: Piece::default(),
            bom: found.bom > 0,
            malformed: found.is_unknown,
        }
    }

    pub(crate) fn is_utf_8(&self) -> bool {
        self.encoding == UTF_8
    }

    /// The bytes that it was made of.
    pub(crate) fn unpacked(&self) -> &Unpacked<'a> {
        &self.inner
    }

    pub(crate) fn piece(&self) -> Piece {
        self.piece.clone()
    }

    /// What comes next: at least `length` bytes, unless it ends before.
    pub(crate) fn peek(&mut self, length: usize) -> &[u8] {
        while self.end - self.begin < length && !self.is_over {
            self.decode();
        }
        &self.out[self.begin..self.end]
    }

    /// Decodes some more, behind what is there.
    fn decode(&mut self) {
        self.out.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.out.len() < self.end + CHUNK {
            self.out.resize(self.end + CHUNK, 0);
        }
        let from_head = !self.head.is_empty();
        let bytes = if from_head { &self.head } else { self.inner.fill() };
        let is_last = bytes.is_empty();
        let target = &mut self.out[self.end..];
        let (result, read, written, malformed) =
            self.decoder.decode_to_utf8(bytes, target, is_last);
        if from_head {
            self.head.drain(..read);
        } else {
            self.inner.consume(read);
        }
        self.end += written;
        self.malformed |= malformed;
        self.is_over = is_last && result == CoderResult::InputEmpty;
    }
}

impl Read for Text<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(out.len());
        out[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Text<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.piece.is_too_long() {
            return Err(io::Error::other("a piece is too long"));
        }
        Ok(self.peek(1))
    }

    fn consume(&mut self, length: usize) {
        self.piece.0.set(self.piece.0.get() + length);
        self.begin = (self.begin + length).min(self.end);
    }
}

/// What the beginning of a document says of its encoding.
struct Found {
    encoding: &'static Encoding,
    bom: usize,
    is_unknown: bool,
}

impl Found {
    fn of(head: &[u8]) -> Self {
        let of = |encoding, bom| Self { encoding, bom, is_unknown: false };
        if head.starts_with(BOM) {
            // Some programs write one each.
            let more = head[BOM.len()..].chunks(BOM.len()).take_while(|it| *it == BOM).count();
            return of(UTF_8, BOM.len() * (more + 1));
        }
        match head {
            [0xff, 0xfe, ..] => return of(UTF_16LE, 2),
            [0xfe, 0xff, ..] => return of(UTF_16BE, 2),
            [b'<' | b'{' | b'h', 0, ..] => return of(UTF_16LE, 0),
            [0, b'<' | b'{' | b'h', ..] => return of(UTF_16BE, 0),
            _ => {}
        }
        let Some(label) = declared(head) else { return of(UTF_8, 0) };
        match Encoding::for_label(label) {
            // It was read as single bytes, so it cannot be that.
            Some(encoding) if encoding == UTF_16BE || encoding == UTF_16LE => {
                Self { encoding: UTF_8, bom: 0, is_unknown: true }
            }
            Some(encoding) => of(encoding, 0),
            None => Self { encoding: UTF_8, bom: 0, is_unknown: true },
        }
    }
}

/// The encoding that an XML declaration names.
fn declared(head: &[u8]) -> Option<&[u8]> {
    let begin = head.iter().position(|it| !it.is_ascii_whitespace())?;
    let rest = head[begin..].strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(rest, b"encoding")?;
    let rest = rest[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|it| matches!(it, b'"' | b'\''))?;
    let rest = &rest[1..];
    Some(&rest[..memchr::memchr(quote, rest)?])
}
