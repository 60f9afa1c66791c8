//! What a template writes into a line and a writer never would: how long ago, how often seen, when
//! and for whom the page was made.
//!
//! Numbers in the content count: a price, a version, a score, a date in an article. So a phrase is
//! noise only where it stands as a template puts it: alone in its line, among others between signs
//! such as `|`, or in an element with a name for such things. In a sentence, in a table and in a list
//! it counts.

mod ago;
mod around;
mod counted;
mod list;
mod made;
mod nouns;
mod scan;
mod segment;
mod vocabulary;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::html::Reason;
use ago::Ago;
use nouns::Counts;
use scan::{Word, words};

/// Longer lines are written by someone.
const LONGEST: usize = 240;

/// Phrases of a template are shorter.
const LONGEST_ALONE: usize = 80;

/// A part of a line that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    pub(crate) range: Range<usize>,
    pub(crate) reason: Reason,
}

/// What the names of the elements around a text say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hint {
    #[default]
    None,
    /// Who, when and how often.
    Meta,
    /// A number of something, be it the content.
    Amount,
    /// A number of something that people do on a site.
    Count,
    /// A number of views, comments and the like, in an element of its own.
    Social,
}

/// What a line is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    #[default]
    Plain,
    /// An entry of a list.
    Item,
    /// A cell of a table.
    Cell,
    Heading,
    /// Several cells of a table.
    Cells,
}

/// Where an element begins or ends in a line, and what is known of the text after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) at: usize,
    pub(crate) hint: Hint,
    pub(crate) link: bool,
    /// Code, which no template writes into.
    pub(crate) code: bool,
}

/// A line with what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) bounds: &'a [Bound],
    pub(crate) place: Place,
    /// In an element for the main part.
    pub(crate) main: bool,
    /// The line before it is the name of a count.
    pub(crate) labelled: bool,
    /// The line before it is a heading that leads nowhere.
    pub(crate) headed: bool,
}

impl<'a> Line<'a> {
    /// A line of which nothing else is known.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self { text, bounds: &[], place: Place::Plain, main: false, labelled: false, headed: false }
    }

    /// Whether an element begins or ends between two places.
    fn is_bound(&self, from: usize, to: usize) -> bool {
        self.bounds.iter().any(|it| (from..=to).contains(&it.at))
    }

    /// What is known of the text at a place.
    fn at(&self, place: usize) -> Bound {
        let after = self.bounds.partition_point(|it| it.at <= place);
        after.checked_sub(1).map_or_else(Bound::default, |it| self.bounds[it])
    }
}

/// A phrase of a template, by the words that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phrase {
    first: usize,
    count: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ago(Ago),
    Count(Counts),
    Label(Counts),
    /// How many are looking at it.
    Watched,
    /// A number with a sign, or alone where numbers of something stand.
    Number,
    /// A number in an element for numbers of whatever it is.
    Amount,
}

/// The parts of a line that do not count, in order.
pub(crate) fn noise(line: &Line<'_>) -> Vec<Noise> {
    if !may_have_noise(line) {
        return Vec::new();
    }
    let lower = lowered(line.text);
    let line = &Line { text: &lower, ..*line };
    let code = line.bounds.iter().any(|it| it.code);
    let whole = line.place <= Place::Cell && !code;
    if whole && let Some((range, reason)) = made::made(line.text, line.main) {
        return vec![Noise { range, reason }];
    }
    let words = words(line.text, line.bounds.iter().map(|it| it.at));
    let phrases = phrases(line, &words);
    if phrases.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for phrase in segment::templated(line, &words, &phrases) {
        let range = words[phrase.first].start..words[phrase.first + phrase.count - 1].end;
        if !line.at(range.start).code {
            found.push(Noise { range: with_signs(line.text, range), reason: Reason::Counter });
        }
    }
    found
}

/// Whether a text that is a time says it relative to now: `3 minutes ago`, `2h`, `yesterday`.
pub(crate) fn is_relative(text: &str) -> bool {
    if text.len() > LONGEST_ALONE {
        return false;
    }
    let text = lowered(text);
    let (text, words) = (text.as_str(), words(&text, []));
    ago::ago(&Line::plain(text), &words).is_some_and(|(count, _)| count == words.len())
        || ago::is_span(text, &words)
}

/// Whether a short text has the name of a day or a month beside a number.
pub(crate) fn is_dated(text: &str) -> bool {
    let text = lowered(text);
    let words = words(&text, []);
    let named = |it: &Word| it.end - it.start > 2 && list_has(vocabulary::DAYS, it.of(&text));
    words.windows(2).any(|it| named(&it[0]) && it[1].number || it[0].number && named(&it[1]))
}

/// Whether a line is the name of a count that stands in the next: `Weekly Downloads`.
pub(crate) fn is_label(text: &str) -> bool {
    // A cheap look first: no digits, and few words.
    let said = |it: &&str| it.bytes().any(|it| it.is_ascii_alphanumeric());
    if text.len() > 40
        || text.bytes().any(|it| it.is_ascii_digit())
        || text.split(' ').filter(said).count() > 3
    {
        return false;
    }
    let text = lowered(text);
    let words = words(&text, []);
    let named = |it: &Word| {
        nouns::counts(it.of(&text)) >= Some(Counts::Surely) && !counted::is_of_one(it.of(&text))
    };
    words.len() <= 3 && words.last().is_some_and(named) && !words.iter().any(|it| it.number)
}

