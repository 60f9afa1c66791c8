//! Compares the content of a document with earlier content.

use crate::extraction::{Detector, Extraction};
use crate::signature::ContentSignature;
use crate::similarity::similarity;

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChangeVerdict {
    /// All bytes are the same.
    SameBytes,
    /// The bytes differ, but the content is the same.
    SameContent,
    /// The content differs by less than the threshold.
    Slight {
        /// Share of words in common.
        similarity: f64,
    },
    /// The content differs.
    Changed {
        /// Share of words in common.
        similarity: f64,
    },
    /// The earlier content was extracted by other rules or settings. Extract it again from the old
    /// bytes, or use the new content as the first.
    Incomparable,
}

impl ChangeVerdict {
    /// True if the change is to be reported.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }
}

impl Detector {
    /// Compares content with the signature of earlier content. The similarity is exact with the
    /// earlier text, and an estimate without it.
    #[must_use]
    pub fn compare(
        &self,
        old: &ContentSignature,
        old_text: Option<&str>,
        new: &Extraction,
    ) -> ChangeVerdict {
        let (old_digests, new_digests) = (&old.digests, &new.digests);
        if old_digests.raw == new_digests.raw {
            return ChangeVerdict::SameBytes;
        }
        if (old_digests.rules_version, old_digests.settings)
            != (new_digests.rules_version, new_digests.settings)
        {
            return ChangeVerdict::Incomparable;
        }
        if old_digests.kind == new_digests.kind
            && old_digests.fingerprint == new_digests.fingerprint
        {
            return ChangeVerdict::SameContent;
        }
        let similarity = if new.text.is_empty() && *new.sketch() == old.sketch {
            // Bytes have no words.
            0.0
        } else {
            match old_text {
                Some(text) => similarity(text, &new.text),
                None => old.sketch.similarity(new.sketch()),
            }
        };
        if old_digests.kind == new_digests.kind && 1.0 - similarity < self.settings.below {
            ChangeVerdict::Slight { similarity }
        } else {
            ChangeVerdict::Changed { similarity }
        }
    }
}
