//! The elements of HTML, and how each behaves in a text.

use crate::swar::{lowercase, packed};

/// Makes the enum and the look-up from one list.
macro_rules! tags {
    ($($name:literal $variant:ident,)*) => {
        /// An element by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Tag { $($variant,)* /** Any other name. */ Other }

        /// The names as numbers.
        #[allow(non_upper_case_globals)]
        mod numbers {
            $(pub(super) const $variant: u128 = super::pack($name.as_bytes());)*
        }

        impl Tag {
            pub(crate) const COUNT: usize = Self::Other as usize + 1;

            const NAMES: &[(&str, Self)] = &[$(($name, Self::$variant),)*];

            /// The element of this name, in any case.
            pub(crate) fn of(name: &[u8]) -> Self {
                match pack(name) {
                    $(numbers::$variant => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

/// A name of up to 16 bytes in lower case as one number, so that it is looked up by comparing
/// numbers. Longer ones are no name of HTML.
const fn pack(name: &[u8]) -> u128 {
    if name.len() > 16 {
        return 0;
    }
    let (mut packed, mut i) = (0_u128, 0);
    while i < name.len() {
        packed = packed << 8 | name[i].to_ascii_lowercase() as u128;
        i += 1;
    }
    packed
}

tags! {
    "a" A, "abbr" Abbr, "acronym" Acronym, "address" Address, "area" Area, "article" Article,
    "aside" Aside, "audio" Audio, "b" B, "base" Base, "bdi" Bdi, "bdo" Bdo, "big" Big,
    "blockquote" Blockquote, "body" Body, "br" Br, "button" Button, "canvas" Canvas,
    "caption" Caption, "center" Center, "cite" Cite, "code" Code, "col" Col, "colgroup" Colgroup,
    "data" Data, "datalist" Datalist, "dd" Dd, "del" Del, "desc" Desc, "details" Details,
    "dfn" Dfn, "dialog" Dialog, "dir" Dir, "div" Div, "dl" Dl, "dt" Dt, "em" Em, "embed" Embed,
    "fieldset" Fieldset, "figcaption" Figcaption, "figure" Figure, "font" Font, "footer" Footer,
    "form" Form, "frame" Frame, "frameset" Frameset, "h1" H1, "h2" H2, "h3" H3, "h4" H4, "h5" H5,
    "h6" H6, "head" Head, "header" Header, "hgroup" Hgroup, "hr" Hr, "html" Html, "i" I,
    "iframe" Iframe, "img" Img, "input" Input, "ins" Ins, "kbd" Kbd, "label" Label,
    "legend" Legend, "li" Li, "link" Link, "main" Main, "map" Map, "mark" Mark, "math" Math,
    "menu" Menu, "meta" Meta, "nav" Nav, "nobr" Nobr, "noembed" Noembed, "noframes" Noframes,
    "noscript" Noscript, "object" Object, "ol" Ol, "optgroup" Optgroup, "option" Choice,
    "output" Output, "p" P, "param" Param, "picture" Picture, "plaintext" Plaintext, "pre" Pre,
    "progress" Progress, "q" Q, "rp" Rp, "rt" Rt, "ruby" Ruby, "s" S, "samp" Samp,
    "script" Script, "search" Search, "section" Section, "select" Select, "small" Small,
    "source" Source, "span" Span, "strike" Strike, "strong" Strong, "style" Style, "sub" Sub,
    "summary" Summary, "sup" Sup, "svg" Svg, "table" Table, "tbody" Tbody, "td" Td,
    "template" Template, "textarea" Textarea, "tfoot" Tfoot, "th" Th, "thead" Thead, "time" Time,
    "title" Title, "tr" Tr, "track" Track, "tt" Tt, "u" U, "ul" Ul, "var" Var, "video" Video,
    "wbr" Wbr, "xmp" Xmp,
}

/// What holds for each of them, a bit for each answer: asked for many times.
const TRAITS: [u8; Tag::COUNT] = {
    let mut traits = [INLINE | MUTE; Tag::COUNT];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let tag = Tag::NAMES[i].1;
        traits[tag as usize] = if tag.goes_on() { INLINE } else { 0 }
            | if tag.has_no_content() { VOID } else { 0 }
            | if tag.holds_text() { RAW } else { 0 }
            | if tag.follows() { FOLLOWS } else { 0 }
            | if tag.stands_in_head() { IN_HEAD } else { 0 }
            | if tag.tells() { 0 } else { MUTE }
            | if tag.makes() { MAKES } else { 0 };
        i += 1;
    }
    traits
};
const INLINE: u8 = 1;
const VOID: u8 = 2;
const RAW: u8 = 4;
const FOLLOWS: u8 = 8;
const IN_HEAD: u8 = 16;
const MUTE: u8 = 32;
const MAKES: u8 = 64;

/// The closing tag of each as most are written, in the last bytes of eight, and its length. Where it is
/// longer, and for those whose closing tag closes nothing, what no text is.
const CLOSING: [(u64, usize); Tag::COUNT] = {
    let mut closing = [(u64::MAX, 0); Tag::COUNT];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let (name, tag) = Tag::NAMES[i];
        if name.len() <= 5 && !tag.has_no_content() && !matches!(tag, Tag::Html | Tag::Body) {
            let bits = 8 * name.len();
            let text = packed(b"</") | packed(name.as_bytes()) << 16 | (b'>' as u64) << (16 + bits);
            closing[tag as usize] = (text << (40 - bits), name.len() + 3);
        }
        i += 1;
    }
    closing
};

/// The names of up to eight bytes, each where its number leads to or in a slot after that: most are
/// found at the first look.
const SHORT: [(u64, Tag); SLOTS] = {
    let mut slots = [(0, Tag::Other); SLOTS];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let (name, tag) = Tag::NAMES[i];
        if name.len() <= 8 {
            let name = packed(name.as_bytes());
            let mut slot = slot_of(name);
            while slots[slot].0 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = (name, tag);
        }
        i += 1;
    }
    slots
};
const SLOTS: usize = 512;

const fn slot_of(name: u64) -> usize {
    (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

impl Tag {
    /// The element of a name of up to eight bytes, the first one lowest.
    #[inline]
    pub(crate) fn of_eight(name: u64) -> Self {
        // As most are written, and found.
        let (known, tag) = SHORT[slot_of(name)];
        if known == name {
            return tag;
        }
        let name = lowercase(name);
        let mut slot = slot_of(name);
        loop {
            let (known, tag) = SHORT[slot];
            if known == name || known == 0 {
                return tag;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Has no content, and no closing tag.
    #[inline]
    pub(crate) fn is_void(self) -> bool {
        TRAITS[self as usize] & VOID != 0
    }

    const fn has_no_content(self) -> bool {
        matches!(
            self,
            Self::Area
                | Self::Base
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Frame
                | Self::Hr
                | Self::Img
                | Self::Input
                | Self::Link
                | Self::Meta
                | Self::Param
                | Self::Source
                | Self::Track
                | Self::Wbr
        )
    }

    /// Its content is text up to its closing tag, whatever is in it.
    #[inline]
    pub(crate) fn is_raw(self) -> bool {
        TRAITS[self as usize] & RAW != 0
    }

    const fn holds_text(self) -> bool {
        matches!(
            self,
            Self::Script
                | Self::Style
                | Self::Title
                | Self::Textarea
                | Self::Xmp
                | Self::Iframe
                | Self::Noembed
                | Self::Noframes
                | Self::Plaintext
        )
    }

    /// Goes on in the line that it stands in. Names that HTML does not know do so too.
    #[inline]
    pub(crate) fn is_inline(self) -> bool {
        TRAITS[self as usize] & INLINE != 0
    }

    /// Its closing tag in the last bytes of eight, and its length.
    #[inline]
    pub(crate) fn closing(self) -> (u64, usize) {
        CLOSING[self as usize]
    }

    /// Whether it may end an open element other than a paragraph.
    #[inline]
    pub(crate) fn may_follow(self) -> bool {
        TRAITS[self as usize] & FOLLOWS != 0
    }

    const fn follows(self) -> bool {
        matches!(
            self,
            Self::Li
                | Self::Dt
                | Self::Dd
                | Self::Choice
                | Self::Optgroup
                | Self::Body
                | Self::Td
                | Self::Th
                | Self::Tr
                | Self::Tbody
                | Self::Thead
                | Self::Tfoot
        )
    }

    /// Whether the element alone, without attributes, never says that its text does not count.
    #[inline]
    pub(crate) fn is_mute(self) -> bool {
        TRAITS[self as usize] & MUTE != 0
    }

    const fn tells(self) -> bool {
        matches!(
            self,
            Self::Template
                | Self::Datalist
                | Self::Rp
                | Self::Desc
                | Self::Title
                | Self::Noscript
                | Self::Iframe
                | Self::Noembed
                | Self::Noframes
                | Self::Audio
                | Self::Video
                | Self::Canvas
                | Self::Dialog
                | Self::Nav
                | Self::Search
                | Self::Header
                | Self::Footer
                | Self::Aside
        )
    }

    /// Whether it makes something of its text: a link, a heading, an entry, a cell, code, a drawing.
    #[inline]
    pub(crate) fn makes_something(self) -> bool {
        TRAITS[self as usize] & MAKES != 0
    }

    const fn makes(self) -> bool {
        matches!(
            self,
            Self::A
                | Self::Pre
                | Self::Xmp
                | Self::Plaintext
                | Self::Textarea
                | Self::Code
                | Self::Samp
                | Self::Kbd
                | Self::Svg
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Li
                | Self::Dt
                | Self::Dd
                | Self::Choice
                | Self::Td
                | Self::Th
                | Self::Article
                | Self::Section
                | Self::Main
                | Self::Table
                | Self::Body
        )
    }

    /// Whether it stands in the head of a page, or begins its body.
    #[inline]
    pub(crate) fn is_in_head(self) -> bool {
        TRAITS[self as usize] & IN_HEAD != 0
    }

    const fn stands_in_head(self) -> bool {
        matches!(
            self,
            Self::Head
                | Self::Title
                | Self::Meta
                | Self::Link
                | Self::Script
                | Self::Style
                | Self::Base
                | Self::Template
                | Self::Noscript
                | Self::Body
                | Self::Frameset
        )
    }

    const fn goes_on(self) -> bool {
        matches!(
            self,
            Self::A
                | Self::Abbr
                | Self::Acronym
                | Self::Area
                | Self::B
                | Self::Bdi
                | Self::Bdo
                | Self::Big
                | Self::Cite
                | Self::Code
                | Self::Data
                | Self::Del
                | Self::Dfn
                | Self::Em
                | Self::Font
                | Self::I
                | Self::Img
                | Self::Input
                | Self::Ins
                | Self::Kbd
                | Self::Label
                | Self::Link
                | Self::Map
                | Self::Mark
                | Self::Math
                | Self::Meta
                | Self::Nobr
                | Self::Output
                | Self::Picture
                | Self::Q
                | Self::Rp
                | Self::Rt
                | Self::Ruby
                | Self::S
                | Self::Samp
                | Self::Script
                | Self::Small
                | Self::Source
                | Self::Span
                | Self::Strike
                | Self::Strong
                | Self::Style
                | Self::Sub
                | Self::Sup
                | Self::Svg
                | Self::Template
                | Self::Time
                | Self::Tt
                | Self::U
                | Self::Var
                | Self::Wbr
        )
    }

    /// 1 to 6 for headings.
    pub(crate) fn heading(self) -> Option<u8> {
        Some(match self {
            Self::H1 => 1,
            Self::H2 => 2,
            Self::H3 => 3,
            Self::H4 => 4,
            Self::H5 => 5,
            Self::H6 => 6,
            _ => return None,
        })
    }

    /// Whether a closing tag of another element leaves it open.
    pub(crate) fn is_barrier(self) -> bool {
        matches!(
            self,
            Self::Table | Self::Td | Self::Th | Self::Caption | Self::Html | Self::Button
        )
    }

    /// Whether a new element `next` ends this one, which is still open.
    pub(crate) fn ends_at(self, next: Self) -> bool {
        match self {
            Self::P => !next.is_inline() && !matches!(next, Self::Br | Self::Button | Self::Select),
            Self::Li => next == Self::Li,
            Self::Dt | Self::Dd => matches!(next, Self::Dt | Self::Dd),
            Self::Choice => matches!(next, Self::Choice | Self::Optgroup),
            Self::Td | Self::Th => {
                matches!(next, Self::Td | Self::Th | Self::Tr)
                    || matches!(next, Self::Tbody | Self::Thead | Self::Tfoot)
            }
            Self::Tr => matches!(next, Self::Tr | Self::Tbody | Self::Thead | Self::Tfoot),
            Self::Tbody | Self::Thead | Self::Tfoot | Self::Caption | Self::Colgroup => {
                matches!(next, Self::Tbody | Self::Thead | Self::Tfoot)
                    || self == Self::Caption && next == Self::Tr
            }
            Self::Head => next == Self::Body,
            _ => false,
        }
    }

    /// Where the search for an element that `ends_at` another stops: a list item ends the item
    /// before it, not the one around its list.
    pub(crate) fn holds_items(self) -> bool {
        matches!(
            self,
            Self::Ul
                | Self::Ol
                | Self::Dl
                | Self::Menu
                | Self::Dir
                | Self::Table
                | Self::Select
                | Self::Datalist
                | Self::Body
                | Self::Article
                | Self::Section
                | Self::Main
                | Self::Blockquote
                | Self::Object
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(Tag::of(b"DIV"), Tag::Div);
        assert_eq!(Tag::of(b"blockquote"), Tag::Blockquote);
        assert_eq!(Tag::of(b"figCaption"), Tag::Figcaption);
        assert_eq!(Tag::of(b"app-header"), Tag::Other);
        assert_eq!(Tag::of(b""), Tag::Other);
        assert_eq!(Tag::of(b"a-name-of-more-than-sixteen-bytes"), Tag::Other);
    }

    #[test]
    fn short_names_are_found_at_once() {
        for (name, tag) in Tag::NAMES.iter().filter(|it| it.0.len() <= 8) {
            for name in [name.to_ascii_lowercase(), name.to_ascii_uppercase()] {
                assert_eq!(Tag::of_eight(packed(name.as_bytes())), *tag);
                assert_eq!(Tag::of(name.as_bytes()), *tag);
            }
        }
        assert_eq!(Tag::of_eight(0), Tag::Other);
        assert_eq!(Tag::of_eight(packed(b"sections")), Tag::Other);
    }
}
