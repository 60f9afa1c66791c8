//! Lines that say when, how and for whom a page was made.
//!
//! A writer may begin a sentence with the same words. So the rest of the line must be what a template
//! fills in: a date, a time, a duration, a number, or an identifier.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::relative_time::is_clock_time;
use super::scan::{Word, split_words};
use super::{CALENDAR_NAMES, build_alternation};
use crate::html::ExclusionReason;
use crate::word_list::{WordSet, word_list};

/// Longer lines are written by people, in bytes.
const MAX_LINE_LEN: usize = 200;

/// Minimum lengths of identifiers: of a request, and of a server.
const MIN_REQUEST_ID_LEN: usize = 6;
const MIN_SERVER_NAME_LEN: usize = 3;

/// Longer runs of digits alone are identifiers too.
const MIN_DIGIT_ID_LEN: usize = 16;

const CLOCK_PHRASES: &[&str] = word_list!("noise/clock_phrases.txt");
const COUNTDOWN_PHRASES: &[&str] = word_list!("noise/countdown_phrases.txt");
const UPDATE_PHRASES: &[&str] = word_list!("noise/update_phrases.txt");
const VISIT_PHRASES: &[&str] = word_list!("noise/visit_phrases.txt");
const PRESENCE_PHRASES: &[&str] = word_list!("noise/presence_phrases.txt");
const REQUEST_PHRASES: &[&str] = word_list!("noise/request_phrases.txt");
const SERVER_PHRASES: &[&str] = word_list!("noise/server_phrases.txt");
const ACCOUNT_PHRASES: &[&str] = word_list!("noise/account_phrases.txt");
const GENERATION_VERBS: &[&str] = word_list!("noise/generation_verbs.txt");
const TIMING_VERBS: &[&str] = word_list!("noise/timing_verbs.txt");

static IS_GENERATION_VERB: WordSet = WordSet::new(GENERATION_VERBS);
static IS_TIMING_VERB: WordSet = WordSet::new(TIMING_VERBS);
static CLOCK_WORDS: WordSet = WordSet::new(word_list!("noise/clock_words.txt"));
static TIME_UNITS: WordSet = WordSet::new(word_list!("noise/time_units.txt"));
static SECOND_UNITS: WordSet = WordSet::new(word_list!("noise/second_units.txt"));
static FILLER_WORDS: WordSet = WordSet::new(word_list!("noise/filler_words.txt"));

/// Returns the part of a line in lower case that is noise. `in_main`: the line is in the main part of
/// the page.
pub(crate) fn match_page_info(
    line: &str,
    in_main: bool,
) -> Option<(Range<usize>, ExclusionReason)> {
    if line.len() > MAX_LINE_LEN || !CANDIDATE.as_ref().is_none_or(|it| it.is_match(line)) {
        return None;
    }
    // Comments in text files begin with a sign.
    let is_sign = |it: char| !it.is_alphanumeric() && !matches!(it, '©' | '(' | '℗');
    let text = line.trim_start_matches(is_sign);
    if is_copyright(text) {
        let range = if in_main { year_range(line)? } else { 0..line.len() };
        return Some((range, ExclusionReason::Footer));
    }
    let line_words = LineWords { words: split_words(text, []), text };
    let reason = if line_words.is_generation_note() || line_words.is_request_id() {
        ExclusionReason::Request
    } else if line_words.is_greeting() {
        ExclusionReason::Account
    } else if line_words.is_visit_count() {
        ExclusionReason::Counter
    } else {
        return None;
    };
    Some((0..line.len(), reason))
}

/// A cheap test that such lines pass: a phrase that they begin with, or a word that they contain.
static CANDIDATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let starts = [
        CLOCK_PHRASES,
        COUNTDOWN_PHRASES,
        UPDATE_PHRASES,
        VISIT_PHRASES,
        PRESENCE_PHRASES,
        REQUEST_PHRASES,
        SERVER_PHRASES,
        ACCOUNT_PHRASES,
    ]
    .concat();
    let verbs = [GENERATION_VERBS, TIMING_VERBS].concat();
    let pattern = format!(
        "^[^\\pL\\pN]*(?:{})|{}|©|℗|copyright|\\(c\\)|rights reserved",
        build_alternation(&starts),
        build_alternation(&verbs)
    );
    Regex::new(&pattern).ok()
});

fn is_copyright(line: &str) -> bool {
    let has_year = split_words(line, []).iter().any(|it| it.is_number && it.end - it.start == 4);
    if has_year && line.starts_with(['©', '℗'])
        || line.trim_end_matches('.').ends_with("all rights reserved")
    {
        return true;
    }
    let rest = line.strip_prefix("copyright").or_else(|| line.strip_prefix("(c)"));
    rest.is_some_and(|rest| {
        let rest = rest.trim_start();
        let digits = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
        let is_year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
        is_year || ["©", "(c)"].iter().any(|it| rest.starts_with(it))
    })
}

/// The range of the years in a copyright notice.
fn year_range(line: &str) -> Option<Range<usize>> {
    let words = split_words(line, []);
    let is_year = |it: &&Word| it.is_number && it.text(line).len() == 4;
    let first = words.iter().find(is_year)?;
    let last = words.iter().rfind(is_year)?;
    Some(first.start..last.end)
}

/// A line in lower case, and its words.
struct LineWords<'a> {
    text: &'a str,
    words: Vec<Word>,
}

