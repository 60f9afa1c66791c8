//! The words that names in `class` and `id` are made of, from `data/names/`.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

use super::{NameMeaning, WordMeaning};
use crate::html::ExclusionReason;
use crate::noise::TextHint;
use crate::word_list::{pair_list, word_list};

const VENDORS: &[(&str, &str)] = pair_list!("names/vendors.txt");
const WORDS: &[(&str, &str)] = pair_list!("names/words.txt");
const PAIRS: &[(&str, &str)] = pair_list!("names/pairs.txt");
const IDS: &[(&str, &str)] = pair_list!("names/ids.txt");
const HINTS: &[(&str, &str)] = pair_list!("names/hints.txt");
const ITEMS: &[&str] = word_list!("names/items.txt");
const SOCIAL: &[&str] = word_list!("names/social.txt");

/// Everything that is known of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordFacts {
    /// Meaning of every name that contains the word.
    pub(super) vendor: Option<NameMeaning>,
    /// Meaning in a name of which all words are known.
    pub(super) meaning: Option<WordMeaning>,
    /// Short texts in the element.
    pub(super) hint: TextHint,
    /// Used for the items of a front page too.
    pub(super) is_item: bool,
    /// A count of user actions.
    pub(super) is_social: bool,
    /// The first word of a pair.
    pub(super) starts_pair: bool,
}

static FACTS: LazyLock<HashMap<&'static [u8], WordFacts>> = LazyLock::new(|| {
    let mut facts: HashMap<&'static [u8], WordFacts> = HashMap::new();
    let mut update = |word: &'static str, set: &dyn Fn(&mut WordFacts)| {
        set(facts.entry(word.as_bytes()).or_default());
    };
    for (word, meaning) in VENDORS {
        update(word, &|it| it.vendor = NameMeaning::from_name(meaning));
    }
    for (word, meaning) in WORDS {
        update(word, &|it| it.meaning = WordMeaning::from_name(meaning));
    }
    for (word, hint) in HINTS {
        update(word, &|it| it.hint = parse_hint(hint).unwrap_or_default());
    }
    for word in ITEMS {
        update(word, &|it| it.is_item = true);
    }
    for word in SOCIAL {
        update(word, &|it| it.is_social = true);
    }
    for (first, _, _) in pairs() {
        update(first, &|it| it.starts_pair = true);
    }
    facts
});

type WordPair<'w> = (&'w [u8], &'w [u8]);

static PAIR_MEANINGS: LazyLock<HashMap<WordPair<'static>, NameMeaning>> = LazyLock::new(|| {
    let meaning = |(first, second, meaning): (&'static str, &'static str, &str)| {
        Some(((first.as_bytes(), second.as_bytes()), NameMeaning::from_name(meaning)?))
    };
    pairs().filter_map(meaning).collect()
});

/// The two words and the meaning of each pair.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PAIRS.iter().filter_map(|(words, meaning)| {
        let (first, second) = words.split_once(' ')?;
        Some((first, second, *meaning))
    })
}

/// Returns what is known of a word in lower case.
pub(super) fn word_facts(word: &[u8]) -> WordFacts {
    let facts: &HashMap<&[u8], WordFacts> = &FACTS;
    facts.get(word).copied().unwrap_or_default()
}

/// Returns the meaning of two neighbouring words.
pub(super) fn pair_meaning(first: &[u8], second: &[u8]) -> Option<NameMeaning> {
    let meanings: &HashMap<WordPair<'_>, NameMeaning> = &PAIR_MEANINGS;
    meanings.get(&(first, second)).copied()
}

/// Returns the meaning of a name that decides only as an `id`.
pub(super) fn id_meaning(id: &str) -> Option<NameMeaning> {
    let (_, meaning) = IDS.iter().find(|(name, _)| id.eq_ignore_ascii_case(name))?;
    NameMeaning::from_name(meaning)
}

impl NameMeaning {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "site-header" => Self::SiteHeader,
            "site-footer" => Self::SiteFooter,
            "menu" => Self::Menu,
            "teaser" => Self::Teaser,
            "note" => Self::Note,
            _ => Self::Exclude(ExclusionReason::from_name(name)?),
        })
    }
}

impl WordMeaning {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "layout" => Some(Self::Layout),
            "content" => Some(Self::Content),
            _ => NameMeaning::from_name(name).map(Self::Decides),
        }
    }
}

fn parse_hint(name: &str) -> Option<TextHint> {
    Some(match name {
        "meta" => TextHint::Metadata,
        "amount" => TextHint::Amount,
        "count" => TextHint::Count,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_in_the_data_files_is_known() {
        for (word, meaning) in VENDORS.iter().chain(IDS) {
            assert!(NameMeaning::from_name(meaning).is_some(), "{word} = {meaning}");
        }
        for (word, meaning) in WORDS {
            assert!(WordMeaning::from_name(meaning).is_some(), "{word} = {meaning}");
        }
        for (word, hint) in HINTS {
            assert!(parse_hint(hint).is_some(), "{word} = {hint}");
        }
        assert_eq!(pairs().count(), PAIRS.len());
        for (first, second, meaning) in pairs() {
            assert!(NameMeaning::from_name(meaning).is_some(), "{first} {second} = {meaning}");
        }
    }
}
