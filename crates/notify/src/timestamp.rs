//! Times in the form that programs read.

use jiff::Timestamp;
use jiff::tz::Offset;

/// Milliseconds in 400 years of the Gregorian calendar (146,097 days), after which it repeats.
const MILLIS_PER_CYCLE: i64 = 146_097 * 86_400_000;

/// Formats a time in milliseconds since 1970 by RFC 3339, in UTC, with milliseconds.
///
/// Every value has a form: a year before 0 has a sign, and a year after 9999 more than four digits.
#[must_use]
pub fn rfc3339(millis: i64) -> String {
    // jiff ends with the year 9999: it formats the same day of the cycle that starts in 1970.
    let in_cycle = millis.rem_euclid(MILLIS_PER_CYCLE);
    let time = Timestamp::from_millisecond(in_cycle).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = Offset::UTC.to_datetime(time);
    let year = i64::from(time.year()) + 400 * millis.div_euclid(MILLIS_PER_CYCLE);
    format!("{year:04}-{}Z", time.strftime("%m-%dT%H:%M:%S.%3f"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // Each of them by `date -u -d @…`.
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
            (-62_167_219_200_001, "-001-12-31T23:59:59.999Z"),
        ];
        for (millis, expect) in cases {
            assert_eq!(rfc3339(millis), expect);
        }
    }
}
