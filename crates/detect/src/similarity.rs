//! Exact similarity of two texts.

use foldhash::{HashMap, HashMapExt};

use crate::sketch::next_hash;

/// Returns the similarity of two texts, from 0 to 1. Compares words by hashes of 64 bits.
#[must_use]
pub fn similarity(a: &str, b: &str) -> f64 {
    let overlap = WordOverlap::count_words(a, b);
    let total = overlap.first_count + overlap.second_count;
    if total == 0 { 1.0 } else { 2.0 * overlap.common_count as f64 / total as f64 }
}

/// Numbers of words in two texts and in both, each occurrence counted.
pub(crate) struct WordOverlap {
    pub(crate) first_count: usize,
    pub(crate) second_count: usize,
    pub(crate) common_count: usize,
}

impl WordOverlap {
    pub(crate) fn count_words(a: &str, b: &str) -> Self {
        // Most words have about five letters, and about half of them are repetitions.
        let mut remaining: HashMap<u64, usize> = HashMap::with_capacity(a.len() / 12);
        let mut overlap = Self { first_count: 0, second_count: 0, common_count: 0 };
        for word in word_hashes(a) {
            *remaining.entry(word).or_default() += 1;
            overlap.first_count += 1;
        }
        for word in word_hashes(b) {
            overlap.second_count += 1;
            if let Some(count) = remaining.get_mut(&word).filter(|count| **count > 0) {
                *count -= 1;
                overlap.common_count += 1;
            }
        }
        overlap
    }
}

fn word_hashes(text: &str) -> impl Iterator<Item = u64> {
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
    fn similarity_is_the_share_of_words_in_common() {
        assert_eq!(similarity("a b c d", "a b c d"), 1.0);
        assert_eq!(similarity("a b c d", "a b c e"), 0.75);
        assert_eq!(similarity("a a b", "a b b"), 4.0 / 6.0);
        assert_eq!(similarity("a a a", "a b"), 2.0 / 5.0);
        assert_eq!(similarity("", "a"), 0.0);
        assert_eq!(similarity("", ""), 1.0);
    }
}
