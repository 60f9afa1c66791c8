//! What the beginnings of elements say.

use std::borrow::Cow;
use std::ops::ControlFlow;

use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;
use url::Url;

use super::Document;
use crate::address;
use crate::defect::Defect;
use crate::draft::{Rank, Run};
use crate::names::{self, Space, Tag};
use crate::report::Format;

/// Elements in each other that are looked at, at most.
const DEEPEST: usize = 64;
/// Elements before the first that is known, at most.
const MOST_BEFORE: u32 = 100;

impl Document<'_, '_> {
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
            let is_link = local == "link" && matches!(space, Space::Own | Space::Atom);
            if is_link && has_attributes && self.format().is_feed() {
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
        self.push(name, tag, inner);
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
        self.push(start.name().as_ref(), Tag::Root, false);
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
        if let Some(base) = self.own_base(start) {
            self.bases.push((self.frames.len() - 1, base));
        }
    }

    /// What addresses in an element are relative to, if it says so itself.
    fn own_base(&self, start: &BytesStart<'_>) -> Option<Url> {
        let base = attribute(start, "xml:base").filter(|it| it.len() <= address::LONGEST)?;
        let base = self.around().join(base.trim()).ok();
        // What is joined again and again grows.
        base.filter(|it| !it.cannot_be_a_base() && it.as_str().len() <= address::LONGEST)
    }

    /// What addresses are relative to here.
    fn around(&self) -> &Url {
        self.bases.last().map_or(self.teller.base, |(_, base)| base)
    }

    /// A link with attributes: of the entry, or of the document.
    fn link(&mut self, start: &BytesStart<'_>) {
        let Some(target) = attribute(start, "href") else { return };
        let rel = attribute(start, "rel").unwrap_or_else(|| "alternate".to_owned());
        let own = self.own_base(start);
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
}

/// An attribute, with the entities that XML itself has.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|it| it.key.as_ref() == name)?;
    Some(unescape(&found.value).map_or_else(|_| found.value.to_string(), Cow::into_owned))
}
