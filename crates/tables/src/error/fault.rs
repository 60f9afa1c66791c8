//! What can be wrong with one value.

use std::fmt;

use crate::error::Position;

/// A value as it stood in a file, cut to a length that fits into a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

/// Values are cut after this many characters in messages.
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
            // A control character would break the line or move the reader's cursor.
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        f.write_str("`")
    }
}

/// Why a value was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A column without a default has no value here.
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
    /// The number is not zero, and too small or too large to compute with.
    #[error("{0} is outside 1e-30 to 1e30")]
    OutOfRange(Quoted),
    /// The number must be above zero.
    #[error("{0} is not above 0")]
    NotPositive(Quoted),
    /// The value is not a yes or a no.
    #[error("{0} is not 0, 1, true or false")]
    NotABool(Quoted),
    /// The value is of another type than text or integer.
    #[error("{0} is neither text nor an integer")]
    NotAName(Quoted),
    /// The rate is below the same row's `min_rate`.
    #[error("{max} is below min_rate {min}")]
    BelowMinRate {
        /// The row's `max_rate`.
        max: Quoted,
        /// The row's `min_rate`.
        min: Quoted,
    },
    /// The same value occurred before, where it may occur once only.
    #[error("{value} was seen before, {first}")]
    Duplicate {
        /// The value.
        value: Quoted,
        /// Where it occurred first.
        first: Position,
    },
    /// The text is not a rate.
    #[error("{0} is not a rate such as `1/s`, `500/day` or `500`")]
    NotARate(Quoted),
    /// The text is not a list of intervals and changes.
    #[error("{0} is not a history such as `[[1.5, 0], [2.25, 1]]`")]
    NotAHistory(Quoted),
    /// The time lies further ahead than any clock.
    #[error("{0} is more than 1e12 seconds after 1970")]
    TooLate(Quoted),
    /// The time is before the page came up.
    #[error("{value} is before birth_unix {birth}")]
    BeforeBirth {
        /// The time.
        value: Quoted,
        /// When the page came up.
        birth: Quoted,
    },
    /// The time is after the page went away.
    #[error("{value} is after end_unix {end}")]
    AfterEnd {
        /// The time.
        value: Quoted,
        /// When the page went away.
        end: Quoted,
    },
    /// The file of pages does not have the page.
    #[error("{value} is not in {pages}")]
    UnknownPage {
        /// The page.
        value: Quoted,
        /// The file of pages.
        pages: String,
    },
    /// The trace has another number of changes than the file of pages says.
    #[error("{given}, but the trace has {found}")]
    OtherCount {
        /// The number in the file of pages.
        given: Quoted,
        /// The number in the trace.
        found: usize,
    },
}
