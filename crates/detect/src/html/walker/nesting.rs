//! Opens and closes elements.

use xxhash_rust::xxh3::xxh3_64;

use super::{MAX_DEPTH, PageWalker, Separator, is_relative_time_element};
use crate::html::exclusion::ExclusionReason;
use crate::html::open_element::OpenElement;
use crate::html::rules::{ElementAttributes, classify};
use crate::html::tag::Tag;
use crate::html::tokenizer::{Attribute, attribute};

impl<'a> PageWalker<'a, '_> {
    /// Closes the elements that a new one ends implicitly, and opens those that it needs around it.
    pub(super) fn apply_implied_tags(&mut self, tag: Tag) {
        if self.skipped_depth > 0 {
            return;
        }
        // A cheap test first: only a small number of elements end others.
        if tag.may_end_sibling() || !tag.is_inline() && self.open_counts[Tag::P as usize] > 0 {
            while let Some(at) = self.implicitly_ended_by(tag) {
                while self.elements.len() > at {
                    self.pop_element();
                }
            }
        }
        if self.elements.len() == 1 && !tag.belongs_in_head() {
            self.push_element(Tag::Body, "body", None, &[]);
        } else if tag == Tag::Tr && self.innermost().tag == Tag::Table {
            self.push_element(Tag::Tbody, "tbody", None, &[]);
        }
    }

    /// Returns the index of an open element that ends where `tag` begins.
    pub(super) fn implicitly_ended_by(&self, tag: Tag) -> Option<usize> {
        let is_table_part =
            matches!(tag, Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot);
        let is_open = |tag: Tag| self.open_counts[tag as usize] > 0;
        let has_candidate = match tag {
            Tag::Li => is_open(Tag::Li),
            Tag::Dt | Tag::Dd => is_open(Tag::Dt) || is_open(Tag::Dd),
            Tag::SelectOption | Tag::Optgroup => is_open(Tag::SelectOption),
            Tag::Body => is_open(Tag::Head),
            _ if is_table_part => is_open(Tag::Table),
            _ => false,
        };
        let ends_paragraph = is_open(Tag::P) && Tag::P.is_ended_by(tag);
        if !has_candidate && !ends_paragraph {
            return None;
        }
        let mut found = None;
        for (at, element) in self.elements.iter().enumerate().skip(1).rev() {
            if element.tag.is_ended_by(tag) && (element.tag != Tag::P || found.is_none()) {
                found = Some(at);
                if !is_table_part {
                    break;
                }
            } else if element.tag.is_item_scope()
                || !is_table_part && element.tag.is_scope_boundary()
            {
                break;
            }
        }
        found
    }

    pub(super) fn push_element(
        &mut self,
        tag: Tag,
        name: &'a str,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
        if self.elements.len() >= MAX_DEPTH {
            self.skipped_depth += 1;
            return;
        }
        let matches = self.match_selectors(name, attributes, false);
        // Most elements have no attribute but `class`, and a tag without a meaning of its own. A call
        // with constants lets the compiler omit all other rules for them.
        if attributes.is_empty() && tag.is_neutral() {
            let attributes = ElementAttributes::new(class, &[]);
            self.push_classified(tag, name, &attributes, matches, true);
        } else {
            let attributes = ElementAttributes::new(class, attributes);
            self.push_classified(tag, name, &attributes, matches, false);
        }
        if tag == Tag::Other
            && is_relative_time_element(name)
            && !self.options.noise
            && !self.has_selection
        {
            self.push_datetime(attribute(attributes, "datetime").unwrap_or_default());
        }
    }

    /// Classifies and opens an element. `is_class_only`: only its class can have a meaning.
    #[inline(always)]
    fn push_classified(
        &mut self,
        tag: Tag,
        name: &'a str,
        attributes: &ElementAttributes<'a>,
        (is_dropped, is_selected): (bool, bool),
        is_class_only: bool,
    ) {
        let name_hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let (first_node, depth, has_prose) =
            (self.page.nodes.len(), self.elements.len() + 1, self.has_prose);
        let parent = self.innermost();
        let mut element = parent.child(tag, name_hash, first_node);
        if let Some(mut cutoff) = parent.cutoff {
            let continues = cutoff.continues_with(tag, attributes.id.is_some());
            parent.cutoff = continues.then_some(cutoff);
            if continues {
                element.reason = element.reason.or(Some(cutoff.reason));
            }
        }
        let check = classify(&mut element, name, attributes, depth, has_prose, is_class_only);
        if let Some(check) = check {
            self.deferred_checks.push((depth, check));
        }
        if is_selected {
            element.is_selected = true;
            // A hidden element that is selected by name counts.
            element.reason = element.reason.filter(|it| *it == ExclusionReason::Dropped);
        }
        if is_dropped {
            element.reason = Some(ExclusionReason::Dropped);
        }
        if tag == Tag::H1 {
            element.has_h1 = true;
        }
        let is_main = tag == Tag::Main || attributes.role == Some("main");
        if is_main || tag == Tag::H1 {
            self.include_main_content(&mut element, is_main);
        }
        if tag == Tag::A {
            if self.options.links {
                self.link_targets.push(attributes.href.unwrap_or_default());
            }
            let is_pager_link = attributes.rel.is_some_and(|it| {
                it.split_ascii_whitespace().any(|it| matches!(it, "prev" | "next" | "previous"))
            });
            element.reason =
                element.reason.or(is_pager_link.then_some(ExclusionReason::Navigation));
        }
        self.open_counts[tag as usize] += 1;
        self.enter_cell(tag);
        self.elements.push(element);
    }

    /// Adds the `datetime` of an element instead of its text, which is relative to now.
    fn push_datetime(&mut self, datetime: &str) {
        if datetime.is_empty() {
            return;
        }
        let start = self.page.text.len();
        self.page.text.push_str(datetime);
        self.push_text_node(start);
        let element = self.innermost();
        element.reason = element.reason.or(Some(ExclusionReason::Counter));
    }

    /// Includes the main part or the main heading, whatever the names of the elements around it mean.
    pub(super) fn include_main_content(&mut self, element: &mut OpenElement, is_main: bool) {
        use ExclusionReason::{Footer, Header, Navigation, Sidebar};
        let Some(reason) = element.reason else { return };
        let is_overruled = is_main && reason.is_visible() || reason == Header;
        let is_site_part = matches!(reason, Sidebar | Navigation | Footer | Header);
        if is_overruled || element.is_from_name && is_site_part {
            element.reason = None;
            if element.is_from_name {
                for outer in &mut self.elements {
                    if outer.is_from_name && outer.reason == Some(reason) && reason != Header {
                        outer.reason = None;
                    }
                }
            }
        }
    }

    pub(super) fn on_close_tag(&mut self, tag: Tag, name: &str) {
        if self.skipped_depth > 0 {
            self.skipped_depth -= 1;
            return;
        }
        // As in browsers, a stray `</p>` or `</br>` is an empty paragraph or a line break.
        if tag == Tag::Br || tag == Tag::P && self.open_counts[Tag::P as usize] == 0 {
            let block = self.innermost_block();
            self.end_line(block, None);
            return;
        }
        if self.open_counts[tag as usize] == 0 || matches!(tag, Tag::Html | Tag::Body) {
            return;
        }
        let name_hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let is_same = |it: &OpenElement| it.tag == tag && it.name_hash == name_hash;
        // Usually it is the innermost element.
        if self.elements.len() > 1 && self.elements.last().is_some_and(is_same) {
            self.pop_element();
            return;
        }
        let is_table_part = matches!(
            tag,
            Tag::Table | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Tfoot
        );
        let found = self.elements.iter().enumerate().skip(1).rev().find_map(|(at, element)| {
            if is_same(element) {
                Some(Some(at))
            } else {
                // A stray closing tag does not end the cell around it, nor a table its row.
                let is_boundary = element.tag.is_scope_boundary() && !is_table_part
                    || is_table_part && element.tag == Tag::Table && tag != Tag::Table;
                is_boundary.then_some(None)
            }
        });
        if let Some(Some(at)) = found {
            while self.elements.len() > at {
                self.pop_element();
            }
        }
    }

    /// Ends the innermost element.
    pub(super) fn pop_element(&mut self) {
        let last = self.elements.len() - 1;
        let tag = self.elements[last].tag;
        let is_cell = matches!(tag, Tag::Td | Tag::Th);
        if is_cell {
            self.has_tall_cell = self.line_start > self.elements[last].first_node;
        }
        if !tag.is_inline() && (!is_cell || self.has_tall_cell) {
            if self.separator != Separator::Line {
                let parent = self.innermost_block_before(last);
                self.end_line(parent, Some(last));
            }
        } else if tag == Tag::A {
            self.end_link();
        } else if tag == Tag::Time {
            self.end_time();
        }
        if self.link_run.is_some_and(|it| it.parent_depth == last) {
            self.end_link_run();
        }
        self.open_counts[tag as usize] -= 1;
        if !self.remove_unchecked() {
            self.remove_checked(tag);
        }
    }

    /// Removes the innermost element if nothing is to be decided at its end, as for most elements.
    #[inline]
    fn remove_unchecked(&mut self) -> bool {
        let [.., parent, element] = self.elements.as_mut_slice() else { return false };
        let needs_no_checks = element.needs_no_checks()
            && parent.cutoff.is_none()
            && self.deferred_checks.is_empty()
            && self.matcher.is_none();
        if needs_no_checks {
            parent.add_counts(element);
            self.elements.pop();
        }
        needs_no_checks
    }

    /// Removes the innermost element, and decides what depends on its whole content.
    #[inline(never)]
    fn remove_checked(&mut self, tag: Tag) {
        let Some(element) = self.elements.pop() else { return };
        if tag == Tag::Tr {
            self.leave_row(&element);
        }
        if let Some(matcher) = &mut self.matcher {
            matcher.close();
        }
        self.finish_element(&element);
        if let Some((_, check)) = self.deferred_checks.pop_if(|it| it.0 > self.elements.len()) {
            self.run_deferred_check(&element, check);
        }
        self.propagate_cutoff(&element);
        if let Some(parent) = self.elements.last_mut() {
            parent.add_counts(&element);
        }
    }
}

/// Hashes the name of a custom element, in any case.
fn hash_name(name: &str) -> u64 {
    xxh3_64(name.to_ascii_lowercase().as_bytes())
}
