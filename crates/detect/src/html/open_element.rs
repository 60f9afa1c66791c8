//! The state of an element that is open.

use super::exclusion::ExclusionReason;
use super::tag::Tag;
use crate::noise::{LineContext, TextHint};

/// An element that has begun and not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenElement {
    pub(crate) tag: Tag,
    /// Hash of the name of a custom element.
    pub(crate) name_hash: u64,
    /// Reason why its text is excluded.
    pub(crate) reason: Option<ExclusionReason>,
    /// `reason` follows from a name: a main part inside overrules it.
    pub(crate) is_from_name: bool,
    /// `reason` does not apply if the element turns out to be content.
    pub(crate) needs_content_check: bool,
    /// In an element for the main part: `main`, `article`, `section` and the like.
    pub(crate) in_main: bool,
    pub(crate) in_article: bool,
    pub(crate) in_link: bool,
    pub(crate) in_menu: bool,
    pub(crate) in_pre: bool,
    /// In code, which has no noise.
    pub(crate) in_code: bool,
    pub(crate) in_svg: bool,
    pub(crate) context: LineContext,
    /// Hint for short texts in it, and the number of nested blocks that the hint still applies to.
    pub(crate) hint: TextHint,
    pub(crate) hint_depth: u8,
    /// Matched by `select`, or inside an element that is.
    pub(crate) is_selected: bool,
    /// First text node in it.
    pub(crate) first_node: usize,
    /// Bytes of text in it, and the part of them in links.
    pub(crate) text_len: usize,
    pub(crate) link_text_len: usize,
    pub(crate) link_count: usize,
    pub(crate) has_h1: bool,
    pub(crate) has_table: bool,
    /// Reason to exclude the whole element, from a label in it.
    pub(crate) label_reason: Option<ExclusionReason>,
    /// Related heading in it, which excludes the text after it.
    pub(crate) cutoff: Option<HeadingCutoff>,
    /// An `aside` in the main part: included unless most of it is links.
    pub(crate) is_inner_aside: bool,
}

/// A heading that excludes the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadingCutoff {
    /// A heading of this level or a higher one ends it.
    pub(crate) level: u8,
    /// Number of text nodes up to the heading, inclusive.
    pub(crate) end_node: usize,
    pub(crate) reason: ExclusionReason,
    /// The first element after the heading. A block element with another tag ends it.
    pub(crate) first_tag: Option<Tag>,
}

impl HeadingCutoff {
    /// The level of a line that is not a heading element: any heading ends it.
    pub(crate) const ANY_LEVEL: u8 = 7;

    /// True if an element after the heading still belongs to it.
    pub(crate) fn continues_with(&mut self, tag: Tag, has_id: bool) -> bool {
        if matches!(tag, Tag::Section | Tag::Article | Tag::Main) {
            return false;
        }
        if tag.heading_level().is_some_and(|it| it <= self.level) {
            return false;
        }
        if tag == Tag::P || tag.is_inline() {
            return true;
        }
        // The cards of a list are alike. An element with an `id` is something else.
        match self.first_tag {
            None => {
                self.first_tag = Some(tag);
                true
            }
            Some(first) => first == tag && !has_id,
        }
    }
}

impl OpenElement {
    pub(crate) fn root() -> Self {
        Self {
            tag: Tag::Html,
            name_hash: 0,
            reason: None,
            is_from_name: false,
            needs_content_check: false,
            in_main: false,
            in_article: false,
            in_link: false,
            in_menu: false,
            in_pre: false,
            in_code: false,
            in_svg: false,
            context: LineContext::Block,
            hint: TextHint::None,
            hint_depth: 0,
            is_selected: false,
            first_node: 0,
            text_len: 0,
            link_text_len: 0,
            link_count: 0,
            has_h1: false,
            has_table: false,
            label_reason: None,
            cutoff: None,
            is_inner_aside: false,
        }
    }

    /// Returns a child element, with what it inherits.
    #[inline(always)]
    pub(crate) fn child(&self, tag: Tag, name_hash: u64, first_node: usize) -> Self {
        // One copy of everything, and then what differs, is faster than field by field.
        let mut child = *self;
        (child.tag, child.name_hash, child.first_node) = (tag, name_hash, first_node);
        child.hint_depth = self.hint_depth.saturating_sub(u8::from(!tag.is_inline()));
        if child.hint_depth == 0 {
            child.hint = TextHint::None;
        }
        if tag.changes_context() {
            let is_pre = matches!(tag, Tag::Pre | Tag::Xmp | Tag::Plaintext | Tag::Textarea);
            let is_code = matches!(tag, Tag::Code | Tag::Samp | Tag::Kbd);
            child.in_link |= tag == Tag::A;
            child.in_pre |= is_pre;
            child.in_code |= is_pre || is_code;
            child.in_svg |= tag == Tag::Svg;
            child.context = child_context(self.context, tag);
        }
        (child.text_len, child.link_text_len, child.link_count) = (0, 0, 0);
        (child.has_h1, child.has_table) = (false, false);
        (child.needs_content_check, child.is_inner_aside) = (false, false);
        (child.label_reason, child.cutoff) = (None, None);
        child
    }

    /// True if the element itself gives nothing to decide at its end.
    #[inline]
    pub(crate) fn needs_no_checks(&self) -> bool {
        let is_measured = matches!(self.tag, Tag::P | Tag::Td | Tag::Th | Tag::Tr);
        let has_checks = self.label_reason.is_some()
            | self.is_inner_aside
            | self.needs_content_check
            | self.cutoff.is_some();
        !is_measured && !has_checks
    }

    /// True if the element is prose, which has few links; a list of other articles has many.
    pub(crate) fn is_prose(&self) -> bool {
        const MIN_TEXT_LEN: usize = 90;
        const MIN_TEXT_LEN_PER_LINK: usize = 250;
        let text_len = self.text_len - self.link_text_len;
        text_len >= MIN_TEXT_LEN && text_len >= MIN_TEXT_LEN_PER_LINK * self.link_count
    }

    /// Adds the counts of a child that ended.
    pub(crate) fn add_counts(&mut self, child: &Self) {
        self.text_len += child.text_len;
        self.link_text_len += child.link_text_len;
        self.link_count += child.link_count;
        self.has_h1 |= child.has_h1;
        self.has_table |= child.has_table || child.tag == Tag::Table;
    }
}

/// The context of lines in a child element.
fn child_context(outer: LineContext, tag: Tag) -> LineContext {
    match tag {
        _ if tag.heading_level().is_some() => LineContext::Heading,
        Tag::Li | Tag::Dt | Tag::Dd | Tag::SelectOption => LineContext::ListItem,
        Tag::Td | Tag::Th => LineContext::TableCell,
        Tag::Article | Tag::Section | Tag::Main | Tag::Table | Tag::Body => LineContext::Block,
        _ => outer,
    }
}
