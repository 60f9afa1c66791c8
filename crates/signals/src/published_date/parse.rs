//! Dates as they are written: W3C and RFC 822 and what people make of them.

use super::civil::day;
use super::months::{month, zone};
use super::{DatePrecision, PublishedDate};

/// Bytes of a date at most.
const LONGEST: usize = 80;

/// How a date is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Year, month and day with hyphens, as in ISO 8601.
    W3c,
    /// As in mail, RFC 822.
    Mail,
    /// In another way.
    Other,
}

/// A date and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) said: PublishedDate,
    pub(crate) form: Form,
}

/// Reads a date; nothing if it is none.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    numeric(text).or_else(|| words(text))
}

/// Digits as they come.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// A number of `least` to `most` digits, and how many it has.
    fn number(&mut self, least: usize, most: usize) -> Option<(i64, usize)> {
        let length = self.0.iter().take(most).take_while(|it| it.is_ascii_digit()).count();
        let value = self.0[..length].iter().fold(0, |sum, it| sum * 10 + i64::from(it - b'0'));
        self.0 = &self.0[length..];
        (length >= least).then_some((value, length))
    }
}

/// Dates that begin with the year, and seconds since 1970.
fn numeric(text: &str) -> Option<Parsed> {
    if text.bytes().all(|it| it.is_ascii_digit()) {
        let exact = |at| Parsed {
            said: PublishedDate { at, grain: DatePrecision::Exact },
            form: Form::Other,
        };
        match text.len() {
            10 => return text.parse().ok().map(exact),
            13 => return text.parse::<i64>().ok().map(|millis| exact(millis / 1000)),
            _ => {}
        }
    }
    let mut rest = Digits(text.as_bytes());
    let (year, _) = rest.number(4, 4)?;
    let mut form = Form::W3c;
    let done = |at: i64, grain, form| Some(Parsed { said: PublishedDate { at, grain }, form });
    if rest.0.is_empty() {
        return done(day(year, 1, 1)?, DatePrecision::Year, form);
    }
    let is_between = |it: u8| matches!(it, b'-' | b'/' | b'.');
    let hyphen = rest.peek() == Some(b'-');
    let compact = !rest.skip(is_between);
    if compact || !hyphen {
        form = Form::Other;
    }
    let (month, digits) = rest.number(if compact { 2 } else { 1 }, 2)?;
    if digits == 1 {
        form = Form::Other;
    }
    if rest.0.is_empty() && !compact {
        return done(day(year, month, 1)?, DatePrecision::Month, form);
    }
    if !compact && !rest.skip(is_between) {
        return None;
    }
    let (date, digits) = rest.number(if compact { 2 } else { 1 }, 2)?;
    if digits == 1 {
        form = Form::Other;
    }
    let begin = day(year, month, date)?;
    if rest.0.is_empty() {
        return done(begin, DatePrecision::Day, form);
    }
    if rest.peek() != Some(b'T') {
        form = Form::Other;
    }
    if !rest.skip(|it| matches!(it, b'T' | b't' | b' ' | b'_')) {
        // A day with a zone, as XML Schema has it.
        let shift = offset(std::str::from_utf8(rest.0).ok()?)?;
        return done(begin - shift, DatePrecision::Day, Form::Other);
    }
    let at = begin + time(&mut rest)?;
    let spaced = rest.peek() == Some(b' ');
    while rest.skip(|it| it == b' ') {}
    if rest.0.is_empty() {
        return done(at, DatePrecision::NoZone, form);
    }
    let name = std::str::from_utf8(rest.0).ok()?;
    let plain = name == "Z" || (name.len() == 6 && name.as_bytes()[3] == b':');
    if spaced || !plain {
        form = Form::Other;
    }
    done(at - offset(name)?, DatePrecision::Exact, form)
}

/// Hours, minutes and seconds; a fraction of a second is left out.
fn time(rest: &mut Digits<'_>) -> Option<i64> {
    let (hour, _) = rest.number(1, 2)?;
    rest.skip(|it| it == b':');
    let (minute, _) = rest.number(2, 2)?;
    let mut second = 0;
    if rest.skip(|it| it == b':') || rest.peek().is_some_and(|it| it.is_ascii_digit()) {
        second = rest.number(2, 2)?.0;
        if rest.skip(|it| matches!(it, b'.' | b',')) {
            rest.number(1, LONGEST)?;
        }
    }
    // The end of a day is the beginning of the next; a leap second is the next one.
    let valid = (hour < 24 || (hour, minute, second) == (24, 0, 0)) && minute < 60 && second <= 60;
    valid.then_some((hour * 60 + minute) * 60 + second)
}

