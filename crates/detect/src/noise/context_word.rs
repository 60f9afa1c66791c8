//! Words that templates put around times and counts.

use crate::word_list::{WordSet, word_list};

static AUTHOR_PREFIXES: WordSet = WordSet::new(word_list!("noise/author_prefixes.txt"));
static METADATA_WORDS: WordSet = WordSet::new(word_list!("noise/metadata_words.txt"));
static USER_ACTIONS: WordSet = WordSet::new(word_list!("noise/user_actions.txt"));

/// True for a word that an author follows: `by Ann`.
pub(crate) fn is_author_prefix(word: &str) -> bool {
    AUTHOR_PREFIXES.contains(word)
}

/// True for a word that templates put around times and counts: `Posted 3 minutes ago`.
pub(crate) fn is_metadata_word(word: &str) -> bool {
    METADATA_WORDS.contains(word)
}

/// True for a verb of what users of a site do: `bob commented 3 hours ago`.
pub(crate) fn is_user_action(word: &str) -> bool {
    USER_ACTIONS.contains(word)
}
