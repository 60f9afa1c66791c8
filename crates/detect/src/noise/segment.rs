//! Whether phrases stand where a template puts them.
//!
//! A line is cut at signs such as `|` and `·` into segments. In a line of a template each segment is
//! a phrase with a few words around it, or short.

use super::ago::Ago;
use super::around::{is_around, is_deed, names_follow};
use super::nouns::{Counts, labels};
use super::scan::Word;
use super::{Bound, Hint, Kind, LONGEST, Line, Phrase, Place, word_at};

/// Words in a segment without a phrase, at most.
const SHORT: usize = 9;

/// Words in a line of a template, at most.
const MOST_WORDS: usize = 28;

/// Words of a name.
const NAME: usize = 3;

/// The phrases of a line that a template wrote.
pub(super) fn templated<'p>(
    line: &Line<'_>,
    words: &[Word],
    phrases: &'p [Phrase],
) -> impl Iterator<Item = &'p Phrase> {
    let view = View::of(line, words, phrases);
    let kept: Vec<bool> = phrases.iter().map(|it| view.is_template(it)).collect();
    phrases.iter().zip(kept).filter_map(|(phrase, kept)| kept.then_some(phrase))
}

struct View<'a> {
    line: &'a Line<'a>,
    words: &'a [Word],
    phrases: &'a [Phrase],
    /// The line has nothing but phrases, and what templates put around them.
    pure: bool,
    /// Each part of it is as a template writes it.
    meta: bool,
}

impl<'a> View<'a> {
    fn of(line: &'a Line<'a>, words: &'a [Word], phrases: &'a [Phrase]) -> Self {
        let mut view = Self { line, words, phrases, pure: true, meta: true };
        let sentence = view.is_sentence();
        let short = words.len() <= MOST_WORDS && line.text.len() <= LONGEST;
        let mut from = 0;
        while from < words.len() {
            let cut = |at: &usize| view.is_cut(*at) && !view.is_within(*at);
            let to = (from + 1..words.len()).find(cut).unwrap_or(words.len());
            let has = phrases.iter().any(|it| (from..to).contains(&it.first));
            let clean = view.is_clean(from, to);
            view.pure &= clean;
            view.meta &= clean || !has && to - from <= SHORT;
            from = to;
        }
        view.pure &= !sentence;
        view.meta &= !sentence && short;
        view
    }

    /// Whether a phrase goes on over the gap before a word.
    fn is_within(&self, at: usize) -> bool {
        self.phrases.iter().any(|it| (it.first + 1..it.first + it.count).contains(&at))
    }

    /// Whether a sign cuts the line before a word, or the bound of an element with a name for such
    /// things.
    fn is_cut(&self, at: usize) -> bool {
        let (before, after) = (self.words[at - 1].end, self.words[at].start);
        let hinted = |it: usize| self.line.at(it).hint != Hint::None;
        if (hinted(after) || hinted(before - 1)) && self.line.is_bound(before, after) {
            return true;
        }
        let gap = &self.line.text[before..after];
        gap.contains(|it: char| {
            matches!(
                it,
                '|' | '·'
                    | '•'
                    | '–'
                    | '—'
                    | '»'
                    | '›'
                    | '/'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | ','
                    | ';'
                    | '、'
                    | '\u{3000}'
                    | '（'
                    | '）'
                    | '，'
                    | '・'
                    | '●'
                    | '*'
                    | '~'
                    | '│'
            )
        }) || gap == " - "
    }

    /// Whether a sentence ends in it, other than with a phrase.
    fn is_sentence(&self) -> bool {
        self.words.iter().enumerate().any(|(at, word)| {
            let rest = &self.line.text[word.end..];
            let mut after = rest.chars();
            let stop = matches!(after.next(), Some('.' | '!' | '?' | '。' | '؟' | '।'));
            let ends = stop && after.next().is_none_or(char::is_whitespace);
            let last = self.phrases.iter().any(|it| it.first + it.count == at + 1);
            // `hr. ago`, `Jan. 3`, `J. Smith`
            let short = word.of(self.line.text).len() <= 3 && at + 1 < self.words.len();
            ends && !last && !short
        })
    }

