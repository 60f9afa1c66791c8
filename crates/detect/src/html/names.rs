//! What the names that a page gives its parts (`class`, `id`, names of its own elements) say of
//! them.
//!
//! A name is split into words: `site-header`, `siteHeader` and `site_header__x7Ga2` are `site` and
//! `header`. It tells only if one word says what the part is and all others are mere layout:
//! `header-wrapper` is the head of a site, `product-header` is not.

mod words;

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64;

use super::reason::Reason;
use crate::noise::Hint;
use words::{hint, is_item, is_social, look_up, only_id, pair, vendor};

/// What a word says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Where something is or how it looks, not what it is.
    Layout,
    /// What kind of thing is in it: `posts` in `related-posts`.
    Thing,
    Says(Says),
}

/// What a name says of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// Does not count.
    Out(Reason),
    /// The head of the site: all but the main heading does not count.
    Header,
    /// The foot of the site.
    Footer,
    /// A menu: its links do not count.
    Menu,
    /// Does not count on a page that has something else to read.
    Teaser,
    /// An aside that belongs to the text.
    Note,
}

/// What the names of an element say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) says: Option<Says>,
    /// What they say of short texts in it.
    pub(crate) hint: Hint,
    /// What they say of a number in an element of its own.
    pub(crate) social: bool,
    /// They are those of one of several: `trending-item`.
    pub(crate) item: bool,
}

impl Named {
    /// Of a name that one part of a page has alone.
    pub(crate) fn id(name: &str) -> Self {
        let found = Self::list(name);
        let says = found.says.or_else(|| only_id(name));
        Self { says, ..found }
    }

    /// Of a list of names, as in `class`.
    pub(crate) fn list(names: &str) -> Self {
        KNOWN.with_borrow_mut(|it| it.list(names))
    }

    fn read(names: &str) -> Self {
        let mut found = Self::default();
        for name in names.split_ascii_whitespace().take(MOST_NAMES) {
            found = found.or(name_says(name));
        }
        found
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            says: self.says.or(other.says),
            hint: self.hint.max(other.hint),
            social: self.social || other.social,
            item: self.item || other.item,
        }
    }
}

/// What lists of names said that were looked at before: the pages of a site have the same ones over
/// and over.
struct NameIndex {
    slots: Vec<(String, Named)>,
}

thread_local! {
    static KNOWN: RefCell<NameIndex> = const { RefCell::new(NameIndex { slots: Vec::new() }) };
}

impl NameIndex {
    const SLOTS: usize = 256;
    /// Longer lists are not kept, in bytes.
    const LONGEST: usize = 1024;

    fn list(&mut self, names: &str) -> Named {
        if names.len() > Self::LONGEST {
            return Named::read(names);
        }
        if self.slots.is_empty() {
            self.slots.resize(Self::SLOTS, (String::new(), Named::default()));
        }
        let slot = &mut self.slots[xxh3_64(names.as_bytes()) as usize % Self::SLOTS];
        if slot.0 != names {
            slot.0.clear();
            slot.0.push_str(names);
            slot.1 = Named::read(names);
        }
        slot.1
    }
}

/// A hostile page can have many.
const MOST_NAMES: usize = 32;
const LONGEST_NAME: usize = 64;
const MOST_WORDS: usize = 8;

fn name_says(name: &str) -> Named {
    if name.len() > LONGEST_NAME || name.len() < 2 {
        return Named::default();
    }
    if ["views", "viewers", "visitors", "hits", "likes"].contains(&name) {
        let says = Some(Says::Out(Reason::Counter));
        return Named { says, hint: Hint::Count, social: true, item: false };
    }
    // A suffix made by a tool changes with each release of a site.
    let end = name.as_bytes().windows(2).rposition(|it| it == b"__");
    let stem = end.filter(|at| *at > 0).map(|at| &name[..at]);
    let whole = words_say(name);
    match stem {
        Some(stem) if whole.says.is_none() => whole.or(words_say(stem)),
        _ => whole,
    }
}

