//! Timestamps in requests.

use jiff::civil::{Date, DateTime, Time, date};

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// Parses an RFC 3339 timestamp, such as `2026-11-18T12:30:00Z` or `2026-11-18T13:30:00+01:00`, to
/// milliseconds since 1970. Further digits of the fraction are dropped. Returns `None` if the text is not a
/// timestamp.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (clock, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("0", rest),
        Some(rest) => rest.split_at(rest.find(|it: char| !it.is_ascii_digit())?),
    };
    let millis = match fraction {
        "" => return None,
        digits => number(&format!("{digits:0<3}")[..3], 3)?,
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    // RFC 3339 §5.7: a leap second is second 60; it counts as the second after 59.
    let leap_seconds = i64::from(second == 60);
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let [hour, minute, second] = [hour, minute, second - leap_seconds as i16].map(i8::try_from);
    let time = Time::new(hour.ok()?, minute.ok()?, second.ok()?, 0).ok()?;
    let local = DateTime::from_parts(date, time).duration_since(EPOCH).as_secs();
    Some((local + leap_seconds - offset_seconds(zone)?) * 1000 + i64::from(millis))
}

/// Parses the offset of a time zone: `Z` or `±HH:MM`.
fn offset_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let [hours, minutes] = numbers(zone.strip_prefix(['+', '-'])?, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes) * 60)
}

/// Parses numbers of fixed widths between separators.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i16; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (to, width) in numbers.iter_mut().zip(widths) {
        *to = number(parts.next()?, width)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Parses a number of a fixed width.
fn number(text: &str, width: usize) -> Option<i16> {
    let is_number = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use freshet_notify::rfc3339;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<i64>) {
        assert_eq!(parse(text), expect, "{text}");
    }

    #[test]
    fn rfc_3339_timestamps_are_parsed() {
        check("1970-01-01T00:00:00Z", Some(0));
        // RFC 3339 §5.8.
        check("1985-04-12T23:20:50.52Z", Some(482_196_050_520));
        check("1996-12-19T16:39:57-08:00", Some(851_042_397_000));
        check("1990-12-31T23:59:60Z", Some(662_688_000_000));
        check("2024-02-29T00:00:00.0001+00:00", Some(1_709_164_800_000));
        check("9999-12-31T23:59:59.999999999999Z", Some(253_402_300_799_999));
        check("0000-01-01 00:00:00z", Some(-62_167_219_200_000));
        for at in [0, 951_782_400_000, 1_709_251_199_999, -86_400_001] {
            check(&rfc3339(at), Some(at));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let texts = [
            "",
            "now",
            "2023-02-29T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "2023-00-01T00:00:00Z",
            "2023-01-01",
            "2023-01-01T24:00:00Z",
            "2023-01-01T00:00:61Z",
            "2023-01-01T00:00:00",
            "2023-01-01T00:00:00.Z",
            "2023-01-01T00:00:00+1:00",
            "2023-01-01T00:00:00+99:00",
            "２０２３-01-01T00:00:00Z",
            "+123-01-01T00:00:00Z",
            "2023-01-01T00:0é:00Z",
        ];
        for text in texts {
            check(text, None);
        }
    }
}