impl LineWords<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |it| it.text(self.text))
    }

    /// Returns the number of words of the longest of the phrases that the line begins with.
    fn match_start(&self, phrases: &[&str]) -> Option<usize> {
        let first = self.text.as_bytes().first();
        let is_start = |it: &&&str| {
            it.as_bytes().first() == first
                && self
                    .text
                    .strip_prefix(**it)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) || !it.is_ascii())
        };
        let len = phrases.iter().filter(is_start).map(|it| it.len()).max()?;
        Some(self.words.iter().take_while(|it| it.start < len).count())
    }

    /// True if a template fills in all words from this one on.
    fn is_filled_in(&self, from: usize) -> bool {
        (from..self.words.len()).all(|at| self.words[at].is_number || is_filler(self.word(at)))
    }

    fn has_clock_time(&self) -> bool {
        let is_time = |it: &Word| is_clock_time(it.text(self.text).trim_end_matches('z'));
        self.words.iter().any(|it| it.is_number && is_time(it))
    }

    /// True if the line has a number with one of these units: `0.031 seconds`, `1d 4h`.
    fn has_amount(&self, units: &WordSet) -> bool {
        (0..self.words.len()).any(|at| {
            let suffix = self.word(at).trim_start_matches(|it: char| !it.is_alphabetic());
            self.words[at].is_number
                && (units.contains(suffix) || units.contains(self.word(at + 1)))
        })
    }

    fn has_calendar_name(&self) -> bool {
        (0..self.words.len()).any(|at| CALENDAR_NAMES.contains(self.word(at)))
    }

    /// True if the line has a day, a month and a year in some form.
    fn has_date(&self) -> bool {
        let numbers = self.words.iter().filter(|it| it.is_number).count();
        numbers >= 3 || self.has_calendar_name() && numbers >= 1
    }

    /// True for a line that says when, or in how much time, the page was made.
    fn is_generation_note(&self) -> bool {
        if self.match_start(CLOCK_PHRASES).is_some_and(|it| self.is_filled_in(it)) {
            let has_clock_word =
                (0..self.words.len()).any(|at| CLOCK_WORDS.contains(self.word(at)));
            return self.has_clock_time()
                || self.has_calendar_name()
                || has_clock_word
                || self.has_date();
        }
        if self.match_start(COUNTDOWN_PHRASES).is_some_and(|it| self.is_filled_in(it)) {
            return self.has_clock_time() || self.has_amount(&TIME_UNITS);
        }
        if self.match_start(UPDATE_PHRASES).is_some_and(|it| self.is_filled_in(it)) {
            return self.has_clock_time();
        }
        // The subject may come before the verb: `List generated at 08:02:11`.
        let find_verb =
            |verbs: &WordSet| (0..self.words.len()).find(|at| verbs.contains(self.word(*at)));
        let is_rest_filled_in = |at: usize| {
            let is_known = |it: usize| {
                let word = self.word(it);
                self.words[it].is_number || is_filler(word) || IS_TIMING_VERB.contains(word)
            };
            at < 6 && (0..self.words.len()).all(is_known)
        };
        let is_dimension = |at| matches!(self.word(at), "2d" | "3d" | "4d");
        find_verb(&IS_GENERATION_VERB).is_some_and(is_rest_filled_in)
            && !(0..self.words.len()).any(is_dimension)
            && (self.has_clock_time() || self.has_amount(&TIME_UNITS) || self.has_date())
            // Only a server says how many seconds it took.
            || find_verb(&IS_TIMING_VERB).is_some_and(is_rest_filled_in)
                && self.has_amount(&SECOND_UNITS)
    }

    /// True for the identifier of a request, a session or a server, after a word for it.
    fn is_request_id(&self) -> bool {
        let value_after = |phrases: &[&str]| {
            let at = self.match_start(phrases)?;
            let end = self.words.get(at.checked_sub(1)?)?.end;
            Some(
                self.text[end..]
                    .trim_start_matches([' ', ':', '=', '#', '：'])
                    .trim_end_matches('.'),
            )
        };
        value_after(REQUEST_PHRASES).is_some_and(|it| is_identifier(it, MIN_REQUEST_ID_LEN))
            || value_after(SERVER_PHRASES).is_some_and(|it| is_identifier(it, MIN_SERVER_NAME_LEN))
    }

    fn is_greeting(&self) -> bool {
        self.match_start(ACCOUNT_PHRASES).is_some_and(|it| self.words.len() <= it + 3)
            && !self.text.ends_with('.')
    }

    /// True for the number of visits, or of the people on the site.
    fn is_visit_count(&self) -> bool {
        let numbers = self.words.iter().filter(|it| it.is_number).count();
        let has_number = numbers > 0;
        // `Total visitors 2025: 12,000` is the figure of a year.
        let has_one_count = numbers == 1 || has_number && self.text.contains(" since ");
        let is_presence = |at| matches!(self.word(at), "online" | "browsing" | "guests" | "guest");
        has_one_count && self.match_start(VISIT_PHRASES).is_some_and(|it| self.is_filled_in(it))
            || self.match_start(PRESENCE_PHRASES).is_some_and(|it| {
                (it..self.words.len()).any(is_presence) || it == self.words.len() && has_number
            })
    }
}

/// True for letters and digits in one word: a hash, a host name or an IP address.
fn is_identifier(text: &str, min_len: usize) -> bool {
    let is_one_word = text.chars().all(|it| it.is_ascii_alphanumeric() || "-_=+/.:~".contains(it));
    let has_letter = text.bytes().any(|it| it.is_ascii_alphabetic());
    let is_address = text.matches('.').count() == 3;
    is_one_word
        && text.len() >= min_len
        && text.bytes().any(|it| it.is_ascii_digit())
        && (has_letter || is_address || text.len() >= MIN_DIGIT_ID_LEN)
}

/// True for a word that a template fills in.
fn is_filler(word: &str) -> bool {
    CALENDAR_NAMES.contains(word)
        || CLOCK_WORDS.contains(word)
        || TIME_UNITS.contains(word)
        || FILLER_WORDS.contains(word)
        || IS_GENERATION_VERB.contains(word)
}