fn words_say(name: &str) -> Named {
    let mut lower = [0_u8; LONGEST_NAME];
    let mut bounds = [(0_usize, 0_usize); MOST_WORDS];
    let Some(count) = split(name, &mut lower, &mut bounds) else { return Named::default() };
    let word = |i: usize| &lower[bounds[i].0..bounds[i].1];
    let hint = (0..count).map(|i| hint(word(i))).max().unwrap_or_default();
    let says = (0..count)
        .find_map(|i| vendor(word(i)))
        .or_else(|| (1..count).find_map(|i| pair(word(i - 1), word(i))))
        .or_else(|| all_say(count, word));
    let social = (0..count).any(|i| is_social(word(i)));
    let item = (0..count).any(|i| is_item(word(i)));
    Named { says, hint, social, item }
}

/// What a name says if all of its words are known.
fn all_say<'w>(count: usize, word: impl Fn(usize) -> &'w [u8]) -> Option<Says> {
    let mut found = None;
    let mut things = false;
    for i in 0..count {
        match look_up(word(i))? {
            Word::Layout => {}
            Word::Thing => things = true,
            // `footer-note` is a note.
            Word::Says(Says::Note) if found == Some(Says::Footer) => return None,
            Word::Says(says) => found = found.or(Some(says)),
        }
    }
    // `related-posts` is about posts, but `ad-list` may be what the page is about.
    let needs_none = |says| {
        matches!(
            says,
            Says::Header
                | Says::Footer
                | Says::Menu
                | Says::Note
                | Says::Out(
                    Reason::Advertising | Reason::Account | Reason::Overlay | Reason::Aside
                )
        )
    };
    found.filter(|says| !(things && needs_none(*says)))
}

/// Words in lower case, with their bounds. Words with digits are left out: a tool made them.
fn split(
    name: &str,
    lower: &mut [u8; LONGEST_NAME],
    bounds: &mut [(usize, usize); MOST_WORDS],
) -> Option<usize> {
    let bytes = name.as_bytes();
    let (mut count, mut start, mut digits) = (0, 0, false);
    for at in 0..=bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(b'-');
        let separates = !byte.is_ascii_alphanumeric();
        let rises = byte.is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase();
        if separates || rises {
            if at > start && !digits {
                *bounds.get_mut(count)? = (start, at);
                count += 1;
            }
            start = if separates { at + 1 } else { at };
            digits = false;
        }
        if at < bytes.len() {
            lower[at] = byte.to_ascii_lowercase();
            digits |= byte.is_ascii_digit();
        }
    }
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, expect: Option<Says>) {
        assert_eq!(Named::list(names).says, expect, "{names}");
    }

    #[test]
    fn names_of_what_surrounds_the_main_thing() {
        let out = |reason| Some(Says::Out(reason));
        check("site-header", Some(Says::Header));
        check("siteHeader sticky", Some(Says::Header));
        check("Sidebar_sidebar__x7Ga2", out(Reason::Aside));
        check("Sidebar_sidebar__abcde", out(Reason::Aside));
        check("ad-slot-728x90", out(Reason::Advertising));
        check("x y cookie-banner", out(Reason::Consent));
        check("related-posts", out(Reason::Related));
        check("most-read", out(Reason::Related));
        check("share-buttons", out(Reason::Sharing));
        check("view-count", out(Reason::Counter));
        check("onetrust-consent-sdk", out(Reason::Consent));
        check("div-gpt-ad-1234-0", out(Reason::Advertising));
        check("weather-widget", out(Reason::Widget));
        check("footer-inner", Some(Says::Footer));
        check("menu", Some(Says::Menu));
        check("teaser-list", Some(Says::Teaser));
    }

    #[test]
    fn what_is_known_is_what_is_read() {
        // More than there are slots, and each twice.
        let names: Vec<String> = (0..1000).map(|it| format!("x{it} menu y{}", it % 7)).collect();
        for name in names.iter().chain(&names) {
            assert_eq!(Named::list(name), Named::read(name), "{name}");
        }
        let long = "menu ".repeat(NameIndex::LONGEST);
        assert_eq!(Named::list(&long).says, Some(Says::Menu));
    }

    #[test]
    fn names_that_only_sound_like_it() {
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
