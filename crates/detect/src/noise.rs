//! Finds noise: phrases in a line that a template fills in and that change without the content, such
//! as relative times, view counts and page-generation notes.
//!
//! Numbers in the content count: a price, a version, a score, a date in an article. So a phrase is
//! noise only where a template puts it: alone in its line, among others between separators such as
//! `|`, or in an element with a name for metadata. In a sentence, a table or a list it is content.

mod context_word;
mod count_noun;
mod count_phrase;
mod page_info;
mod placement;
mod relative_time;
mod scan;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::html::ExclusionReason;
use crate::word_list::{WordSet, word_list};
use count_noun::CountCertainty;
use relative_time::RelativeTime;
use scan::{Word, split_words};

/// Longer lines are written by people, in bytes.
const MAX_LINE_LEN: usize = 240;

/// Longer texts are not a phrase alone, in bytes.
const MAX_PHRASE_LEN: usize = 80;

/// Longer texts are not the label of a count: bytes, and words.
const MAX_LABEL_LEN: usize = 40;
const MAX_LABEL_WORDS: usize = 3;

static CALENDAR_NAMES: WordSet = WordSet::new(word_list!("noise/calendar_names.txt"));
static PHRASE_STARTS: WordSet = WordSet::new(word_list!("noise/phrase_starts.txt"));

/// A part of a line that is noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoiseSpan {
    pub(crate) range: Range<usize>,
    pub(crate) reason: ExclusionReason,
}

/// The kind of short text that an element contains, by its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextHint {
    #[default]
    None,
    /// Author, time and counts.
    Metadata,
    /// A number of something, which may be content.
    Amount,
    /// A number of user actions.
    Count,
    /// A number of views, comments and the like, in an inline element.
    Social,
}

/// The part of a page that a line is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineContext {
    #[default]
    Block,
    ListItem,
    TableCell,
    Heading,
    /// A line of several table cells.
    TableRow,
}

/// The offset in a line where an element begins or ends, and the context of the text after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ElementBoundary {
    pub(crate) offset: usize,
    pub(crate) hint: TextHint,
    pub(crate) is_link: bool,
    /// In code, which has no noise.
    pub(crate) is_code: bool,
}

/// A line with its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) boundaries: &'a [ElementBoundary],
    pub(crate) context: LineContext,
    /// In an element for the main part of the page.
    pub(crate) in_main: bool,
    /// The line before it is the label of a count.
    pub(crate) is_after_label: bool,
    /// The line before it is a heading without a link.
    pub(crate) is_after_heading: bool,
}

impl<'a> Line<'a> {
    /// A line of plain text.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self {
            text,
            boundaries: &[],
            context: LineContext::Block,
            in_main: false,
            is_after_label: false,
            is_after_heading: false,
        }
    }

    /// True if an element begins or ends between two offsets.
    fn has_boundary(&self, from: usize, to: usize) -> bool {
        self.boundaries.iter().any(|it| (from..=to).contains(&it.offset))
    }

    /// The last boundary at or before an offset.
    fn boundary_before(&self, offset: usize) -> ElementBoundary {
        let after = self.boundaries.partition_point(|it| it.offset <= offset);
        after.checked_sub(1).map_or_else(ElementBoundary::default, |it| self.boundaries[it])
    }
}

/// A phrase that may be noise, by its words in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoisePhrase {
    first_word: usize,
    word_count: usize,
    kind: NoiseKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoiseKind {
    Time(RelativeTime),
    /// `12 views`
    Count(CountCertainty),
    /// `Views: 12`
    LabelledCount(CountCertainty),
    /// A count of the people on the page.
    Audience,
    /// A number after a symbol, or alone in an element for counts.
    Number,
    /// A number in an element for numbers of anything.
    Amount,
}

/// Returns the parts of a line that are noise, in order.
pub(crate) fn find_noise(line: &Line<'_>) -> Vec<NoiseSpan> {
    if !may_have_noise(line) {
        return Vec::new();
    }
    let lower = lowercase_in_place(line.text);
    let line = &Line { text: &lower, ..*line };
    let has_code = line.boundaries.iter().any(|it| it.is_code);
    let may_be_page_info = line.context <= LineContext::TableCell && !has_code;
    if may_be_page_info
        && let Some((range, reason)) = page_info::match_page_info(line.text, line.in_main)
    {
        return vec![NoiseSpan { range, reason }];
    }
    let words = split_words(line.text, line.boundaries.iter().map(|it| it.offset));
    let phrases = find_phrases(line, &words);
    if phrases.is_empty() {
        return Vec::new();
    }
    let mut spans = Vec::new();
    for phrase in placement::template_phrases(line, &words, &phrases) {
        let last = phrase.first_word + phrase.word_count - 1;
        let range = words[phrase.first_word].start..words[last].end;
        if !line.boundary_before(range.start).is_code {
            let range = include_brackets(line.text, range);
            spans.push(NoiseSpan { range, reason: ExclusionReason::Counter });
        }
    }
    spans
}

/// True if the text of an element for times is relative to now: `3 minutes ago`, `2h`, `yesterday`.
pub(crate) fn is_relative_time(text: &str) -> bool {
    if text.len() > MAX_PHRASE_LEN {
        return false;
    }
    let text = lowercase_in_place(text);
    let (text, words) = (text.as_str(), split_words(&text, []));
    relative_time::match_relative_time(&Line::plain(text), &words)
        .is_some_and(|(count, _)| count == words.len())
        || relative_time::is_duration(text, &words)
}

