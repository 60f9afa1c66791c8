//! Which elements are open.

use xxhash_rust::xxh3::xxh3_64;

use super::{DEEPEST, Gap, Walk, tells_time};
use crate::html::frame::Frame;
use crate::html::reason::Reason;
use crate::html::rules::{Marks, judge};
use crate::html::tag::Tag;
use crate::html::tokenizer::{Attribute, attribute};

impl<'a> Walk<'a, '_> {
    /// Ends what a new element ends, and opens what it needs around it.
    pub(super) fn imply(&mut self, tag: Tag) {
        if self.beyond > 0 {
            return;
        }
        // Few elements end others.
        if tag.may_follow() || !tag.is_inline() && self.open[Tag::P as usize] > 0 {
            while let Some(at) = self.ended_by(tag) {
                while self.frames.len() > at {
                    self.pop();
                }
            }
        }
        if self.frames.len() == 1 && !tag.is_in_head() {
            self.push(Tag::Body, "body", None, &[]);
        } else if tag == Tag::Tr && self.top().tag == Tag::Table {
            self.push(Tag::Tbody, "tbody", None, &[]);
        }
    }

    /// The place of an open element that ends where `tag` begins.
    pub(super) fn ended_by(&self, tag: Tag) -> Option<usize> {
        let table_part =
            matches!(tag, Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot);
        let open = |tag: Tag| self.open[tag as usize] > 0;
        let candidates = match tag {
            Tag::Li => open(Tag::Li),
            Tag::Dt | Tag::Dd => open(Tag::Dt) || open(Tag::Dd),
            Tag::Choice | Tag::Optgroup => open(Tag::Choice),
            Tag::Body => open(Tag::Head),
            _ if table_part => open(Tag::Table),
            _ => false,
        };
        let paragraph = open(Tag::P) && Tag::P.ends_at(tag);
        if !candidates && !paragraph {
            return None;
        }
        let mut found = None;
        for (at, frame) in self.frames.iter().enumerate().skip(1).rev() {
            if frame.tag.ends_at(tag) && (frame.tag != Tag::P || found.is_none()) {
                found = Some(at);
                if !table_part {
                    break;
                }
            } else if frame.tag.holds_items() || !table_part && frame.tag.is_barrier() {
                break;
            }
        }
        found
    }

    pub(super) fn push(
        &mut self,
        tag: Tag,
        name: &'a str,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
        if self.frames.len() >= DEEPEST {
            self.beyond += 1;
            return;
        }
        let observed = self.observe(name, attributes, false);
        // Most elements have no attribute but a class, and say nothing by themselves.
        if attributes.is_empty() && tag.is_mute() {
            self.push_marked(tag, name, &Marks::of(class, &[]), observed, true);
        } else {
            self.push_marked(tag, name, &Marks::of(class, attributes), observed, false);
        }
        if tag == Tag::Other && tells_time(name) && !self.extras.noise && !self.selecting {
            self.tell_time(attribute(attributes, "datetime").unwrap_or_default());
        }
    }

    /// `observed`: whether selectors drop or select it; `mute`: neither the element nor its marks say
    /// whether it counts, but for its class.
    #[inline(always)]
    fn push_marked(
        &mut self,
        tag: Tag,
        name: &'a str,
        marks: &Marks<'a>,
        (dropped, selected): (bool, bool),
        mute: bool,
    ) {
        let hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let (first, depth, long_text) =
            (self.out.list.len(), self.frames.len() + 1, self.long_text);
        let parent = self.top();
        let mut frame = parent.child(tag, hash, first);
        if let Some(mut cut) = parent.cut {
            let goes_on = cut.takes(tag, marks.id.is_some());
            parent.cut = goes_on.then_some(cut);
            if goes_on {
                frame.reason = frame.reason.or(Some(cut.reason));
            }
        }
        if let Some(look) = judge(&mut frame, name, marks, depth, long_text, mute) {
            self.looks.push((depth, look));
        }
        if selected {
            frame.selected = true;
            // Who names a part that is hidden wants it.
            frame.reason = frame.reason.filter(|it| *it == Reason::Dropped);
        }
        if dropped {
            frame.reason = Some(Reason::Dropped);
        }
        if tag == Tag::H1 {
            frame.has_h1 = true;
        }
        let main = tag == Tag::Main || marks.role == Some("main");
        if main || tag == Tag::H1 {
            self.take_back(&mut frame, main);
        }
        if tag == Tag::A {
            if self.extras.links {
                self.targets.push(marks.href.unwrap_or_default());
            }
            let step = marks.rel.is_some_and(|it| {
                it.split_ascii_whitespace().any(|it| matches!(it, "prev" | "next" | "previous"))
            });
            frame.reason = frame.reason.or(step.then_some(Reason::Navigation));
        }
        self.open[tag as usize] += 1;
        self.enter_cell(tag);
        self.frames.push(frame);
    }

    /// What the element says changes with each visit; what it means does not.
    fn tell_time(&mut self, time: &str) {
        if time.is_empty() {
            return;
        }
        let start = self.out.text.len();
        self.out.text.push_str(time);
        self.piece(start);
        let frame = self.top();
        frame.reason = frame.reason.or(Some(Reason::Counter));
    }

    /// The main part, or the main heading, is not boilerplate, whatever the parts around it are
    /// called.
    pub(super) fn take_back(&mut self, frame: &mut Frame, main: bool) {
        use Reason::{Aside, Footer, Header, Navigation};
        let wrong = |it: &Reason| main && it.is_visible() || *it == Header;
        let guessed = |it: &Reason| matches!(it, Aside | Navigation | Footer | Header);
        let Some(reason) = frame.reason else { return };
        if wrong(&reason) || frame.guessed && guessed(&reason) {
            frame.reason = None;
            if frame.guessed {
                for outer in &mut self.frames {
                    if outer.guessed && outer.reason == Some(reason) && reason != Header {
                        outer.reason = None;
                    }
                }
            }
        }
    }

    pub(super) fn close(&mut self, tag: Tag, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        // As browsers do: a closing tag alone stands for an empty paragraph or a new line.
        if tag == Tag::Br || tag == Tag::P && self.open[Tag::P as usize] == 0 {
            let block = self.block();
            self.end_line(block, None);
            return;
        }
        if self.open[tag as usize] == 0 || matches!(tag, Tag::Html | Tag::Body) {
            return;
        }
        let hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let same = |it: &Frame| it.tag == tag && it.name == hash;
        // As a rule it is the innermost one.
        if self.frames.len() > 1 && self.frames.last().is_some_and(same) {
            self.pop();
            return;
        }
        let table_part = matches!(
            tag,
            Tag::Table | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Tfoot
        );
        let found = self.frames.iter().enumerate().skip(1).rev().find_map(|(at, frame)| {
            if same(frame) {
                Some(Some(at))
            } else {
                // A stray closing tag does not end the cell that it stands in, nor a table its row.
                let holds = frame.tag.is_barrier() && !table_part
                    || table_part && frame.tag == Tag::Table && tag != Tag::Table;
                holds.then_some(None)
            }
        });
        if let Some(Some(at)) = found {
            while self.frames.len() > at {
                self.pop();
            }
        }
    }

    /// Ends the innermost element.
    pub(super) fn pop(&mut self) {
        let last = self.frames.len() - 1;
        let tag = self.frames[last].tag;
        let cell = matches!(tag, Tag::Td | Tag::Th);
        if cell {
            self.tall_cell = self.line > self.frames[last].first;
        }
        if !tag.is_inline() && (!cell || self.tall_cell) {
            if self.gap != Gap::Line {
                let parent = self.outer_block(last);
                self.end_line(parent, Some(last));
            }
        } else if tag == Tag::A {
            self.end_link();
        } else if tag == Tag::Time {
            self.end_time();
        }
        if self.run.is_some_and(|it| it.scope == last) {
            self.end_run();
        }
        self.open[tag as usize] -= 1;
        if !self.leave_quietly() {
            self.leave(tag);
        }
    }

    /// Takes the innermost element away, if there is nothing to decide at its end, as for most.
    #[inline]
    fn leave_quietly(&mut self) -> bool {
        let [.., parent, frame] = self.frames.as_mut_slice() else { return false };
        let quiet = frame.is_quiet()
            && parent.cut.is_none()
            && self.looks.is_empty()
            && self.matcher.is_none();
        if quiet {
            parent.add(frame);
            self.frames.pop();
        }
        quiet
    }

    /// Takes the innermost element away, and decides what can be said of it only now.
    #[inline(never)]
    fn leave(&mut self, tag: Tag) {
        let Some(frame) = self.frames.pop() else { return };
        if tag == Tag::Tr {
            self.leave_row(&frame);
        }
        if let Some(matcher) = &mut self.matcher {
            matcher.close();
        }
        self.decide(&frame);
        if let Some((_, look)) = self.looks.pop_if(|it| it.0 > self.frames.len()) {
            self.look_again(&frame, look);
        }
        self.carry_cut(&frame);
        if let Some(parent) = self.frames.last_mut() {
            parent.add(&frame);
        }
    }
}

/// Names in any case are the same.
fn hash_name(name: &str) -> u64 {
    xxh3_64(name.to_ascii_lowercase().as_bytes())
}
