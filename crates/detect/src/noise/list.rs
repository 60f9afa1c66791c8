//! Lists of words that most words are not in.

/// Words, and a cheap look that nearly all others fail.
pub(super) struct List {
    pub(super) words: &'static [&'static str],
    /// A bit for each length, first byte and last byte of a word.
    looks: [u64; LOOKS],
}

const LOOKS: usize = 16;

impl List {
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let (mut looks, mut i) = ([0; LOOKS], 0);
        while i < words.len() {
            let look = look(words[i].as_bytes());
            looks[look / 64] |= 1 << (look % 64);
            i += 1;
        }
        Self { words, looks }
    }

    #[inline]
    pub(super) fn has(&self, word: &str) -> bool {
        let look = look(word.as_bytes());
        self.looks[look / 64] >> (look % 64) & 1 == 1 && self.words.contains(&word)
    }
}

/// Beginnings of words, of two bytes or more each, and a cheap look that nearly all words fail.
pub(super) struct Stems {
    stems: &'static [&'static str],
    /// A bit for the first two bytes of each.
    looks: [u64; LOOKS],
}

impl Stems {
    pub(super) const fn new(stems: &'static [&'static str]) -> Self {
        let (mut looks, mut i) = ([0; LOOKS], 0);
        while i < stems.len() {
            let [first, second, ..] = stems[i].as_bytes() else { panic!("too short") };
            let look = look(&[*first, *second]);
            looks[look / 64] |= 1 << (look % 64);
            i += 1;
        }
        Self { stems, looks }
    }

    /// Whether a word begins with one of them.
    #[inline]
    pub(super) fn begin(&self, word: &str) -> bool {
        let [first, second, ..] = word.as_bytes() else { return false };
        let look = look(&[*first, *second]);
        self.looks[look / 64] >> (look % 64) & 1 == 1
            && self.stems.iter().any(|it| word.starts_with(it))
    }
}

#[inline]
const fn look(word: &[u8]) -> usize {
    let [first, .., last] = word else { return 0 };
    (*first as usize * 7 + *last as usize * 37 + word.len() * 101) % (64 * LOOKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_word() {
        static STEMS: Stems = Stems::new(&["hr", "minut", "年"]);
        for word in ["hr", "hrs", "minutes", "年前"] {
            assert!(STEMS.begin(word), "{word}");
        }
        for word in ["", "h", "min", "date", "月"] {
            assert!(!STEMS.begin(word), "{word}");
        }
    }

    #[test]
    fn what_is_in_a_list() {
        static LIST: List = List::new(&["", "a", "ab", "ähnlich", "zuletzt"]);
        for word in LIST.words {
            assert!(LIST.has(word), "{word}");
        }
        for word in ["b", "ac", "abb", "ähnlicher", "zu letzt"] {
            assert!(!LIST.has(word), "{word}");
        }
    }
}