/// True if a short text has the name of a day or a month beside a number.
pub(crate) fn has_named_date(text: &str) -> bool {
    let text = lowercase_in_place(text);
    let words = split_words(&text, []);
    let is_name = |it: &Word| it.end - it.start > 2 && CALENDAR_NAMES.contains(it.text(&text));
    words
        .windows(2)
        .any(|it| is_name(&it[0]) && it[1].is_number || it[0].is_number && is_name(&it[1]))
}

/// True if a line is the label of a count in the next line: `Weekly Downloads`.
pub(crate) fn is_count_label(text: &str) -> bool {
    // A cheap test first: no digits, and few words.
    let is_word = |it: &&str| it.bytes().any(|it| it.is_ascii_alphanumeric());
    if text.len() > MAX_LABEL_LEN
        || text.bytes().any(|it| it.is_ascii_digit())
        || text.split(' ').filter(is_word).count() > MAX_LABEL_WORDS
    {
        return false;
    }
    let text = lowercase_in_place(text);
    let words = split_words(&text, []);
    let is_noun = |it: &Word| {
        let noun = it.text(&text);
        count_noun::noun_certainty(noun) >= Some(CountCertainty::Standalone)
            && !count_phrase::is_singular_label(noun)
    };
    words.len() <= MAX_LABEL_WORDS
        && words.last().is_some_and(is_noun)
        && !words.iter().any(|it| it.is_number)
}

/// Returns all phrases of a line, wherever they stand.
fn find_phrases(line: &Line<'_>, words: &[Word]) -> Vec<NoisePhrase> {
    let mut phrases = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match match_phrase(line, &words[at..]) {
            Some((word_count, kind)) if word_count > 0 => {
                phrases.push(NoisePhrase { first_word: at, word_count, kind });
                at += word_count;
            }
            _ => at += 1,
        }
    }
    phrases
}

/// Returns the number of words of the phrase at the start, and its kind.
fn match_phrase(line: &Line<'_>, words: &[Word]) -> Option<(usize, NoiseKind)> {
    let text = line.text;
    if !may_start_phrase(text, words) {
        return None;
    }
    if let Some((count, time)) = relative_time::match_relative_time(line, words) {
        return Some((count, NoiseKind::Time(time)));
    }
    if let Some(count) = count_phrase::match_audience(line, words) {
        return Some((count, NoiseKind::Audience));
    }
    if let Some((count, certainty)) = count_phrase::match_count(line, words) {
        return Some((count, NoiseKind::Count(certainty)));
    }
    if let Some((count, certainty)) = count_phrase::match_labelled_count(line, words) {
        return Some((count, NoiseKind::LabelledCount(certainty)));
    }
    if let Some(count) = count_phrase::match_reaction_count(line, words) {
        return Some((count, NoiseKind::Number));
    }
    let count = scan::count_number_words(text, words);
    let has_label = line.is_after_label && line.context != LineContext::Heading;
    if count == 0 || !count_phrase::is_count(text, words[0]) {
        return None;
    }
    match line.boundary_before(words[0].start).hint {
        _ if has_label => Some((count, NoiseKind::Number)),
        TextHint::Count | TextHint::Social => Some((count, NoiseKind::Number)),
        TextHint::Amount => Some((count, NoiseKind::Amount)),
        _ => None,
    }
}

/// A cheap test: a phrase begins with a number, with one of a few words, or with a label and a number.
fn may_start_phrase(line: &str, words: &[Word]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let word = first.text(line);
    first.is_number
        || rest.first().is_some_and(|it| it.is_number)
        || !word.is_ascii()
        || PHRASE_STARTS.contains(word)
}

/// The word at an index, or an empty text beyond the last one.
fn word_at<'a>(line: &'a str, words: &[Word], at: usize) -> &'a str {
    words.get(at).map_or("", |it| it.text(line))
}

/// Returns the text in lower case with every character at its offset. Characters whose lower case has
/// another length stay as they are.
fn lowercase_in_place(text: &str) -> String {
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

/// A cheap test: nearly all noise has a digit.
fn may_have_noise(line: &Line<'_>) -> bool {
    let text = line.text;
    if text.len() > MAX_LINE_LEN {
        // Written by a person: only a phrase in an element of its own can be noise.
        return line.boundaries.iter().any(|it| it.hint != TextHint::None);
    }
    text.bytes().any(|it| it.is_ascii_digit())
        || text.len() <= MAX_PHRASE_LEN
            && DIGITLESS_PHRASES.as_ref().is_none_or(|it| it.is_match(text))
}

/// Matches short lines that may be noise although they have no digit.
static DIGITLESS_PHRASES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let phrases = build_alternation(word_list!("noise/digitless_phrases.txt"));
    // With a space before it, `ago` is not the end of a longer word.
    Regex::new(&format!("(?i) ago|{phrases}")).ok()
});

/// Returns a regular expression that matches any of the phrases.
fn build_alternation(phrases: &[&str]) -> String {
    phrases.iter().map(|it| regex::escape(it)).collect::<Vec<_>>().join("|")
}

/// Extends a range by the brackets around it, or by the bracket that ends it.
fn include_brackets(line: &str, range: Range<usize>) -> Range<usize> {
    let close = line[range.end..].chars().next().filter(|it| matches!(it, ')' | '）' | ']'));
    let Some(close) = close else { return range };
    let after = range.end + close.len_utf8();
    let open = line[..range.start].chars().next_back().filter(|it| matches!(it, '(' | '（' | '['));
    if line[range.clone()].contains(['(', '（']) {
        range.start..after
    } else if let Some(open) = open {
        range.start - open.len_utf8()..after
    } else {
        range
    }
}

#[cfg(test)]
mod tests;
