//! The meaning of the names that a page gives its elements: `class`, `id`, and custom element names.
//!
//! A name is split into words: `site-header`, `siteHeader` and `site_header__x7Ga2` are `site` and
//! `header`. It has a meaning only if one word says what the element is and all others are mere
//! layout: `header-wrapper` is the head of a site, `product-header` is not.

mod vocabulary;

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64;

use super::exclusion::ExclusionReason;
use crate::noise::TextHint;
use vocabulary::{WordFacts, id_meaning, pair_meaning, word_facts};

/// The meaning of a word in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordMeaning {
    /// Where an element is or how it looks, not what it is.
    Layout,
    /// A kind of content: `posts` in `related-posts`.
    Content,
    Decides(NameMeaning),
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMeaning {
    Exclude(ExclusionReason),
    /// The head of the site: excluded, except for the main heading.
    SiteHeader,
    /// The foot of the site.
    SiteFooter,
    /// A menu: its links are excluded.
    Menu,
    /// Excluded on a page that has something else to read.
    Teaser,
    /// An aside that belongs to the text.
    Note,
}

/// Everything that is known of an element from its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameFacts {
    pub(crate) meaning: Option<NameMeaning>,
    /// Short texts in the element.
    pub(crate) hint: TextHint,
    /// A number alone in the element counts user actions.
    pub(crate) is_social: bool,
    /// The element may be an item of a front page: `trending-item`.
    pub(crate) is_item: bool,
}

impl NameFacts {
    /// Returns the facts of an `id`.
    pub(crate) fn from_id(id: &str) -> Self {
        let facts = Self::from_class(id);
        let meaning = facts.meaning.or_else(|| id_meaning(id));
        Self { meaning, ..facts }
    }

    /// Returns the facts of a list of names, as in `class`.
    pub(crate) fn from_class(names: &str) -> Self {
        CACHE.with_borrow_mut(|it| it.get(names))
    }

    fn parse(names: &str) -> Self {
        let mut facts = Self::default();
        for name in names.split_ascii_whitespace().take(MAX_NAMES) {
            facts = facts.merge(name_facts(name));
        }
        facts
    }

    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            meaning: self.meaning.or(other.meaning),
            hint: self.hint.max(other.hint),
            is_social: self.is_social || other.is_social,
            is_item: self.is_item || other.is_item,
        }
    }
}

/// The facts of recent lists of names: the pages of a site use the same ones again and again.
struct NameCache {
    slots: Vec<(String, NameFacts)>,
}

thread_local! {
    static CACHE: RefCell<NameCache> = const { RefCell::new(NameCache { slots: Vec::new() }) };
}

impl NameCache {
    const SLOTS: usize = 256;
    /// Longer lists are not cached, in bytes.
    const MAX_LIST_LEN: usize = 1024;

    fn get(&mut self, names: &str) -> NameFacts {
        if names.len() > Self::MAX_LIST_LEN {
            return NameFacts::parse(names);
        }
        if self.slots.is_empty() {
            self.slots.resize(Self::SLOTS, (String::new(), NameFacts::default()));
        }
        let slot = &mut self.slots[xxh3_64(names.as_bytes()) as usize % Self::SLOTS];
        if slot.0 != names {
            slot.0.clear();
            slot.0.push_str(names);
            slot.1 = NameFacts::parse(names);
        }
        slot.1
    }
}

/// Maximum number of names of an element that are examined: a hostile page can have many.
const MAX_NAMES: usize = 32;
/// Longer names have no meaning, in bytes.
const MAX_NAME_LEN: usize = 64;
/// Names of more words have no meaning.
const MAX_WORDS: usize = 8;

fn name_facts(name: &str) -> NameFacts {
    if name.len() > MAX_NAME_LEN || name.len() < 2 {
        return NameFacts::default();
    }
    if ["views", "viewers", "visitors", "hits", "likes"].contains(&name) {
        let meaning = Some(NameMeaning::Exclude(ExclusionReason::Counter));
        return NameFacts { meaning, hint: TextHint::Count, is_social: true, is_item: false };
    }
    // A suffix made by a build tool changes with each release of a site.
    let end = name.as_bytes().windows(2).rposition(|it| it == b"__");
    let stem = end.filter(|at| *at > 0).map(|at| &name[..at]);
    let facts = facts_of_words(name);
    match stem {
        Some(stem) if facts.meaning.is_none() => facts.merge(facts_of_words(stem)),
        _ => facts,
    }
}

