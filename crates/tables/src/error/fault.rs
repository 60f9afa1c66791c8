//! Errors of a single value.

use std::fmt;

use crate::error::Position;

/// A value as written in a file, truncated for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

/// Longest value in a message, in characters.
const SHOWN: usize = 80;

impl Quoted {
    pub(crate) fn new(value: &str) -> Self {
        match value.char_indices().nth(SHOWN) {
            Some((end, _)) => Self(format!("{}…", &value[..end])),
            None => Self(value.to_owned()),
        }
    }

    pub(crate) fn number(value: f64) -> Self {
        let magnitude = value.abs();
        if magnitude == 0.0 || !magnitude.is_finite() || (1e-5..1e16).contains(&magnitude) {
            Self(value.to_string())
        } else {
            Self(format!("{value:e}"))
        }
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for c in self.0.chars() {
            // A control character could break the line or move the cursor of a terminal.
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        f.write_str("`")
    }
}

/// Error of a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A required value is missing.
    #[error("no value")]
    Missing,
    /// The text is not a number.
    #[error("{0} is not a number")]
    NotANumber(Quoted),
    /// The number is below zero.
    #[error("{0} is negative")]
    Negative(Quoted),
    /// The number is NaN or infinite.
    #[error("{0} is not a finite number")]
    NotFinite(Quoted),
    /// The number is not zero and out of range.
    #[error("{0} is outside 1e-30 to 1e30")]
    OutOfRange(Quoted),
    /// The number must be above zero.
    #[error("{0} is not above 0")]
    NotPositive(Quoted),
    /// The value is not a boolean.
    #[error("{0} is not 0, 1, true or false")]
    NotABool(Quoted),
    /// The value is neither text nor an integer.
    #[error("{0} is neither text nor an integer")]
    NotAName(Quoted),
    /// The rate is below `min_rate` of the same row.
    #[error("{max} is below min_rate {min}")]
    BelowMinRate {
        /// `max_rate` of the row.
        max: Quoted,
        /// `min_rate` of the row.
        min: Quoted,
    },
    /// Duplicate value in a column of unique values.
    #[error("{value} was seen before, {first}")]
    Duplicate {
        /// The value.
        value: Quoted,
        /// Position of its first occurrence.
        first: Position,
    },
    /// The text is not a rate.
    #[error("{0} is not a rate such as `1/s`, `500/day` or `500`")]
    NotARate(Quoted),
    /// The text is not a list of intervals and changes.
    #[error("{0} is not a history such as `[[1.5, 0], [2.25, 1]]`")]
    NotAHistory(Quoted),
    /// The time is too far in the future.
    #[error("{0} is more than 1e12 seconds after 1970")]
    TooLate(Quoted),
    /// The time is before the birth of the page.
    #[error("{value} is before birth_unix {birth}")]
    BeforeBirth {
        /// The time.
        value: Quoted,
        /// Birth of the page.
        birth: Quoted,
    },
    /// The time is after the end of the page.
    #[error("{value} is after end_unix {end}")]
    AfterEnd {
        /// The time.
        value: Quoted,
        /// End of the page.
        end: Quoted,
    },
    /// The page is not in the page file.
    #[error("{value} is not in {pages}")]
    UnknownPage {
        /// The page.
        value: Quoted,
        /// Name of the page file.
        pages: String,
    },
    /// The number of changes differs from that in the page file.
    #[error("{given}, but the trace has {found}")]
    OtherCount {
        /// Number in the page file.
        given: Quoted,
        /// Number in the trace.
        found: usize,
    },
}