    /// The phrase of which a word is part.
    fn phrase_at(&self, at: usize) -> Option<&Phrase> {
        self.phrases.iter().find(|it| (it.first..it.first + it.count).contains(&at))
    }

    /// Whether a segment is phrases, and words that templates put around them.
    fn is_clean(&self, from: usize, to: usize) -> bool {
        let mut at = from;
        let mut names = 0;
        while at < to {
            if let Some(phrase) = self.phrase_at(at) {
                at = phrase.first + phrase.count;
                names = 0;
                continue;
            }
            let word = word_at(self.line.text, self.words, at);
            if names_follow(word) {
                names = NAME + 1;
            } else if is_around(word) || is_deed(word) || labels(word).is_some() {
                names = 0;
            } else if self.words[at].number && at + 1 < to {
                // `4.8 from 102 votes`
                let next = word_at(self.line.text, self.words, at + 1);
                if !matches!(next, "from" | "based" | "out") {
                    return false;
                }
            } else if names > 1 {
                names -= 1;
            } else if at - from < NAME && self.deed_follows(at, to) {
                // `bob commented`
            } else {
                return false;
            }
            at += 1;
        }
        true
    }

    fn deed_follows(&self, at: usize, to: usize) -> bool {
        (at + 1..to.min(at + 1 + NAME)).any(|it| is_deed(word_at(self.line.text, self.words, it)))
    }

    /// What an element around a phrase says, if it holds nothing else.
    fn alone(&self, phrase: &Phrase) -> Option<Bound> {
        let line = self.line;
        let start = self.words[phrase.first].start;
        let end = self.words[phrase.first + phrase.count - 1].end;
        let blank = |from: usize, to: usize| {
            line.text.get(from..to).is_some_and(|it| !it.chars().any(char::is_alphanumeric))
        };
        let before = line.bounds.iter().rev().find(|it| it.at <= start);
        let after = line.bounds.iter().find(|it| it.at >= end).map(|it| it.at);
        // The ends of the line bound it too, but not alone: then the phrase would be the line.
        let bounded = before.is_some_and(|it| it.at > 0) || after.is_some();
        let whole = blank(before.map_or(0, |it| it.at), start)
            && blank(end, after.unwrap_or(line.text.len()));
        (bounded && whole).then(|| line.at(start))
    }

    fn is_template(&self, phrase: &Phrase) -> bool {
        let alone = self.alone(phrase);
        let start = self.words[phrase.first].start;
        let hinted = self.line.at(start).hint != Hint::None;
        let held = alone.is_some_and(|it| it.hint != Hint::None);
        match self.line.place {
            Place::Cells => {
                held && !matches!(phrase.kind, Kind::Label(_) | Kind::Number | Kind::Amount)
            }
            Place::Heading => self.is_of_heading(phrase),
            Place::Item | Place::Cell => self.is_of_item(phrase, alone.is_some(), hinted),
            Place::Plain => self.is_of_line(phrase, alone, hinted),
        }
    }

    /// `12 comments` over the comments.
    fn is_of_heading(&self, phrase: &Phrase) -> bool {
        let said = matches!(phrase.kind, Kind::Count(Counts::Said) | Kind::Label(Counts::Said));
        let number = phrase.kind == Kind::Number && self.pure;
        // `3 thoughts on “Winter”`
        let first = phrase.first == 0 && self.line.text.contains(['“', '"', '„', '«']);
        said && (self.pure || first) || number
    }

