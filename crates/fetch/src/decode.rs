//! Decodes bodies from their content codings, piece by piece and never past a limit.

use std::fmt;
use std::io::Write;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{self, DParameter, Operation};

use crate::error::{FetchError, ResponsePart};

/// Maximum number of stacked content codings.
const MAX_CODINGS: usize = 3;
/// Maximum number of gzip members or zstd frames in a body: each costs time even if it is empty.
const MAX_MEMBERS: u32 = 4096;
/// Maximum zstd window that HTTP allows, as a power of two (RFC 9659).
const MAX_ZSTD_WINDOW_LOG: u32 = 23;
/// Maximum window of gzip and deflate, as a power of two.
const MAX_INFLATE_WINDOW_LOG: u8 = 15;
const DECODE_BUFFER_LEN: usize = 16 * 1024;

/// Content coding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    /// `gzip`
    Gzip,
    /// `deflate`, with or without the zlib header.
    Deflate,
    /// `br`
    Brotli,
    /// `zstd`
    Zstd,
}

impl ContentCoding {
    /// Value of the `Accept-Encoding` header.
    pub(crate) const ACCEPT_ENCODING: &'static str = "gzip, br, zstd, deflate";

    /// Parses a list of coding names, in the order in which they were applied. Ignores names that
    /// servers use for "no coding".
    pub(crate) fn parse_list(names: &[String]) -> Result<Vec<Self>, FetchError> {
        let refuse = |coding: &str| {
            Err(FetchError::UnsupportedCoding { coding: coding.chars().take(64).collect() })
        };
        let mut list = Vec::new();
        for name in names {
            list.push(match name.to_ascii_lowercase().as_str() {
                "" | "identity" | "none" | "binary" | "utf-8" | "utf8" => continue,
                "gzip" | "x-gzip" => Self::Gzip,
                "deflate" => Self::Deflate,
                "br" => Self::Brotli,
                "zstd" => Self::Zstd,
                _ => return refuse(name),
            });
        }
        if list.len() > MAX_CODINGS { refuse(&names.join(", ")) } else { Ok(list) }
    }

    /// Returns the name in HTTP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for ContentCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Decodes a body piece by piece into memory or a sink.
pub(crate) struct Decoder<'a> {
    /// The coding that was applied last comes first.
    stages: Vec<DecodeStage>,
    out: DecodedOutput<'a>,
    limit: u64,
}

/// Decoded output: a buffer, or a sink.
struct DecodedOutput<'a> {
    buffer: Vec<u8>,
    /// Replaces `buffer` if it is set.
    sink: Option<&'a mut (dyn Write + Send)>,
    length: u64,
}

impl DecodedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.length += bytes.len() as u64;
        match &mut self.sink {
            Some(sink) => {
                sink.write_all(bytes).map_err(|error| FetchError::SinkWrite { kind: error.kind() })
            }
            None => {
                self.buffer.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(codings: &[ContentCoding], capacity: usize, limit: u64) -> Self {
        let stages = codings.iter().rev().map(|&coding| DecodeStage::new(coding)).collect();
        let out = DecodedOutput { buffer: Vec::with_capacity(capacity), sink: None, length: 0 };
        Self { stages, out, limit }
    }

    /// Returns a decoder that writes to a sink and keeps nothing.
    pub(crate) fn with_sink(
        codings: &[ContentCoding],
        limit: u64,
        writer: &'a mut (dyn Write + Send),
    ) -> Self {
        let mut decoder = Self::new(codings, 0, limit);
        decoder.out.sink = Some(writer);
        decoder
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        decode_chunk(&mut self.stages, bytes, &mut self.out, self.limit)
    }

    /// Returns the whole body. An empty body is valid in every coding.
    pub(crate) fn finish(self) -> Result<Vec<u8>, FetchError> {
        match self.stages.iter().find(|stage| stage.started && !stage.at_end) {
            Some(stage) => Err(FetchError::Decode { coding: stage.coding, truncated: true }),
            None => Ok(self.out.buffer),
        }
    }

    /// Number of decoded bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.out.length
    }

    /// Returns the bytes decoded so far.
    pub(crate) fn into_partial(self) -> Vec<u8> {
        self.out.buffer
    }
}

