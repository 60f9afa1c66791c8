//! An element that is open while a page is read.

use super::reason::Reason;
use super::tag::Tag;
use crate::noise::{Hint, Place};

/// What is known of an element that has not ended yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) tag: Tag,
    /// Of elements that HTML does not know, what tells their names apart.
    pub(crate) name: u64,
    /// Why its text does not count, if so.
    pub(crate) reason: Option<Reason>,
    /// Whether `reason` was guessed from a name: then a main part inside takes it back.
    pub(crate) guessed: bool,
    /// Whether it counts after all if it is something to read.
    pub(crate) doubted: bool,
    /// In the main part by its element: `main`, `article`, `section` and the like.
    pub(crate) in_main: bool,
    pub(crate) in_article: bool,
    pub(crate) in_link: bool,
    pub(crate) in_menu: bool,
    pub(crate) in_pre: bool,
    /// In code, which counts as it is.
    pub(crate) in_code: bool,
    pub(crate) in_svg: bool,
    pub(crate) place: Place,
    /// What names say of short texts in it, and for how many blocks within each other they speak.
    pub(crate) hint: Hint,
    pub(crate) reach: u8,
    /// Matched by `select`, or in something that is.
    pub(crate) selected: bool,
    /// The first piece of text in it.
    pub(crate) first: usize,
    /// Bytes of text in it, and of those the ones in links.
    pub(crate) letters: usize,
    pub(crate) linked: usize,
    pub(crate) links: usize,
    pub(crate) has_h1: bool,
    pub(crate) has_table: bool,
    /// What a short text in it says of it as a whole.
    pub(crate) labelled: Option<Reason>,
    /// The level of the heading in it after which nothing counts, until another one.
    pub(crate) cut: Option<Cut>,
    /// An `aside` within the main part: counts unless it is mostly links.
    pub(crate) undecided: bool,
}

/// A heading says that what follows it does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// A heading of this level, or above it, ends it. 7: any heading.
    pub(crate) level: u8,
    /// How many pieces of text there were with the heading.
    pub(crate) after: usize,
    pub(crate) reason: Reason,
    /// The first element after the heading: another kind of element ends it.
    pub(crate) first: Option<Tag>,
}

impl Cut {
    /// Whether an element right after the heading, or after others, still belongs to it.
    pub(crate) fn takes(&mut self, tag: Tag, named: bool) -> bool {
        if matches!(tag, Tag::Section | Tag::Article | Tag::Main) {
            return false;
        }
        if tag.heading().is_some_and(|it| it <= self.level) {
            return false;
        }
        if tag == Tag::P || tag.is_inline() {
            return true;
        }
        // Cards in a row are alike; what has a name of its own is something else.
        match self.first {
            None => {
                self.first = Some(tag);
                true
            }
            Some(first) => first == tag && !named,
        }
    }
}

impl Frame {
    pub(crate) fn root() -> Self {
        Self {
            tag: Tag::Html,
            name: 0,
            reason: None,
            guessed: false,
            doubted: false,
            in_main: false,
            in_article: false,
            in_link: false,
            in_menu: false,
            in_pre: false,
            in_code: false,
            in_svg: false,
            place: Place::Plain,
            hint: Hint::None,
            reach: 0,
            selected: false,
            first: 0,
            letters: 0,
            linked: 0,
            links: 0,
            has_h1: false,
            has_table: false,
            labelled: None,
            cut: None,
            undecided: false,
        }
    }

    /// An element in this one, with what it takes over from it.
    #[inline(always)]
    pub(crate) fn child(&self, tag: Tag, name: u64, first: usize) -> Self {
        // All of it at once, and then what is its own.
        let mut child = *self;
        (child.tag, child.name, child.first) = (tag, name, first);
        child.reach = self.reach.saturating_sub(u8::from(!tag.is_inline()));
        if child.reach == 0 {
            child.hint = Hint::None;
        }
        if tag.makes_something() {
            let pre = matches!(tag, Tag::Pre | Tag::Xmp | Tag::Plaintext | Tag::Textarea);
            let code = matches!(tag, Tag::Code | Tag::Samp | Tag::Kbd);
            child.in_link |= tag == Tag::A;
            child.in_pre |= pre;
            child.in_code |= pre || code;
            child.in_svg |= tag == Tag::Svg;
            child.place = place(self.place, tag);
        }
        (child.letters, child.linked, child.links) = (0, 0, 0);
        (child.has_h1, child.has_table) = (false, false);
        (child.doubted, child.undecided) = (false, false);
        (child.labelled, child.cut) = (None, None);
        child
    }

    /// Whether there is nothing to decide at its end, as far as it alone tells.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        let measured = matches!(self.tag, Tag::P | Tag::Td | Tag::Th | Tag::Tr);
        let tells = self.labelled.is_some() | self.undecided | self.doubted | self.cut.is_some();
        !measured && !tells
    }

    /// Whether it is something to read: prose has few links, lists of other things have many.
    pub(crate) fn is_prose(&self) -> bool {
        const LEAST: usize = 90;
        const PER_LINK: usize = 250;
        let text = self.letters - self.linked;
        text >= LEAST && text >= PER_LINK * self.links
    }

    /// Takes over what an element in it has counted.
    pub(crate) fn add(&mut self, child: &Self) {
        self.letters += child.letters;
        self.linked += child.linked;
        self.links += child.links;
        self.has_h1 |= child.has_h1;
        self.has_table |= child.has_table || child.tag == Tag::Table;
    }
}

/// What lines in an element are part of.
fn place(outer: Place, tag: Tag) -> Place {
    match tag {
        _ if tag.heading().is_some() => Place::Heading,
        Tag::Li | Tag::Dt | Tag::Dd | Tag::Choice => Place::Item,
        Tag::Td | Tag::Th => Place::Cell,
        Tag::Article | Tag::Section | Tag::Main | Tag::Table | Tag::Body => Place::Plain,
        _ => outer,
    }
}
