//! Dates as documents state them.

mod names;
mod parse;

use std::ops::RangeInclusive;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, date};

pub(crate) use parse::{DateFormat, parse};

/// Seconds per day.
const DAY: i64 = 86_400;
/// Largest offset of a time zone east of UTC, in seconds.
const MAX_EAST_OFFSET: i64 = 14 * 3600;
/// Largest offset of a time zone west of UTC, in seconds.
const MAX_WEST_OFFSET: i64 = 12 * 3600;
/// 1970-01-01.
const EPOCH: Date = date(1970, 1, 1);

/// Date as a document states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedDate {
    /// Seconds since 1970; for a day, month or year its beginning. Without a time zone, UTC is
    /// assumed.
    pub unix_seconds: i64,
    /// Precision of the date.
    pub precision: DatePrecision,
}

/// Precision of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePrecision {
    /// Time of day with its time zone.
    Exact,
    /// Time of day without a time zone.
    NoZone,
    /// Day.
    Day,
    /// Month.
    Month,
    /// Year.
    Year,
}

impl PublishedDate {
    /// Returns the moments that the date can mean, in seconds since 1970, from the earliest to the
    /// latest. Without a time zone, a day spans more than 24 hours.
    #[must_use]
    pub fn possible_range(self) -> RangeInclusive<i64> {
        let length = match self.precision {
            DatePrecision::Exact => return self.unix_seconds..=self.unix_seconds,
            DatePrecision::NoZone => 0,
            DatePrecision::Day => DAY - 1,
            DatePrecision::Month => i64::from(self.date().days_in_month()) * DAY - 1,
            DatePrecision::Year => i64::from(self.date().days_in_year()) * DAY - 1,
        };
        let earliest = self.unix_seconds.saturating_sub(MAX_EAST_OFFSET);
        earliest..=self.unix_seconds.saturating_add(length + MAX_WEST_OFFSET)
    }

    /// Returns the UTC date.
    fn date(self) -> Date {
        DateTime::from(EPOCH).saturating_add(SignedDuration::from_secs(self.unix_seconds)).date()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_possible_range_is_as_long_as_the_precision() {
        let length = |text: &str| {
            let range = parse(text).unwrap().date.possible_range();
            range.end() - range.start() + 1
        };
        let anywhere = MAX_EAST_OFFSET + MAX_WEST_OFFSET;
        assert_eq!(length("2024-02-03T04:05:06Z"), 1);
        assert_eq!(length("2024-02-03T04:05:06"), 1 + anywhere);
        assert_eq!(length("2024-02-03"), 86_400 + anywhere);
        assert_eq!(length("2024-02"), 29 * 86_400 + anywhere);
        assert_eq!(length("2023"), 365 * 86_400 + anywhere);
    }
}
