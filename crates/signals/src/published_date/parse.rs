//! Tolerant parser for dates: W3C datetime, RFC 822, and the variants that documents contain.
//!
//! The parsers of `jiff` reject most of these variants, so only calendar arithmetic is theirs.

use jiff::civil::Date;

use super::names::{month_number, zone_offset};
use super::{DatePrecision, EPOCH, PublishedDate};

/// Maximum length of a date in bytes.
const MAX_DATE_LEN: usize = 80;

/// Format in which a date is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateFormat {
    /// W3C datetime, a profile of ISO 8601: year, month and day with hyphens.
    W3c,
    /// RFC 822, as in mail.
    Mail,
    /// Any other format.
    Other,
}

/// Parsed date and its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedDate {
    pub(crate) date: PublishedDate,
    pub(crate) format: DateFormat,
}

impl ParsedDate {
    fn new(unix_seconds: i64, precision: DatePrecision, format: DateFormat) -> Self {
        Self { date: PublishedDate { unix_seconds, precision }, format }
    }
}

/// Parses a date; `None` if it is invalid.
pub(crate) fn parse(text: &str) -> Option<ParsedDate> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_DATE_LEN {
        return None;
    }
    parse_numeric(text).or_else(|| parse_words(text))
}

/// Returns the beginning of a day in seconds since 1970; `None` if there is no such day.
fn day_start(year: i64, month: i64, day: i64) -> Option<i64> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let date = Date::new(i16::try_from(year).ok()?, month, day).ok()?;
    Some(date.duration_since(EPOCH).as_secs())
}

/// Scanner for numbers and single bytes.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Skips one byte that satisfies a predicate; returns true if it did.
    fn skip(&mut self, predicate: impl Fn(u8) -> bool) -> bool {
        let matches = self.peek().is_some_and(predicate);
        if matches {
            self.0 = &self.0[1..];
        }
        matches
    }

    /// Reads a number of `min_digits` to `max_digits` digits; returns its value and length.
    fn number(&mut self, min_digits: usize, max_digits: usize) -> Option<(i64, usize)> {
        let length = self.0.iter().take(max_digits).take_while(|it| it.is_ascii_digit()).count();
        let value = self.0[..length].iter().fold(0, |sum, it| sum * 10 + i64::from(it - b'0'));
        self.0 = &self.0[length..];
        (length >= min_digits).then_some((value, length))
    }
}

/// Parses dates that begin with the year, and seconds or milliseconds since 1970.
fn parse_numeric(text: &str) -> Option<ParsedDate> {
    if text.bytes().all(|it| it.is_ascii_digit()) {
        let exact = |seconds| ParsedDate::new(seconds, DatePrecision::Exact, DateFormat::Other);
        match text.len() {
            10 => return text.parse().ok().map(exact),
            13 => return text.parse::<i64>().ok().map(|millis| exact(millis / 1000)),
            _ => {}
        }
    }
    let mut rest = Scanner(text.as_bytes());
    let (year, _) = rest.number(4, 4)?;
    let mut format = DateFormat::W3c;
    let parsed = |seconds, precision, format| Some(ParsedDate::new(seconds, precision, format));
    if rest.0.is_empty() {
        return parsed(day_start(year, 1, 1)?, DatePrecision::Year, format);
    }
    let is_separator = |it: u8| matches!(it, b'-' | b'/' | b'.');
    let is_hyphen = rest.peek() == Some(b'-');
    let is_compact = !rest.skip(is_separator);
    if is_compact || !is_hyphen {
        format = DateFormat::Other;
    }
    let min_digits = if is_compact { 2 } else { 1 };
    let (month, digits) = rest.number(min_digits, 2)?;
    if digits == 1 {
        format = DateFormat::Other;
    }
    if rest.0.is_empty() && !is_compact {
        return parsed(day_start(year, month, 1)?, DatePrecision::Month, format);
    }
    if !is_compact && !rest.skip(is_separator) {
        return None;
    }
    let (day, digits) = rest.number(min_digits, 2)?;
    if digits == 1 {
        format = DateFormat::Other;
    }
    let midnight = day_start(year, month, day)?;
    if rest.0.is_empty() {
        return parsed(midnight, DatePrecision::Day, format);
    }
    if rest.peek() != Some(b'T') {
        format = DateFormat::Other;
    }
    if !rest.skip(|it| matches!(it, b'T' | b't' | b' ' | b'_')) {
        // A day with a time zone, as in XML Schema.
        let offset = parse_offset(std::str::from_utf8(rest.0).ok()?)?;
        return parsed(midnight - offset, DatePrecision::Day, DateFormat::Other);
    }
    let seconds = midnight + parse_time(&mut rest)?;
    let has_space = rest.peek() == Some(b' ');
    while rest.skip(|it| it == b' ') {}
    if rest.0.is_empty() {
        return parsed(seconds, DatePrecision::NoZone, format);
    }
    let zone = std::str::from_utf8(rest.0).ok()?;
    let is_standard_zone = zone == "Z" || (zone.len() == 6 && zone.as_bytes()[3] == b':');
    if has_space || !is_standard_zone {
        format = DateFormat::Other;
    }
    parsed(seconds - parse_offset(zone)?, DatePrecision::Exact, format)
}

