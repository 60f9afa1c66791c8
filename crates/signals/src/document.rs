//! Sitemaps and feeds in XML: what their elements say.

mod begin;

use std::ops::ControlFlow;

use url::Url;

use crate::defect::Defect;
use crate::draft::{Draft, Rank, Run};
use crate::entry_sink::EntrySink;
use crate::names::{Spaces, Tag};
use crate::report::Format;

/// Bytes of a name that are looked at, at most.
const LONGEST_NAME: usize = 256;

/// A document while it is read. Ends of elements are its own matter, so that one that is missing or
/// wrong spoils no more than its entry.
pub(crate) struct Document<'t, 'a> {
    teller: &'t mut EntrySink<'a>,
    spaces: Spaces,
    /// The names of the elements that are open.
    names: String,
    frames: Vec<Frame>,
    /// Elements that are open below those.
    deeper: u64,
    /// What addresses are relative to, and since which frame.
    bases: Vec<(usize, Url)>,
    draft: Draft,
    /// The frame of the entry that is open.
    entry: Option<usize>,
    run: Run,
    before: Before,
    /// Whether the first element has ended.
    pub(crate) over: bool,
}

struct Frame {
    /// Where its name begins.
    name: usize,
    tag: Tag,
    /// Whether it only adds to what is around it.
    inner: bool,
}

/// What stands before the first element that is known.
#[derive(Default)]
struct Before {
    elements: u32,
    /// Whether the first is one of pages for people.
    html: bool,
    text: bool,
}

impl<'t, 'a> Document<'t, 'a> {
    pub(crate) fn new(teller: &'t mut EntrySink<'a>) -> Self {
        Self {
            teller,
            spaces: Spaces::default(),
            names: String::new(),
            frames: Vec::new(),
            deeper: 0,
            bases: Vec::new(),
            draft: Draft::new(),
            entry: None,
            run: Run::default(),
            before: Before::default(),
            over: false,
        }
    }

    pub(crate) fn defect(&mut self, defect: Defect) {
        self.teller.defects.add(defect);
    }

    pub(crate) fn format(&self) -> Format {
        self.teller.format
    }

    /// The prefix of the names that are the format's own.
    pub(crate) fn prefix(&self) -> &str {
        self.spaces.root()
    }

    /// Gives up the entry that is open: what comes next begins another.
    pub(crate) fn give_up(&mut self) {
        self.entry = None;
        self.deeper = 0;
        self.cut(1);
    }

    /// No document of that kind was found.
    pub(crate) fn none_found(&mut self) {
        if self.before.html {
            self.teller.format = Format::Html;
        }
    }

    pub(crate) fn doctype(&mut self, text: &str) -> ControlFlow<()> {
        let is_html = text.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("html"));
        if is_html && self.format() == Format::Unknown {
            self.teller.format = Format::Html;
            return ControlFlow::Break(());
        }
        self.defect(Defect::Doctype);
        ControlFlow::Continue(())
    }

    fn push(&mut self, name: &str, tag: Tag, inner: bool) {
        self.frames.push(Frame { name: self.names.len(), tag, inner });
        self.names.push_str(short(name));
    }

    pub(crate) fn text(&mut self, text: &str) {
        match self.frames.last().map(|it| it.tag) {
            Some(Tag::Address(_) | Tag::Link | Tag::Id | Tag::Date { .. }) => self.run.push(text),
            Some(Tag::Said) => self.draft.say(text),
            Some(Tag::Around) if self.entry.is_some() => {
                let text = text.trim();
                if !text.is_empty() {
                    self.draft.say_of(b'o', text);
                }
            }
            None => self.before.text |= text.contains(|it: char| !it.is_whitespace()),
            Some(_) => {}
        }
    }

    pub(crate) fn end(&mut self, name: &str) -> ControlFlow<()> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return ControlFlow::Continue(());
        }
        let name = short(name);
        let of = |place: usize| {
            let end = self.frames.get(place + 1).map_or(self.names.len(), |it| it.name);
            &self.names[self.frames[place].name..end]
        };
        let Some(place) = (0..self.frames.len()).rev().find(|place| of(*place) == name) else {
            if !self.frames.is_empty() {
                self.defect(Defect::BadXml);
            }
            return ControlFlow::Continue(());
        };
        if place + 1 < self.frames.len() {
            self.defect(Defect::BadXml);
        }
        self.close(place)
    }

    /// Ends all frames from one on.
    fn close(&mut self, from: usize) -> ControlFlow<()> {
        for place in (from..self.frames.len()).rev() {
            let Frame { tag, inner, .. } = self.frames[place];
            if !inner {
                self.ended(tag)?;
            }
            self.cut(place);
        }
        ControlFlow::Continue(())
    }

    /// Forgets all frames from one on.
    fn cut(&mut self, from: usize) {
        if let Some(frame) = self.frames.get(from) {
            self.names.truncate(frame.name);
            self.frames.truncate(from);
        }
        while self.bases.last().is_some_and(|(since, _)| *since >= from) {
            self.bases.pop();
        }
    }

    /// Ends the entry that is open, as another begins.
    fn end_entry(&mut self) -> ControlFlow<()> {
        match self.entry {
            Some(place) => {
                self.defect(Defect::BadXml);
                self.deeper = 0;
                self.close(place)
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn ended(&mut self, tag: Tag) -> ControlFlow<()> {
        match tag {
            Tag::Address(rank) => self.address(rank, b'a'),
            Tag::Link => self.address(Rank::Link, b'a'),
            Tag::Id => {
                self.draft.say_of(b'i', self.run.text());
                let is_address = ["http://", "https://"].iter().any(|scheme| {
                    self.run
                        .text()
                        .get(..scheme.len())
                        .is_some_and(|it| it.eq_ignore_ascii_case(scheme))
                });
                if is_address {
                    self.draft.offer(Rank::Id, &self.run, None);
                }
            }
            Tag::Date { updated, form } => {
                let text = self.run.text();
                if !text.is_empty() {
                    self.draft.say_of(b'd', text);
                    self.draft.dated = true;
                    let said = self.teller.date(text, form);
                    let place = match updated {
                        true => &mut self.draft.updated,
                        false => &mut self.draft.published,
                    };
                    *place = said.or(*place);
                }
            }
            Tag::Entry(_) => {
                self.entry = None;
                return self.teller.tell(&self.draft);
            }
            Tag::Root => {
                self.over = true;
                return ControlFlow::Break(());
            }
            Tag::Around | Tag::Said | Tag::Skip => {}
        }
        ControlFlow::Continue(())
    }

    fn address(&mut self, rank: Rank, name: u8) {
        if !self.run.text().is_empty() {
            self.draft.say_of(name, self.run.text());
            self.draft.offer(rank, &self.run, self.bases.last().map(|(_, base)| base));
        }
    }
}

/// As much of a name as is kept.
fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}
