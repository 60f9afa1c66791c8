//! Decodes character references. An unknown name stays as written, which is the same in every
//! version of a page.

use crate::word_list::pair_list;

/// Decodes the reference at the start of `text`. Returns the character and the length of the
/// reference, or the first character if there is no reference.
pub(crate) fn decode_reference(text: &str) -> (char, usize) {
    let bytes = text.as_bytes();
    let unchanged = ('&', 1);
    if bytes.get(1) == Some(&b'#') {
        return numeric_reference(bytes).unwrap_or(unchanged);
    }
    let max_end = bytes.len().min(1 + MAX_NAME_LEN);
    let end = (1..max_end).find(|&at| !bytes[at].is_ascii_alphanumeric()).unwrap_or(max_end);
    if end == 1 {
        return unchanged;
    }
    let name = &text[1..end];
    let Ok(index) = NAMED.binary_search_by(|(known, _)| (*known).cmp(name)) else {
        return unchanged;
    };
    let semicolon = usize::from(bytes.get(end) == Some(&b';'));
    (NAMED[index].1, end + semicolon)
}

fn numeric_reference(bytes: &[u8]) -> Option<(char, usize)> {
    let hexadecimal = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (radix, start) = if hexadecimal { (16, 3) } else { (10, 2) };
    let (mut value, mut at) = (0_u32, start);
    while let Some(digit) = bytes.get(at).and_then(|it| char::from(*it).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    let character = match value {
        // Browsers decode these numbers as windows-1252.
        0x80..=0x9f => WINDOWS_1252[value as usize - 0x80],
        0 => '\u{fffd}',
        _ => char::from_u32(value).unwrap_or('\u{fffd}'),
    };
    Some((character, at + usize::from(bytes.get(at) == Some(&b';'))))
}

const WINDOWS_1252: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
    '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}',
    'ž', 'Ÿ',
];

/// Length of the longest name, in bytes.
const MAX_NAME_LEN: usize = 8;

/// All names and their characters, sorted by name.
const NAMED: [(&str, char); ENTRIES.len()] = {
    let mut named = [("", '\0'); ENTRIES.len()];
    let mut i = 0;
    while i < named.len() {
        let (name, code) = ENTRIES[i];
        assert!(name.len() <= MAX_NAME_LEN, "a name is too long");
        named[i] = (name, parse_code(code.as_bytes()));
        i += 1;
    }
    named
};
const ENTRIES: &[(&str, &str)] = pair_list!("page/entities.txt");

/// Parses `U+00E9`.
const fn parse_code(code: &[u8]) -> char {
    assert!(code.len() >= 6 && code[0] == b'U' && code[1] == b'+', "not of the form `U+00E9`");
    let (mut value, mut at) = (0, 2);
    while at < code.len() {
        let Some(digit) = (code[at] as char).to_digit(16) else {
            panic!("not a hexadecimal digit")
        };
        value = value * 16 + digit;
        at += 1;
    }
    match char::from_u32(value) {
        Some(character) => character,
        None => panic!("not a character"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, character: char, length: usize) {
        assert_eq!(decode_reference(text), (character, length));
    }

    #[test]
    fn numeric_and_named_references() {
        check("&amp;x", '&', 5);
        check("&euro", '€', 5);
        check("&#8364;", '€', 7);
        check("&#x20AC;", '€', 8);
        check("&#146;", '’', 6);
        check("&#99999999999;", '\u{fffd}', 14);
        check("&nothing;", '&', 1);
        check("&", '&', 1);
    }
}
