//! Interprets XML sitemaps and feeds.

mod start_element;

use std::ops::ControlFlow;

use url::Url;

use crate::defect::Defect;
use crate::elements::{ElementRole, Namespaces};
use crate::entry_draft::{AddressRank, BoundedText, EntryDraft};
use crate::entry_sink::EntrySink;
use crate::report::DocumentFormat;

/// Maximum length of an element name kept, in bytes.
const MAX_NAME_LEN: usize = 256;

/// State of a document while it is read. Handles end tags itself, so that a missing or wrong one
/// damages only its own entry.
pub(crate) struct XmlDocument<'t, 'a> {
    sink: &'t mut EntrySink<'a>,
    namespaces: Namespaces,
    /// Names of the open elements, concatenated.
    names: String,
    frames: Vec<Frame>,
    /// Number of open elements below `frames`.
    skipped_depth: u64,
    /// Base URLs, each with the index of its frame.
    bases: Vec<(usize, Url)>,
    draft: EntryDraft,
    /// Index of the open entry's frame.
    entry: Option<usize>,
    text_buffer: BoundedText,
    preamble: Preamble,
    /// True if the root element has ended.
    pub(crate) is_complete: bool,
}

struct Frame {
    /// Start of the element's name in `names`.
    name_start: usize,
    role: ElementRole,
    /// True if the element adds to the content of its parent.
    is_transparent: bool,
}

/// Content before the root element.
#[derive(Default)]
struct Preamble {
    elements: u32,
    /// True if the first element is HTML.
    is_html: bool,
    has_text: bool,
}

impl<'t, 'a> XmlDocument<'t, 'a> {
    pub(crate) fn new(sink: &'t mut EntrySink<'a>) -> Self {
        Self {
            sink,
            namespaces: Namespaces::default(),
            names: String::new(),
            frames: Vec::new(),
            skipped_depth: 0,
            bases: Vec::new(),
            draft: EntryDraft::new(),
            entry: None,
            text_buffer: BoundedText::default(),
            preamble: Preamble::default(),
            is_complete: false,
        }
    }

    pub(crate) fn add_defect(&mut self, defect: Defect) {
        self.sink.defects.add(defect);
    }

    pub(crate) fn format(&self) -> DocumentFormat {
        self.sink.format
    }

    /// Returns the prefix of the format's own names.
    pub(crate) fn prefix(&self) -> &str {
        self.namespaces.root_prefix()
    }

    /// Abandons the open entry: the next element begins another one.
    pub(crate) fn abandon_entry(&mut self) {
        self.entry = None;
        self.skipped_depth = 0;
        self.pop_frames(1);
    }

    /// Ends a document without a known root element.
    pub(crate) fn finish_without_root(&mut self) {
        if self.preamble.is_html {
            self.sink.format = DocumentFormat::Html;
        }
    }

