//! Short texts that identify a part of a page: headings of related articles, labels of advertising,
//! and entries of menus.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::word_list::word_list;

const RELATED_HEADINGS: &[&str] = word_list!("page/related_headings.txt");
const WEAK_HEADINGS: &[&str] = word_list!("page/weak_headings.txt");
const AD_LABELS: &[&str] = word_list!("page/ad_labels.txt");
const SHARE_PROMPTS: &[&str] = word_list!("page/share_prompts.txt");
const MENU_ENTRIES: &[&str] = word_list!("page/menu_entries.txt");
const PAGER_LINKS: &[&str] = word_list!("page/pager_links.txt");

/// The kind of a short text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhraseKind {
    /// Heading of a list of related articles or products. It excludes the text up to the next
    /// heading.
    RelatedHeading,
    /// Label of advertising.
    AdLabel,
    /// Prompt to follow, share or subscribe.
    SharePrompt,
    /// Link that only menus have.
    MenuEntry,
    /// Link to what comes before or after.
    PagerLink,
}

/// Length of the longest phrase, in bytes.
pub(crate) const MAX_PHRASE_LEN: usize = 96;

/// Classifies a text, in any case and with any symbols around it.
pub(crate) fn classify_phrase(text: &str) -> Option<PhraseKind> {
    let text = trim_symbols(text);
    if text.is_empty() || text.len() > MAX_PHRASE_LEN {
        return None;
    }
    let bytes = text.as_bytes();
    let is_ascii = text.is_ascii();
    let has_prefix =
        bytes.get(..RELATED_PREFIX.len()).is_some_and(|it| it.eq_ignore_ascii_case(RELATED_PREFIX));
    if is_ascii && !has_prefix && !PHRASES.may_contain(bytes) {
        return None;
    }
    look_up_lowercase(text, is_ascii)
}

/// Looks up a text that passed the cheap tests.
#[inline(never)]
fn look_up_lowercase(text: &str, is_ascii: bool) -> Option<PhraseKind> {
    if !is_ascii {
        return look_up(text.to_lowercase().replace('’', "'").as_bytes());
    }
    let bytes = text.as_bytes();
    let mut lower = [0; MAX_PHRASE_LEN];
    let lower = &mut lower[..bytes.len()];
    lower.copy_from_slice(bytes);
    lower.make_ascii_lowercase();
    look_up(lower)
}

/// Removes the symbols around a text.
#[inline]
fn trim_symbols(text: &str) -> &str {
    let is_text = |it: &u8| it.is_ascii_alphanumeric() || !it.is_ascii();
    let bytes = text.as_bytes();
    let Some(start) = bytes.iter().position(is_text) else { return "" };
    let end = bytes.iter().rposition(is_text).map_or(start, |it| it + 1);
    let text = &text[start..end];
    if bytes[start].is_ascii() && bytes[end - 1].is_ascii() {
        return text;
    }
    text.trim_matches(|it: char| !it.is_alphanumeric())
}

/// True for a related heading that a text may have too: it counts as one only if links follow.
pub(crate) fn is_weak_heading(text: &str) -> bool {
    let text = text.trim_matches(|it: char| !it.is_alphanumeric());
    WEAK_HEADINGS.iter().any(|it| it.eq_ignore_ascii_case(text))
}

fn look_up(lower: &[u8]) -> Option<PhraseKind> {
    if lower.starts_with(RELATED_PREFIX) {
        return Some(PhraseKind::RelatedHeading);
    }
    PHRASES.get(lower)
}

/// Prefix of related headings that end with any name.
const RELATED_PREFIX: &[u8] = b"more from ";

/// Hash table of all phrases, with filters: a page has hundreds of short texts, and most are not
/// phrases.
struct PhraseTable {
    slots: Vec<Option<(&'static str, PhraseKind)>>,
    /// For each first byte, one bit for each length of the phrases that begin with it.
    starts: [u128; 256],
    /// For each last byte, one bit for each length of the phrases that end with it.
    ends: [u128; 256],
}

static PHRASES: LazyLock<PhraseTable> = LazyLock::new(PhraseTable::new);

impl PhraseTable {
    fn new() -> Self {
        let lists = [
            (RELATED_HEADINGS, PhraseKind::RelatedHeading),
            (AD_LABELS, PhraseKind::AdLabel),
            (SHARE_PROMPTS, PhraseKind::SharePrompt),
            (MENU_ENTRIES, PhraseKind::MenuEntry),
            (PAGER_LINKS, PhraseKind::PagerLink),
        ];
        let count: usize = lists.iter().map(|(list, _)| list.len()).sum();
        let slots = vec![None; (4 * count).next_power_of_two()];
        let mut table = Self { slots, starts: [0; 256], ends: [0; 256] };
        for (list, kind) in lists {
            for text in list {
                let bytes = text.as_bytes();
                table.starts[usize::from(bytes[0])] |= 1 << bytes.len();
                table.ends[usize::from(bytes[bytes.len() - 1])] |= 1 << bytes.len();
                let slot = table.slot(bytes);
                // If two lists have the same text, the first one decides.
                table.slots[slot].get_or_insert((text, kind));
            }
        }
        table
    }

    /// Returns the slot of a text, or the empty slot where it would be inserted.
    fn slot(&self, text: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(text) as usize & mask;
        while self.slots[slot].is_some_and(|it| it.0.as_bytes() != text) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn get(&self, text: &[u8]) -> Option<PhraseKind> {
        self.slots[self.slot(text)].map(|it| it.1)
    }

    /// A cheap test with two small tables: true if a phrase of this length begins with this byte,
    /// and one ends with this byte. For ASCII texts up to the longest phrase.
    #[inline]
    fn may_contain(&self, text: &[u8]) -> bool {
        let [first, .., last] = text else { return true };
        let starts = self.starts[usize::from(first.to_ascii_lowercase())];
        let ends = self.ends[usize::from(last.to_ascii_lowercase())];
        (starts & ends) >> text.len() & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_fits_into_the_buffer() {
        for list in [RELATED_HEADINGS, AD_LABELS, SHARE_PROMPTS, MENU_ENTRIES, PAGER_LINKS] {
            assert!(list.iter().all(|it| it.len() <= MAX_PHRASE_LEN), "{list:?}");
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Option<PhraseKind>) {
        assert_eq!(classify_phrase(text), expect, "{text}");
    }

    #[test]
    fn phrases_are_found_in_any_case_and_between_symbols() {
        check("Related articles", Some(PhraseKind::RelatedHeading));
        check("You may also like…", Some(PhraseKind::RelatedHeading));
        check("Editor’s picks:", Some(PhraseKind::RelatedHeading));
        check("Das könnte Sie auch interessieren", Some(PhraseKind::RelatedHeading));
        check("関連記事", Some(PhraseKind::RelatedHeading));
        check("— ADVERTISEMENT —", Some(PhraseKind::AdLabel));
        check("Follow us", Some(PhraseKind::SharePrompt));
        check("Impressum", Some(PhraseKind::MenuEntry));
        check("Related work", None);
        check("Advertisement law", None);
        check("", None);
    }
}