/// Parses a time of day into seconds since midnight. Fractions of a second are ignored.
fn parse_time(rest: &mut Scanner<'_>) -> Option<i64> {
    let (hour, _) = rest.number(1, 2)?;
    rest.skip(|it| it == b':');
    let (minute, _) = rest.number(2, 2)?;
    let mut second = 0;
    if rest.skip(|it| it == b':') || rest.peek().is_some_and(|it| it.is_ascii_digit()) {
        second = rest.number(2, 2)?.0;
        if rest.skip(|it| matches!(it, b'.' | b',')) {
            rest.number(1, MAX_DATE_LEN)?;
        }
    }
    // 24:00:00 is the beginning of the next day, and a leap second is the next second.
    let is_valid =
        (hour < 24 || (hour, minute, second) == (24, 0, 0)) && minute < 60 && second <= 60;
    is_valid.then_some((hour * 60 + minute) * 60 + second)
}

/// Parses the name or offset of a time zone into seconds east of UTC.
fn parse_offset(zone: &str) -> Option<i64> {
    let zone = zone.trim().to_lowercase();
    if let Some(offset) = zone_offset(&zone) {
        return Some(offset);
    }
    let zone = ["gmt", "utc"].iter().find_map(|it| zone.strip_prefix(it)).unwrap_or(&zone);
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let mut rest = Scanner(&zone.as_bytes()[1..]);
    let (hours, _) = rest.number(1, 2)?;
    rest.skip(|it| it == b':');
    let minutes = if rest.0.is_empty() { 0 } else { rest.number(2, 2)?.0 };
    let is_valid = rest.0.is_empty() && hours <= 15 && minutes < 60;
    is_valid.then_some(sign * (hours * 60 + minutes) * 60)
}

/// Parses dates with the name of a month, in any order: `Mon, 02 Jan 2006 15:04:05 GMT`.
fn parse_words(text: &str) -> Option<ParsedDate> {
    let text = text.split('(').next().unwrap_or(text);
    let lower = text.to_lowercase();
    let (mut day, mut month, mut year) = (None, None, None);
    let (mut time, mut offset, mut is_afternoon) = (None, None, None);
    let mut format = DateFormat::Mail;
    let is_separator = |it: char| it.is_whitespace() || it == ',';
    for word in lower.split(is_separator).flat_map(split_hyphens).filter(|it| !it.is_empty()) {
        let first = word.as_bytes()[0];
        if word.contains(':') && first.is_ascii_digit() {
            let mut rest = Scanner(word.as_bytes());
            time = Some(parse_time(&mut rest)?);
            match std::str::from_utf8(rest.0).ok()? {
                "" => {}
                "am" | "pm" if word.ends_with("pm") => is_afternoon = Some(true),
                "am" => is_afternoon = Some(false),
                zone => offset = Some(parse_offset(zone)?),
            }
        } else if first.is_ascii_digit() {
            let suffix = word.trim_start_matches(|it: char| it.is_ascii_digit());
            if !matches!(suffix, "" | "." | "st" | "nd" | "rd" | "th" | "º" | "er") {
                return None;
            }
            if !suffix.is_empty() {
                format = DateFormat::Other;
            }
            let digits = &word[..word.len() - suffix.len()];
            let value: i64 = digits.parse().ok()?;
            match (digits.len(), day) {
                (1 | 2, None) => day = Some(value),
                (2..=4, _) if year.is_none() => year = Some(full_year(value, digits.len())),
                _ => return None,
            }
        } else if matches!(first, b'+' | b'-') || time.is_some() && parse_offset(word).is_some() {
            offset = Some(parse_offset(word)?);
        } else if matches!(word, "am" | "pm" | "a.m." | "p.m.") {
            is_afternoon = Some(first == b'p');
        } else if let Some((number, is_english)) = month_number(word) {
            // In some languages a weekday begins like a month. The month follows it and wins.
            month = Some(number);
            if !is_english {
                format = DateFormat::Other;
            }
        } else if day.is_some() && time.is_none() && !matches!(word, "de" | "at" | "of" | "um") {
            return None;
        }
    }
    let midnight = day_start(year?, month?, day?)?;
    let Some(mut time) = time else {
        return Some(ParsedDate::new(midnight, DatePrecision::Day, DateFormat::Other));
    };
    if let Some(is_afternoon) = is_afternoon {
        format = DateFormat::Other;
        let hour = time / 3600;
        time = time % 3600 + (hour % 12 + if is_afternoon { 12 } else { 0 }) * 3600;
    }
    Some(match offset {
        Some(offset) => ParsedDate::new(midnight + time - offset, DatePrecision::Exact, format),
        None => ParsedDate::new(midnight + time, DatePrecision::NoZone, format),
    })
}

