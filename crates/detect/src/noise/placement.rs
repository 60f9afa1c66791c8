//! Decides whether phrases stand where a template puts them.
//!
//! Separators such as `|` and `·` divide a line into segments. In a line that a template wrote, each
//! segment is short, or is a phrase with a few words around it.

use super::context_word::{is_author_prefix, is_metadata_word, is_user_action};
use super::count_noun::{CountCertainty, label_certainty};
use super::relative_time::RelativeTime;
use super::scan::Word;
use super::{
    ElementBoundary, Line, LineContext, MAX_LINE_LEN, NoiseKind, NoisePhrase, TextHint, word_at,
};

/// Maximum number of words in a segment without a phrase.
const MAX_SEGMENT_WORDS: usize = 9;

/// Maximum number of words in a line of a template.
const MAX_LINE_WORDS: usize = 28;

/// In lines of more words, a phrase alone in an element is content more often.
const MAX_SHORT_LINE_WORDS: usize = MAX_LINE_WORDS / 2;

/// Maximum number of words in the name of a person.
const MAX_NAME_WORDS: usize = 3;

/// Characters that separate segments. A hyphen between spaces does too.
const SEPARATORS: [char; 24] = [
    '|', '·', '•', '–', '—', '»', '›', '/', '(', ')', '[', ']', ',', ';', '、', '\u{3000}', '（',
    '）', '，', '・', '●', '*', '~', '│',
];

/// Returns the phrases of a line that a template wrote.
pub(super) fn template_phrases<'p>(
    line: &Line<'_>,
    words: &[Word],
    phrases: &'p [NoisePhrase],
) -> impl Iterator<Item = &'p NoisePhrase> {
    let analysis = LineAnalysis::new(line, words, phrases);
    let is_noise: Vec<bool> = phrases.iter().map(|it| analysis.is_noise(it)).collect();
    phrases.iter().zip(is_noise).filter_map(|(phrase, is_noise)| is_noise.then_some(phrase))
}

struct LineAnalysis<'a> {
    line: &'a Line<'a>,
    words: &'a [Word],
    phrases: &'a [NoisePhrase],
    /// The line has only phrases and the words that templates put around them.
    is_only_noise: bool,
    /// Each segment is as a template writes it.
    is_metadata: bool,
}

impl<'a> LineAnalysis<'a> {
    fn new(line: &'a Line<'a>, words: &'a [Word], phrases: &'a [NoisePhrase]) -> Self {
        let mut analysis = Self { line, words, phrases, is_only_noise: true, is_metadata: true };
        let has_sentence = analysis.has_sentence();
        let is_short = words.len() <= MAX_LINE_WORDS && line.text.len() <= MAX_LINE_LEN;
        let mut from = 0;
        while from < words.len() {
            let is_end = |at: &usize| analysis.is_separated(*at) && !analysis.is_in_phrase(*at);
            let to = (from + 1..words.len()).find(is_end).unwrap_or(words.len());
            let has_phrase = phrases.iter().any(|it| (from..to).contains(&it.first_word));
            let is_clean = analysis.is_clean_segment(from, to);
            analysis.is_only_noise &= is_clean;
            analysis.is_metadata &= is_clean || !has_phrase && to - from <= MAX_SEGMENT_WORDS;
            from = to;
        }
        analysis.is_only_noise &= !has_sentence;
        analysis.is_metadata &= !has_sentence && is_short;
        analysis
    }

    /// True if the gap before a word is inside a phrase.
    fn is_in_phrase(&self, at: usize) -> bool {
        self.phrases
            .iter()
            .any(|it| (it.first_word + 1..it.first_word + it.word_count).contains(&at))
    }

    /// True if a separator stands before a word, or the boundary of an element with a hint.
    fn is_separated(&self, at: usize) -> bool {
        let (before, after) = (self.words[at - 1].end, self.words[at].start);
        let has_hint = |it: usize| self.line.boundary_before(it).hint != TextHint::None;
        if (has_hint(after) || has_hint(before - 1)) && self.line.has_boundary(before, after) {
            return true;
        }
        let gap = &self.line.text[before..after];
        gap.contains(SEPARATORS) || gap == " - "
    }

    /// True if a sentence ends in the line, other than with a phrase.
    fn has_sentence(&self) -> bool {
        self.words.iter().enumerate().any(|(at, word)| {
            let rest = &self.line.text[word.end..];
            let mut after = rest.chars();
            let has_stop = matches!(after.next(), Some('.' | '!' | '?' | '。' | '؟' | '।'));
            let is_end = has_stop && after.next().is_none_or(char::is_whitespace);
            let ends_phrase = self.phrases.iter().any(|it| it.first_word + it.word_count == at + 1);
            // `hr. ago`, `Jan. 3`, `J. Smith`
            let is_abbreviation = word.text(self.line.text).len() <= 3 && at + 1 < self.words.len();
            is_end && !ends_phrase && !is_abbreviation
        })
    }

