//! Times relative to now, in several languages: `3 minutes ago`.

use super::scan::{Word, count_number_words};
use super::{Line, word_at};
use crate::word_list::{PrefixSet, WordSet, word_list};

/// A time relative to now, by its unit. The larger the unit, the more often writers use it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelativeTime {
    /// Weeks or less: `3 minutes ago`.
    Recent,
    /// `3 months ago`: content under a heading.
    Months,
    /// `30 years ago`: content in most places.
    Years,
    /// `yesterday`: noise only in an element for metadata or beside other noise.
    Day,
}

static AGO_SUFFIXES: WordSet = WordSet::new(word_list!("noise/ago_suffixes.txt"));
static AGO_PREFIXES: WordSet = WordSet::new(word_list!("noise/ago_prefixes.txt"));
static NUMBER_WORDS: WordSet = WordSet::new(word_list!("noise/number_words.txt"));
static UNIT_PREFIXES: PrefixSet = PrefixSet::new(word_list!("noise/unit_prefixes.txt"));
static UNIT_ABBREVIATIONS: WordSet = WordSet::new(word_list!("noise/unit_abbreviations.txt"));
static YEAR_PREFIXES: PrefixSet = PrefixSet::new(word_list!("noise/year_prefixes.txt"));
static MONTH_PREFIXES: PrefixSet = PrefixSet::new(word_list!("noise/month_prefixes.txt"));
static DUAL_UNITS: WordSet = WordSet::new(word_list!("noise/dual_units.txt"));
static CJK_AGO_UNITS: WordSet = WordSet::new(word_list!("noise/cjk_ago_units.txt"));
static RELATIVE_DAYS: WordSet = WordSet::new(word_list!("noise/relative_days.txt"));

/// Longer words are not units, in bytes.
const MAX_UNIT_LEN: usize = 24;

/// Returns the number of words that a relative time at the start takes.
pub(crate) fn match_relative_time(
    line: &Line<'_>,
    words: &[Word],
) -> Option<(usize, RelativeTime)> {
    let word = |at| word_at(line.text, words, at);
    let first = word(0);
    match (first, word(1)) {
        ("just", "now") | ("moments", "ago") | ("gerade", "eben") => {
            return Some((2, RelativeTime::Recent));
        }
        ("last" | "letzte" | "letzten", "week" | "month" | "year" | "woche" | "monat")
        | ("la" | "le", "semaine dernière")
        | ("semana", "pasada") => return Some((2, RelativeTime::Day)),
        _ => {}
    }
    if RELATIVE_DAYS.contains(first) {
        let at = 1 + usize::from(matches!(word(1), "at" | "um" | "à" | "a" | "alle"));
        return Some(if is_clock_time(word(at)) {
            let suffix = usize::from(matches!(word(at + 1), "am" | "pm" | "uhr"));
            (at + 1 + suffix, RelativeTime::Recent)
        } else {
            (1, RelativeTime::Day)
        });
    }
    match_prefixed(line.text, words).or_else(|| match_suffixed(line, words))
}

/// Matches "ago" before the amount: `vor 5 Minuten`, `il y a 5 minutes`.
fn match_prefixed(line: &str, words: &[Word]) -> Option<(usize, RelativeTime)> {
    let word = |at| word_at(line, words, at);
    let first = word(0);
    let prefix_len = match first {
        _ if AGO_PREFIXES.contains(first) => 1,
        "il" if word(1) == "y" && word(2) == "a" => 3,
        _ => return None,
    };
    if DUAL_UNITS.contains(word(prefix_len)) {
        return Some((prefix_len + 1, RelativeTime::Recent));
    }
    let (count, _) = match_amount(line, words.get(prefix_len..)?)?;
    let unit = word(prefix_len + count);
    let suffix_len = usize::from(matches!(first, "för" | "for"));
    let has_suffix = suffix_len == 0 || matches!(word(prefix_len + count + 1), "sedan" | "siden");
    (is_unit(unit) && has_suffix).then(|| (prefix_len + count + 1 + suffix_len, from_unit(unit)))
}

/// Matches "ago" after the amount: `3 hours ago`, `2h ago`, `3分前`, `1 hour and 5 minutes ago`.
fn match_suffixed(line: &Line<'_>, words: &[Word]) -> Option<(usize, RelativeTime)> {
    let word = |at| word_at(line.text, words, at);
    let about = usize::from(matches!(word(0), "about" | "over" | "almost" | "ca"));
    let (mut at, has_unit) = match_amount(line.text, words.get(about..)?)?;
    at += about;
    let next = word(at);
    if CJK_AGO_UNITS.contains(next) {
        let is_years = next.starts_with('年');
        return Some((at + 1, if is_years { RelativeTime::Years } else { RelativeTime::Recent }));
    }
    if has_unit && AGO_SUFFIXES.contains(next) {
        return Some((at + 1, RelativeTime::Recent));
    }
    if !is_unit(next) {
        return None;
    }
    let time = from_unit(next);
    at += 1;
    let and = usize::from(matches!(word(at), "and" | "und" | "et" | "y" | "e"));
    if let Some((count, _)) = words.get(at + and..).and_then(|rest| match_amount(line.text, rest))
        && is_unit(word(at + and + count))
        && !line.has_boundary(words[at - 1].end, words[at].start)
    {
        at += and + count + 1;
    }
    AGO_SUFFIXES.contains(word(at)).then_some((at + 1, time))
}

/// True for a duration alone (`5 min`), or a day relative to today. Such a text is a relative time
/// only in an element for times.
pub(crate) fn is_duration(line: &str, words: &[Word]) -> bool {
    let word = |at| word_at(line, words, at);
    match words {
        [_] => {
            let first = word(0);
            let unit = first.trim_start_matches(|it: char| it.is_ascii_digit());
            matches!(first, "now" | "tomorrow" | "morgen" | "demain" | "mañana")
                || unit.len() < first.len() && is_unit(unit)
        }
        [number, _] => number.is_number && is_unit(word(1)),
        _ => false,
    }
}

/// Returns the number of words that an amount takes, and whether its unit is part of it: `2h`.
fn match_amount(line: &str, words: &[Word]) -> Option<(usize, bool)> {
    let digits = count_number_words(line, words);
    if digits > 0 {
        let has_unit = words[digits - 1].text(line).ends_with(|it: char| it.is_alphabetic());
        return Some((digits, has_unit));
    }
    let first = word_at(line, words, 0);
    if first == "a" && word_at(line, words, 1) == "few" {
        return Some((2, false));
    }
    NUMBER_WORDS.contains(first).then_some((1, false))
}

fn from_unit(unit: &str) -> RelativeTime {
    if matches!(unit, "an" | "y" | "yr" | "yrs") || YEAR_PREFIXES.matches(unit) {
        RelativeTime::Years
    } else if MONTH_PREFIXES.matches(unit) {
        RelativeTime::Months
    } else {
        RelativeTime::Recent
    }
}

fn is_unit(word: &str) -> bool {
    word.len() <= MAX_UNIT_LEN && (UNIT_ABBREVIATIONS.contains(word) || UNIT_PREFIXES.matches(word))
}

/// True for `10:03` and `10:03:22`.
pub(crate) fn is_clock_time(word: &str) -> bool {
    let mut parts = word.split(':');
    let is_part = |part: Option<&str>| {
        part.is_some_and(|it| (1..=4).contains(&it.len()) && it.as_bytes()[0].is_ascii_digit())
    };
    is_part(parts.next()) && is_part(parts.next())
}