/// Splits `02-Jan-2006` into three words; returns any other word unchanged.
fn split_hyphens(word: &str) -> impl Iterator<Item = &str> {
    let begins_with_digit = word.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let is_date = begins_with_digit && word.matches('-').count() == 2 && !word.contains(':');
    word.split(if is_date { '-' } else { '\0' })
}

/// Expands years of two or three digits (RFC 2822 §4.3).
fn full_year(year: i64, digits: usize) -> i64 {
    match digits {
        4 => year,
        3 => year + 1900,
        _ if year < 50 => year + 2000,
        _ => year + 1900,
    }
}

#[cfg(test)]
mod tests {
    use jiff::fmt::rfc2822::DateTimePrinter;
    use jiff::{SignedDuration, Timestamp};

    use super::*;

    /// 2024-01-02T03:04:05Z.
    const MOMENT: i64 = 1_704_164_645;
    const DAY: i64 = MOMENT - 11_045;

    #[track_caller]
    fn check(text: &str, unix_seconds: i64, precision: DatePrecision, format: DateFormat) {
        let expect = ParsedDate::new(unix_seconds, precision, format);
        assert_eq!(parse(text), Some(expect), "{text}");
    }

    #[test]
    fn w3c_dates_have_five_precisions() {
        use DateFormat::W3c;
        check("2024-01-02T03:04:05Z", MOMENT, DatePrecision::Exact, W3c);
        check(" 2024-01-02T03:04:05.678Z\n", MOMENT, DatePrecision::Exact, W3c);
        check("2024-01-02T05:34:05+02:30", MOMENT, DatePrecision::Exact, W3c);
        check("2024-01-01T22:04:05.1-05:00", MOMENT, DatePrecision::Exact, W3c);
        check("2024-01-02T03:04Z", MOMENT - 5, DatePrecision::Exact, W3c);
        check("2024-01-02T03:04:05", MOMENT, DatePrecision::NoZone, W3c);
        check("2024-01-02", DAY, DatePrecision::Day, W3c);
        check("2024-01", DAY - 86_400, DatePrecision::Month, W3c);
        check("2024", DAY - 86_400, DatePrecision::Year, W3c);
        check("2016-12-31T23:59:60Z", 1_483_228_800, DatePrecision::Exact, W3c);
        check("1969-12-31T23:59:59Z", -1, DatePrecision::Exact, W3c);
        check("0001-01-01T00:00:00Z", -62_135_596_800, DatePrecision::Exact, W3c);
    }

    #[test]
    fn nonstandard_dates_are_parsed() {
        use DateFormat::Other;
        check("2024-01-02 03:04:05", MOMENT, DatePrecision::NoZone, Other);
        check("2024-01-02 03:04:05 UTC", MOMENT, DatePrecision::Exact, Other);
        check("2024-01-02 03:04:05 +0000", MOMENT, DatePrecision::Exact, Other);
        check("2024-01-02T03:04:05+0000", MOMENT, DatePrecision::Exact, Other);
        check("2024-01-02T04:04:05+01", MOMENT, DatePrecision::Exact, Other);
        check("2024-1-2", DAY, DatePrecision::Day, Other);
        check("2024/01/02", DAY, DatePrecision::Day, Other);
        check("2024-01-02Z", DAY, DatePrecision::Day, Other);
        check("20240102", DAY, DatePrecision::Day, Other);
        check("20240102T030405Z", MOMENT, DatePrecision::Exact, Other);
        check("1704164645", MOMENT, DatePrecision::Exact, Other);
        check("1704164645999", MOMENT, DatePrecision::Exact, Other);
        check("January 2, 2024", DAY, DatePrecision::Day, Other);
        check("Jan 2nd, 2024 3:04:05 AM UTC", MOMENT, DatePrecision::Exact, Other);
        check("2 January 2024 03:04:05", MOMENT, DatePrecision::NoZone, Other);
        check("Di, 02 Januar 2024 04:04:05 MEZ", MOMENT, DatePrecision::Exact, Other);
        check("mar., 02 janv. 2024 03:04:05 GMT", MOMENT, DatePrecision::Exact, Other);
        check("2 de enero de 2024", DAY, DatePrecision::Day, Other);
        check("mar, 05 mär 2024 00:00:00 GMT", DAY + 63 * 86_400, DatePrecision::Exact, Other);
    }

