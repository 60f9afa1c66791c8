//! Counts of views, shares, comments and the like: `1,234 views`, `Comments (12)`, `♥ 33`.

use super::count_noun::{
    CountCertainty, is_magnitude, is_qualifier, label_certainty, noun_certainty,
};
use super::scan::{Word, count_number_words};
use super::{Line, TextHint, word_at};
use crate::word_list::{WordSet, word_list};

static AUDIENCE_NOUNS: WordSet = WordSet::new(word_list!("noise/audience_nouns.txt"));
static AUDIENCE_VERBS: WordSet = WordSet::new(word_list!("noise/audience_verbs.txt"));
static AUDIENCE_OBJECTS: WordSet = WordSet::new(word_list!("noise/audience_objects.txt"));
static VIEWED_VERBS: WordSet = WordSet::new(word_list!("noise/viewed_verbs.txt"));
static TIMES_NOUNS: WordSet = WordSet::new(word_list!("noise/times_nouns.txt"));
static SINGULAR_LABELS: WordSet = WordSet::new(word_list!("noise/singular_labels.txt"));
static REACTION_SYMBOLS: WordSet = WordSet::new(word_list!("noise/reaction_symbols.txt"));

/// Matches a count before its noun: `1,234 views`, `no comments yet`, `2K+ bought in past month`.
/// Returns the number of words that it takes.
pub(crate) fn match_count(line: &Line<'_>, words: &[Word]) -> Option<(usize, CountCertainty)> {
    let word = |at| word_at(line.text, words, at);
    if let Some(count) = match_zero_count(line, words) {
        return Some((count, CountCertainty::InHeading));
    }
    let mut at = count_number_words(line.text, words);
    if at == 0 || is_part_of_number(line.text, words[0]) {
        return None;
    }
    if matches!(word(at), "bought" | "sold" | "items" | "verkauft")
        && matches!(word(at + 1), "in")
        && (at + 2..at + 4)
            .any(|it| matches!(word(it), "last" | "past" | "cart" | "basket" | "bag" | "letzten"))
    {
        let end = words.len().min(at + 6);
        return is_adjacent(line.text, words, at).then_some((end, CountCertainty::Standalone));
    }
    for is_skipped in [is_magnitude as fn(&str) -> bool, is_qualifier] {
        at += usize::from(is_adjacent(line.text, words, at) && is_skipped(word(at)));
    }
    if !is_adjacent(line.text, words, at) {
        return None;
    }
    if let Some(count) = match_times_viewed(line.text, words, at) {
        return Some((count, CountCertainty::Standalone));
    }
    let certainty = noun_certainty(word(at))?;
    // A grade is not a count.
    if at == 1 && !is_count(line.text, words[0]) {
        return None;
    }
    // `Posted 2024-03-03 Comments: 12`: the noun is the label of the number after it.
    let is_label = line.text[words[at].end..].trim_start().starts_with([':', '：'])
        && words.get(at + 1).is_some_and(|it| it.is_number);
    // `23.4k stars`: only templates abbreviate counts.
    let is_abbreviated = words[0].text(line.text).ends_with(['k', 'm']);
    let certainty =
        if is_abbreviated { certainty.max(CountCertainty::Standalone) } else { certainty };
    (!is_label).then_some((at + 1, certainty))
}

/// Matches `times viewed` after a number, in languages with this word order. Returns the end.
fn match_times_viewed(line: &str, words: &[Word], at: usize) -> Option<usize> {
    let word = |at| word_at(line, words, at);
    match (word(at), word(at + 1)) {
        ("keer", "bekeken" | "gelezen") | ("mal" | "x", "gelesen" | "angesehen" | "aufgerufen") => {
            Some(at + 2)
        }
        ("बार", "देखा" | "पढ़ा") => {
            Some(at + 2 + usize::from(word(at + 2) == "गया"))
        }
        _ => None,
    }
}

/// Matches a count of zero: `no comments yet`, `be the first to comment`.
fn match_zero_count(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let word = |at| word_at(line.text, words, at);
    let first = word(0);
    if matches!(first, "no" | "keine" | "aucun")
        && noun_certainty(word(1))
            .is_some_and(|it| it == CountCertainty::InHeading || word(1) == "views")
    {
        return Some(2 + usize::from(word(2) == "yet"));
    }
    // The link to an empty discussion.
    let has_hint =
        words.first().is_some_and(|it| line.boundary_before(it.start).hint != TextHint::None);
    if first == "discuss" && has_hint {
        return Some(1);
    }
    let is_invitation = first == "be" && word(1) == "the" && word(2) == "first" && word(3) == "to";
    (is_invitation && matches!(word(4), "comment" | "review" | "reply"))
        .then_some(words.len().min(8))
}

/// Matches a count of the people on a page: `23 people are looking at this right now`,
/// `45 users online`.
pub(crate) fn match_audience(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let word = |at| word_at(line.text, words, at);
    let noun = count_number_words(line.text, words);
    if noun == 0 || !AUDIENCE_NOUNS.contains(word(noun)) {
        return None;
    }
    let verb = (noun + 1..noun + 4).find(|at| AUDIENCE_VERBS.contains(word(*at)))?;
    let is_here = verb + 1 == words.len()
        || (verb..words.len()).any(|at| AUDIENCE_OBJECTS.contains(word(at)));
    is_here.then_some(words.len())
}

