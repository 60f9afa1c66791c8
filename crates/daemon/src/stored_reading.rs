//! Encoding of a reading stored with its source: the digest, and the text if it is short.

use std::cell::RefCell;

use freshet_detect::{ContentDigests, ContentSignature, Extraction, Sketch};
use zstd::bulk::{Compressor, Decompressor};

/// Longer texts are not stored; they are extracted from the newest version again if needed.
const MAX_TEXT_BYTES: usize = 1 << 18;
/// A fast level, since every change is compressed.
const COMPRESSION_LEVEL: i32 = 1;

/// A stored reading.
pub(crate) struct StoredReading<'a> {
    pub(crate) stored: ContentSignature,
    compressed_text: &'a [u8],
}

impl<'a> StoredReading<'a> {
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (stored, packed) = bytes.split_at_checked(ContentSignature::ENCODED_LEN)?;
        Some(Self { stored: ContentSignature::from_bytes(stored)?, compressed_text: packed })
    }

    /// Returns the text, if stored.
    pub(crate) fn text(&self) -> Option<String> {
        decompress(self.compressed_text).and_then(|text| String::from_utf8(text).ok())
    }
}

/// Encodes a reading.
pub(crate) fn encode_reading(reading: &Extraction) -> Vec<u8> {
    let mut bytes = reading.signature().to_bytes().to_vec();
    if reading.text.len() <= MAX_TEXT_BYTES
        && let Some(text) = compress(reading.text.as_bytes())
    {
        bytes.extend(text);
    }
    bytes
}

thread_local! {
    static PACK: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(COMPRESSION_LEVEL).ok());
    static UNPACK: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Reuses one compressor per thread.
fn compress(text: &[u8]) -> Option<Vec<u8>> {
    PACK.with_borrow_mut(|it| it.as_mut()?.compress(text).ok())
}

fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.is_empty() {
        return None;
    }
    // The capacity that the frame header states.
    let room =
        Decompressor::<'static>::upper_bound(bytes).unwrap_or(MAX_TEXT_BYTES).min(MAX_TEXT_BYTES);
    UNPACK.with_borrow_mut(|it| it.as_mut()?.decompress(bytes, room).ok())
}

/// Replaces the digests and sketch of a reading whose text is the same but whose bytes differ.
pub(crate) fn replace_digests(stored: &[u8], sketch: Sketch, digests: ContentDigests) -> Vec<u8> {
    let mut bytes = ContentSignature { digests, sketch }.to_bytes().to_vec();
    bytes.extend(stored.get(ContentSignature::ENCODED_LEN..).unwrap_or_default());
    bytes
}
