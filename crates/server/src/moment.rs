//! Moments as clients write them.

use freshet_notify::rfc3339;

/// Milliseconds since 1970 of a moment by RFC 3339: `2026-11-18T12:30:00Z`, or with another zone.
/// `None` if it is none.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, zone) = time.split_at_checked(8)?;
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = digits(parts.next()?, 2)?;
    let (millis, zone) = match zone.strip_prefix('.') {
        None => (0, zone),
        Some(rest) => {
            let end = rest.find(|it: char| !it.is_ascii_digit())?;
            let (fraction, zone) = rest.split_at(end);
            let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
            (digits(&padded, 3).filter(|_| !fraction.is_empty())?, zone)
        }
    };
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
            sign * (digits(hours, 2).filter(|it| *it < 24)? * 60
                + digits(minutes, 2).filter(|it| *it < 60)?)
        }
    };
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let minutes = days(year, month, day)? * 1440 + hour * 60 + minute - offset;
    is_time.then_some((minutes * 60 + second) * 1000 + millis)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Days from 1970 to a date of the calendar; `None` if there is no such date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    // Years begin in March here, so that the odd day is the last of one.
    let (of_year, since_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = of_year.div_euclid(400);
    let in_era = of_year.rem_euclid(400);
    let in_year = (153 * since_march + 2) / 5 + day - 1;
    let days = era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719_468;
    let is_date = rfc3339(days * 86_400_000).starts_with(&format!("{year:04}-{month:02}-{day:02}"));
    ((1..=12).contains(&month) && is_date).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<i64>) {
        assert_eq!(parse(text), expect, "{text}");
    }

    #[test]
    fn moments_are_read_as_rfc_3339_writes_them() {
        check("1970-01-01T00:00:00Z", Some(0));
        // RFC 3339 §5.8.
        check("1985-04-12T23:20:50.52Z", Some(482_196_050_520));
        check("1996-12-19T16:39:57-08:00", Some(851_042_397_000));
        check("1990-12-31T23:59:60Z", Some(662_688_000_000));
        check("2024-02-29T00:00:00.0001+00:00", Some(1_709_164_800_000));
        for at in [0, 951_782_400_000, 1_709_251_199_999, -86_400_001] {
            check(&rfc3339(at), Some(at));
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        let odd = [
            "",
            "now",
            "2023-02-29T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "2023-00-01T00:00:00Z",
            "2023-01-01",
            "2023-01-01T24:00:00Z",
            "2023-01-01T00:00:00",
            "2023-01-01T00:00:00.Z",
            "2023-01-01T00:00:00+1:00",
            "2023-01-01T00:00:00+99:00",
            "２０２３-01-01T00:00:00Z",
            "+123-01-01T00:00:00Z",
            "2023-01-01T00:0é:00Z",
        ];
        for text in odd {
            check(text, None);
        }
    }
}
