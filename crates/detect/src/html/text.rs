//! Normalizes text: decodes character references, collapses white space and removes invisible
//! characters.

use super::reference::decode_reference;
use crate::swar::{HIGH_BITS, ONES, load_word, match_below, match_byte};

/// Classes of bytes, by the characters that they may begin.
const PLAIN: u8 = 0;
const SPACE: u8 = 1;
const REFERENCE: u8 = 2;
/// The first byte of a non-ASCII character that may be a space, or invisible.
const SPECIAL: u8 = 3;

const CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut i = 0;
    while i < 0x20 {
        classes[i] = SPACE;
        i += 1;
    }
    classes[b' ' as usize] = SPACE;
    classes[0x7f] = SPACE;
    classes[b'&' as usize] = REFERENCE;
    classes[0xc2] = SPECIAL;
    classes[0xd8] = SPECIAL;
    classes[0xe2] = SPECIAL;
    classes[0xe3] = SPECIAL;
    classes[0xef] = SPECIAL;
    classes
};

/// The visibility of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Visible,
    Space,
    Invisible,
}

pub(crate) fn visibility(character: char) -> Visibility {
    match character {
        '\0'..=' '
        | '\u{7f}'..='\u{a0}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => Visibility::Space,
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => Visibility::Invisible,
        _ => Visibility::Visible,
    }
}

/// Appends `text` with each run of white space as one space.
#[inline]
pub(crate) fn push_collapsed(text: &str, has_references: bool, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        push_by_characters(text, has_references, out);
    }
}

/// Appends `text` one character at a time.
#[inline(never)]
fn push_by_characters(text: &str, has_references: bool, out: &mut String) {
    let (bytes, start) = (text.as_bytes(), out.len());
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        match CLASSES[bytes[at] as usize] {
            PLAIN => at += 1,
            // A single space between words stays part of the run: the usual case.
            SPACE
                if bytes[at] == b' '
                    && at > from
                    && bytes.get(at + 1).is_some_and(|it| CLASSES[*it as usize] == PLAIN) =>
            {
                at += 2;
            }
            SPACE => {
                out.push_str(&text[from..at]);
                while at < bytes.len() && CLASSES[bytes[at] as usize] == SPACE {
                    at += 1;
                }
                push_space(start, out);
                from = at;
            }
            REFERENCE if has_references => {
                out.push_str(&text[from..at]);
                let (character, length) = decode_reference(&text[at..]);
                push_character(character, start, out);
                at += length;
                from = at;
            }
            REFERENCE => at += 1,
            _ => {
                let Some(character) = text[at..].chars().next() else { break };
                let length = character.len_utf8();
                if visibility(character) != Visibility::Visible {
                    out.push_str(&text[from..at]);
                    push_character(character, start, out);
                    from = at + length;
                }
                at += length;
            }
        }
    }
    out.push_str(&text[from..]);
}

/// True if a text needs no normalization: visible ASCII with single spaces. Has no early exit, so
/// that the compiler can vectorize it.
#[inline]
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() <= CHUNK_LEN {
        return is_plain_short(bytes);
    }
    // Compares each byte with the next one. The last bytes may be compared twice.
    let mut flags = [0; CHUNK_LEN];
    let (chunks, next_chunks) = (bytes.as_chunks().0, bytes[1..].as_chunks().0);
    for (chunk, next_bytes) in chunks.iter().zip(next_chunks) {
        flag_special(chunk, next_bytes, &mut flags);
    }
    let last = &bytes[bytes.len() - CHUNK_LEN - 1..];
    if let (Some(chunk), Some(next_bytes)) = (last.first_chunk(), last.last_chunk()) {
        flag_special(chunk, next_bytes, &mut flags);
    }
    u128::from_le_bytes(flags) == 0 && !is_special(bytes[bytes.len() - 1])
}

const CHUNK_LEN: usize = 16;

#[inline]
fn flag_special(
    chunk: &[u8; CHUNK_LEN],
    next_bytes: &[u8; CHUNK_LEN],
    flags: &mut [u8; CHUNK_LEN],
) {
    for at in 0..CHUNK_LEN {
        let is_double_space = (chunk[at] == b' ') & (next_bytes[at] == b' ');
        flags[at] |= u8::from(is_special(chunk[at]) | is_double_space);
    }
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') > b'~' - b' ') | (byte == b'&')
}