fn facts_of_words(name: &str) -> NameFacts {
    let mut lower = [0_u8; MAX_NAME_LEN];
    let mut ranges = [(0_usize, 0_usize); MAX_WORDS];
    let Some(count) = split_words(name, &mut lower, &mut ranges) else {
        return NameFacts::default();
    };
    let word = |i: usize| &lower[ranges[i].0..ranges[i].1];
    let mut words = [WordFacts::default(); MAX_WORDS];
    let words = &mut words[..count];
    words.iter_mut().enumerate().for_each(|(i, it)| *it = word_facts(word(i)));
    let find_pair = |i: usize| {
        if words[i - 1].starts_pair { pair_meaning(word(i - 1), word(i)) } else { None }
    };
    let meaning = words
        .iter()
        .find_map(|it| it.vendor)
        .or_else(|| (1..count).find_map(find_pair))
        .or_else(|| meaning_of_all(words));
    NameFacts {
        meaning,
        hint: words.iter().map(|it| it.hint).max().unwrap_or_default(),
        is_social: words.iter().any(|it| it.is_social),
        is_item: words.iter().any(|it| it.is_item),
    }
}

/// Returns the meaning of a name if all of its words are known.
fn meaning_of_all(words: &[WordFacts]) -> Option<NameMeaning> {
    let mut found = None;
    let mut has_content = false;
    for word in words {
        match word.meaning? {
            WordMeaning::Layout => {}
            WordMeaning::Content => has_content = true,
            // `footer-note` is a note.
            WordMeaning::Decides(NameMeaning::Note) if found == Some(NameMeaning::SiteFooter) => {
                return None;
            }
            WordMeaning::Decides(meaning) => found = found.or(Some(meaning)),
        }
    }
    // `related-posts` is about posts, but `ad-list` may be the content of the page.
    let excludes_no_content = |meaning| {
        use ExclusionReason::{Account, Advertising, Overlay, Sidebar};
        matches!(
            meaning,
            NameMeaning::SiteHeader
                | NameMeaning::SiteFooter
                | NameMeaning::Menu
                | NameMeaning::Note
                | NameMeaning::Exclude(Advertising | Account | Overlay | Sidebar)
        )
    };
    found.filter(|it| !(has_content && excludes_no_content(*it)))
}

/// Splits a name into words in lower case, and returns their number. Omits words with digits, which
/// build tools make.
fn split_words(
    name: &str,
    lower: &mut [u8; MAX_NAME_LEN],
    ranges: &mut [(usize, usize); MAX_WORDS],
) -> Option<usize> {
    let bytes = name.as_bytes();
    let (mut count, mut start, mut has_digit) = (0, 0, false);
    for at in 0..=bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(b'-');
        let is_separator = !byte.is_ascii_alphanumeric();
        let is_capital =
            byte.is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase();
        if is_separator || is_capital {
            if at > start && !has_digit {
                *ranges.get_mut(count)? = (start, at);
                count += 1;
            }
            start = if is_separator { at + 1 } else { at };
            has_digit = false;
        }
        if at < bytes.len() {
            lower[at] = byte.to_ascii_lowercase();
            has_digit |= byte.is_ascii_digit();
        }
    }
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, expect: Option<NameMeaning>) {
        assert_eq!(NameFacts::from_class(names).meaning, expect, "{names}");
    }

    #[test]
    fn names_of_page_parts_have_a_meaning() {
        let exclude = |reason| Some(NameMeaning::Exclude(reason));
        check("site-header", Some(NameMeaning::SiteHeader));
        check("siteHeader sticky", Some(NameMeaning::SiteHeader));
        check("Sidebar_sidebar__x7Ga2", exclude(ExclusionReason::Sidebar));
        check("Sidebar_sidebar__abcde", exclude(ExclusionReason::Sidebar));
        check("ad-slot-728x90", exclude(ExclusionReason::Advertising));
        check("x y cookie-banner", exclude(ExclusionReason::Consent));
        check("related-posts", exclude(ExclusionReason::Related));
        check("most-read", exclude(ExclusionReason::Related));
        check("share-buttons", exclude(ExclusionReason::Sharing));
        check("view-count", exclude(ExclusionReason::Counter));
        check("onetrust-consent-sdk", exclude(ExclusionReason::Consent));
        check("div-gpt-ad-1234-0", exclude(ExclusionReason::Advertising));
        check("weather-widget", exclude(ExclusionReason::Widget));
        check("footer-inner", Some(NameMeaning::SiteFooter));
        check("menu", Some(NameMeaning::Menu));
        check("teaser-list", Some(NameMeaning::Teaser));
    }

    #[test]
    fn a_cached_list_has_the_same_facts_as_a_new_one() {
        // More than there are slots, and each twice.
        let names: Vec<String> = (0..1000).map(|it| format!("x{it} menu y{}", it % 7)).collect();
        for name in names.iter().chain(&names) {
            assert_eq!(NameFacts::from_class(name), NameFacts::parse(name), "{name}");
        }
        let long = "menu ".repeat(NameCache::MAX_LIST_LEN);
        assert_eq!(NameFacts::from_class(&long).meaning, Some(NameMeaning::Menu));
    }

    #[test]
    fn names_of_content_have_no_meaning() {
        for name in [
            "product-header",
            "article-header",
            "share-price",
            "has-sidebar",
            "promo-price",
            "elementor-widget",
            "ad-list",
            "cookie-recipe",
            "menu-item-price",
            "headers",
            "navy",
            "css-1x2y3z",
            "",
            "-",
        ] {
            check(name, None);
        }
    }
}
