//! Nouns that templates count, and labels of counts.

use crate::word_list::{WordSet, word_list};

/// How certain it is that a count of something is noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CountCertainty {
    /// Only where a template puts counts: `12 points`.
    InContext,
    /// In any line of its own: `12 views`.
    Standalone,
    /// In headings too: `12 comments`.
    InHeading,
}

static COMMENT_NOUNS: WordSet = WordSet::new(word_list!("noise/comment_nouns.txt"));
static ENGAGEMENT_NOUNS: WordSet = WordSet::new(word_list!("noise/engagement_nouns.txt"));
static AMBIGUOUS_NOUNS: WordSet = WordSet::new(word_list!("noise/ambiguous_nouns.txt"));
const CJK_COUNTER_PREFIXES: &[&str] = word_list!("noise/cjk_counter_prefixes.txt");
static COUNT_LABELS: WordSet = WordSet::new(word_list!("noise/count_labels.txt"));
static COUNT_QUALIFIERS: WordSet = WordSet::new(word_list!("noise/count_qualifiers.txt"));
static MAGNITUDES: WordSet = WordSet::new(word_list!("noise/magnitudes.txt"));

/// Returns the certainty of a count by the noun after it, in lower case: `12 views`.
pub(crate) fn noun_certainty(noun: &str) -> Option<CountCertainty> {
    let is_cjk_counter =
        || !noun.is_ascii() && CJK_COUNTER_PREFIXES.iter().any(|it| noun.starts_with(it));
    if COMMENT_NOUNS.contains(noun) {
        Some(CountCertainty::InHeading)
    } else if ENGAGEMENT_NOUNS.contains(noun) || is_cjk_counter() {
        Some(CountCertainty::Standalone)
    } else if AMBIGUOUS_NOUNS.contains(noun) {
        Some(CountCertainty::InContext)
    } else {
        None
    }
}

/// Returns the certainty of a count by the label before it, in lower case: `Views: 12`, `Cart (2)`.
pub(crate) fn label_certainty(label: &str) -> Option<CountCertainty> {
    let is_label = || COUNT_LABELS.contains(label).then_some(CountCertainty::Standalone);
    noun_certainty(label).or_else(is_label)
}

/// True for a word between a count and its noun: `12 customer reviews`.
pub(crate) fn is_qualifier(word: &str) -> bool {
    COUNT_QUALIFIERS.contains(word)
}

/// True for a word that multiplies a number: `1.2 million views`.
pub(crate) fn is_magnitude(word: &str) -> bool {
    MAGNITUDES.contains(word)
}
