//! Sitemaps and feeds in XML: what their elements say.

use std::borrow::Cow;
use std::ops::ControlFlow;

use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;
use url::Url;

use crate::defect::Defect;
use crate::draft::{Draft, Rank, Run};
use crate::names::{self, Space, Spaces, Tag};
use crate::report::Format;
use crate::teller::Teller;

/// Elements in each other that are looked at, at most.
const DEEPEST: usize = 64;
/// Elements before the first that is known, at most.
const MOST_BEFORE: u32 = 100;

/// A document while it is read. Ends of elements are its own matter, so that one that is missing or
/// wrong spoils no more than its entry.
pub(crate) struct Document<'t, 'a> {
    teller: &'t mut Teller<'a>,
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
    pub(crate) fn new(teller: &'t mut Teller<'a>) -> Self {
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

    pub(crate) fn begin(&mut self, start: &BytesStart<'_>) -> ControlFlow<()> {
        let name = start.name();
        let name = name.as_ref();
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        if self.format() == Format::Unknown {
            return self.first(start, prefix, local);
        }
        if local.is_empty() {
            // A sign that should be escaped.
            self.defect(Defect::BadXml);
            return ControlFlow::Continue(());
        }
        let has_attributes = start.len() > name.len();
        if has_attributes {
            self.declare(start);
        }
        let around = self.frames.last().map_or(Tag::Around, |it| it.tag);
        let space = self.spaces.of(prefix);
        let entry = names::entry(self.format(), local).filter(|_| space == Space::Own);
        let (mut tag, mut inner) = (around, true);
        if let Some(kind) = entry.filter(|_| !matches!(around, Tag::Said | Tag::Skip)) {
            self.end_entry()?;
            (tag, inner) = (Tag::Entry(kind), false);
        } else if matches!(around, Tag::Root | Tag::Around | Tag::Entry(_)) && self.deeper == 0 {
            let direct = matches!(around, Tag::Entry(_));
            (tag, inner) = match self.entry {
                Some(_) => (names::part(self.format(), space, local, direct), false),
                None => (Tag::Around, false),
            };
            if local == "link" && has_attributes && matches!(space, Space::Own | Space::Atom) {
                self.link(start);
            }
        }
        if self.frames.len() >= DEEPEST {
            if self.deeper == 0 {
                self.defect(Defect::TooDeep);
            }
            self.deeper += 1;
            return ControlFlow::Continue(());
        }
        if !inner {
            self.open(tag, start);
        }
        self.frames.push(Frame { name: self.names.len(), tag, inner });
        self.names.push_str(name);
        if has_attributes && self.format().is_feed() {
            self.base(start);
        }
        ControlFlow::Continue(())
    }

    /// An element begins to mean something.
    fn open(&mut self, tag: Tag, start: &BytesStart<'_>) {
        match tag {
            Tag::Entry(kind) => {
                self.entry = Some(self.frames.len());
                self.draft.begin(kind);
                if self.format() == Format::Rdf
                    && let Some(about) = attribute(start, "rdf:about")
                {
                    self.offer(Rank::About, &Run::of(&about));
                }
            }
            Tag::Id => {
                self.run.clear();
                // An id that says so is no address.
                if attribute(start, "isPermaLink").is_some_and(|it| it.trim() == "false") {
                    self.run.push("id:");
                }
            }
            Tag::Address(_) | Tag::Link | Tag::Date { .. } => self.run.clear(),
            Tag::Said => self.draft.say_of(b't', ""),
            Tag::Root | Tag::Around | Tag::Skip => {}
        }
    }

    /// An element while no document has begun.
    fn first(&mut self, start: &BytesStart<'_>, prefix: &str, local: &str) -> ControlFlow<()> {
        let Some(format) = names::format(local) else {
            if local.eq_ignore_ascii_case("html") {
                self.teller.format = Format::Html;
                return ControlFlow::Break(());
            }
            self.before.html |= self.before.elements == 0 && names::is_html(local);
            self.before.elements += 1;
            let enough = self.before.elements > MOST_BEFORE;
            return if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        if self.before.elements > 0 || self.before.text {
            self.defect(Defect::JunkBefore);
        }
        self.teller.found(format);
        self.spaces.begin(prefix);
        self.declare(start);
        let declaration =
            if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        if !names::is_expected(format, attribute(start, &declaration).as_deref()) {
            self.defect(Defect::WrongNamespace);
        }
        self.frames.push(Frame { name: 0, tag: Tag::Root, inner: false });
        self.names.push_str(start.name().as_ref());
        self.base(start);
        ControlFlow::Continue(())
    }

    fn declare(&mut self, start: &BytesStart<'_>) {
        if !start.contains("xmlns:") {
            return;
        }
        for attribute in start.attributes().with_checks(false).flatten() {
            if let Some(prefix) = attribute.key.as_ref().strip_prefix("xmlns:") {
                self.spaces.declare(prefix, &attribute.value);
            }
        }
    }

    /// Takes what addresses in the newest element are relative to.
    fn base(&mut self, start: &BytesStart<'_>) {
        if !start.contains("xml:base") {
            return;
        }
        let base = attribute(start, "xml:base").and_then(|it| self.around().join(it.trim()).ok());
        if let Some(base) = base.filter(|it| !it.cannot_be_a_base()) {
            self.bases.push((self.frames.len() - 1, base));
        }
    }

    /// What addresses are relative to here.
    fn around(&self) -> &Url {
        self.bases.last().map_or(self.teller.base, |(_, base)| base)
    }

    /// A link with attributes: of the entry, or of the document.
    fn link(&mut self, start: &BytesStart<'_>) {
        let Some(target) = attribute(start, "href") else { return };
        let rel = attribute(start, "rel").unwrap_or_else(|| "alternate".to_owned());
        let own = attribute(start, "xml:base").and_then(|it| self.around().join(&it).ok());
        if self.entry.is_none() {
            let base = own.as_ref().unwrap_or_else(|| self.around()).clone();
            self.teller.links.add(&rel, &target, &base);
        } else if rel.split_whitespace().any(|it| it.eq_ignore_ascii_case("alternate")) {
            let base = own.or_else(|| self.bases.last().map(|(_, base)| base.clone()));
            self.draft.offer(Rank::Link, &Run::of(&target), base.as_ref());
            self.draft.say_of(b'l', &target);
        }
    }

    fn offer(&mut self, rank: Rank, address: &Run) {
        self.draft.offer(rank, address, self.bases.last().map(|(_, base)| base));
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

/// An attribute, with the entities that XML itself has.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|it| it.key.as_ref() == name)?;
    Some(unescape(&found.value).map_or_else(|_| found.value.to_string(), Cow::into_owned))
}
