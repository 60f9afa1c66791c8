//! Moments as programs read them.

/// Milliseconds.
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A moment by RFC 3339, in UTC, with milliseconds.
#[must_use]
pub fn rfc3339(at: i64) -> String {
    let (day, time) = (at.div_euclid(DAY), at.rem_euclid(DAY));
    let (year, month, day) = date(day);
    let (hour, minute) = (time / HOUR, time % HOUR / MINUTE);
    let (second, millis) = (time % MINUTE / SECOND, time % SECOND);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date of a day since 1970. Years begin in March here, so that the odd day is the last of one; 400
/// of them have 146,097 days.
fn date(day: i64) -> (i64, i64, i64) {
    let since = day + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
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
        ];
        for (at, expect) in cases {
            assert_eq!(rfc3339(at), expect);
        }
    }
}