/// Matches a count after its label: `Views: 1,234`, `Comments (12)`, `閲覧数：12`,
/// `Viewed 12 times`.
pub(crate) fn match_labelled_count(
    line: &Line<'_>,
    words: &[Word],
) -> Option<(usize, CountCertainty)> {
    let [label, value, ..] = words else { return None };
    if label.is_number || !value.is_number {
        return None;
    }
    let name = label.text(line.text);
    let mut count = 1 + count_number_words(line.text, &words[1..]);
    let after = word_at(line.text, words, count);
    let between = &line.text[label.end..value.start];
    let separator = between.trim();
    if VIEWED_VERBS.contains(name) && separator.is_empty() && TIMES_NOUNS.contains(after) {
        return Some((count + 1, CountCertainty::Standalone));
    }
    // `4.5 stars (12 reviews)`: the number belongs to the noun after it.
    if is_adjacent(line.text, words, count) && noun_certainty(after).is_some() && name.is_ascii() {
        return None;
    }
    let certainty = label_certainty(name)?;
    let around = line.boundary_before(label.start);
    let has_hint = between == " " && (around.hint != TextHint::None || around.is_link);
    let is_apart = separator.is_empty() && line.has_boundary(label.end, value.start);
    let certainty = match separator {
        // `Rating: 4` is a grade, `Share: 12` a part.
        ":" if is_singular_label(name) => return None,
        // Writers give these figures too.
        ":" if matches!(name, "shares" | "downloads" | "subscribers" | "followers") => {
            CountCertainty::InContext
        }
        ":" | "(" | "：" | "（" => certainty,
        "" if !name.is_ascii() => certainty,
        "" if has_hint && !is_singular_label(name) => CountCertainty::InContext.min(certainty),
        // Only a boundary separates them. In `6 min read` before a number, `read` is not a label.
        "" if is_apart && !is_singular_label(name) => CountCertainty::InContext.min(certainty),
        _ => return None,
    };
    count +=
        usize::from(after.starts_with("item") || matches!(after, "artikel" | "回" | "회" | "次"));
    // `Posts: 12 rows`: the number counts something else.
    let ends = words.get(count).is_none_or(|next| {
        let last = words[count - 1];
        let between = &line.text[last.end..next.start];
        line.has_boundary(last.end, next.start)
            || between.contains(|it: char| !it.is_whitespace() && it != '-')
            || between.contains('\u{3000}')
            || !line.text[..last.end].is_ascii()
            || label_certainty(word_at(line.text, words, count)).is_some()
    });
    // A price or a date goes on after its first number.
    let is_whole = !line.text[words[count - 1].end..].starts_with(['%', '€', '$', '-', '/', '–']);
    (ends && is_whole && is_count(line.text, *value)).then_some((count, certainty))
}

/// True for a label in the singular, which is also the label of a grade or a share.
pub(crate) fn is_singular_label(name: &str) -> bool {
    SINGULAR_LABELS.contains(name)
}

/// Matches a number after a symbol of approval or views: `👍 12`, `▲ 120`.
pub(crate) fn match_reaction_count(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    let count = count_number_words(line.text, words);
    if count == 0 {
        return None;
    }
    let before = line.text[..first.start].trim_end().trim_end_matches(['\u{fe0f}', ' ']);
    let symbol = before.chars().next_back()?;
    let number = first.text(line.text);
    // A rise or fall of so much is a value.
    let is_percentage =
        line.text[words[count - 1].end..].trim_start().starts_with(['%', '٪', '％']);
    if is_percentage || matches!(symbol, '▲' | '▼' | '↑' | '⬆') && !is_count(line.text, *first)
    {
        return None;
    }
    // A grade is not a count.
    let is_grade = number.contains(['.', ',']) && number.ends_with(|it: char| it.is_ascii_digit());
    let is_reaction = REACTION_SYMBOLS.contains(symbol.encode_utf8(&mut [0; 4]));
    (is_reaction || matches!(symbol, '★' | '⭐' | '☆') && !is_grade).then_some(count)
}

/// True if a number counts something: `1,204`, `12k`, but neither `1.1.0` nor `€12`.
pub(crate) fn is_count(line: &str, number: Word) -> bool {
    let text = number.text(line);
    let digits = text.trim_end_matches(['k', 'm']);
    let mut groups = digits.split([',', '.', '\'', '’']);
    let first = groups.next().unwrap_or_default();
    let is_abbreviated = digits.len() < text.len();
    let mut rest = groups.peekable();
    let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_grouped =
        rest.peek().is_none() || is_abbreviated || rest.all(|it| it.len() == 3 && is_digits(it));
    is_digits(first) && is_grouped && !is_part_of_number(line, number)
}

/// True if a number is the end of a date, a price or a version.
fn is_part_of_number(line: &str, number: Word) -> bool {
    line[..number.start].ends_with(['-', '/', '.', ':', '#', '$', '€', '£', '–', '+', '−'])
}

/// True if only spaces, `+` and `.` are between a word and the one before it.
fn is_adjacent(line: &str, words: &[Word], at: usize) -> bool {
    let (Some(before), Some(word)) = (words.get(at.wrapping_sub(1)), words.get(at)) else {
        return false;
    };
    line[before.end..word.start].trim_matches([' ', '+', '.']).is_empty()
}
