//! Tokenizes HTML in one pass.
//!
//! Tags, comments and text are recognized as in browsers. Every step advances, so the time is
//! linear in the length of any input.

use memchr::{memchr, memmem};

use super::tag::Tag;
use crate::swar::{
    ONES, bits_before, find_near, load_word, lowercase, match_below, match_byte, pack_bytes,
};

/// Name as written, and value without quotes.
pub(crate) type Attribute<'a> = (&'a str, &'a str);

/// Bits of each byte: one that differs between upper and lower case, and one that letters have and
/// the byte after a name does not.
const CASE_BITS: u64 = 0x20 * ONES;
const LETTER_BITS: u64 = 0x40 * ONES;

/// Maximum number of attributes of an element; more are ignored, as only hostile pages have them.
const MAX_ATTRIBUTES: usize = 64;

/// A token of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text between tags, with character references.
    Text(&'a str),
    /// Content of a raw text element.
    Raw(&'a str),
    /// An opening tag. Its attributes are in the list.
    Open { tag: Tag, name: &'a str, is_self_closing: bool },
    /// A closing tag.
    Close { tag: Tag, name: &'a str },
}

pub(crate) struct Tokenizer<'a> {
    text: &'a str,
    at: usize,
    /// The raw text element that was just opened.
    raw_element: Option<(Tag, &'a str)>,
    /// Omit attributes that no rule uses.
    relevant_only: bool,
    /// The class of the last opening tag, if it is the only relevant attribute so far. Most tags
    /// have no other, and need no list.
    class: Option<&'a str>,
    /// Number of bytes examined, to test that the time is linear.
    #[cfg(test)]
    pub(crate) steps: usize,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            raw_element: None,
            relevant_only: false,
            class: None,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Returns a tokenizer that omits attributes that no rule uses.
    pub(crate) fn with_relevant_attributes(text: &'a str) -> Self {
        Self { relevant_only: true, ..Self::new(text) }
    }

    /// The `class` of the last opening tag, if it is not in the list.
    #[inline]
    pub(crate) fn class(&self) -> Option<&'a str> {
        self.class
    }

    /// Returns the next token. Fills the list with the attributes of an opening tag.
    #[inline]
    pub(crate) fn next(&mut self, attributes: &mut Vec<Attribute<'a>>) -> Option<Token<'a>> {
        let text = self.text;
        if self.raw_element.is_some()
            && let Some(token) = self.next_raw_text()
        {
            return Some(token);
        }
        let bytes = text.as_bytes();
        while self.at < bytes.len() {
            let at = self.at;
            if !is_markup(bytes, at) {
                self.at = next_markup(bytes, at + 1);
                self.count_steps(at);
                return Some(Token::Text(&text[at..self.at]));
            }
            let token = match bytes[at + 1] {
                b'a'..=b'z' | b'A'..=b'Z' => self.open_tag(at, attributes),
                b'/' => self.close_tag(at),
                b'!' => self.skip_declaration(at),
                _ => self.skip_past_gt(at),
            };
            self.count_steps(at);
            if token.is_some() {
                return token;
            }
        }
        None
    }

    /// Returns the next eight bytes if a closing tag begins with them.
    #[inline]
    pub(crate) fn peek_closing_tag(&self) -> Option<u64> {
        let word = load_word(self.text.as_bytes(), self.at)?;
        (word as u16 == u16::from_le_bytes(*b"</") && self.raw_element.is_none()).then_some(word)
    }

    /// Skips the closing tag that begins with these bytes, if it is the tag of this element in its
    /// usual form.
    #[inline]
    pub(crate) fn skip_closing_tag(&mut self, tag: Tag, word: u64) -> bool {
        let (closing_tag, length) = tag.closing_tag();
        let is_match = word << ((64 - 8 * length) & 63) == closing_tag;
        if is_match {
            let at = self.at;
            self.at += length;
            self.count_steps(at);
        }
        is_match
    }

    /// Returns the content of a raw text element, if there is any.
    fn next_raw_text(&mut self) -> Option<Token<'a>> {
        let (tag, name) = self.raw_element.take()?;
        let (text, start) = (self.text, self.at);
        let end = if tag == Tag::Plaintext { None } else { self.find_close(name) };
        self.at = end.unwrap_or(text.len());
        self.count_steps(start);
        (self.at > start).then(|| Token::Raw(&text[start..self.at]))
    }

    #[cfg_attr(not(test), allow(clippy::unused_self))]
    fn count_steps(&mut self, _from: usize) {
        #[cfg(test)]
        {
            self.steps += self.at.saturating_sub(_from).max(1);
        }
    }

    /// Finds the closing tag of a raw text element.
    fn find_close(&self, name: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        memmem::find_iter(&bytes[self.at..], b"</").map(|it| self.at + it).find(|&it| {
            let rest = &bytes[it + 2..];
            rest.len() > name.len()
                && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                && matches!(rest[name.len()], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
        })
    }

    /// Skips a comment, a doctype, or a bogus comment.
    fn skip_declaration(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        if !bytes[open..].starts_with(b"<!--") {
            return self.skip_past_gt(open);
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
                    // In `--->`, the comment ends with the second pair of hyphens.
                    Some(b'-') if bytes.get(it + 3) == Some(&b'>') => Some(it + 4),
                    _ => None,
                }
            });
            self.at = end.unwrap_or(bytes.len());
        }
        None
    }

    fn skip_past_gt(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        self.at = memchr(b'>', &bytes[open..]).map_or(bytes.len(), |it| open + it + 1);
        None
    }

    #[inline]
    fn close_tag(&mut self, open: usize) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        let start = open + 2;
        if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
            return self.skip_past_gt(open);
        }
        let (tag, end) = parse_tag_name(bytes, start);
        if bytes.get(end) == Some(&b'>') {
            self.at = end + 1;
        } else {
            self.skip_past_gt(end);
        }
        Some(Token::Close { tag, name: &self.text[start..end] })
    }

    #[inline]
    fn open_tag(&mut self, open: usize, attributes: &mut Vec<Attribute<'a>>) -> Option<Token<'a>> {
        attributes.clear();
        self.class = None;
        let (text, bytes) = (self.text, self.text.as_bytes());
        let start = open + 1;
        let (tag, mut at) = parse_tag_name(bytes, start);
        let name = &text[start..at];
        let (mut is_self_closing, mut count) = (false, 0);
        let has_relevant = !self.relevant_only || !tag.is_void() || tag == Tag::Input;
        // A tag without an end is ignored, with the rest of the page.
        self.at = bytes.len();
        loop {
            if *bytes.get(at)? == b'>' {
                break;
            }
            if let Some(word) = load_word(bytes, at) {
                // Every other attribute has this form.
                if word == const { pack_bytes(b" class=\"") } {
                    let end = find_near(bytes, at + 8, b'"')?;
                    (is_self_closing, count) = (false, count + 1);
                    if has_relevant && count <= MAX_ATTRIBUTES {
                        let value = &text[at + 8..end];
                        if self.relevant_only && self.class.is_none() && attributes.is_empty() {
                            self.class = Some(value);
                        } else {
                            attributes.push(("class", value));
                        }
                    }
                    at = end + 1;
                    continue;
                }
                if let Some((key, length)) = match_short_attribute(word) {
                    let start = at + length + 3;
                    let end = find_near(bytes, start, b'"')?;
                    (is_self_closing, count) = (false, count + 1);
                    let is_kept = has_relevant && count <= MAX_ATTRIBUTES;
                    if is_kept && (!self.relevant_only || is_relevant_attribute(key)) {
                        attributes.push((&text[at + 1..start - 2], &text[start..end]));
                    }
                    at = end + 1;
                    continue;
                }
            }
            let mut first = *bytes.get(at)?;
            while is_space(first) || first == b'/' {
                is_self_closing = first == b'/';
                at += 1;
                first = *bytes.get(at)?;
            }
            if first == b'>' {
                break;
            }
            is_self_closing = false;
            count += 1;
            let is_kept = has_relevant && count <= MAX_ATTRIBUTES;
            if let Some((key, start)) = match_quoted_attribute(bytes, at) {
                let end = find_near(bytes, start, b'"')?;
                if is_kept && (!self.relevant_only || is_relevant_attribute(key)) {
                    attributes.push((&text[at..start - 2], &text[start..end]));
                }
                at = end + 1;
                continue;
            }
            let from = at;
            // A name may begin with `=`.
            at = find_key_end(bytes, at + 1);
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
            if is_kept {
                attributes.push((&text[key], &text[value]));
            }
        }
        self.at = at + 1;
        if tag.is_raw() {
            self.raw_element = Some((tag, name));
        }
        Some(Token::Open { tag, name, is_self_closing })
    }
}

