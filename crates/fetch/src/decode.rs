//! Bodies out of their encodings, piece by piece and never past a limit.

use std::fmt;
use std::io::Write;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{self, DParameter, Operation};

use crate::error::{FetchError, Size};

/// More encodings on top of each other than anybody has use for.
const MOST_CODINGS: usize = 3;
/// Members of gzip, or frames of zstd, in one body: each takes time even if nothing is in it.
const MOST_PARTS: u32 = 4096;
/// The largest window of zstd that HTTP allows, as a power of two (RFC 9659).
const ZSTD_WINDOW: u32 = 23;
/// The largest window of gzip and deflate, as a power of two.
const INFLATE_WINDOW: u8 = 15;
const PIECE: usize = 16 * 1024;

/// How a body is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `gzip`
    Gzip,
    /// `deflate`, with or without zlib's frame.
    Deflate,
    /// `br`
    Brotli,
    /// `zstd`
    Zstd,
}

impl Coding {
    /// What we say that we read.
    pub(crate) const ACCEPTED: &'static str = "gzip, br, zstd, deflate";

    /// The codings of a list, in the order in which they were applied. Names that people give to
    /// nothing are nothing.
    pub(crate) fn list(names: &[String]) -> Result<Vec<Self>, FetchError> {
        let refuse = |coding: &str| {
            Err(FetchError::UnknownEncoding { coding: coding.chars().take(64).collect() })
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
        if list.len() > MOST_CODINGS { refuse(&names.join(", ")) } else { Ok(list) }
    }

    /// Its name in HTTP.
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

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Takes a body piece by piece and keeps what it decodes to, or hands it on.
pub(crate) struct Decoder<'a> {
    /// The last that was applied first.
    stages: Vec<Stage>,
    out: Out<'a>,
    limit: u64,
}

/// Where a body goes.
struct Out<'a> {
    kept: Vec<u8>,
    /// Then nothing is kept.
    aside: Option<&'a mut (dyn Write + Send)>,
    length: u64,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.length += bytes.len() as u64;
        match &mut self.aside {
            Some(aside) => {
                aside.write_all(bytes).map_err(|error| FetchError::Aside { kind: error.kind() })
            }
            None => {
                self.kept.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(codings: &[Coding], expect: usize, limit: u64) -> Self {
        let stages = codings.iter().rev().map(|&coding| Stage::new(coding)).collect();
        let out = Out { kept: Vec::with_capacity(expect), aside: None, length: 0 };
        Self { stages, out, limit }
    }

    /// Hands on what it decodes to, and keeps none of it.
    pub(crate) fn aside(codings: &[Coding], limit: u64, to: &'a mut (dyn Write + Send)) -> Self {
        let mut decoder = Self::new(codings, 0, limit);
        decoder.out.aside = Some(to);
        decoder
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        push(&mut self.stages, bytes, &mut self.out, self.limit)
    }

    /// The whole body. Nothing at all is a body too, whatever it was said to be encoded in.
    pub(crate) fn finish(self) -> Result<Vec<u8>, FetchError> {
        match self.stages.iter().find(|stage| stage.begun && !stage.at_end) {
            Some(stage) => Err(FetchError::Encoding { coding: stage.coding, ended: true }),
            None => Ok(self.out.kept),
        }
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.out.length
    }

    /// What there is so far.
    pub(crate) fn into_part(self) -> Vec<u8> {
        self.out.kept
    }
}

fn push(
    stages: &mut [Stage],
    mut bytes: &[u8],
    out: &mut Out<'_>,
    limit: u64,
) -> Result<(), FetchError> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        let room = limit.saturating_sub(out.length);
        out.put(&bytes[..bytes.len().min(room.try_into().unwrap_or(usize::MAX))])?;
        return if bytes.len() as u64 > room {
            Err(FetchError::TooLarge { what: Size::Body, limit })
        } else {
            Ok(())
        };
    };
    let mut piece = [0; PIECE];
    loop {
        let (read, written) = stage.step(bytes, &mut piece)?;
        bytes = &bytes[read..];
        // Of what is in between, nobody sees how much it is: it counts as well.
        stage.written += written as u64;
        if !rest.is_empty() && stage.written > limit {
            return Err(FetchError::TooLarge { what: Size::Body, limit });
        }
        push(rest, &piece[..written], out, limit)?;
        // A full piece may have left more behind.
        if written < piece.len() && (bytes.is_empty() || read + written == 0) {
            return Ok(());
        }
    }
}

struct Stage {
    coding: Coding,
    codec: Codec,
    begun: bool,
    /// Whether all that has begun has also ended.
    at_end: bool,
    /// Members or frames so far, and bytes that they decoded to.
    parts: u32,
    written: u64,
}

enum Codec {
    Inflate(Decompress),
    Brotli(Box<Brotli>),
    Zstd(raw::Decoder<'static>),
    /// Which of the two kinds of `deflate` it is, its first byte tells.
    Unknown,
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

impl Stage {
    fn new(coding: Coding) -> Self {
        let codec = match coding {
            Coding::Gzip => Codec::Inflate(Decompress::new_gzip(INFLATE_WINDOW)),
            Coding::Deflate => Codec::Unknown,
            Coding::Brotli => Codec::Brotli(Box::new(BrotliState::new(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            Coding::Zstd => zstd_decoder().map_or(Codec::Unknown, Codec::Zstd),
        };
        Self { coding, codec, begun: false, at_end: false, parts: 1, written: 0 }
    }

    /// Reads some and writes some. After the end, what follows is passed over, as browsers do, unless
    /// it is one more gzip member or zstd frame.
    fn step(&mut self, bytes: &[u8], piece: &mut [u8]) -> Result<(usize, usize), FetchError> {
        if bytes.is_empty() && !self.begun {
            return Ok((0, 0));
        }
        if self.at_end {
            match self.coding {
                Coding::Gzip if bytes.starts_with(&[0x1f]) => {
                    self.codec = Codec::Inflate(Decompress::new_gzip(INFLATE_WINDOW));
                }
                Coding::Zstd if bytes.starts_with(&[0x28]) => {}
                _ => return Ok((bytes.len(), 0)),
            }
            self.at_end = false;
            self.parts += 1;
            if self.parts > MOST_PARTS {
                return Err(FetchError::Encoding { coding: self.coding, ended: false });
            }
        }
        self.begun = true;
        let (read, written, at_end) = self
            .run(bytes, piece)
            .ok_or(FetchError::Encoding { coding: self.coding, ended: false })?;
        self.at_end = at_end;
        Ok((read, written))
    }

    fn run(&mut self, bytes: &[u8], piece: &mut [u8]) -> Option<(usize, usize, bool)> {
        if let (Codec::Unknown, Coding::Deflate, Some(&first)) =
            (&self.codec, self.coding, bytes.first())
        {
            // zlib's first byte says "deflate" with a window of at most 32 KiB (RFC 1950 §2.2). As
            // raw deflate it would be a stored block with bits set that encoders leave clear.
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
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW)).ok()?;
    Some(decoder)
}
