//! HTML elements, and how they affect text.

use crate::swar::{lowercase, pack_bytes};

/// Defines the enum and the look-up by name from one list.
macro_rules! define_tags {
    ($($name:literal $variant:ident,)*) => {
        /// An HTML element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Tag { $($variant,)* /** Any other name. */ Other }

        /// The names as numbers.
        #[allow(non_upper_case_globals)]
        mod packed_names {
            $(pub(super) const $variant: u128 = super::pack_long_name($name.as_bytes());)*
        }

        impl Tag {
            pub(crate) const COUNT: usize = Self::Other as usize + 1;

            const NAMES: &[(&str, Self)] = &[$(($name, Self::$variant),)*];

            /// Returns the element with a name, in any case.
            pub(crate) fn from_name(name: &[u8]) -> Self {
                match pack_long_name(name) {
                    $(packed_names::$variant => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

/// Packs a name of up to 16 bytes into one number in lower case, so that a look-up compares
/// numbers. HTML has no longer names.
const fn pack_long_name(name: &[u8]) -> u128 {
    if name.len() > 16 {
        return 0;
    }
    let (mut pack_bytes, mut i) = (0_u128, 0);
    while i < name.len() {
        pack_bytes = pack_bytes << 8 | name[i].to_ascii_lowercase() as u128;
        i += 1;
    }
    pack_bytes
}

define_tags! {
    "a" A, "abbr" Abbr, "acronym" Acronym, "address" Address, "area" Area, "article" Article,
    "aside" AsideElement, "audio" Audio, "b" B, "base" Base, "bdi" Bdi, "bdo" Bdo, "big" Big,
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
    "noscript" Noscript, "object" Object, "ol" Ol, "optgroup" Optgroup, "option" SelectOption,
    "output" Output, "p" P, "param" Param, "picture" Picture, "plaintext" Plaintext, "pre" Pre,
    "progress" Progress, "q" Q, "rp" Rp, "rt" Rt, "ruby" Ruby, "s" S, "samp" Samp,
    "script" Script, "search" Search, "section" Section, "select" Select, "small" Small,
    "source" Source, "span" Span, "strike" Strike, "strong" Strong, "style" Style, "sub" Sub,
    "summary" Summary, "sup" Sup, "svg" Svg, "table" Table, "tbody" Tbody, "td" Td,
    "template" Template, "textarea" Textarea, "tfoot" Tfoot, "th" Th, "thead" Thead, "time" Time,
    "title" Title, "tr" Tr, "track" Track, "tt" Tt, "u" U, "ul" Ul, "var" Var, "video" Video,
    "wbr" Wbr, "xmp" Xmp,
}

/// Traits of each element as bits: they are tested often.
const TRAITS: [u8; Tag::COUNT] = {
    let mut traits = [INLINE | NEUTRAL; Tag::COUNT];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let tag = Tag::NAMES[i].1;
        traits[tag as usize] = if tag.is_inline_element() { INLINE } else { 0 }
            | if tag.is_void_element() { VOID } else { 0 }
            | if tag.has_raw_text() { RAW_TEXT } else { 0 }
            | if tag.ends_sibling() { ENDS_SIBLING } else { 0 }
            | if tag.is_head_element() { IN_HEAD } else { 0 }
            | if tag.is_landmark_or_hidden() { 0 } else { NEUTRAL }
            | if tag.sets_context() { SETS_CONTEXT } else { 0 };
        i += 1;
    }
    traits
};
const INLINE: u8 = 1;
const VOID: u8 = 2;
const RAW_TEXT: u8 = 4;
const ENDS_SIBLING: u8 = 8;
const IN_HEAD: u8 = 16;
const NEUTRAL: u8 = 32;
const SETS_CONTEXT: u8 = 64;

/// The closing tag of each element in its usual form, in the last bytes of a word, and its length.
/// Elements with a longer name, and those whose closing tag has no effect, have a value that no
/// text matches.
const CLOSING_TAGS: [(u64, usize); Tag::COUNT] = {
    let mut closing_tag = [(u64::MAX, 0); Tag::COUNT];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let (name, tag) = Tag::NAMES[i];
        if name.len() <= 5 && !tag.is_void_element() && !matches!(tag, Tag::Html | Tag::Body) {
            let bits = 8 * name.len();
            let text = pack_bytes(b"</")
                | pack_bytes(name.as_bytes()) << 16
                | (b'>' as u64) << (16 + bits);
            closing_tag[tag as usize] = (text << (40 - bits), name.len() + 3);
        }
        i += 1;
    }
    closing_tag
};

/// Hash table of the names of up to eight bytes, with linear probing.
const SHORT_NAMES: [(u64, Tag); SHORT_NAME_SLOTS] = {
    let mut slots = [(0, Tag::Other); SHORT_NAME_SLOTS];
    let mut i = 0;
    while i < Tag::NAMES.len() {
        let (name, tag) = Tag::NAMES[i];
        if name.len() <= 8 {
            let name = pack_bytes(name.as_bytes());
            let mut slot = slot_of(name);
            while slots[slot].0 != 0 {
                slot = (slot + 1) % SHORT_NAME_SLOTS;
            }
            slots[slot] = (name, tag);
        }
        i += 1;
    }
    slots
};
const SHORT_NAME_SLOTS: usize = 512;

const fn slot_of(name: u64) -> usize {
    (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

impl Tag {
    /// Returns the element with a name of up to eight bytes, the first one lowest.
    #[inline]
    pub(crate) fn from_short_name(name: u64) -> Self {
        // The name as written: usually lower case, and in its first slot.
        let (slot_name, tag) = SHORT_NAMES[slot_of(name)];
        if slot_name == name {
            return tag;
        }
        let name = lowercase(name);
        let mut slot = slot_of(name);
        loop {
            let (slot_name, tag) = SHORT_NAMES[slot];
            if slot_name == name || slot_name == 0 {
                return tag;
            }
            slot = (slot + 1) % SHORT_NAME_SLOTS;
        }
    }

    /// True if the element has no content and no closing tag.
    #[inline]
    pub(crate) fn is_void(self) -> bool {
        TRAITS[self as usize] & VOID != 0
    }

    const fn is_void_element(self) -> bool {
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

    /// True if the content is raw text up to the closing tag.
    #[inline]
    pub(crate) fn is_raw(self) -> bool {
        TRAITS[self as usize] & RAW_TEXT != 0
    }

    const fn has_raw_text(self) -> bool {
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

    /// True for inline elements, and for unknown ones.
    #[inline]
    pub(crate) fn is_inline(self) -> bool {
        TRAITS[self as usize] & INLINE != 0
    }

    /// Returns the closing tag in the last bytes of a word, and its length.
    #[inline]
    pub(crate) fn closing_tag(self) -> (u64, usize) {
        CLOSING_TAGS[self as usize]
    }

    /// True if the element may end an open one other than a paragraph.
    #[inline]
    pub(crate) fn may_end_sibling(self) -> bool {
        TRAITS[self as usize] & ENDS_SIBLING != 0
    }

    const fn ends_sibling(self) -> bool {
        matches!(
            self,
            Self::Li
                | Self::Dt
                | Self::Dd
                | Self::SelectOption
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

    /// True if the tag alone, without attributes, never excludes the text in it.
    #[inline]
    pub(crate) fn is_neutral(self) -> bool {
        TRAITS[self as usize] & NEUTRAL != 0
    }

    const fn is_landmark_or_hidden(self) -> bool {
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
                | Self::AsideElement
        )
    }

    /// True if the element affects the context of its text: links, headings, list items, cells,
    /// code, SVG.
    #[inline]
    pub(crate) fn changes_context(self) -> bool {
        TRAITS[self as usize] & SETS_CONTEXT != 0
    }

    const fn sets_context(self) -> bool {
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
                | Self::SelectOption
                | Self::Td
                | Self::Th
                | Self::Article
                | Self::Section
                | Self::Main
                | Self::Table
                | Self::Body
        )
    }

    /// True if the element belongs in the head of a page, or begins its body.
    #[inline]
    pub(crate) fn belongs_in_head(self) -> bool {
        TRAITS[self as usize] & IN_HEAD != 0
    }

    const fn is_head_element(self) -> bool {
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

    const fn is_inline_element(self) -> bool {
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

    /// Returns the level of a heading, from 1 to 6.
    pub(crate) fn heading_level(self) -> Option<u8> {
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

    /// True if the closing tag of another element does not end it.
    pub(crate) fn is_scope_boundary(self) -> bool {
        matches!(
            self,
            Self::Table | Self::Td | Self::Th | Self::Caption | Self::Html | Self::Button
        )
    }

    /// True if a new element ends this one.
    pub(crate) fn is_ended_by(self, next: Self) -> bool {
        match self {
            Self::P => !next.is_inline() && !matches!(next, Self::Br | Self::Button | Self::Select),
            Self::Li => next == Self::Li,
            Self::Dt | Self::Dd => matches!(next, Self::Dt | Self::Dd),
            Self::SelectOption => matches!(next, Self::SelectOption | Self::Optgroup),
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

    /// True if the search for an element to end stops here: a list item ends the item before it,
    /// not the item around its list.
    pub(crate) fn is_item_scope(self) -> bool {
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
        assert_eq!(Tag::from_name(b"DIV"), Tag::Div);
        assert_eq!(Tag::from_name(b"blockquote"), Tag::Blockquote);
        assert_eq!(Tag::from_name(b"figCaption"), Tag::Figcaption);
        assert_eq!(Tag::from_name(b"app-header"), Tag::Other);
        assert_eq!(Tag::from_name(b""), Tag::Other);
        assert_eq!(Tag::from_name(b"a-name-of-more-than-sixteen-bytes"), Tag::Other);
    }

    #[test]
    fn short_names_are_found_in_the_hash_table() {
        for (name, tag) in Tag::NAMES.iter().filter(|it| it.0.len() <= 8) {
            for name in [name.to_ascii_lowercase(), name.to_ascii_uppercase()] {
                assert_eq!(Tag::from_short_name(pack_bytes(name.as_bytes())), *tag);
                assert_eq!(Tag::from_name(name.as_bytes()), *tag);
            }
        }
        assert_eq!(Tag::from_short_name(0), Tag::Other);
        assert_eq!(Tag::from_short_name(pack_bytes(b"sections")), Tag::Other);
    }
}