    /// The phrase that a word is part of.
    fn phrase_at(&self, at: usize) -> Option<&NoisePhrase> {
        self.phrases.iter().find(|it| (it.first_word..it.first_word + it.word_count).contains(&at))
    }

    /// True if a segment has only phrases and the words that templates put around them.
    fn is_clean_segment(&self, from: usize, to: usize) -> bool {
        let mut at = from;
        let mut name_words_left = 0;
        while at < to {
            if let Some(phrase) = self.phrase_at(at) {
                at = phrase.first_word + phrase.word_count;
                name_words_left = 0;
                continue;
            }
            let word = word_at(self.line.text, self.words, at);
            if is_author_prefix(word) {
                name_words_left = MAX_NAME_WORDS + 1;
            } else if is_metadata_word(word)
                || is_user_action(word)
                || label_certainty(word).is_some()
            {
                name_words_left = 0;
            } else if self.words[at].is_number && at + 1 < to {
                // `4.8 from 102 votes`
                let next = word_at(self.line.text, self.words, at + 1);
                if !matches!(next, "from" | "based" | "out") {
                    return false;
                }
            } else if name_words_left > 1 {
                name_words_left -= 1;
            } else if at - from < MAX_NAME_WORDS && self.has_action_after(at, to) {
                // `bob commented`
            } else {
                return false;
            }
            at += 1;
        }
        true
    }

    fn has_action_after(&self, at: usize, to: usize) -> bool {
        (at + 1..to.min(at + 1 + MAX_NAME_WORDS))
            .any(|it| is_user_action(word_at(self.line.text, self.words, it)))
    }

    /// The boundary before a phrase, if an element contains the phrase and no other words.
    fn own_element(&self, phrase: &NoisePhrase) -> Option<ElementBoundary> {
        let line = self.line;
        let start = self.words[phrase.first_word].start;
        let end = self.words[phrase.first_word + phrase.word_count - 1].end;
        let is_blank = |from: usize, to: usize| {
            line.text.get(from..to).is_some_and(|it| !it.chars().any(char::is_alphanumeric))
        };
        let before = line.boundaries.iter().rev().find(|it| it.offset <= start);
        let after = line.boundaries.iter().find(|it| it.offset >= end).map(|it| it.offset);
        // The ends of the line alone do not count: the phrase would be the whole line.
        let is_bounded = before.is_some_and(|it| it.offset > 0) || after.is_some();
        let is_alone = is_blank(before.map_or(0, |it| it.offset), start)
            && is_blank(end, after.unwrap_or(line.text.len()));
        (is_bounded && is_alone).then(|| line.boundary_before(start))
    }

    fn is_noise(&self, phrase: &NoisePhrase) -> bool {
        let own_element = self.own_element(phrase);
        let start = self.words[phrase.first_word].start;
        let has_hint = self.line.boundary_before(start).hint != TextHint::None;
        let own_hint = own_element.is_some_and(|it| it.hint != TextHint::None);
        match self.line.context {
            LineContext::TableRow => {
                own_hint
                    && !matches!(
                        phrase.kind,
                        NoiseKind::LabelledCount(_) | NoiseKind::Number | NoiseKind::Amount
                    )
            }
            LineContext::Heading => self.is_noise_in_heading(phrase),
            LineContext::ListItem | LineContext::TableCell => {
                self.is_noise_in_item(phrase, own_element.is_some(), has_hint)
            }
            LineContext::Block => self.is_noise_in_block(phrase, own_element, has_hint),
        }
    }

    /// `12 comments` above the comments.
    fn is_noise_in_heading(&self, phrase: &NoisePhrase) -> bool {
        use CountCertainty::InHeading;
        let is_comment_count = matches!(
            phrase.kind,
            NoiseKind::Count(InHeading) | NoiseKind::LabelledCount(InHeading)
        );
        let is_number = phrase.kind == NoiseKind::Number && self.is_only_noise;
        // `3 thoughts on “Winter”`
        let is_before_title =
            phrase.first_word == 0 && self.line.text.contains(['“', '"', '„', '«']);
        is_comment_count && (self.is_only_noise || is_before_title) || is_number
    }

