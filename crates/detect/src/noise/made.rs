//! Lines that say when, how and for whom a page was made.
//!
//! A writer may begin a sentence with the same words. So the rest of the line must be what a template
//! fills in: a date, a time, a duration, a number, or a name that no person would choose.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::ago::is_time;
use super::list_has;
use super::scan::{Word, words};
use super::vocabulary::{
    ACCOUNT, COUNTDOWN, DAYS, FILLING, MADE, NOW, ONLINE, REQUEST, SERVED, TIMED, UNITS, UPDATED,
    VISITS, ZONES,
};
use crate::html::Reason;

/// Longer lines are no template's.
const LONGEST: usize = 200;

/// Which part of a line in lower case does not count, if one; `main`: it stands in the main part of a
/// page.
pub(crate) fn made(line: &str, main: bool) -> Option<(Range<usize>, Reason)> {
    if line.len() > LONGEST || !MAY_BE.as_ref().is_none_or(|it| it.is_match(line)) {
        return None;
    }
    // Comments in texts begin with a sign.
    let start = line.len()
        - line
            .trim_start_matches(|it: char| !it.is_alphanumeric() && !matches!(it, '©' | '(' | '℗'))
            .len();
    let lower = &line[start..];
    if is_copyright(lower) {
        let range = if main { years(line)? } else { 0..line.len() };
        return Some((range, Reason::Footer));
    }
    let said = Phrase { words: words(lower, []), lower };
    let reason = if said.is_made() || said.is_request() {
        Reason::Request
    } else if said.greets() {
        Reason::Account
    } else if said.tells_visitors() {
        Reason::Counter
    } else {
        return None;
    };
    Some((0..line.len(), reason))
}

/// A cheap look: one of the words that such lines begin with, or that they must have.
static MAY_BE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let leads = [NOW, COUNTDOWN, UPDATED, VISITS, ONLINE, REQUEST, SERVED, ACCOUNT].concat();
    let verbs = [MADE, TIMED].concat();
    let either =
        |list: &[&str]| list.iter().map(|it| regex::escape(it)).collect::<Vec<_>>().join("|");
    let pattern = format!(
        "^[^\\pL\\pN]*(?:{})|{}|©|℗|copyright|\\(c\\)|rights reserved",
        either(&leads),
        either(&verbs)
    );
    Regex::new(&pattern).ok()
});

fn is_copyright(lower: &str) -> bool {
    let year = words(lower, []).iter().any(|it| it.number && it.end - it.start == 4);
    if year && lower.starts_with(['©', '℗'])
        || lower.trim_end_matches('.').ends_with("all rights reserved")
    {
        return true;
    }
    let rest = lower.strip_prefix("copyright").or_else(|| lower.strip_prefix("(c)"));
    rest.is_some_and(|rest| {
        let rest = rest.trim_start();
        let first = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
        let dated = first.len() == 4 && (first.starts_with("19") || first.starts_with("20"));
        dated || ["©", "(c)"].iter().any(|it| rest.starts_with(it))
    })
}

/// The years of a line about copyright.
fn years(line: &str) -> Option<Range<usize>> {
    let all = words(line, []);
    let year = |it: &&Word| it.number && it.of(line).len() == 4;
    let first = all.iter().find(year)?;
    let last = all.iter().rfind(year)?;
    Some(first.start..last.end)
}

/// A line in lower case, and its words.
struct Phrase<'a> {
    lower: &'a str,
    words: Vec<Word>,
}

