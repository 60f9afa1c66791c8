//! Verdict on a printed number or claim.

use std::fmt;

/// Verdict on a printed number or claim, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The computed number equals the printed one, to the printed digits.
    Reproduced,
    /// The data of the paper are not public; the stated property holds for similar data.
    Shape,
    /// What the paper states fits more than one number.
    NotDeterminable,
    /// The printed number is wrong: a proof or a second calculation rules it out.
    Misprint,
    /// The computed number differs, and no evidence shows that the paper is wrong.
    Differs,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Shape, Self::NotDeterminable, Self::Misprint, Self::Differs];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Shape => "shape",
            Self::NotDeterminable => "not determinable",
            Self::Misprint => "misprint",
            Self::Differs => "differs",
        }
    }

    /// Returns the meaning as a sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Reproduced => "our number rounds to the printed one",
            Self::Shape => "the property that the paper states holds for what we calculated",
            Self::NotDeterminable => "what the paper states fits more than one number",
            Self::Misprint => "the printed number is ruled out by a proof or a second calculation",
            Self::Differs => "we find another number, and cannot say why",
        }
    }

    /// Returns a one-character symbol.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Reproduced => "=",
            Self::Shape => "~",
            Self::NotDeterminable => "?",
            Self::Misprint => "≠",
            Self::Differs => "✗",
        }
    }

    /// Returns the name without spaces.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::NotDeterminable => "not-determinable",
            other => other.name(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
