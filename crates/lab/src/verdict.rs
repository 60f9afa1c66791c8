//! What becomes of a printed number or claim.

use std::fmt;

/// What becomes of a printed number or claim. From the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Our number is the printed one, to the digits printed.
    Reproduced,
    /// The paper's data are not at hand; the property that it states holds for data like them.
    Shape,
    /// What the paper states fits more than one number.
    NotDeterminable,
    /// The printed number is wrong: a proof or a second calculation rules it out.
    Misprint,
    /// Our number or finding is another, and nothing says that the paper is wrong.
    Differs,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Shape, Self::NotDeterminable, Self::Misprint, Self::Differs];

    /// In words.
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

    /// What it means, in a sentence.
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

    /// One character, for readers without colours.
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

    /// Its name where blanks are not allowed.
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