/// The seconds that a zone is east of Greenwich.
fn offset(name: &str) -> Option<i64> {
    let name = name.trim().to_lowercase();
    if let Some(zone) = zone(&name) {
        return Some(zone);
    }
    let name = ["gmt", "utc"].iter().find_map(|it| name.strip_prefix(it)).unwrap_or(&name);
    let sign = match name.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let mut rest = Digits(&name.as_bytes()[1..]);
    let (hours, _) = rest.number(1, 2)?;
    rest.skip(|it| it == b':');
    let minutes = if rest.0.is_empty() { 0 } else { rest.number(2, 2)?.0 };
    let valid = rest.0.is_empty() && hours <= 15 && minutes < 60;
    valid.then_some(sign * (hours * 60 + minutes) * 60)
}

/// Dates with the name of a month, in any order: `Mon, 02 Jan 2006 15:04:05 GMT`.
fn words(text: &str) -> Option<Parsed> {
    let text = text.split('(').next().unwrap_or(text);
    let lower = text.to_lowercase();
    let (mut dates, mut years) = (None, None);
    let (mut months, mut clock) = (None, None);
    let (mut zone_of, mut afternoon) = (None, None);
    let mut form = Form::Mail;
    let is_between = |it: char| it.is_whitespace() || it == ',';
    for word in lower.split(is_between).flat_map(hyphenated).filter(|it| !it.is_empty()) {
        let first = word.as_bytes()[0];
        if word.contains(':') && first.is_ascii_digit() {
            let mut rest = Digits(word.as_bytes());
            clock = Some(time(&mut rest)?);
            match std::str::from_utf8(rest.0).ok()? {
                "" => {}
                "am" | "pm" if word.ends_with("pm") => afternoon = Some(true),
                "am" => afternoon = Some(false),
                zone => zone_of = Some(offset(zone)?),
            }
        } else if first.is_ascii_digit() {
            let ending = word.trim_start_matches(|it: char| it.is_ascii_digit());
            if !matches!(ending, "" | "." | "st" | "nd" | "rd" | "th" | "º" | "er") {
                return None;
            }
            if !ending.is_empty() {
                form = Form::Other;
            }
            let number = &word[..word.len() - ending.len()];
            let value: i64 = number.parse().ok()?;
            match (number.len(), dates) {
                (1 | 2, None) => dates = Some(value),
                (2..=4, _) if years.is_none() => years = Some(full_year(value, number.len())),
                _ => return None,
            }
        } else if matches!(first, b'+' | b'-') || clock.is_some() && offset(word).is_some() {
            zone_of = Some(offset(word)?);
        } else if matches!(word, "am" | "pm" | "a.m." | "p.m.") {
            afternoon = Some(first == b'p');
        } else if let Some((found, plain)) = month(word) {
            // In some languages a day of the week begins like a month; the month comes later.
            months = Some(found);
            if !plain {
                form = Form::Other;
            }
        } else if dates.is_some() && clock.is_none() && !matches!(word, "de" | "at" | "of" | "um") {
            return None;
        }
    }
    let begin = day(years?, months?, dates?)?;
    let Some(mut clock) = clock else {
        return Some(Parsed {
            said: PublishedDate { at: begin, grain: DatePrecision::Day },
            form: Form::Other,
        });
    };
    if let Some(afternoon) = afternoon {
        form = Form::Other;
        let hour = clock / 3600;
        clock = clock % 3600 + (hour % 12 + if afternoon { 12 } else { 0 }) * 3600;
    }
    Some(match zone_of {
        Some(shift) => Parsed {
            said: PublishedDate { at: begin + clock - shift, grain: DatePrecision::Exact },
            form,
        },
        None => {
            Parsed { said: PublishedDate { at: begin + clock, grain: DatePrecision::NoZone }, form }
        }
    })
}

/// `02-Jan-2006` in three words; what is no such date in one.
fn hyphenated(word: &str) -> impl Iterator<Item = &str> {
    let begins = word.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let is_date = begins && word.matches('-').count() == 2 && !word.contains(':');
    word.split(if is_date { '-' } else { '\0' })
}

/// Years of two digits, as RFC 2822 §4.3 has them.
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
    use super::*;

    /// 2024-01-02T03:04:05Z.
    const MOMENT: i64 = 1_704_164_645;
    const DAY: i64 = MOMENT - 11_045;

    #[track_caller]
    fn check(text: &str, at: i64, grain: DatePrecision, form: Form) {
        assert_eq!(parse(text), Some(Parsed { said: PublishedDate { at, grain }, form }), "{text}");
    }

    #[test]
    fn w3c_dates_have_five_grains() {
        use Form::W3c;
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
    fn odd_dates_are_understood() {
        use Form::Other;
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
    fn mail_dates_have_named_zones_and_short_years() {
        use Form::Mail;
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
        check("Tue, 02 Jan 2024", DAY, DatePrecision::Day, Form::Other);
    }

    #[test]
    fn what_is_no_date() {
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
}
