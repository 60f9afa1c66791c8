//! HTML as tokens, in one pass from front to back.
//!
//! Tags, comments and text are told apart as browsers do. Every step moves on, so the time is
//! linear in the length, whatever is in it.

use memchr::{memchr, memmem};

use super::tag::Tag;
use crate::swar::{EACH, below, bits_before, equal, find_near, load_word, lowercase, packed};

/// An attribute: its name as written, and its value without quotes.
pub(crate) type Attribute<'a> = (&'a str, &'a str);

/// The bit of each byte in which letters differ by case, and one that they have and what ends a name has
/// not.
const CASE: u64 = 0x20 * EACH;
const LETTER: u64 = 0x40 * EACH;

/// More attributes than this are not looked at: no page has them, and they would take memory.
const MOST_ATTRIBUTES: usize = 64;

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text between tags, with character references.
    Text(&'a str),
    /// The content of an element that holds nothing but text.
    Raw(&'a str),
    /// An opening tag; its attributes are in the list.
    Open { tag: Tag, name: &'a str, closed: bool },
    /// A closing tag.
    Close { tag: Tag, name: &'a str },
}

pub(crate) struct Tokenizer<'a> {
    text: &'a str,
    at: usize,
    /// The element whose content is text only, if one was just opened.
    raw: Option<(Tag, &'a str)>,
    /// Leaves out attributes that tell nothing.
    telling: bool,
    /// Of the last opening tag, if only what tells is looked for and it is the first that does: most
    /// tags have no other, and need no list then.
    class: Option<&'a str>,
    /// Bytes looked at, as evidence that each is looked at a bounded number of times.
    #[cfg(test)]
    pub(crate) steps: usize,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            raw: None,
            telling: false,
            class: None,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// The same, but only attributes that say whether text counts are in the list.
    pub(crate) fn telling(text: &'a str) -> Self {
        Self { telling: true, ..Self::new(text) }
    }

    /// The `class` of the last opening tag, if it is not in the list.
    #[inline]
    pub(crate) fn class(&self) -> Option<&'a str> {
        self.class
    }

    /// The next token. An opening tag leaves its attributes in the list.
    #[inline]
    pub(crate) fn next(&mut self, attributes: &mut Vec<Attribute<'a>>) -> Option<Token<'a>> {
        let text = self.text;
        if self.raw.is_some()
            && let Some(token) = self.raw_text()
        {
            return Some(token);
        }
        let bytes = text.as_bytes();
        while self.at < bytes.len() {
            let at = self.at;
            if !is_markup(bytes, at) {
                self.at = next_markup(bytes, at + 1);
                self.count(at);
                return Some(Token::Text(&text[at..self.at]));
            }
            let token = match bytes[at + 1] {
                b'a'..=b'z' | b'A'..=b'Z' => self.open(at, attributes),
                b'/' => self.close(at),
                b'!' => self.skip_declaration(at),
                _ => self.skip_to_end(at),
            };
            self.count(at);
            if token.is_some() {
                return token;
            }
        }
        None
    }

    /// The next eight bytes, if a closing tag begins with them.
    #[inline]
    pub(crate) fn closing(&self) -> Option<u64> {
        let eight = load_word(self.text.as_bytes(), self.at)?;
        (eight as u16 == u16::from_le_bytes(*b"</") && self.raw.is_none()).then_some(eight)
    }

    /// Steps over the closing tag that begins with these bytes, if it is that of an element and written
    /// as most are.
    #[inline]
    pub(crate) fn closes(&mut self, tag: Tag, eight: u64) -> bool {
        let (closing, length) = tag.closing();
        let found = eight << ((64 - 8 * length) & 63) == closing;
        if found {
            let at = self.at;
            self.at += length;
            self.count(at);
        }
        found
    }

    /// The content of an element that holds nothing but text, if there is any.
    fn raw_text(&mut self) -> Option<Token<'a>> {
        let (tag, name) = self.raw.take()?;
        let (text, start) = (self.text, self.at);
        let end = if tag == Tag::Plaintext { None } else { self.find_close(name) };
        self.at = end.unwrap_or(text.len());
        self.count(start);
        (self.at > start).then(|| Token::Raw(&text[start..self.at]))
    }

    #[cfg_attr(not(test), allow(clippy::unused_self))]
    fn count(&mut self, _from: usize) {
        #[cfg(test)]
        {
            self.steps += self.at.saturating_sub(_from).max(1);
        }
    }

    /// Where the closing tag of a raw element begins.
    fn find_close(&self, name: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        memmem::find_iter(&bytes[self.at..], b"</").map(|it| self.at + it).find(|&it| {
            let rest = &bytes[it + 2..];
            rest.len() > name.len()
                && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                && matches!(rest[name.len()], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
        })
    }

    /// A comment, a doctype, or what is taken for a comment.
    fn skip_declaration(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        if !bytes[open..].starts_with(b"<!--") {
            return self.skip_to_end(open);
        }
        let body = open + 4;
        if bytes[body..].starts_with(b">") {
            self.at = body + 1;
        } else if bytes[body..].starts_with(b"->") {
            self.at = body + 2;
        } else {
            let end = memmem::find_iter(&bytes[body..], b"--").map(|it| body + it).find_map(|it| {
                match bytes.get(it + 2) {
                    Some(b'>') => Some(it + 3),
                    Some(b'!') if bytes.get(it + 3) == Some(&b'>') => Some(it + 4),
                    // In `--->` the pair that counts begins one later.
                    Some(b'-') if bytes.get(it + 3) == Some(&b'>') => Some(it + 4),
                    _ => None,
                }
            });
            self.at = end.unwrap_or(bytes.len());
        }
        None
    }

    fn skip_to_end(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        self.at = memchr(b'>', &bytes[open..]).map_or(bytes.len(), |it| open + it + 1);
        None
    }

    #[inline]
    fn close(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        let start = open + 2;
        if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
            return self.skip_to_end(open);
        }
        let (tag, end) = tag_at(bytes, start);
        if bytes.get(end) == Some(&b'>') {
            self.at = end + 1;
        } else {
            self.skip_to_end(end);
        }
        Some(Token::Close { tag, name: &self.text[start..end] })
    }

    #[inline]
    fn open(&mut self, open: usize, attributes: &mut Vec<Attribute<'a>>) -> Option<Token<'a>> {
        attributes.clear();
        self.class = None;
        let (text, bytes) = (self.text, self.text.as_bytes());
        let start = open + 1;
        let (tag, mut at) = tag_at(bytes, start);
        let name = &text[start..at];
        let (mut closed, mut count) = (false, 0);
        let tells = !self.telling || !tag.is_void() || tag == Tag::Input;
        // A tag that the page ends in is none.
        self.at = bytes.len();
        loop {
            if *bytes.get(at)? == b'>' {
                break;
            }
            if let Some(eight) = load_word(bytes, at) {
                // Every other attribute is this one, and written so.
                if eight == const { packed(b" class=\"") } {
                    let end = find_near(bytes, at + 8, b'"')?;
                    (closed, count) = (false, count + 1);
                    if tells && count <= MOST_ATTRIBUTES {
                        let value = &text[at + 8..end];
                        if self.telling && self.class.is_none() && attributes.is_empty() {
                            self.class = Some(value);
                        } else {
                            attributes.push(("class", value));
                        }
                    }
                    at = end + 1;
                    continue;
                }
                if let Some((key, length)) = short(eight) {
                    let start = at + length + 3;
                    let end = find_near(bytes, start, b'"')?;
                    (closed, count) = (false, count + 1);
                    let takes = tells && count <= MOST_ATTRIBUTES;
                    if takes && (!self.telling || is_telling(key)) {
                        attributes.push((&text[at + 1..start - 2], &text[start..end]));
                    }
                    at = end + 1;
                    continue;
                }
            }
            let mut first = *bytes.get(at)?;
            while is_space(first) || first == b'/' {
                closed = first == b'/';
                at += 1;
                first = *bytes.get(at)?;
            }
            if first == b'>' {
                break;
            }
            closed = false;
            count += 1;
            let takes = tells && count <= MOST_ATTRIBUTES;
            if let Some((key, start)) = usual(bytes, at) {
                let end = find_near(bytes, start, b'"')?;
                if takes && (!self.telling || is_telling(key)) {
                    attributes.push((&text[at..start - 2], &text[start..end]));
                }
                at = end + 1;
                continue;
            }
            let from = at;
            // A name may begin with `=`.
            at = key_end(bytes, at + 1);
            let key = from..at;
            let mut equals = at;
            while equals < bytes.len() && is_space(bytes[equals]) {
                equals += 1;
            }
            let mut value = at..at;
            if bytes.get(equals) == Some(&b'=') {
                at = equals + 1;
                while at < bytes.len() && is_space(bytes[at]) {
                    at += 1;
                }
                match bytes.get(at) {
                    Some(&quote @ (b'"' | b'\'')) => {
                        let end = find_near(bytes, at + 1, quote)?;
                        value = at + 1..end;
                        at = end + 1;
                    }
                    _ => {
                        let from = at;
                        while at < bytes.len() && bytes[at] != b'>' && !is_space(bytes[at]) {
                            at += 1;
                        }
                        value = from..at;
                    }
                }
            }
            if takes {
                attributes.push((&text[key], &text[value]));
            }
        }
        self.at = at + 1;
        if tag.is_raw() {
            self.raw = Some((tag, name));
        }
        Some(Token::Open { tag, name, closed })
    }
}

/// The name of an attribute after one space, and its length, if it has up to five letters and its value
/// is in double quotes, as most are.
#[inline(always)]
fn short(eight: u64) -> Option<(u64, usize)> {
    let rest = eight >> 8;
    // What ends a name lacks this bit, and letters have it.
    let bits = bits_before(!rest & LETTER);
    let fits = eight as u8 == b' ' && bits > 0 && (rest >> bits) as u16 == QUOTED;
    fits.then(|| (rest & ((1 << bits) - 1), bits as usize / 8))
}

const QUOTED: u16 = u16::from_le_bytes(*b"=\"");

/// The name of an attribute of the usual form, up to seven bytes and a value in double quotes, and
/// where its value begins.
#[inline]
fn usual(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let eight = load_word(bytes, at)?;
    let found = key_ends(eight);
    let bits = bits_before(found);
    let start = at + bits as usize / 8 + 2;
    let fits = found != 0 && bits > 0 && (eight >> bits) as u8 == b'=';
    (fits && bytes.get(start - 1) == Some(&b'"')).then(|| (eight & ((1 << bits) - 1), start))
}

/// Whether the name of an attribute, up to seven bytes, is one of those that say whether text counts,
/// or what it is.
#[inline]
fn is_telling(key: u64) -> bool {
    // In lower case, if it is one of them.
    let like = TELLING[telling_slot(key | CASE)];
    key | CASE == like | CASE && lowercase(key) == like
}

/// Each name where its number leads to.
const TELLING: [u64; 32] = {
    let names: [&[u8]; 10] = [
        b"class", b"data-ad", b"hidden", b"id", b"open", b"rel", b"role", b"style", b"type",
        b"value",
    ];
    let (mut slots, mut i) = ([0; 32], 0);
    while i < names.len() {
        let name = packed(names[i]);
        let slot = telling_slot(name | CASE);
        assert!(slots[slot] == 0, "two names in one slot");
        slots[slot] = name;
        i += 1;
    }
    slots
};

/// The factor is one that keeps them apart.
const fn telling_slot(name: u64) -> usize {
    (name.wrapping_mul(0x0c2f_590e_5eac_c7db) >> 59) as usize
}

/// Whether a tag or a comment begins here, rather than a `<` in a text.
fn is_markup(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'<'
        && bytes
            .get(at + 1)
            .is_some_and(|it| it.is_ascii_alphabetic() || matches!(it, b'/' | b'!' | b'?'))
}

fn next_markup(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = find_near(bytes, at, b'<') {
        if is_markup(bytes, found) {
            return found;
        }
        at = found + 1;
    }
    bytes.len()
}

/// Whether a byte ends the name of an attribute.
const fn ends_key(byte: u8) -> bool {
    matches!(byte, b'=' | b'>' | b'/') || is_space(byte)
}

/// Marks bytes that may end the name of an attribute. Only the first mark is sure.
#[inline]
fn key_ends(eight: u64) -> u64 {
    below(eight, b' ' + 1) | equal(eight, b'=') | equal(eight, b'>') | equal(eight, b'/')
}

/// Where the name of an attribute ends.
fn key_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(eight) = load_word(bytes, at) {
        let found = key_ends(eight);
        if found == 0 {
            at += 8;
            continue;
        }
        let bits = bits_before(found);
        at += bits as usize / 8;
        if ends_key((eight >> bits) as u8) {
            return at;
        }
        at += 1;
    }
    while at < bytes.len() && !ends_key(bytes[at]) {
        at += 1;
    }
    at
}

/// The element whose name begins here, and where the name ends.
#[inline(always)]
fn tag_at(bytes: &[u8], start: usize) -> (Tag, usize) {
    if let Some(eight) = load_word(bytes, start) {
        // What ends a name lacks this bit, and letters have it.
        let ends = !eight & LETTER;
        let bits = bits_before(ends) & 63;
        if ends != 0 && matches!((eight >> bits) as u8, b'>' | b' ') {
            return (Tag::of_eight(eight & ((1 << bits) - 1)), start + bits as usize / 8);
        }
        let ends = below(eight, b' ' + 1) | equal(eight, b'>') | equal(eight, b'/');
        let bits = bits_before(ends);
        if ends != 0 && ends_name((eight >> bits) as u8) {
            return (Tag::of_eight(eight & ((1 << bits) - 1)), start + bits as usize / 8);
        }
    }
    let mut end = start;
    while end < bytes.len() && !ends_name(bytes[end]) {
        end += 1;
    }
    (Tag::of(&bytes[start..end]), end)
}

const fn ends_name(byte: u8) -> bool {
    matches!(byte, b'>' | b'/') || is_space(byte)
}

pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// The value of an attribute; of several with one name the first counts.
pub(crate) fn attribute<'a>(attributes: &[Attribute<'a>], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens in a short notation.
    fn tokens(text: &str) -> String {
        let (mut tokenizer, mut attributes, mut out) =
            (Tokenizer::new(text), Vec::new(), Vec::new());
        while let Some(token) = tokenizer.next(&mut attributes) {
            out.push(match token {
                Token::Text(text) => format!("'{text}'"),
                Token::Raw(text) => format!("raw '{text}'"),
                Token::Open { name, closed, .. } => {
                    let end = if closed { "/" } else { "" };
                    let list: Vec<_> =
                        attributes.iter().map(|(k, v)| format!(" {k}={v}")).collect();
                    format!("<{name}{}{end}>", list.concat())
                }
                Token::Close { name, .. } => format!("</{name}>"),
            });
        }
        assert!(tokenizer.steps <= 2 * text.len() + 2, "{} steps", tokenizer.steps);
        out.join(" ")
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(tokens(text), expect);
    }

    #[test]
    fn tags_and_text() {
        check("a<b>c</b >d", "'a' <b> 'c' </b> 'd'");
        check(
            "<p class=x id='y z' hidden data-a = \"1>2\"/>",
            "<p class=x id=y z hidden= data-a=1>2/>",
        );
        check("<br/><br />", "<br/> <br/>");
        check("<a =x>", "<a =x=>");
        check("<p a/b>", "<p a= b=>");
    }

    #[test]
    fn a_sign_that_begins_no_tag_is_text() {
        check("1 < 2 <3 <", "'1 < 2 <3 <'");
        check("a</>b", "'a' 'b'");
        check("<<p>", "'<' <p>");
    }

    #[test]
    fn comments_are_left_out() {
        check("a<!-- <b> -->c<!-->d<!--->e<!doctype html>f<?php x ?>g", "'a' 'c' 'd' 'e' 'f' 'g'");
        check("a<!-- x --!>b<!----->c<!-- never ends", "'a' 'b' 'c'");
    }

    #[test]
    fn raw_elements_end_at_their_own_tag() {
        check("<script>a</b></SCRIPT>c", "<script> raw 'a</b>' </SCRIPT> 'c'");
        check("<title>a <b> c</title>", "<title> raw 'a <b> c' </title>");
        check("<style></style>", "<style> </style>");
        check("<script>never </scripts> ends", "<script> raw 'never </scripts> ends'");
    }

    #[test]
    fn a_tag_without_an_end_ends_the_page() {
        check("a<b", "'a'");
        check("a<b c='d", "'a'");
        check("a<b c", "'a'");
    }

    #[test]
    fn each_byte_is_looked_at_a_bounded_number_of_times() {
        for part in ["<", "<a", "<!--", "</", "<a b=\"", "<script>", "<a a=b ", "<!", "&", "--"] {
            tokens(&part.repeat(20_000));
        }
    }
}