    pub(crate) fn on_doctype(&mut self, text: &str) -> ControlFlow<()> {
        let is_html = text.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("html"));
        if is_html && self.format() == DocumentFormat::Unknown {
            self.sink.format = DocumentFormat::Html;
            return ControlFlow::Break(());
        }
        self.add_defect(Defect::Doctype);
        ControlFlow::Continue(())
    }

    fn push(&mut self, name: &str, role: ElementRole, is_transparent: bool) {
        self.frames.push(Frame { name_start: self.names.len(), role, is_transparent });
        self.names.push_str(truncate_name(name));
    }

    pub(crate) fn on_text(&mut self, text: &str) {
        match self.frames.last().map(|it| it.role) {
            Some(
                ElementRole::Address(_)
                | ElementRole::Link
                | ElementRole::Id
                | ElementRole::Date { .. },
            ) => self.text_buffer.push(text),
            Some(ElementRole::Text) => self.draft.hash_text(text),
            Some(ElementRole::Container) if self.entry.is_some() => {
                let text = text.trim();
                if !text.is_empty() {
                    self.draft.hash_field(b'o', text);
                }
            }
            None => self.preamble.has_text |= text.contains(|it: char| !it.is_whitespace()),
            Some(_) => {}
        }
    }

    pub(crate) fn on_end(&mut self, name: &str) -> ControlFlow<()> {
        if self.skipped_depth > 0 {
            self.skipped_depth -= 1;
            return ControlFlow::Continue(());
        }
        let name = truncate_name(name);
        let name_of = |index: usize| {
            let end = self.frames.get(index + 1).map_or(self.names.len(), |it| it.name_start);
            &self.names[self.frames[index].name_start..end]
        };
        let Some(index) = (0..self.frames.len()).rev().find(|index| name_of(*index) == name) else {
            if !self.frames.is_empty() {
                self.add_defect(Defect::BadXml);
            }
            return ControlFlow::Continue(());
        };
        if index + 1 < self.frames.len() {
            self.add_defect(Defect::BadXml);
        }
        self.close_frames(index)
    }

    /// Closes all frames from an index on.
    fn close_frames(&mut self, from: usize) -> ControlFlow<()> {
        for index in (from..self.frames.len()).rev() {
            let Frame { role, is_transparent, .. } = self.frames[index];
            if !is_transparent {
                self.on_element_end(role)?;
            }
            self.pop_frames(index);
        }
        ControlFlow::Continue(())
    }

    /// Removes all frames from an index on.
    fn pop_frames(&mut self, from: usize) {
        if let Some(frame) = self.frames.get(from) {
            self.names.truncate(frame.name_start);
            self.frames.truncate(from);
        }
        while self.bases.last().is_some_and(|(frame, _)| *frame >= from) {
            self.bases.pop();
        }
    }

    /// Closes the open entry because another one begins.
    fn end_entry(&mut self) -> ControlFlow<()> {
        match self.entry {
            Some(index) => {
                self.add_defect(Defect::BadXml);
                self.skipped_depth = 0;
                self.close_frames(index)
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn on_element_end(&mut self, role: ElementRole) -> ControlFlow<()> {
        match role {
            ElementRole::Address(rank) => self.on_address(rank, b'a'),
            ElementRole::Link => self.on_address(AddressRank::Link, b'a'),
            ElementRole::Id => {
                self.draft.hash_field(b'i', self.text_buffer.as_str());
                let is_address = ["http://", "https://"].iter().any(|scheme| {
                    self.text_buffer
                        .as_str()
                        .get(..scheme.len())
                        .is_some_and(|it| it.eq_ignore_ascii_case(scheme))
                });
                if is_address {
                    self.draft.offer_address(AddressRank::Id, &self.text_buffer, None);
                }
            }
            ElementRole::Date { is_update, format } => {
                let text = self.text_buffer.as_str();
                if !text.is_empty() {
                    self.draft.hash_field(b'd', text);
                    self.draft.has_date = true;
                    let date = self.sink.parse_date(text, format);
                    let field = match is_update {
                        true => &mut self.draft.updated,
                        false => &mut self.draft.published,
                    };
                    *field = date.or(*field);
                }
            }
            ElementRole::Entry(_) => {
                self.entry = None;
                return self.sink.emit(&self.draft);
            }
            ElementRole::Root => {
                self.is_complete = true;
                return ControlFlow::Break(());
            }
            ElementRole::Container | ElementRole::Text | ElementRole::Skip => {}
        }
        ControlFlow::Continue(())
    }

    fn on_address(&mut self, rank: AddressRank, field: u8) {
        if !self.text_buffer.as_str().is_empty() {
            self.draft.hash_field(field, self.text_buffer.as_str());
            self.draft.offer_address(
                rank,
                &self.text_buffer,
                self.bases.last().map(|(_, base)| base),
            );
        }
    }
}

/// Returns the part of a name that is kept.
fn truncate_name(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_LEN)]
}