impl Phrase<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |it| it.of(self.lower))
    }

    /// After how many words a lead at the start of the line ends.
    fn after(&self, leads: &[&str]) -> Option<usize> {
        let first = self.lower.as_bytes().first();
        let fits = |it: &&&str| {
            it.as_bytes().first() == first
                && self
                    .lower
                    .strip_prefix(**it)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) || !it.is_ascii())
        };
        let lead = leads.iter().filter(fits).map(|it| it.len()).max()?;
        Some(self.words.iter().take_while(|it| it.start < lead).count())
    }

    /// Whether all words from a place on are what a template fills in.
    fn is_filled(&self, from: usize) -> bool {
        (from..self.words.len()).all(|at| self.words[at].number || fills(self.word(at)))
    }

    fn has_time(&self) -> bool {
        self.words.iter().any(|it| it.number && is_time(it.of(self.lower).trim_end_matches('z')))
    }

    /// `0.031 seconds`, `1d 4h`
    fn has_duration(&self) -> bool {
        (0..self.words.len()).any(|at| {
            let number = self.words[at].number;
            let unit = self.word(at).trim_start_matches(|it: char| !it.is_alphabetic());
            let stuck = number && list_has(UNITS, unit);
            stuck || number && list_has(UNITS, self.word(at + 1))
        })
    }

    /// Nobody but a server takes seconds and says so.
    fn has_seconds(&self) -> bool {
        const SECONDS: &[&str] = &[
            "s",
            "ms",
            "sec",
            "secs",
            "second",
            "seconds",
            "milliseconds",
            "sekunden",
            "secondes",
            "segundos",
            "secondi",
            "sekund",
            "секунд",
            "сек",
        ];
        (0..self.words.len()).any(|at| {
            let unit = self.word(at).trim_start_matches(|it: char| !it.is_alphabetic());
            self.words[at].number
                && (list_has(SECONDS, unit) || list_has(SECONDS, self.word(at + 1)))
        })
    }

    /// A day, a month and a year in some form.
    fn has_date(&self) -> bool {
        let numbers = self.words.iter().filter(|it| it.number).count();
        let named = (0..self.words.len()).any(|at| is_calendar(self.word(at)));
        numbers >= 3 || named && numbers >= 1
    }

    /// When, and in how much time.
    fn is_made(&self) -> bool {
        if self.after(NOW).is_some_and(|it| self.is_filled(it)) {
            let named = (0..self.words.len()).any(|at| is_calendar(self.word(at)));
            let zone = (0..self.words.len()).any(|at| list_has(ZONES, self.word(at)));
            return self.has_time() || named || zone || self.has_date();
        }
        if self.after(COUNTDOWN).is_some_and(|it| self.is_filled(it)) {
            return self.has_time() || self.has_duration();
        }
        if self.after(UPDATED).is_some_and(|it| self.is_filled(it)) {
            return self.has_time();
        }
        // `List generated at 08:02:11`: what was made may stand before it.
        let verb = |list: &[&str]| (0..self.words.len()).find(|at| list_has(list, self.word(*at)));
        let filled = |at: usize| {
            let known = |it: usize| {
                let word = self.word(it);
                self.words[it].number || fills(word) || list_has(TIMED, word)
            };
            at < 6 && (0..self.words.len()).all(known)
        };
        verb(MADE).is_some_and(filled)
            && !(0..self.words.len()).any(|at| matches!(self.word(at), "2d" | "3d" | "4d"))
            && (self.has_time() || self.has_duration() || self.has_date())
            || verb(TIMED).is_some_and(filled) && self.has_seconds()
    }

    /// An identifier that no person would choose, after what it is.
    fn is_request(&self) -> bool {
        let rest = |leads: &[&str]| {
            let at = self.after(leads)?;
            let end = self.words.get(at.checked_sub(1)?)?.end;
            Some(
                self.lower[end..]
                    .trim_start_matches([' ', ':', '=', '#', '：'])
                    .trim_end_matches('.'),
            )
        };
        rest(REQUEST).is_some_and(|it| is_identifier(it, 6))
            || rest(SERVED).is_some_and(|it| is_identifier(it, 3))
    }

    fn greets(&self) -> bool {
        self.after(ACCOUNT).is_some_and(|it| self.words.len() <= it + 3)
            && !self.lower.ends_with('.')
    }

    /// How many came, and who is there.
    fn tells_visitors(&self) -> bool {
        let numbers = self.words.iter().filter(|it| it.number).count();
        let digit = numbers > 0;
        // `Total visitors 2025: 12,000` is of a year.
        let one = numbers == 1 || digit && self.lower.contains(" since ");
        one && self.after(VISITS).is_some_and(|it| self.is_filled(it))
            || self.after(ONLINE).is_some_and(|it| {
                (it..self.words.len())
                    .any(|at| matches!(self.word(at), "online" | "browsing" | "guests" | "guest"))
                    || it == self.words.len() && digit
            })
    }
}

/// Letters and digits in one word that is none.
fn is_identifier(text: &str, least: usize) -> bool {
    let whole = text.chars().all(|it| it.is_ascii_alphanumeric() || "-_=+/.:~".contains(it));
    let letter = text.bytes().any(|it| it.is_ascii_alphabetic());
    let address = text.matches('.').count() == 3;
    whole
        && text.len() >= least
        && text.bytes().any(|it| it.is_ascii_digit())
        && (letter || address || text.len() >= 16)
}

/// Whether a template would fill it in.
fn fills(word: &str) -> bool {
    is_calendar(word)
        || list_has(ZONES, word)
        || list_has(UNITS, word)
        || list_has(FILLING, word)
        || list_has(MADE, word)
}

/// Names of days and months.
fn is_calendar(word: &str) -> bool {
    list_has(DAYS, word)
}
