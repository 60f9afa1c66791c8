//! Formats times and durations for people. All values are in milliseconds.

/// Milliseconds in a second.
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Formats a time relative to now: `3 min ago`, `in 2 h`, `now`.
#[must_use]
pub fn format_relative(at: i64, now: i64) -> String {
    let elapsed = now.saturating_sub(at);
    match elapsed {
        _ if elapsed.abs() < SECOND => "now".to_owned(),
        _ if elapsed > 0 => format!("{} ago", format_duration(elapsed)),
        _ => format!("in {}", format_duration(elapsed.saturating_neg())),
    }
}

/// Formats the time of a future event relative to now: `–` if there is none, `now` if it is overdue.
#[must_use]
pub fn format_next(at: Option<i64>, now: i64) -> String {
    at.map_or_else(|| "–".to_owned(), |at| format_relative(at.max(now), now))
}

/// Formats the time of a past event relative to now: `never` if there was none.
#[must_use]
pub fn format_last(at: Option<i64>, now: i64) -> String {
    at.map_or_else(|| "never".to_owned(), |at| format_relative(at, now))
}

/// Formats a duration with one unit: `45 s`, `3 min`, `2 h`, `5 d`.
#[must_use]
pub fn format_duration(millis: i64) -> String {
    let millis = millis.max(0);
    match millis {
        ..SECOND => format!("{millis} ms"),
        SECOND..MINUTE => format!("{} s", millis / SECOND),
        MINUTE..HOUR => format!("{} min", millis / MINUTE),
        HOUR..DAY => format!("{} h", millis / HOUR),
        _ if millis < 730 * DAY => format!("{} d", millis / DAY),
        _ => format!("{} y", millis / (365 * DAY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_with_one_unit() {
        let now = 100 * DAY;
        let cases = [
            (now, "now"),
            (now - 45 * SECOND, "45 s ago"),
            (now - 3 * MINUTE - 1, "3 min ago"),
            (now + 2 * HOUR, "in 2 h"),
            (now - 5 * DAY, "5 d ago"),
            (now - 800 * DAY, "2 y ago"),
        ];
        for (at, expect) in cases {
            assert_eq!(format_relative(at, now), expect);
        }
        assert_eq!(
            (format_next(Some(now - HOUR), now), format_last(None, now)),
            ("now".into(), "never".into())
        );
    }
}