    #[test]
    fn mail_dates_may_have_named_zones_and_short_years() {
        use DateFormat::Mail;
        check("Tue, 02 Jan 2024 03:04:05 GMT", MOMENT, DatePrecision::Exact, Mail);
        check("Tue, 02 Jan 2024 03:04:05 +0000 (UTC)", MOMENT, DatePrecision::Exact, Mail);
        check("2 Jan 24 03:04:05 Z", MOMENT, DatePrecision::Exact, Mail);
        check("Mon, 01 Jan 2024 22:04:05 EST", MOMENT, DatePrecision::Exact, Mail);
        check("Mon, 01 Jan 2024 20:04:05 PDT", MOMENT, DatePrecision::Exact, Mail);
        check("Tue, 02 Jan 2024 04:04:05 GMT+0100", MOMENT, DatePrecision::Exact, Mail);
        check("Tue, 02 Jan 2024 03:04 UT", MOMENT - 5, DatePrecision::Exact, Mail);
        check("Tue, 02-Jan-24 03:04:05 GMT", MOMENT, DatePrecision::Exact, Mail);
        check("Tue Jan  2 03:04:05 2024", MOMENT, DatePrecision::NoZone, Mail);
        check("Tue, 02 Jan 2024 03:04:05", MOMENT, DatePrecision::NoZone, Mail);
        check("Sun, 06 Nov 94 08:49:37 GMT", 784_111_777, DatePrecision::Exact, Mail);
        check("Tue, 02 Jan 2024", DAY, DatePrecision::Day, DateFormat::Other);
    }

    #[test]
    fn invalid_dates_are_rejected() {
        for text in [
            "",
            "0000-00-00",
            "0000-00-00T00:00:00Z",
            "2024-02-30",
            "2023-02-29",
            "2024-13-01",
            "2024-01-02T25:00:00Z",
            "2024-01-02T03:60:00Z",
            "2024-01-02T03:04:05X",
            "2024-01-02T03:04:05+99:00",
            "Tue, 32 Jan 2024 03:04:05 GMT",
            "Tue, 02 Foo 2024 03:04:05 GMT",
            "01/02/2024",
            "24-01-02",
            "yesterday",
            "5 minutes ago",
            "2024-01-02T",
            "2024-",
            "-2024-01-02",
            "２０２４-01-02",
            "2024年1月2日",
            "NaN",
            "null",
            "2024-01-02T03:04:05Z2024-01-02T03:04:05Z2024-01-02T03:04:05Z2024-01-02T03:04:05Z2024",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    /// RFC 3339, RFC 2822 and RFC 9110 (HTTP) dates as `jiff` writes them.
    #[test]
    fn standard_dates_agree_with_jiff() {
        use DateFormat::{Mail, W3c};
        let printer = DateTimePrinter::new();
        let mut timestamp: Timestamp = "0001-01-01T00:00:00Z".parse().unwrap();
        let last: Timestamp = "9999-01-01T00:00:00Z".parse().unwrap();
        while timestamp < last {
            let seconds = timestamp.as_second();
            check(&timestamp.to_string(), seconds, DatePrecision::Exact, W3c);
            let mail = printer.timestamp_to_string(&timestamp).unwrap();
            check(&mail, seconds, DatePrecision::Exact, Mail);
            let http = printer.timestamp_to_rfc9110_string(&timestamp).unwrap();
            check(&http, seconds, DatePrecision::Exact, Mail);
            timestamp += SignedDuration::from_secs(20_000_003);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut expect = -719_528 * 86_400;
        for year in 0..=9999 {
            for (month, days) in (1..).zip([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                let days = days + i64::from(month == 2 && is_leap);
                assert_eq!(day_start(year, month, 1), Some(expect));
                assert_eq!(day_start(year, month, days), Some(expect + (days - 1) * 86_400));
                assert_eq!(day_start(year, month, days + 1), None);
                expect += days * 86_400;
            }
        }
        assert_eq!(day_start(1970, 1, 1), Some(0));
        assert_eq!(day_start(0, 0, 0), None);
    }
}
