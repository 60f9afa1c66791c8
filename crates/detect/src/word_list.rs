//! Word lists of the files in `data/`, parsed at compile time.
//!
//! A file has one entry a line. Empty lines and lines that begin with `#` are ignored. Entries are
//! sorted by bytes: a file that is out of order or has a duplicate does not compile, and a look-up may
//! search it by halves.

/// The entries of a file in `data/`, as a sorted `&'static [&'static str]`.
macro_rules! word_list {
    ($path:literal) => {{
        const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/", $path));
        const ENTRIES: [&str; crate::word_list::count_entries(TEXT)] =
            crate::word_list::parse_entries(TEXT);
        const LIST: &[&str] = &ENTRIES;
        LIST
    }};
}
pub(crate) use word_list;

/// The entries `KEY = VALUE` of a file in `data/`, as a sorted `&'static [(&'static str, &'static str)]`.
macro_rules! pair_list {
    ($path:literal) => {{
        const LIST: &[&str] = crate::word_list::word_list!($path);
        const PAIRS: [(&str, &str); LIST.len()] = crate::word_list::parse_pairs(LIST);
        const PAIR_LIST: &[(&str, &str)] = &PAIRS;
        PAIR_LIST
    }};
}
pub(crate) use pair_list;

/// Returns the number of entries of a file.
pub(crate) const fn count_entries(text: &str) -> usize {
    let (mut rest, mut count) = (text.as_bytes(), 0);
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        if is_entry(line) {
            count += 1;
        }
        rest = after;
    }
    count
}

/// Returns the `N` entries of a file.
pub(crate) const fn parse_entries<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut entries = [""; N];
    let (mut rest, mut count) = (text.as_bytes(), 0);
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        if is_entry(line) {
            let Ok(entry) = std::str::from_utf8(line) else { panic!("a line is not UTF-8") };
            assert!(
                count == 0 || is_less(entries[count - 1].as_bytes(), line),
                "entries are not sorted, or one is a duplicate"
            );
            entries[count] = entry;
            count += 1;
        }
        rest = after;
    }
    entries
}

/// Splits `N` entries of the form `KEY = VALUE`.
pub(crate) const fn parse_pairs<const N: usize>(
    entries: &[&'static str],
) -> [(&'static str, &'static str); N] {
    let mut pairs = [("", ""); N];
    let mut i = 0;
    while i < N {
        pairs[i] = split_pair(entries[i]);
        i += 1;
    }
    pairs
}

const fn split_pair(entry: &str) -> (&str, &str) {
    let bytes = entry.as_bytes();
    let mut at = 0;
    while at + 3 <= bytes.len() {
        if bytes[at] == b' ' && bytes[at + 1] == b'=' && bytes[at + 2] == b' ' {
            let (key, rest) = entry.split_at(at);
            return (key, rest.split_at(3).1);
        }
        at += 1;
    }
    panic!("an entry has no ` = `")
}

/// The first line, and the bytes after it.
const fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    while end < bytes.len() {
        if bytes[end] == b'\n' {
            return (bytes.split_at(end).0, bytes.split_at(end + 1).1);
        }
        end += 1;
    }
    (bytes, &[])
}

const fn is_entry(line: &[u8]) -> bool {
    !line.is_empty() && line[0] != b'#'
}

const fn is_less(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}

/// A sorted word list, with a filter that rejects nearly all other words at once.
pub(crate) struct WordSet {
    words: &'static [&'static str],
    filter: Filter,
}

impl WordSet {
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let (mut filter, mut i) = (Filter::EMPTY, 0);
        while i < words.len() {
            filter = filter.with(words[i].as_bytes());
            i += 1;
        }
        Self { words, filter }
    }

    #[inline]
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.filter.may_contain(word.as_bytes()) && self.words.binary_search(&word).is_ok()
    }
}

/// Prefixes of two bytes or more, with a filter that rejects nearly all words at once.
pub(crate) struct PrefixSet {
    prefixes: &'static [&'static str],
    /// Holds the first two bytes of each prefix.
    filter: Filter,
}

impl PrefixSet {
    pub(crate) const fn new(prefixes: &'static [&'static str]) -> Self {
        let (mut filter, mut i) = (Filter::EMPTY, 0);
        while i < prefixes.len() {
            let [first, second, ..] = prefixes[i].as_bytes() else {
                panic!("a prefix is too short")
            };
            filter = filter.with(&[*first, *second]);
            i += 1;
        }
        Self { prefixes, filter }
    }

    /// True if the word begins with one of the prefixes.
    #[inline]
    pub(crate) fn matches(&self, word: &str) -> bool {
        let [first, second, ..] = word.as_bytes() else { return false };
        self.filter.may_contain(&[*first, *second])
            && self.prefixes.iter().any(|it| word.starts_with(it))
    }
}

/// A Bloom filter with one hash, of the length, the first byte and the last byte of a word.
struct Filter([u64; Filter::LEN]);

impl Filter {
    const LEN: usize = 16;
    const EMPTY: Self = Self([0; Self::LEN]);

    const fn with(mut self, word: &[u8]) -> Self {
        let bit = Self::bit(word);
        self.0[bit / 64] |= 1 << (bit % 64);
        self
    }

    #[inline]
    fn may_contain(&self, word: &[u8]) -> bool {
        let bit = Self::bit(word);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    #[inline]
    const fn bit(word: &[u8]) -> usize {
        let [first, .., last] = word else { return 0 };
        (*first as usize * 7 + *last as usize * 37 + word.len() * 101) % (64 * Self::LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_lines_without_comments() {
        const TEXT: &str = "# a comment\n\na\nb c\n\nd = e";
        assert_eq!(count_entries(TEXT), 3);
        assert_eq!(parse_entries::<3>(TEXT), ["a", "b c", "d = e"]);
        assert_eq!(split_pair("d e = f"), ("d e", "f"));
    }

    #[test]
    #[should_panic(expected = "not sorted")]
    fn a_duplicate_entry_is_refused() {
        parse_entries::<2>("a\na\n");
    }

    #[test]
    fn a_prefix_set_matches_longer_words() {
        static PREFIXES: PrefixSet = PrefixSet::new(&["hr", "minut", "年"]);
        for word in ["hr", "hrs", "minutes", "年前"] {
            assert!(PREFIXES.matches(word), "{word}");
        }
        for word in ["", "h", "min", "date", "月"] {
            assert!(!PREFIXES.matches(word), "{word}");
        }
    }

    #[test]
    fn a_word_set_contains_its_words_only() {
        const WORDS: &[&str] = &["", "a", "ab", "zuletzt", "ähnlich"];
        static SET: WordSet = WordSet::new(WORDS);
        for word in WORDS {
            assert!(SET.contains(word), "{word}");
        }
        for word in ["b", "ac", "abb", "ähnlicher", "zu letzt"] {
            assert!(!SET.contains(word), "{word}");
        }
    }
}
