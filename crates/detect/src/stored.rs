//! What is kept of a reading until the next one.

use crate::kind::Kind;
use crate::sketch::{COUNTERS, Sketch};

/// Changes whenever other text is taken from the same bytes: fingerprints of another version of the
/// rules tell nothing of a change.
pub const RULES: u16 = 2;

/// What is kept of a reading to judge the next one by. In bytes it has [`Stored::LENGTH`] of them.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 | 1, the version of this layout |
/// | 1 | the kind |
/// | 2–3 | the version of the rules |
/// | 4–11 | digest of the settings |
/// | 12–27 | digest of the raw bytes |
/// | 28–43 | fingerprint of what counts |
/// | 44–47 | words |
/// | 48–175 | 64 counters of the sketch |
///
/// Numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// By what it is known again.
    pub mark: Mark,
    /// For the similarity.
    pub sketch: Sketch,
}

/// By what a reading is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How the bytes were read.
    pub kind: Kind,
    /// The version of the rules.
    pub rules: u16,
    /// A digest of the settings.
    pub settings: u64,
    /// XXH3-128 of the raw bytes.
    pub raw: u128,
    /// XXH3-128 of what counts, with the kind and the version of the rules.
    pub fingerprint: u128,
}

impl Stored {
    /// How many bytes it takes.
    pub const LENGTH: usize = 48 + 2 * COUNTERS;

    const LAYOUT: u8 = 1;

    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let Self { mark, sketch } = self;
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = Self::LAYOUT;
        bytes[1] = mark.kind as u8;
        bytes[2..4].copy_from_slice(&mark.rules.to_le_bytes());
        bytes[4..12].copy_from_slice(&mark.settings.to_le_bytes());
        bytes[12..28].copy_from_slice(&mark.raw.to_le_bytes());
        bytes[28..44].copy_from_slice(&mark.fingerprint.to_le_bytes());
        bytes[44..48].copy_from_slice(&sketch.words.to_le_bytes());
        for (slot, counter) in bytes[48..].chunks_exact_mut(2).zip(&sketch.counters) {
            slot.copy_from_slice(&counter.to_le_bytes());
        }
        bytes
    }

    /// From bytes; nothing if they are no such thing.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.try_into().ok()?;
        if bytes[0] != Self::LAYOUT {
            return None;
        }
        let mut counters = [0; COUNTERS];
        for (counter, slot) in counters.iter_mut().zip(bytes[48..].chunks_exact(2)) {
            *counter = i16::from_le_bytes([slot[0], slot[1]]);
        }
        let mark = Mark {
            kind: Kind::ALL.into_iter().find(|it| *it as u8 == bytes[1])?,
            rules: u16::from_le_bytes(bytes[2..4].try_into().ok()?),
            settings: u64::from_le_bytes(bytes[4..12].try_into().ok()?),
            raw: u128::from_le_bytes(bytes[12..28].try_into().ok()?),
            fingerprint: u128::from_le_bytes(bytes[28..44].try_into().ok()?),
        };
        let words = u32::from_le_bytes(bytes[44..48].try_into().ok()?);
        Some(Self { mark, sketch: Sketch { words, counters } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mark = Mark {
            kind: Kind::Json,
            rules: 7,
            settings: 8,
            raw: 1 << 100,
            fingerprint: u128::MAX - 5,
        };
        let stored = Stored { mark, sketch: Sketch::of("some words and -5") };
        assert_eq!(Stored::from_bytes(&stored.to_bytes()), Some(stored));
        assert_eq!(Stored::from_bytes(&stored.to_bytes()[1..]), None);
        let mut newer = stored.to_bytes();
        newer[0] = 2;
        assert_eq!(Stored::from_bytes(&newer), None);
        newer = stored.to_bytes();
        newer[1] = 99;
        assert_eq!(Stored::from_bytes(&newer), None);
    }
}