/// Matches an attribute of the usual form: a space, a name of up to five letters, and a value in
/// double quotes. Returns the name and its length.
#[inline(always)]
fn match_short_attribute(word: u64) -> Option<(u64, usize)> {
    let rest = word >> 8;
    // Letters have this bit, and the byte after a name does not.
    let bits = bits_before(!rest & LETTER_BITS);
    let is_match = word as u8 == b' ' && bits > 0 && (rest >> bits) as u16 == EQUALS_QUOTE;
    is_match.then(|| (rest & ((1 << bits) - 1), bits as usize / 8))
}

const EQUALS_QUOTE: u16 = u16::from_le_bytes(*b"=\"");

/// Matches a name of up to seven bytes before a value in double quotes. Returns the name and the
/// start of the value.
#[inline]
fn match_quoted_attribute(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = load_word(bytes, at)?;
    let ends = match_key_end(word);
    let bits = bits_before(ends);
    let start = at + bits as usize / 8 + 2;
    let is_match = ends != 0 && bits > 0 && (word >> bits) as u8 == b'=';
    (is_match && bytes.get(start - 1) == Some(&b'"')).then(|| (word & ((1 << bits) - 1), start))
}

/// True if a rule uses the attribute with this name of up to seven bytes.
#[inline]
fn is_relevant_attribute(key: u64) -> bool {
    // The name in lower case, if it is in the table.
    let like = RELEVANT_ATTRIBUTES[attribute_slot(key | CASE_BITS)];
    key | CASE_BITS == like | CASE_BITS && lowercase(key) == like
}

