//! Decodes input to UTF-8 as it is read.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::unpack::UnpackedInput;

/// Maximum length of a piece in bytes: a text, a tag or a JSON item.
pub(crate) const MAX_PIECE_LEN: usize = 4 << 20;
/// Length of the prefix that determines the encoding.
const ENCODING_PREFIX_LEN: usize = 1024;
const CHUNK_LEN: usize = 1 << 16;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Document as valid UTF-8. Reading fails only if a piece is too long.
pub(crate) struct TextReader<'a> {
    inner: UnpackedInput<'a>,
    decoder: Decoder,
    encoding: &'static Encoding,
    /// Bytes that were examined but not decoded yet.
    head: Vec<u8>,
    /// Decoded bytes, valid from `begin` to `end`.
    out: Vec<u8>,
    begin: usize,
    end: usize,
    is_finished: bool,
    piece: PieceLength,
    /// True if the document begins with a byte-order mark.
    pub(crate) has_bom: bool,
    /// True if the document has invalid bytes or an unknown encoding.
    pub(crate) is_malformed: bool,
}

/// Number of bytes read of the current piece.
#[derive(Clone, Default)]
pub(crate) struct PieceLength(Rc<Cell<usize>>);

impl PieceLength {
    /// Starts another piece.
    pub(crate) fn reset(&self) {
        self.0.set(0);
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.0.get() > MAX_PIECE_LEN
    }
}

impl<'a> TextReader<'a> {
    pub(crate) fn new(mut inner: UnpackedInput<'a>) -> Self {
        let mut head = Vec::with_capacity(ENCODING_PREFIX_LEN);
        while head.len() < ENCODING_PREFIX_LEN {
            let bytes = inner.fill_buffer();
            if bytes.is_empty() {
                break;
            }
            let length = bytes.len().min(ENCODING_PREFIX_LEN - head.len());
            head.extend_from_slice(&bytes[..length]);
            inner.consume(length);
        }
        let detected = DetectedEncoding::detect(&head);
        head.drain(..detected.bom_len);
        Self {
            inner,
            decoder: detected.encoding.new_decoder_without_bom_handling(),
            encoding: detected.encoding,
            head,
            out: vec![0; CHUNK_LEN],
            begin: 0,
            end: 0,
            is_finished: false,
            piece: PieceLength::default(),
            has_bom: detected.bom_len > 0,
            is_malformed: detected.is_unknown,
        }
    }

    pub(crate) fn is_utf_8(&self) -> bool {
        self.encoding == UTF_8
    }

    /// Returns the input.
    pub(crate) fn unpacked(&self) -> &UnpackedInput<'a> {
        &self.inner
    }

    pub(crate) fn piece(&self) -> PieceLength {
        self.piece.clone()
    }

    /// Returns the next bytes: at least `length`, unless the document ends.
    pub(crate) fn peek(&mut self, length: usize) -> &[u8] {
        while self.end - self.begin < length && !self.is_finished {
            self.decode();
        }
        &self.out[self.begin..self.end]
    }

    /// Decodes more bytes and appends them.
    fn decode(&mut self) {
        self.out.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.out.len() < self.end + CHUNK_LEN {
            self.out.resize(self.end + CHUNK_LEN, 0);
        }
        let from_head = !self.head.is_empty();
        let bytes = if from_head { &self.head } else { self.inner.fill_buffer() };
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
        self.is_malformed |= malformed;
        self.is_finished = is_last && result == CoderResult::InputEmpty;
    }
}

impl Read for TextReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(out.len());
        out[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for TextReader<'_> {
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

/// Encoding according to the beginning of a document.
struct DetectedEncoding {
    encoding: &'static Encoding,
    bom_len: usize,
    is_unknown: bool,
}

impl DetectedEncoding {
    fn detect(head: &[u8]) -> Self {
        let known = |encoding, bom_len| Self { encoding, bom_len, is_unknown: false };
        if head.starts_with(BOM) {
            // Some programs write several.
            let extra_marks =
                head[BOM.len()..].chunks(BOM.len()).take_while(|it| *it == BOM).count();
            return known(UTF_8, BOM.len() * (extra_marks + 1));
        }
        match head {
            [0xff, 0xfe, ..] => return known(UTF_16LE, 2),
            [0xfe, 0xff, ..] => return known(UTF_16BE, 2),
            [b'<' | b'{' | b'h', 0, ..] => return known(UTF_16LE, 0),
            [0, b'<' | b'{' | b'h', ..] => return known(UTF_16BE, 0),
            _ => {}
        }
        let Some(label) = declared_encoding(head) else { return known(UTF_8, 0) };
        match Encoding::for_label(label) {
            // The declaration was readable as single bytes, so the encoding cannot be UTF-16.
            Some(encoding) if encoding == UTF_16BE || encoding == UTF_16LE => {
                Self { encoding: UTF_8, bom_len: 0, is_unknown: true }
            }
            Some(encoding) => known(encoding, 0),
            None => Self { encoding: UTF_8, bom_len: 0, is_unknown: true },
        }
    }
}

/// Returns the encoding of the XML declaration.
fn declared_encoding(head: &[u8]) -> Option<&[u8]> {
    let begin = head.iter().position(|it| !it.is_ascii_whitespace())?;
    let rest = head[begin..].strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr::memchr(b'>', rest)?];
    let offset = memchr::memmem::find(rest, b"encoding")?;
    let rest = rest[offset + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|it| matches!(it, b'"' | b'\''))?;
    let rest = &rest[1..];
    Some(&rest[..memchr::memchr(quote, rest)?])
}
