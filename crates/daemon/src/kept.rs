//! What is kept of a reading beside the source: its digest, and its text as long as that is short.

use std::cell::RefCell;

use freshet_detect::{Mark, Reading, Sketch, Stored};
use zstd::bulk::{Compressor, Decompressor};

/// Texts longer than this are not kept: they are read again from the newest version if need be.
const LONGEST: usize = 1 << 18;
/// Fast: it is done for each change.
const LEVEL: i32 = 1;

/// What is kept of a reading.
pub(crate) struct Kept<'a> {
    pub(crate) stored: Stored,
    packed: &'a [u8],
}

impl<'a> Kept<'a> {
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (stored, packed) = bytes.split_at_checked(Stored::LENGTH)?;
        Some(Self { stored: Stored::from_bytes(stored)?, packed })
    }

    /// Its text, if that is kept.
    pub(crate) fn text(&self) -> Option<String> {
        unpack(self.packed).and_then(|text| String::from_utf8(text).ok())
    }
}

/// A reading as it is kept.
pub(crate) fn kept(reading: &Reading) -> Vec<u8> {
    let mut bytes = reading.stored().to_bytes().to_vec();
    if reading.text.len() <= LONGEST
        && let Some(text) = pack(reading.text.as_bytes())
    {
        bytes.extend(text);
    }
    bytes
}

thread_local! {
    static PACK: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    static UNPACK: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// With tables that are made once for each thread.
fn pack(text: &[u8]) -> Option<Vec<u8>> {
    PACK.with_borrow_mut(|it| it.as_mut()?.compress(text).ok())
}

fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.is_empty() {
        return None;
    }
    // As much room as it says that it needs.
    let room = Decompressor::<'static>::upper_bound(bytes).unwrap_or(LONGEST).min(LONGEST);
    UNPACK.with_borrow_mut(|it| it.as_mut()?.decompress(bytes, room).ok())
}

/// The same text with other bytes around it: what it is like does not change.
pub(crate) fn with_mark(kept: &[u8], sketch: Sketch, mark: Mark) -> Vec<u8> {
    let mut bytes = Stored { mark, sketch }.to_bytes().to_vec();
    bytes.extend(kept.get(Stored::LENGTH..).unwrap_or_default());
    bytes
}
