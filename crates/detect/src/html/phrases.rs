//! Short texts that say what a part of a page is: headings of lists that change with every visit,
//! labels of advertising, and entries of menus.

mod lists;
mod marks;

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use lists::{RELATED, STEPS};
use marks::{LABELS, MENU, SHARING};

/// What a short text says of what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phrase {
    /// The heading of a list of other things to read or buy: up to the next heading.
    Related,
    /// Says that what it stands in is paid for.
    Label,
    /// Asks to follow, share or subscribe.
    Sharing,
    /// An entry that only menus have.
    Menu,
    /// Leads to what comes before or after.
    Step,
}

/// In bytes; longer texts say nothing.
pub(crate) const LONGEST: usize = 96;

/// What a text says, whatever its case and the signs around it.
pub(crate) fn phrase(text: &str) -> Option<Phrase> {
    let text = bare(text);
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let bytes = text.as_bytes();
    let ascii = text.is_ascii();
    let more = bytes.get(..MORE.len()).is_some_and(|it| it.eq_ignore_ascii_case(MORE));
    if ascii && !more && !TABLE.may_have(bytes) {
        return None;
    }
    in_lower_case(text, ascii)
}

/// What a text says that may say something.
#[inline(never)]
fn in_lower_case(text: &str, ascii: bool) -> Option<Phrase> {
    if !ascii {
        return look_up(text.to_lowercase().replace('’', "'").as_bytes());
    }
    let bytes = text.as_bytes();
    let mut lower = [0; LONGEST];
    let lower = &mut lower[..bytes.len()];
    lower.copy_from_slice(bytes);
    lower.make_ascii_lowercase();
    look_up(lower)
}

/// Without the signs around it.
#[inline]
fn bare(text: &str) -> &str {
    let part = |it: &u8| it.is_ascii_alphanumeric() || !it.is_ascii();
    let bytes = text.as_bytes();
    let Some(start) = bytes.iter().position(part) else { return "" };
    let end = bytes.iter().rposition(part).map_or(start, |it| it + 1);
    let text = &text[start..end];
    if bytes[start].is_ascii() && bytes[end - 1].is_ascii() {
        return text;
    }
    text.trim_matches(|it: char| !it.is_alphanumeric())
}

/// Whether a heading of other things may be one of the main text: then links must follow.
pub(crate) fn is_weak(text: &str) -> bool {
    let text = text.trim_matches(|it: char| !it.is_alphanumeric());
    WEAK.iter().any(|it| it.eq_ignore_ascii_case(text))
}

const WEAK: &[&str] = &[
    "beliebt",
    "discover more",
    "don't miss",
    "empfehlungen",
    "empfohlen",
    "most popular",
    "popular",
    "recommendations",
    "recommended",
    "recommended reading",
    "top picks",
    "trending",
];

fn look_up(lower: &[u8]) -> Option<Phrase> {
    if lower.starts_with(MORE) {
        return Some(Phrase::Related);
    }
    TABLE.get(lower)
}

/// Begins with this, whatever follows.
const MORE: &[u8] = b"more from ";

/// All phrases by their hashes: most short texts are none of them, and a page has hundreds.
struct Table {
    slots: Vec<Option<(&'static str, Phrase)>>,
    /// By the first byte, one bit for each length of those that begin with it.
    begins: [u128; 256],
    /// By the last byte, one bit for each length of those that end with it.
    ends: [u128; 256],
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let all = [
            (RELATED, Phrase::Related),
            (LABELS, Phrase::Label),
            (SHARING, Phrase::Sharing),
            (MENU, Phrase::Menu),
            (STEPS, Phrase::Step),
        ];
        let count: usize = all.iter().map(|(list, _)| list.len()).sum();
        let slots = vec![None; (4 * count).next_power_of_two()];
        let mut table = Self { slots, begins: [0; 256], ends: [0; 256] };
        for (list, phrase) in all {
            for text in list {
                let bytes = text.as_bytes();
                table.begins[usize::from(bytes[0])] |= 1 << bytes.len();
                table.ends[usize::from(bytes[bytes.len() - 1])] |= 1 << bytes.len();
                let slot = table.slot(bytes);
                // Of two lists with the same text the first one counts.
                table.slots[slot].get_or_insert((text, phrase));
            }
        }
        table
    }

    /// The slot of a text, or the empty one where it would be.
    fn slot(&self, text: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(text) as usize & mask;
        while self.slots[slot].is_some_and(|it| it.0.as_bytes() != text) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn get(&self, text: &[u8]) -> Option<Phrase> {
        self.slots[self.slot(text)].map(|it| it.1)
    }

    /// A cheap look, at two small tables in place of a large one: whether one of this length begins so, and
    /// one ends so. For texts of ASCII up to the longest.
    #[inline]
    fn may_have(&self, text: &[u8]) -> bool {
        let [first, .., last] = text else { return true };
        let begins = self.begins[usize::from(first.to_ascii_lowercase())];
        let ends = self.ends[usize::from(last.to_ascii_lowercase())];
        (begins & ends) >> text.len() & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_lower_case_and_short() {
        for list in [RELATED, LABELS, SHARING, MENU, STEPS] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            assert!(list.iter().all(|it| it.len() <= LONGEST && it.to_lowercase() == *it));
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Option<Phrase>) {
        assert_eq!(phrase(text), expect, "{text}");
    }

    #[test]
    fn phrases() {
        check("Related articles", Some(Phrase::Related));
        check("You may also like…", Some(Phrase::Related));
        check("Editor’s picks:", Some(Phrase::Related));
        check("Das könnte Sie auch interessieren", Some(Phrase::Related));
        check("関連記事", Some(Phrase::Related));
        check("— ADVERTISEMENT —", Some(Phrase::Label));
        check("Follow us", Some(Phrase::Sharing));
        check("Impressum", Some(Phrase::Menu));
        check("Related work", None);
        check("Advertisement law", None);
        check("", None);
    }
}
