//! How alike two texts are when both are at hand.

use foldhash::{HashMap, HashMapExt};

use crate::sketch::next_hash;

/// How alike two texts are, from 0 to 1. Words are told apart by hashes of 64 bits.
#[must_use]
pub fn similarity(a: &str, b: &str) -> f64 {
    let shared = Shared::of(a, b);
    let total = shared.in_first + shared.in_second;
    if total == 0 { 1.0 } else { 2.0 * shared.in_both as f64 / total as f64 }
}

/// Words of two texts, each counted as often as it stands there.
pub(crate) struct Shared {
    pub(crate) in_first: usize,
    pub(crate) in_second: usize,
    pub(crate) in_both: usize,
}

impl Shared {
    pub(crate) fn of(a: &str, b: &str) -> Self {
        // Words are mostly about five letters long, and half of them stand there twice.
        let mut left: HashMap<u64, usize> = HashMap::with_capacity(a.len() / 12);
        let mut shared = Self { in_first: 0, in_second: 0, in_both: 0 };
        for word in hashes(a) {
            *left.entry(word).or_default() += 1;
            shared.in_first += 1;
        }
        for word in hashes(b) {
            shared.in_second += 1;
            if let Some(count) = left.get_mut(&word).filter(|count| **count > 0) {
                *count -= 1;
                shared.in_both += 1;
            }
        }
        shared
    }
}

fn hashes(text: &str) -> impl Iterator<Item = u64> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (hash, end) = next_hash(text, at)?;
        at = end;
        Some(hash)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_words_in_common() {
        assert_eq!(similarity("a b c d", "a b c d"), 1.0);
        assert_eq!(similarity("a b c d", "a b c e"), 0.75);
        assert_eq!(similarity("a a b", "a b b"), 4.0 / 6.0);
        assert_eq!(similarity("a a a", "a b"), 2.0 / 5.0);
        assert_eq!(similarity("", "a"), 0.0);
        assert_eq!(similarity("", ""), 1.0);
    }
}
