//! Handles start tags.

use std::borrow::Cow;
use std::ops::ControlFlow;

use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;
use url::Url;

use super::XmlDocument;
use crate::defect::Defect;
use crate::elements::{self, ElementRole, Namespace};
use crate::entry_draft::{AddressRank, BoundedText};
use crate::entry_url;
use crate::report::DocumentFormat;

/// Maximum nesting depth of interpreted elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements before the root element.
const MAX_PREAMBLE_ELEMENTS: u32 = 100;

impl XmlDocument<'_, '_> {
    pub(crate) fn on_start(&mut self, start: &BytesStart<'_>) -> ControlFlow<()> {
        let name = start.name();
        let name = name.as_ref();
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        if self.format() == DocumentFormat::Unknown {
            return self.on_preamble_element(start, prefix, local);
        }
        if local.is_empty() {
            // An unescaped `<`.
            self.add_defect(Defect::BadXml);
            return ControlFlow::Continue(());
        }
        let has_attributes = start.len() > name.len();
        if has_attributes {
            self.declare_namespaces(start);
        }
        let parent = self.frames.last().map_or(ElementRole::Container, |it| it.role);
        let namespace = self.namespaces.namespace(prefix);
        let entry =
            elements::entry_target(self.format(), local).filter(|_| namespace == Namespace::Own);
        let (mut role, mut is_transparent) = (parent, true);
        if let Some(target) =
            entry.filter(|_| !matches!(parent, ElementRole::Text | ElementRole::Skip))
        {
            self.end_entry()?;
            (role, is_transparent) = (ElementRole::Entry(target), false);
        } else if matches!(
            parent,
            ElementRole::Root | ElementRole::Container | ElementRole::Entry(_)
        ) && self.skipped_depth == 0
        {
            let is_direct = matches!(parent, ElementRole::Entry(_));
            (role, is_transparent) = match self.entry {
                Some(_) => {
                    (elements::entry_child_role(self.format(), namespace, local, is_direct), false)
                }
                None => (ElementRole::Container, false),
            };
            let is_link = local == "link" && matches!(namespace, Namespace::Own | Namespace::Atom);
            if is_link && has_attributes && self.format().is_feed() {
                self.add_link(start);
            }
        }
        if self.frames.len() >= MAX_DEPTH {
            if self.skipped_depth == 0 {
                self.add_defect(Defect::TooDeep);
            }
            self.skipped_depth += 1;
            return ControlFlow::Continue(());
        }
        if !is_transparent {
            self.open_element(role, start);
        }
        self.push(name, role, is_transparent);
        if has_attributes && self.format().is_feed() {
            self.push_base(start);
        }
        ControlFlow::Continue(())
    }

    /// Starts collecting the content of an element.
    fn open_element(&mut self, role: ElementRole, start: &BytesStart<'_>) {
        match role {
            ElementRole::Entry(target) => {
                self.entry = Some(self.frames.len());
                self.draft.reset(target);
                if self.format() == DocumentFormat::Rdf
                    && let Some(about) = attribute(start, "rdf:about")
                {
                    self.offer_address(AddressRank::About, &BoundedText::from_text(&about));
                }
            }
            ElementRole::Id => {
                self.text_buffer.clear();
                // An ID that is not a permalink is not an address.
                if attribute(start, "isPermaLink").is_some_and(|it| it.trim() == "false") {
                    self.text_buffer.push("id:");
                }
            }
            ElementRole::Address(_) | ElementRole::Link | ElementRole::Date { .. } => {
                self.text_buffer.clear()
            }
            ElementRole::Text => self.draft.hash_field(b't', ""),
            ElementRole::Root | ElementRole::Container | ElementRole::Skip => {}
        }
    }

    /// Handles an element before the root element.
    fn on_preamble_element(
        &mut self,
        start: &BytesStart<'_>,
        prefix: &str,
        local: &str,
    ) -> ControlFlow<()> {
        let Some(format) = elements::root_format(local) else {
            if local.eq_ignore_ascii_case("html") {
                self.sink.format = DocumentFormat::Html;
                return ControlFlow::Break(());
            }
            self.preamble.is_html |= self.preamble.elements == 0 && elements::is_html(local);
            self.preamble.elements += 1;
            let is_over = self.preamble.elements > MAX_PREAMBLE_ELEMENTS;
            return if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        if self.preamble.elements > 0 || self.preamble.has_text {
            self.add_defect(Defect::JunkBefore);
        }
        self.sink.set_format(format);
        self.namespaces.set_root_prefix(prefix);
        self.declare_namespaces(start);
        let declaration =
            if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        if !elements::is_expected_namespace(format, attribute(start, &declaration).as_deref()) {
            self.add_defect(Defect::WrongNamespace);
        }
        self.push(start.name().as_ref(), ElementRole::Root, false);
        self.push_base(start);
        ControlFlow::Continue(())
    }

    fn declare_namespaces(&mut self, start: &BytesStart<'_>) {
        if !start.contains("xmlns:") {
            return;
        }
        for attribute in start.attributes().with_checks(false).flatten() {
            if let Some(prefix) = attribute.key.as_ref().strip_prefix("xmlns:") {
                self.namespaces.declare(prefix, &attribute.value);
            }
        }
    }

    /// Pushes the base URL of the newest element.
    fn push_base(&mut self, start: &BytesStart<'_>) {
        if !start.contains("xml:base") {
            return;
        }
        if let Some(base) = self.own_base(start) {
            self.bases.push((self.frames.len() - 1, base));
        }
    }

    /// Returns the base URL that an element declares itself.
    fn own_base(&self, start: &BytesStart<'_>) -> Option<Url> {
        let base = attribute(start, "xml:base").filter(|it| it.len() <= entry_url::MAX_URL_LEN)?;
        let base = self.current_base().join(base.trim()).ok();
        // Repeated joins could make the URL grow without bound.
        base.filter(|it| !it.cannot_be_a_base() && it.as_str().len() <= entry_url::MAX_URL_LEN)
    }

    /// Returns the base URL at this position.
    fn current_base(&self) -> &Url {
        self.bases.last().map_or(self.sink.base, |(_, base)| base)
    }

    /// Handles a link with attributes, of the entry or of the document.
    fn add_link(&mut self, start: &BytesStart<'_>) {
        let Some(target) = attribute(start, "href") else { return };
        let rel = attribute(start, "rel").unwrap_or_else(|| "alternate".to_owned());
        let own_base_url = self.own_base(start);
        if self.entry.is_none() {
            let base = own_base_url.as_ref().unwrap_or_else(|| self.current_base()).clone();
            self.sink.links.add_link(&rel, &target, &base);
        } else if rel.split_whitespace().any(|it| it.eq_ignore_ascii_case("alternate")) {
            let base = own_base_url.or_else(|| self.bases.last().map(|(_, base)| base.clone()));
            self.draft.offer_address(
                AddressRank::Link,
                &BoundedText::from_text(&target),
                base.as_ref(),
            );
            self.draft.hash_field(b'l', &target);
        }
    }

    fn offer_address(&mut self, rank: AddressRank, address: &BoundedText) {
        self.draft.offer_address(rank, address, self.bases.last().map(|(_, base)| base));
    }
}

/// Returns the value of an attribute, with XML's own entities resolved.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|it| it.key.as_ref() == name)?;
    Some(unescape(&found.value).map_or_else(|_| found.value.to_string(), Cow::into_owned))
}