    fn is_noise_in_item(&self, phrase: &NoisePhrase, is_alone: bool, has_hint: bool) -> bool {
        use RelativeTime::{Day, Months, Recent, Years};
        let is_template = self.is_only_noise || self.is_metadata;
        match phrase.kind {
            NoiseKind::Time(Recent | Months) => is_template || is_alone && self.ends_line(phrase),
            NoiseKind::Time(Years) => {
                self.is_only_noise || has_hint && (self.is_metadata || is_alone)
            }
            NoiseKind::Time(Day) => has_hint && is_template,
            NoiseKind::Audience => has_hint && (self.is_only_noise || self.ends_line(phrase)),
            NoiseKind::Count(_) | NoiseKind::LabelledCount(_) | NoiseKind::Number => {
                has_hint && is_template
            }
            NoiseKind::Amount => self.has_other_noise(),
        }
    }

    fn is_noise_in_block(
        &self,
        phrase: &NoisePhrase,
        own_element: Option<ElementBoundary>,
        has_hint: bool,
    ) -> bool {
        use RelativeTime::{Day, Months, Recent, Years};
        let is_marked = own_element.is_some_and(|it| it.hint != TextHint::None || it.is_link);
        let is_whole_line = self.phrases.len() == 1 && phrase.word_count == self.words.len();
        let is_template = self.is_only_noise || self.is_metadata;
        match phrase.kind {
            // `Last eruption` and `30 years ago`
            NoiseKind::Time(Years | Months)
                if self.line.is_after_heading && is_whole_line && !has_hint =>
            {
                false
            }
            NoiseKind::Time(Recent | Months) => {
                is_template || is_marked || own_element.is_some() && self.ends_line(phrase)
            }
            NoiseKind::Time(Years) => {
                self.is_only_noise || is_template && has_hint || is_marked && !self.is_long()
            }
            // Alone in a line it is a heading.
            NoiseKind::Time(Day) => is_template && (has_hint || !is_whole_line),
            NoiseKind::Audience => self.is_only_noise || has_hint && self.ends_line(phrase),
            NoiseKind::Count(CountCertainty::InContext)
            | NoiseKind::LabelledCount(CountCertainty::InContext) => {
                is_template
                    && (has_hint
                        || self.is_after_participle(phrase)
                        || self.phrases.iter().any(is_certain))
                    || is_marked && !self.is_long()
            }
            NoiseKind::Count(_) => is_template || is_marked && !self.is_long(),
            NoiseKind::LabelledCount(_) => {
                is_template || self.ends_short_line(phrase) || is_marked && !self.is_long()
            }
            NoiseKind::Amount if self.has_other_noise() => true,
            NoiseKind::Number | NoiseKind::Amount => {
                // `120K`: only templates abbreviate counts.
                let number = self.words[phrase.first_word].text(self.line.text);
                let is_abbreviated = number.ends_with(['k', 'm']);
                let is_social = own_element.is_some_and(|it| {
                    it.hint == TextHint::Social || it.hint >= TextHint::Amount && is_abbreviated
                });
                self.is_only_noise && phrase.kind == NoiseKind::Number
                    || is_social && !self.is_long()
            }
        }
    }

    /// `Seen by 12 people`
    fn is_after_participle(&self, phrase: &NoisePhrase) -> bool {
        let before = |back: usize| {
            let at = phrase.first_word.checked_sub(back);
            at.map_or("", |at| word_at(self.line.text, self.words, at))
        };
        before(1) == "by"
            && matches!(before(2), "seen" | "saved" | "liked" | "viewed" | "followed" | "read")
    }

    /// True if a template wrote the line, and it has noise other than amounts.
    fn has_other_noise(&self) -> bool {
        self.is_only_noise && self.phrases.iter().any(|it| it.kind != NoiseKind::Amount)
    }

    /// True if only other phrases follow it in the line.
    fn ends_line(&self, phrase: &NoisePhrase) -> bool {
        (phrase.first_word + phrase.word_count..self.words.len())
            .all(|at| self.phrase_at(at).is_some())
    }

    /// True for a labelled count at the end of a short line: `Posted 2024-03-03 Comments: 12`.
    fn ends_short_line(&self, phrase: &NoisePhrase) -> bool {
        let is_apart = phrase.first_word.checked_sub(1).is_none_or(|before| {
            let (from, to) = (self.words[before].end, self.words[phrase.first_word].start);
            self.words[before].is_number
                || self.line.has_boundary(from, to)
                || self.is_separated(phrase.first_word)
        });
        is_apart && !self.has_sentence() && !self.is_long() && self.ends_line(phrase)
    }

    fn is_long(&self) -> bool {
        self.words.len() > MAX_SHORT_LINE_WORDS
    }
}

/// True if a phrase shows that a template wrote its line.
fn is_certain(phrase: &NoisePhrase) -> bool {
    match phrase.kind {
        NoiseKind::Time(RelativeTime::Recent | RelativeTime::Months) | NoiseKind::Audience => true,
        NoiseKind::Count(it) | NoiseKind::LabelledCount(it) => it >= CountCertainty::Standalone,
        _ => false,
    }
}