/// Like `is_plain`, for a short text.
#[inline]
fn is_plain_short(bytes: &[u8]) -> bool {
    let Some(last) = bytes.len().checked_sub(8) else {
        let mut before = 0;
        return bytes.iter().all(|&it| {
            let is_double_space = it == b' ' && before == b' ';
            before = it;
            !is_special(it) && !is_double_space
        });
    };
    // The words overlap, so that no pair of bytes is missed.
    [0, last / 2, last].iter().all(|&at| load_word(bytes, at).is_some_and(is_plain_word))
}

#[inline]
fn is_plain_word(word: u64) -> bool {
    let flags = match_below(word, b' ')
        | match_byte(word, 0x7f)
        | match_byte(word, b'&')
        | (word & HIGH_BITS);
    // Exact for ASCII.
    let spaces = !(word ^ (u64::from(b' ') * ONES)).wrapping_add(HIGH_BITS - ONES) & HIGH_BITS;
    flags == 0 && spaces & (spaces >> 8) == 0
}

/// True if no two spaces are adjacent.
pub(crate) fn is_single_spaced(bytes: &[u8]) -> bool {
    let next_bytes = bytes.get(1..).unwrap_or_default();
    let is_double_space = |(one, other): (&u8, &u8)| *one == b' ' && *other == b' ';
    !bytes.iter().zip(next_bytes).fold(false, |found, pair| found | is_double_space(pair))
}

/// Appends preformatted text, with normalized line breaks.
pub(crate) fn push_preformatted(text: &str, has_references: bool, out: &mut String) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if character == '&' && has_references {
            let (character, length) = decode_reference(rest);
            push_preformatted_character(character, out);
            rest = &rest[length..];
        } else {
            push_preformatted_character(character, out);
            rest = &rest[character.len_utf8()..];
        }
    }
}

fn push_preformatted_character(character: char, out: &mut String) {
    match character {
        // A part of a line break.
        '\r' => {}
        '\0' => out.push('\u{fffd}'),
        _ => out.push(character),
    }
}

fn push_character(character: char, start: usize, out: &mut String) {
    match visibility(character) {
        Visibility::Visible => out.push(character),
        Visibility::Space => push_space(start, out),
        Visibility::Invisible => {}
    }
}

/// Appends a space, unless the text since `start` ends with one.
fn push_space(start: usize, out: &mut String) {
    if out.len() == start || !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let mut out = String::new();
        push_collapsed(text, true, &mut out);
        assert_eq!(out, expect);
    }

    #[test]
    fn is_plain_works_for_any_length() {
        for length in 0..60 {
            let text: String = "a b c-d ".chars().cycle().take(length).collect();
            assert!(is_plain(&text), "{text}");
            for at in 0..length {
                for flags in ["\t", "&", "\u{7f}", "\0", "é"] {
                    let text = format!("{}{flags}{}", &text[..at], &text[at + 1..]);
                    assert!(!is_plain(&text), "{text:?}");
                }
                let text = format!("{}  {}", &text[..at], &text[at + 1..]);
                assert!(!is_plain(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn white_space_is_collapsed() {
        check("a  b\n\tc ", "a b c ");
        check(" a", " a");
        check("a\u{a0}\u{2009}b\u{3000}c", "a b c");
        check("a &nbsp; b", "a b");
    }

    #[test]
    fn invisible_characters_are_removed() {
        check("in\u{ad}vis\u{200b}i&shy;ble\u{feff}", "invisible");
        check("a \u{200b} b", "a b");
    }

    #[test]
    fn references_are_decoded() {
        check("a &amp; b &lt;c&gt; &#65;&#x42; &euro;", "a & b <c> AB €");
        check("AT&T &unknown; & &#; &#xfffffff;", "AT&T &unknown; & &#; \u{fffd}");
        check("&copy 2026", "© 2026");
    }

    #[test]
    fn preformatted_text_keeps_its_lines() {
        let mut out = String::new();
        push_preformatted("if a:\r\n    b &lt; c\n", true, &mut out);
        assert_eq!(out, "if a:\n    b < c\n");
    }
}
