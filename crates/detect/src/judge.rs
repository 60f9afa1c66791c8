//! Whether what matters changed.

use crate::reading::{Detector, Reading};
use crate::similarity::similarity;
use crate::stored::Stored;

/// Whether a document changed, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Each byte is the same.
    SameBytes,
    /// Bytes differ, and nothing that counts.
    SameContent,
    /// What counts differs, by less than the settings ask for.
    Slight {
        /// The share of words in common.
        similarity: f64,
    },
    /// What counts differs.
    Changed {
        /// The share of words in common.
        similarity: f64,
    },
    /// The first reading was made by other rules or settings: it tells nothing. Read the old bytes
    /// again, or take this reading as the first.
    Incomparable,
}

impl Verdict {
    /// Whether someone should be told.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }
}

impl Detector {
    /// Compares a reading with what was kept of the one before it. The similarity is exact if the
    /// text of that one is at hand, else an estimate.
    #[must_use]
    pub fn judge(&self, old: &Stored, old_text: Option<&str>, new: &Reading) -> Verdict {
        let (then, now) = (&old.mark, &new.mark);
        if then.raw == now.raw {
            return Verdict::SameBytes;
        }
        if (then.rules, then.settings) != (now.rules, now.settings) {
            return Verdict::Incomparable;
        }
        if then.kind == now.kind && then.fingerprint == now.fingerprint {
            return Verdict::SameContent;
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
        if then.kind == now.kind && 1.0 - similarity < self.settings.below {
            Verdict::Slight { similarity }
        } else {
            Verdict::Changed { similarity }
        }
    }
}