/// Perfect hash table of the names.
const RELEVANT_ATTRIBUTES: [u64; 32] = {
    let names: [&[u8]; 10] = [
        b"class", b"data-ad", b"hidden", b"id", b"open", b"rel", b"role", b"style", b"type",
        b"value",
    ];
    let (mut slots, mut i) = ([0; 32], 0);
    while i < names.len() {
        let name = pack_bytes(names[i]);
        let slot = attribute_slot(name | CASE_BITS);
        assert!(slots[slot] == 0, "two names in one slot");
        slots[slot] = name;
        i += 1;
    }
    slots
};

/// The multiplier was found by search: it gives each name another slot.
const fn attribute_slot(name: u64) -> usize {
    (name.wrapping_mul(0x0c2f_590e_5eac_c7db) >> 59) as usize
}

/// True if a tag or a comment begins here, rather than a `<` in a text.
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

/// True if a byte ends the name of an attribute.
const fn ends_key(byte: u8) -> bool {
    matches!(byte, b'=' | b'>' | b'/') || is_space(byte)
}

/// Marks bytes that may end the name of an attribute. Only the first mark is exact.
#[inline]
fn match_key_end(word: u64) -> u64 {
    match_below(word, b' ' + 1)
        | match_byte(word, b'=')
        | match_byte(word, b'>')
        | match_byte(word, b'/')
}

