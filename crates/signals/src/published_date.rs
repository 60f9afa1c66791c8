//! Moments as documents say them.

mod civil;
mod months;
mod parse;

use std::ops::RangeInclusive;

pub(crate) use parse::{Form, parse};

/// Clocks are no further east than this, in seconds.
const EAST: i64 = 14 * 3600;
/// Clocks are no further west than this, in seconds.
const WEST: i64 = 12 * 3600;

/// A moment as a document says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedDate {
    /// Seconds since 1970; of a day, month or year its beginning. Where no time zone is given, as if
    /// it were UTC.
    pub at: i64,
    /// How exactly it is said.
    pub grain: DatePrecision,
}

/// How exactly a moment is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePrecision {
    /// A time of day with its zone.
    Exact,
    /// A time of day somewhere on Earth.
    NoZone,
    /// A day.
    Day,
    /// A month.
    Month,
    /// A year.
    Year,
}

impl PublishedDate {
    /// The moments that can be meant, from the earliest to the latest: a day is longer than a day, as
    /// nobody says where.
    #[must_use]
    pub fn span(self) -> RangeInclusive<i64> {
        let length = match self.grain {
            DatePrecision::Exact => return self.at..=self.at,
            DatePrecision::NoZone => 0,
            DatePrecision::Day => civil::DAY - 1,
            DatePrecision::Month => civil::month_length(self.at) - 1,
            DatePrecision::Year => civil::year_length(self.at) - 1,
        };
        self.at.saturating_sub(EAST)..=self.at.saturating_add(length + WEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_as_long_as_what_was_said() {
        let length = |text: &str| {
            let span = parse(text).unwrap().said.span();
            span.end() - span.start() + 1
        };
        let anywhere = EAST + WEST;
        assert_eq!(length("2024-02-03T04:05:06Z"), 1);
        assert_eq!(length("2024-02-03T04:05:06"), 1 + anywhere);
        assert_eq!(length("2024-02-03"), 86_400 + anywhere);
        assert_eq!(length("2024-02"), 29 * 86_400 + anywhere);
        assert_eq!(length("2023"), 365 * 86_400 + anywhere);
    }
}
