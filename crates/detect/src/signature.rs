//! The signature of content: all that is kept of it to compare later content with.

use crate::document_kind::DocumentKind;
use crate::sketch::{COUNTERS, Sketch};

/// Version of the extraction rules. It changes whenever another text is extracted from the same
/// bytes: fingerprints of different versions cannot be compared.
pub const RULES_VERSION: u16 = 2;

/// Everything that is kept of content, for comparison with later content. Encoded in
/// [`ContentSignature::ENCODED_LEN`] bytes, little-endian:
///
/// | bytes | content |
/// | --- | --- |
/// | 0 | version of this layout: 1 |
/// | 1 | kind of document |
/// | 2–3 | version of the extraction rules |
/// | 4–11 | digest of the settings |
/// | 12–27 | digest of the raw bytes |
/// | 28–43 | fingerprint of the content |
/// | 44–47 | number of words |
/// | 48–175 | 64 counters of the sketch |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSignature {
    /// Digests of the document, the settings and the content.
    pub digests: ContentDigests,
    /// Estimates the similarity.
    pub sketch: Sketch,
}

/// Digests of a document, the settings and the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentDigests {
    /// Kind of document.
    pub kind: DocumentKind,
    /// Version of the extraction rules.
    pub rules_version: u16,
    /// Digest of the settings.
    pub settings: u64,
    /// XXH3-128 of the raw bytes.
    pub raw: u128,
    /// XXH3-128 of the version of the rules, the kind and the content.
    pub fingerprint: u128,
}

impl ContentSignature {
    /// Length of the encoding in bytes.
    pub const ENCODED_LEN: usize = 48 + 2 * COUNTERS;

    const LAYOUT: u8 = 1;

    /// Encodes the signature.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::ENCODED_LEN] {
        let Self { digests, sketch } = self;
        let mut bytes = [0; Self::ENCODED_LEN];
        bytes[0] = Self::LAYOUT;
        bytes[1] = digests.kind as u8;
        bytes[2..4].copy_from_slice(&digests.rules_version.to_le_bytes());
        bytes[4..12].copy_from_slice(&digests.settings.to_le_bytes());
        bytes[12..28].copy_from_slice(&digests.raw.to_le_bytes());
        bytes[28..44].copy_from_slice(&digests.fingerprint.to_le_bytes());
        bytes[44..48].copy_from_slice(&sketch.words.to_le_bytes());
        for (slot, counter) in bytes[48..].chunks_exact_mut(2).zip(&sketch.counters) {
            slot.copy_from_slice(&counter.to_le_bytes());
        }
        bytes
    }

    /// Decodes a signature. Returns `None` if the bytes are not an encoding of this version.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::ENCODED_LEN] = bytes.try_into().ok()?;
        if bytes[0] != Self::LAYOUT {
            return None;
        }
        let mut counters = [0; COUNTERS];
        for (counter, slot) in counters.iter_mut().zip(bytes[48..].chunks_exact(2)) {
            *counter = i16::from_le_bytes([slot[0], slot[1]]);
        }
        let digests = ContentDigests {
            kind: DocumentKind::ALL.into_iter().find(|it| *it as u8 == bytes[1])?,
            rules_version: u16::from_le_bytes(bytes[2..4].try_into().ok()?),
            settings: u64::from_le_bytes(bytes[4..12].try_into().ok()?),
            raw: u128::from_le_bytes(bytes[12..28].try_into().ok()?),
            fingerprint: u128::from_le_bytes(bytes[28..44].try_into().ok()?),
        };
        let words = u32::from_le_bytes(bytes[44..48].try_into().ok()?);
        Some(Self { digests, sketch: Sketch { words, counters } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_signature_equals_the_encoded_one() {
        let digests = ContentDigests {
            kind: DocumentKind::Json,
            rules_version: 7,
            settings: 8,
            raw: 1 << 100,
            fingerprint: u128::MAX - 5,
        };
        let stored = ContentSignature { digests, sketch: Sketch::from_text("some words and -5") };
        assert_eq!(ContentSignature::from_bytes(&stored.to_bytes()), Some(stored));
        assert_eq!(ContentSignature::from_bytes(&stored.to_bytes()[1..]), None);
        let mut changed = stored.to_bytes();
        changed[0] = 2;
        assert_eq!(ContentSignature::from_bytes(&changed), None);
        changed = stored.to_bytes();
        changed[1] = 99;
        assert_eq!(ContentSignature::from_bytes(&changed), None);
    }
}
