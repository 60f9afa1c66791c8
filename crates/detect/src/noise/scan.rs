//! Words and numbers of a line, with their offsets.

/// A run of letters or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Begins with a digit: `12`, `1,234.5`, `1.2K`, `2h`.
    pub(crate) is_number: bool,
}

impl Word {
    pub(crate) fn text(self, line: &str) -> &str {
        &line[self.start..self.end]
    }
}

/// Splits a line into words: runs of letters, and numbers with their ASCII suffix. A word also ends at
/// each of `boundaries`, the sorted offsets where elements begin or end.
pub(crate) fn split_words(line: &str, boundaries: impl IntoIterator<Item = usize>) -> Vec<Word> {
    // Enough for most lines, so that the list seldom grows.
    let mut words: Vec<Word> = Vec::with_capacity(line.len() / 5 + 2);
    let mut boundaries = boundaries.into_iter().peekable();
    let mut characters = line.char_indices().peekable();
    while let Some((start, first)) = characters.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        while boundaries.next_if(|it| *it <= start).is_some() {}
        let stop = boundaries.peek().copied().unwrap_or(usize::MAX);
        let is_number = first.is_numeric();
        let mut end = start + first.len_utf8();
        while let Some(&(at, character)) = characters.peek() {
            let next_is_digit =
                || line[at + character.len_utf8()..].starts_with(|it: char| it.is_ascii_digit());
            let is_part = if at >= stop {
                false
            } else if is_number {
                character.is_numeric()
                    || character.is_ascii_alphabetic()
                    || matches!(character, '.' | ',' | '\'' | '’' | ':') && next_is_digit()
            } else {
                character.is_alphabetic()
                    || is_combining_mark(character)
                    || matches!(character, '\'' | '’') && !next_is_digit()
            };
            if !is_part {
                break;
            }
            end = at + character.len_utf8();
            characters.next();
        }
        let word = &line[start..end];
        end = start + word.trim_end_matches(['\'', '’']).len();
        words.push(Word { start, end, is_number });
    }
    words
}

/// True for a combining mark.
fn is_combining_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}'
        | '\u{93c}' | '\u{94d}' | '\u{9cd}' | '\u{bcd}')
}

/// Returns the number of words that a number at the start takes: `1 234 567` is one number.
pub(crate) fn count_number_words(line: &str, words: &[Word]) -> usize {
    if !words.first().is_some_and(|it| it.is_number) {
        return 0;
    }
    let is_group = |pair: &[Word]| {
        let [before, next] = pair else { return false };
        next.is_number
            && next.text(line).len() == 3
            && next.text(line).bytes().all(|it| it.is_ascii_digit())
            && line[before.end..next.start] == *" "
    };
    1 + words.windows(2).take_while(|pair| is_group(pair)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, boundaries: &[usize], expect: &[&str]) {
        let found = split_words(line, boundaries.iter().copied());
        assert_eq!(found.iter().map(|it| it.text(line)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn words_are_runs_of_letters_or_numbers() {
        check("12 views, 1.2K (3)", &[], &["12", "views", "1.2K", "3"]);
        check("3分前", &[], &["3", "分前"]);
        check("it's 10:03:22.", &[], &["it's", "10:03:22"]);
        check("…", &[], &[]);
    }

    #[test]
    fn a_word_ends_at_an_element_boundary() {
        check("12 views3 comments", &[8], &["12", "views", "3", "comments"]);
        check("ab", &[0, 1, 2], &["a", "b"]);
    }

    #[test]
    fn groups_of_digits_are_one_number() {
        let line = "1 234 567 vues";
        assert_eq!(count_number_words(line, &split_words(line, [])), 3);
        let line = "2 12 vues";
        assert_eq!(count_number_words(line, &split_words(line, [])), 1);
    }
}