    fn is_of_item(&self, phrase: &Phrase, alone: bool, hinted: bool) -> bool {
        match phrase.kind {
            Kind::Ago(Ago::Span | Ago::Months) => {
                self.pure || self.meta || alone && self.ends_line(phrase)
            }
            Kind::Ago(Ago::Years) => self.pure || hinted && (self.meta || alone),
            Kind::Ago(Ago::Day) => hinted && (self.pure || self.meta),
            Kind::Watched => hinted && (self.pure || self.ends_line(phrase)),
            Kind::Count(_) | Kind::Label(_) | Kind::Number => hinted && (self.pure || self.meta),
            Kind::Amount => self.is_among_others(),
        }
    }

    fn is_of_line(&self, phrase: &Phrase, alone: Option<Bound>, hinted: bool) -> bool {
        let held = alone.is_some_and(|it| it.hint != Hint::None || it.link);
        let whole = self.phrases.len() == 1 && phrase.count == self.words.len();
        let fits = self.pure || self.meta;
        match phrase.kind {
            // `Last eruption` and `30 years ago`
            Kind::Ago(Ago::Years | Ago::Months) if self.line.headed && whole && !hinted => false,
            Kind::Ago(Ago::Span | Ago::Months) => {
                fits || held || alone.is_some() && self.ends_line(phrase)
            }
            Kind::Ago(Ago::Years) => self.pure || fits && hinted || held && !self.is_long(),
            // Alone in a line it is a heading.
            Kind::Ago(Ago::Day) => fits && (hinted || !whole),
            Kind::Watched => self.pure || hinted && self.ends_line(phrase),
            Kind::Count(Counts::Maybe) | Kind::Label(Counts::Maybe) => {
                fits && (hinted
                    || self.is_by(phrase)
                    || self.phrases.iter().any(|it| self.is_sure(it)))
                    || held && !self.is_long()
            }
            Kind::Count(_) => fits || held && !self.is_long(),
            Kind::Label(_) => fits || self.is_last_of_short(phrase) || held && !self.is_long(),
            Kind::Amount if self.is_among_others() => true,
            Kind::Number | Kind::Amount => {
                // `120K` is written by machines only.
                let short = self.words[phrase.first].of(self.line.text).ends_with(['k', 'm']);
                let social = alone
                    .is_some_and(|it| it.hint == Hint::Social || it.hint >= Hint::Amount && short);
                self.pure && phrase.kind == Kind::Number || social && !self.is_long()
            }
        }
    }

    /// `Seen by 12 people`
    fn is_by(&self, phrase: &Phrase) -> bool {
        let before = |back: usize| {
            phrase.first.checked_sub(back).map_or("", |at| word_at(self.line.text, self.words, at))
        };
        before(1) == "by"
            && matches!(before(2), "seen" | "saved" | "liked" | "viewed" | "followed" | "read")
    }

    /// Whether another phrase shows that the line is a template's.
    fn is_sure(&self, phrase: &Phrase) -> bool {
        match phrase.kind {
            Kind::Ago(Ago::Span | Ago::Months) | Kind::Watched => true,
            Kind::Count(it) | Kind::Label(it) => it >= Counts::Surely,
            _ => false,
        }
    }

    /// Whether the line is a template's, and has other phrases of one.
    fn is_among_others(&self) -> bool {
        self.pure && self.phrases.iter().any(|it| it.kind != Kind::Amount)
    }

    /// Whether nothing follows it but other phrases.
    fn ends_line(&self, phrase: &Phrase) -> bool {
        (phrase.first + phrase.count..self.words.len()).all(|at| self.phrase_at(at).is_some())
    }

    /// `Posted 2024-03-03 Comments: 12`: a label begins something new.
    fn is_last_of_short(&self, phrase: &Phrase) -> bool {
        let begins = phrase.first.checked_sub(1).is_none_or(|before| {
            let (from, to) = (self.words[before].end, self.words[phrase.first].start);
            self.words[before].number || self.line.is_bound(from, to) || self.is_cut(phrase.first)
        });
        begins && !self.is_sentence() && !self.is_long() && self.ends_line(phrase)
    }

    fn is_long(&self) -> bool {
        self.words.len() > MOST_WORDS / 2
    }
}
