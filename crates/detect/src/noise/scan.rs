//! Words and numbers of a line, with their places.

/// A run of letters or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Begins with a digit: `12`, `1,234.5`, `1.2K`, `2h`.
    pub(crate) number: bool,
}

impl Word {
    pub(crate) fn of(self, line: &str) -> &str {
        &line[self.start..self.end]
    }
}

/// Letters follow letters and digits follow digits; a short ASCII suffix belongs to its number.
/// Nothing goes on over the `bounds` of elements, which are in order.
pub(crate) fn words(line: &str, bounds: impl IntoIterator<Item = usize>) -> Vec<Word> {
    // As many as most lines have, so that the list seldom grows.
    let mut words: Vec<Word> = Vec::with_capacity(line.len() / 5 + 2);
    let mut bounds = bounds.into_iter().peekable();
    let mut characters = line.char_indices().peekable();
    while let Some((start, first)) = characters.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        while bounds.next_if(|it| *it <= start).is_some() {}
        let stop = bounds.peek().copied().unwrap_or(usize::MAX);
        let number = first.is_numeric();
        let mut end = start + first.len_utf8();
        while let Some(&(at, character)) = characters.peek() {
            let next_is_digit =
                || line[at + character.len_utf8()..].starts_with(|it: char| it.is_ascii_digit());
            let goes_on = if at >= stop {
                false
            } else if number {
                character.is_numeric()
                    || character.is_ascii_alphabetic()
                    || matches!(character, '.' | ',' | '\'' | '’' | ':') && next_is_digit()
            } else {
                character.is_alphabetic()
                    || is_mark(character)
                    || matches!(character, '\'' | '’') && !next_is_digit()
            };
            if !goes_on {
                break;
            }
            end = at + character.len_utf8();
            characters.next();
        }
        let word = &line[start..end];
        end = start + word.trim_end_matches(['\'', '’']).len();
        words.push(Word { start, end, number });
    }
    words
}

/// Signs that stand over or under letters, or join them.
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}'
        | '\u{93c}' | '\u{94d}' | '\u{9cd}' | '\u{bcd}')
}

/// How many words a number at the start takes: `1 234 567` is one number.
pub(crate) fn number_length(line: &str, words: &[Word]) -> usize {
    if !words.first().is_some_and(|it| it.number) {
        return 0;
    }
    let group = |pair: &[Word]| {
        let [before, next] = pair else { return false };
        next.number
            && next.of(line).len() == 3
            && next.of(line).bytes().all(|it| it.is_ascii_digit())
            && line[before.end..next.start] == *" "
    };
    1 + words.windows(2).take_while(|pair| group(pair)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, bounds: &[usize], expect: &[&str]) {
        let found = words(line, bounds.iter().copied());
        assert_eq!(found.iter().map(|it| it.of(line)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn letters_and_numbers() {
        check("12 views, 1.2K (3)", &[], &["12", "views", "1.2K", "3"]);
        check("3分前", &[], &["3", "分前"]);
        check("it's 10:03:22.", &[], &["it's", "10:03:22"]);
        check("…", &[], &[]);
    }

    #[test]
    fn elements_hold_words_apart() {
        check("12 views3 comments", &[8], &["12", "views", "3", "comments"]);
        check("ab", &[0, 1, 2], &["a", "b"]);
    }

    #[test]
    fn groups_of_digits_are_one_number() {
        let line = "1 234 567 vues";
        assert_eq!(number_length(line, &words(line, [])), 3);
        let line = "2 12 vues";
        assert_eq!(number_length(line, &words(line, [])), 1);
    }
}
