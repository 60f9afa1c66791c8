//! Text as it is read: character references decoded, white space joined, invisible characters gone.

use super::entity::entity;
use crate::swar::{EACH, HIGH, below, equal, load_word};

/// What a byte can begin.
const PLAIN: u8 = 0;
const SPACE: u8 = 1;
const REFERENCE: u8 = 2;
/// The first byte of a character that may be a space, or invisible.
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

/// What a character is to a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Seen,
    Space,
    Invisible,
}

pub(crate) fn sight(character: char) -> Visibility {
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
        _ => Visibility::Seen,
    }
}

/// Appends `text`, each run of white space as one space.
#[inline]
pub(crate) fn push_collapsed(text: &str, references: bool, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        push_by_signs(text, references, out);
    }
}

/// The same, one sign after the other.
#[inline(never)]
fn push_by_signs(text: &str, references: bool, out: &mut String) {
    let (bytes, start) = (text.as_bytes(), out.len());
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        match CLASSES[bytes[at] as usize] {
            PLAIN => at += 1,
            // A single space between words is the usual case, and stays part of the run.
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
            REFERENCE if references => {
                out.push_str(&text[from..at]);
                let (character, length) = entity(&text[at..]);
                push_character(character, start, out);
                at += length;
                from = at;
            }
            REFERENCE => at += 1,
            _ => {
                let Some(character) = text[at..].chars().next() else { break };
                let length = character.len_utf8();
                if sight(character) != Visibility::Seen {
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

/// Whether a text is what it will be: ASCII that is seen, with single spaces. Without a way out in between
/// that is found for many bytes at once.
#[inline]
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() <= MANY {
        return is_plain_short(bytes);
    }
    // Each byte with the one after it; the last ones may be looked at twice.
    let mut wrong = [0; MANY];
    let (these, next) = (bytes.as_chunks().0, bytes[1..].as_chunks().0);
    for (these, next) in these.iter().zip(next) {
        mark_wrong(these, next, &mut wrong);
    }
    let last = &bytes[bytes.len() - MANY - 1..];
    if let (Some(these), Some(next)) = (last.first_chunk(), last.last_chunk()) {
        mark_wrong(these, next, &mut wrong);
    }
    u128::from_le_bytes(wrong) == 0 && !is_wrong(bytes[bytes.len() - 1])
}

const MANY: usize = 16;

#[inline]
fn mark_wrong(these: &[u8; MANY], next: &[u8; MANY], wrong: &mut [u8; MANY]) {
    for at in 0..MANY {
        let double = (these[at] == b' ') & (next[at] == b' ');
        wrong[at] |= u8::from(is_wrong(these[at]) | double);
    }
}

#[inline]
fn is_wrong(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') > b'~' - b' ') | (byte == b'&')
}

/// The same for a few bytes.
#[inline]
fn is_plain_short(bytes: &[u8]) -> bool {
    let Some(last) = bytes.len().checked_sub(8) else {
        let mut before = 0;
        return bytes.iter().all(|&it| {
            let double = it == b' ' && before == b' ';
            before = it;
            !is_wrong(it) && !double
        });
    };
    // The parts have a byte in common, so that no pair is missed.
    [0, last / 2, last].iter().all(|&at| load_word(bytes, at).is_some_and(is_plain_eight))
}

#[inline]
fn is_plain_eight(eight: u64) -> bool {
    let wrong = below(eight, b' ') | equal(eight, 0x7f) | equal(eight, b'&') | (eight & HIGH);
    // Exact, for bytes of ASCII.
    let spaces = !(eight ^ (u64::from(b' ') * EACH)).wrapping_add(HIGH - EACH) & HIGH;
    wrong == 0 && spaces & (spaces >> 8) == 0
}

/// Whether no two spaces are side by side.
pub(crate) fn is_single_spaced(bytes: &[u8]) -> bool {
    let next = bytes.get(1..).unwrap_or_default();
    let double = |(one, other): (&u8, &u8)| *one == b' ' && *other == b' ';
    !bytes.iter().zip(next).fold(false, |found, pair| found | double(pair))
}

/// Appends `text` of a preformatted part as it is, but for the ends of lines.
pub(crate) fn push_preformatted(text: &str, references: bool, out: &mut String) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if character == '&' && references {
            let (character, length) = entity(rest);
            push_as_is(character, out);
            rest = &rest[length..];
        } else {
            push_as_is(character, out);
            rest = &rest[character.len_utf8()..];
        }
    }
}

fn push_as_is(character: char, out: &mut String) {
    match character {
        // Half of the end of a line.
        '\r' => {}
        '\0' => out.push('\u{fffd}'),
        _ => out.push(character),
    }
}

fn push_character(character: char, start: usize, out: &mut String) {
    match sight(character) {
        Visibility::Seen => out.push(character),
        Visibility::Space => push_space(start, out),
        Visibility::Invisible => {}
    }
}

/// A space, unless what was appended since `start` ends with one.
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
    fn plain_texts_of_any_length() {
        for length in 0..60 {
            let text: String = "a b c-d ".chars().cycle().take(length).collect();
            assert!(is_plain(&text), "{text}");
            for at in 0..length {
                for wrong in ["\t", "&", "\u{7f}", "\0", "é"] {
                    let text = format!("{}{wrong}{}", &text[..at], &text[at + 1..]);
                    assert!(!is_plain(&text), "{text:?}");
                }
                let text = format!("{}  {}", &text[..at], &text[at + 1..]);
                assert!(!is_plain(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn white_space_is_joined() {
        check("a  b\n\tc ", "a b c ");
        check(" a", " a");
        check("a\u{a0}\u{2009}b\u{3000}c", "a b c");
        check("a &nbsp; b", "a b");
    }

    #[test]
    fn what_nobody_sees_is_gone() {
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
