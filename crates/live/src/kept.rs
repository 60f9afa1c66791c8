//! What is kept of a reading beside the source: its digest, and its text as long as that is short.

use freshet_detect::{Reading, Stored};

/// Texts longer than this are not kept: they are read again from the newest version if need be.
const LONGEST: usize = 1 << 18;
/// Fast: it is done for each change.
const LEVEL: i32 = 1;

/// What is kept of a reading.
pub(crate) struct Kept {
    pub(crate) stored: Stored,
    pub(crate) text: Option<String>,
}

impl Kept {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (stored, text) = bytes.split_at_checked(Stored::LENGTH)?;
        let stored = Stored::from_bytes(stored)?;
        let text = zstd::bulk::decompress(text, LONGEST).ok().filter(|_| !text.is_empty());
        Some(Self { stored, text: text.and_then(|text| String::from_utf8(text).ok()) })
    }
}

/// A reading as it is kept.
pub(crate) fn kept(reading: &Reading) -> Vec<u8> {
    let mut bytes = reading.stored.to_bytes().to_vec();
    if reading.text.len() <= LONGEST
        && let Ok(text) = zstd::bulk::compress(reading.text.as_bytes(), LEVEL)
    {
        bytes.extend(text);
    }
    bytes
}

/// The same text with other bytes around it.
pub(crate) fn with_digest(kept: &[u8], stored: &Stored) -> Vec<u8> {
    let mut bytes = stored.to_bytes().to_vec();
    bytes.extend(kept.get(Stored::LENGTH..).unwrap_or_default());
    bytes
}