/// All phrases of a line, whether or not they stand where a template puts them.
fn phrases(line: &Line<'_>, words: &[Word]) -> Vec<Phrase> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match phrase(line, &words[at..]) {
            Some((count, kind)) if count > 0 => {
                found.push(Phrase { first: at, count, kind });
                at += count;
            }
            _ => at += 1,
        }
    }
    found
}

fn phrase(line: &Line<'_>, words: &[Word]) -> Option<(usize, Kind)> {
    let text = line.text;
    if !may_begin(text, words) {
        return None;
    }
    if let Some((count, ago)) = ago::ago(line, words) {
        return Some((count, Kind::Ago(ago)));
    }
    if let Some(count) = counted::watched(line, words) {
        return Some((count, Kind::Watched));
    }
    if let Some((count, counts)) = counted::counted(line, words) {
        return Some((count, Kind::Count(counts)));
    }
    if let Some((count, counts)) = counted::labelled(line, words) {
        return Some((count, Kind::Label(counts)));
    }
    if let Some(count) = counted::signed(line, words) {
        return Some((count, Kind::Number));
    }
    let count = scan::number_length(text, words);
    let named = line.labelled && line.place != Place::Heading;
    if count == 0 || !counted::is_count(text, words[0]) {
        return None;
    }
    match line.at(words[0].start).hint {
        _ if named => Some((count, Kind::Number)),
        Hint::Count | Hint::Social => Some((count, Kind::Number)),
        Hint::Amount => Some((count, Kind::Amount)),
        _ => None,
    }
}

/// A cheap look: a phrase begins with a number, or with one of a few words, or a label and a number.
fn may_begin(line: &str, words: &[Word]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let word = first.of(line);
    first.number
        || rest.first().is_some_and(|it| it.number)
        || !word.is_ascii()
        || is_start(word.as_bytes())
}

/// Words before an amount in words, or before a phrase without one.
fn is_start(word: &[u8]) -> bool {
    const WORDS: &[&[u8]] = &[
        b"a",
        b"about",
        b"almost",
        b"an",
        b"aucun",
        b"ayer",
        b"be",
        b"ca",
        b"discuss",
        b"eight",
        b"few",
        b"five",
        b"for",
        b"four",
        b"gerade",
        b"gestern",
        b"gisteren",
        b"hace",
        b"heute",
        b"hier",
        b"hoy",
        b"ieri",
        b"il",
        b"just",
        b"keine",
        b"last",
        b"letzte",
        b"letzten",
        b"moments",
        b"nine",
        b"no",
        b"oggi",
        b"one",
        b"ontem",
        b"over",
        b"semana",
        b"seven",
        b"several",
        b"six",
        b"ten",
        b"three",
        b"today",
        b"two",
        b"vandaag",
        b"vor",
        b"wczoraj",
        b"yesterday",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// A word, or nothing beyond the last.
fn word_at<'a>(line: &'a str, words: &[Word], at: usize) -> &'a str {
    words.get(at).map_or("", |it| it.of(line))
}

/// In lower case, with each character in its place.
fn lowered(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let mut lower = character.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(it), None) if it.len_utf8() == character.len_utf8() => out.push(it),
            _ => out.push(character),
        }
    }
    out
}

fn list_has(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// A cheap look: nearly all noise has a digit.
fn may_have_noise(line: &Line<'_>) -> bool {
    let text = line.text;
    if text.len() > LONGEST {
        // Written by someone: only what has an element of its own can be a template's.
        return line.bounds.iter().any(|it| it.hint != Hint::None);
    }
    text.bytes().any(|it| it.is_ascii_digit())
        || text.len() <= LONGEST_ALONE && WITHOUT_DIGITS.as_ref().is_none_or(|it| it.is_match(text))
}

static WITHOUT_DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        "(?i) ago|just now|no comments|vor eine[rm]|welcome|signed in|logged in|today|heute|\
         copyright|©|℗|willkommen|angemeldet als|keine kommentare|all times are|yesterday|gestern|\
         be the first to|rights reserved|good (?:morning|afternoon|evening)|hello,|hi,|hier|ayer|\
         ieri|oggi|last (?:week|month|year)|לפני|منذ|browsing|online|there are",
    )
    .ok()
});

/// With the brackets around it, or the one that ends it.
fn with_signs(line: &str, range: Range<usize>) -> Range<usize> {
    let end = line[range.end..].chars().next().filter(|it| matches!(it, ')' | '）' | ']'));
    let Some(end) = end else { return range };
    let after = range.end + end.len_utf8();
    let start = line[..range.start].chars().next_back().filter(|it| matches!(it, '(' | '（' | '['));
    if line[range.clone()].contains(['(', '（']) {
        range.start..after
    } else if let Some(start) = start {
        range.start - start.len_utf8()..after
    } else {
        range
    }
}

#[cfg(test)]
mod tests;