/// Returns the end of the name of an attribute.
fn find_key_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(word) = load_word(bytes, at) {
        let found = match_key_end(word);
        if found == 0 {
            at += 8;
            continue;
        }
        let bits = bits_before(found);
        at += bits as usize / 8;
        if ends_key((word >> bits) as u8) {
            return at;
        }
        at += 1;
    }
    while at < bytes.len() && !ends_key(bytes[at]) {
        at += 1;
    }
    at
}

/// Returns the element whose name begins here, and the end of the name.
#[inline(always)]
fn parse_tag_name(bytes: &[u8], start: usize) -> (Tag, usize) {
    if let Some(word) = load_word(bytes, start) {
        // Letters have this bit, and the byte after a name does not.
        let ends = !word & LETTER_BITS;
        let bits = bits_before(ends) & 63;
        if ends != 0 && matches!((word >> bits) as u8, b'>' | b' ') {
            return (Tag::from_short_name(word & ((1 << bits) - 1)), start + bits as usize / 8);
        }
        let ends = match_below(word, b' ' + 1) | match_byte(word, b'>') | match_byte(word, b'/');
        let bits = bits_before(ends);
        if ends != 0 && ends_name((word >> bits) as u8) {
            return (Tag::from_short_name(word & ((1 << bits) - 1)), start + bits as usize / 8);
        }
    }
    let mut end = start;
    while end < bytes.len() && !ends_name(bytes[end]) {
        end += 1;
    }
    (Tag::from_name(&bytes[start..end]), end)
}

const fn ends_name(byte: u8) -> bool {
    matches!(byte, b'>' | b'/') || is_space(byte)
}

pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Returns the value of the first attribute with a name.
pub(crate) fn attribute<'a>(attributes: &[Attribute<'a>], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats tokens in a short notation.
    fn tokens(text: &str) -> String {
        let (mut tokenizer, mut attributes, mut out) =
            (Tokenizer::new(text), Vec::new(), Vec::new());
        while let Some(token) = tokenizer.next(&mut attributes) {
            out.push(match token {
                Token::Text(text) => format!("'{text}'"),
                Token::Raw(text) => format!("raw '{text}'"),
                Token::Open { name, is_self_closing, .. } => {
                    let end = if is_self_closing { "/" } else { "" };
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
    fn a_less_than_sign_without_a_tag_is_text() {
        check("1 < 2 <3 <", "'1 < 2 <3 <'");
        check("a</>b", "'a' 'b'");
        check("<<p>", "'<' <p>");
    }

    #[test]
    fn comments_are_skipped() {
        check("a<!-- <b> -->c<!-->d<!--->e<!doctype html>f<?php x ?>g", "'a' 'c' 'd' 'e' 'f' 'g'");
        check("a<!-- x --!>b<!----->c<!-- never ends", "'a' 'b' 'c'");
    }

    #[test]
    fn raw_text_ends_at_its_own_closing_tag() {
        check("<script>a</b></SCRIPT>c", "<script> raw 'a</b>' </SCRIPT> 'c'");
        check("<title>a <b> c</title>", "<title> raw 'a <b> c' </title>");
        check("<style></style>", "<style> </style>");
        check("<script>never </scripts> ends", "<script> raw 'never </scripts> ends'");
    }

    #[test]
    fn a_tag_without_an_end_is_skipped_with_the_rest_of_the_page() {
        check("a<b", "'a'");
        check("a<b c='d", "'a'");
        check("a<b c", "'a'");
    }

    #[test]
    fn time_is_linear_in_the_length() {
        for part in ["<", "<a", "<!--", "</", "<a b=\"", "<script>", "<a a=b ", "<!", "&", "--"] {
            tokens(&part.repeat(20_000));
        }
    }
}