fn decode_chunk(
    stages: &mut [DecodeStage],
    mut bytes: &[u8],
    out: &mut DecodedOutput<'_>,
    limit: u64,
) -> Result<(), FetchError> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        let room = limit.saturating_sub(out.length);
        out.write(&bytes[..bytes.len().min(room.try_into().unwrap_or(usize::MAX))])?;
        return if bytes.len() as u64 > room {
            Err(FetchError::TooLarge { part: ResponsePart::DecodedBody, limit })
        } else {
            Ok(())
        };
    };
    let mut piece = [0; DECODE_BUFFER_LEN];
    loop {
        let (read, written) = stage.step(bytes, &mut piece)?;
        bytes = &bytes[read..];
        // The output of inner stages is invisible to the caller, so it is limited here.
        stage.written += written as u64;
        if !rest.is_empty() && stage.written > limit {
            return Err(FetchError::TooLarge { part: ResponsePart::DecodedBody, limit });
        }
        decode_chunk(rest, &piece[..written], out, limit)?;
        // A full buffer may mean that more output is pending.
        if written < piece.len() && (bytes.is_empty() || read + written == 0) {
            return Ok(());
        }
    }
}

struct DecodeStage {
    coding: ContentCoding,
    codec: Codec,
    started: bool,
    /// True if every member that began has ended.
    at_end: bool,
    /// Members or frames so far.
    members: u32,
    written: u64,
}

enum Codec {
    Inflate(Decompress),
    Brotli(Box<Brotli>),
    Zstd(raw::Decoder<'static>),
    /// `deflate` before its first byte, which tells whether it has a zlib header.
    Unknown,
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

impl DecodeStage {
    fn new(coding: ContentCoding) -> Self {
        let codec = match coding {
            ContentCoding::Gzip => Codec::Inflate(Decompress::new_gzip(MAX_INFLATE_WINDOW_LOG)),
            ContentCoding::Deflate => Codec::Unknown,
            ContentCoding::Brotli => Codec::Brotli(Box::new(BrotliState::new(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            ContentCoding::Zstd => zstd_decoder().map_or(Codec::Unknown, Codec::Zstd),
        };
        Self { coding, codec, started: false, at_end: false, members: 1, written: 0 }
    }

    /// Consumes some input and produces some output. Like browsers, ignores data after the end
    /// unless it is another gzip member or zstd frame.
    fn step(&mut self, bytes: &[u8], piece: &mut [u8]) -> Result<(usize, usize), FetchError> {
        if bytes.is_empty() && !self.started {
            return Ok((0, 0));
        }
        if self.at_end {
            match self.coding {
                ContentCoding::Gzip if bytes.starts_with(&[0x1f]) => {
                    self.codec = Codec::Inflate(Decompress::new_gzip(MAX_INFLATE_WINDOW_LOG));
                }
                ContentCoding::Zstd if bytes.starts_with(&[0x28]) => {}
                _ => return Ok((bytes.len(), 0)),
            }
            self.at_end = false;
            self.members += 1;
            if self.members > MAX_MEMBERS {
                return Err(FetchError::Decode { coding: self.coding, truncated: false });
            }
        }
        self.started = true;
        let (read, written, at_end) = self
            .run(bytes, piece)
            .ok_or(FetchError::Decode { coding: self.coding, truncated: false })?;
        self.at_end = at_end;
        Ok((read, written))
    }

    fn run(&mut self, bytes: &[u8], piece: &mut [u8]) -> Option<(usize, usize, bool)> {
        if let (Codec::Unknown, ContentCoding::Deflate, Some(&first)) =
            (&self.codec, self.coding, bytes.first())
        {
            // The first byte of zlib says "deflate" with a window of at most 32 KiB (RFC 1950
            // §2.2). As raw deflate it would be a stored block with bits set that encoders leave
            // clear.
            let is_zlib = first & 0x0f == 8 && first >> 4 <= 7;
            self.codec = Codec::Inflate(Decompress::new(is_zlib));
        }
        match &mut self.codec {
            Codec::Inflate(inflate) => {
                let (read, written) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(bytes, piece, FlushDecompress::None).ok()?;
                let (read, written) = (inflate.total_in() - read, inflate.total_out() - written);
                Some((read as usize, written as usize, status == Status::StreamEnd))
            }
            Codec::Brotli(state) => {
                let (mut left, mut read) = (bytes.len(), 0);
                let (mut room, mut written, mut total) = (piece.len(), 0, 0);
                let result = BrotliDecompressStream(
                    &mut left,
                    &mut read,
                    bytes,
                    &mut room,
                    &mut written,
                    piece,
                    &mut total,
                    state,
                );
                match result {
                    BrotliResult::ResultFailure => None,
                    it => Some((read, written, matches!(it, BrotliResult::ResultSuccess))),
                }
            }
            Codec::Zstd(decoder) => {
                let status = decoder.run_on_buffers(bytes, piece).ok()?;
                Some((status.bytes_read, status.bytes_written, status.remaining == 0))
            }
            Codec::Unknown => None,
        }
    }
}

fn zstd_decoder() -> Option<raw::Decoder<'static>> {
    let mut decoder = raw::Decoder::new().ok()?;
    decoder.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG)).ok()?;
    Some(decoder)
}
