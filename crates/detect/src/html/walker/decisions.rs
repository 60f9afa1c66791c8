//! Decides what is excluded, at the end of a line or an element.

use super::{MAX_LABELLED_LEN, MIN_PROSE_LEN, PageWalker, Separator, TextNode};
use crate::html::exclusion::ExclusionReason;
use crate::html::open_element::{HeadingCutoff, OpenElement};
use crate::html::phrases::{MAX_PHRASE_LEN, PhraseKind, classify_phrase, is_weak_heading};
use crate::html::rules::DeferredCheck;
use crate::html::runs::{ItemRun, LinkRun};
use crate::html::tag::Tag;
use crate::html::url::stable_url;
use crate::noise::{LineContext, has_named_date, is_relative_time};
use crate::word_list::word_list;

const AVAILABILITY_WORDS: &[&str] = word_list!("page/availability_words.txt");

impl PageWalker<'_, '_> {
    /// The first text node of the innermost table row, whose cells share a line.
    pub(super) fn row_start(&self) -> usize {
        let row = self.elements.iter().rev().find(|it| it.tag == Tag::Tr);
        row.map_or(usize::MAX, |it| it.first_node)
    }

    /// Decides what depends on the whole content of an element that ended.
    pub(super) fn finish_element(&mut self, element: &OpenElement) {
        if self.has_selection {
            return;
        }
        let end = self.page.nodes.len();
        let mut exclude = |reason| self.deferred_exclusions.push((element.first_node, end, reason));
        let is_container = matches!(
            element.tag,
            Tag::Html | Tag::Body | Tag::Main | Tag::Table | Tag::Tbody | Tag::Form
        );
        if let Some(reason) = element.label_reason
            && !is_container
            && !element.has_h1
            && element.text_len <= MAX_LABELLED_LEN
            && element.link_text_len * 3 >= element.text_len
        {
            exclude(reason);
        } else if element.is_inner_aside && element.link_text_len * 2 >= element.text_len {
            exclude(ExclusionReason::Sidebar);
        }
        if matches!(element.tag, Tag::Td | Tag::Th)
            && !element.has_table
            && self.is_layout_cell(element)
        {
            for node in &mut self.page.nodes[element.first_node..] {
                if node.context == LineContext::TableCell {
                    node.context = LineContext::Block;
                }
            }
        }
        if element.needs_content_check
            && let Some(reason) = element.reason
            && self.has_content(element, reason)
        {
            for node in &mut self.page.nodes[element.first_node..] {
                node.reason = node.reason.filter(|it| *it != reason);
            }
            self.page.has_main |= element.in_main;
        }
        let text_len = element.text_len - element.link_text_len;
        if element.reason.is_none() && element.tag == Tag::P && text_len >= MIN_PROSE_LEN {
            self.has_prose = true;
        }
        if let Some(parent) = self.elements.last()
            && parent.reason.is_none()
            && let Some(cutoff) = parent.cutoff
            && !element.tag.is_inline()
            && let Some(from) = self.cutoff_end(element, cutoff)
        {
            if let Some(parent) = self.elements.last_mut() {
                parent.cutoff = None;
            }
            for node in &mut self.page.nodes[from..] {
                node.reason = node.reason.filter(|it| *it != cutoff.reason);
            }
        }
    }

    /// Returns the text node where the main text resumes, if an element after a related heading does
    /// not belong to the list below that heading.
    fn cutoff_end(&self, element: &OpenElement, cutoff: HeadingCutoff) -> Option<usize> {
        /// Number of text nodes before the element that show whether the list is over.
        const MAX_NODES_BEFORE: usize = 16;
        if element.text_len == 0 {
            return None;
        }
        if cutoff.end_node == element.first_node {
            let heading = cutoff.end_node.checked_sub(1)?;
            let text = self.node_text(self.page.nodes.get(heading)?);
            return (element.link_count == 0 && is_weak_heading(text)).then_some(heading);
        }
        if element.tag != Tag::P {
            return None;
        }
        let from = cutoff.end_node.max(element.first_node.saturating_sub(MAX_NODES_BEFORE));
        let before = self.page.nodes.get(from..element.first_node).unwrap_or_default();
        let links = before.iter().filter(|it| it.is_link).count();
        // Without another list, paragraphs of links are the list.
        let is_list_over =
            if cutoff.first_tag.is_some() { links > 0 } else { links > 1 && links == before.len() };
        let is_main_text = element.text_len - element.link_text_len >= MIN_PROSE_LEN
            || element.link_count == 0 && is_list_over;
        is_main_text.then_some(element.first_node)
    }

    /// Runs the check of an element that ended, and includes the element if it is content.
    pub(super) fn run_deferred_check(&mut self, element: &OpenElement, check: DeferredCheck) {
        let Some(reason) = element.reason.filter(|_| !self.has_selection) else { return };
        let (end_node, parent_depth) = (self.page.nodes.len(), self.elements.len());
        let mut from = element.first_node;
        match check {
            DeferredCheck::FrontPageItem => {
                let run = ItemRun { parent_depth, first_node: from, end_node };
                let last = std::mem::replace(&mut self.item_run, run);
                // One item alone is an advertisement; two are the content of a front page.
                if last.parent_depth != parent_depth || last.end_node != from {
                    return;
                }
                from = last.first_node;
            }
            DeferredCheck::TextHeader if element.has_h1 => {}
            DeferredCheck::TextHeader => return,
        }
        for node in &mut self.page.nodes[from..] {
            let is_menu = check == DeferredCheck::TextHeader && node.is_link;
            node.reason = node.reason.filter(|it| *it != reason || is_menu);
        }
    }

    /// True for a cell with so much text that its table is a layout.
    fn is_layout_cell(&self, cell: &OpenElement) -> bool {
        const MIN_LINES: usize = 4;
        let is_line = |it: &&TextNode| it.separator == Separator::Line;
        cell.text_len >= MIN_PROSE_LEN
            || self.page.nodes[cell.first_node..].iter().filter(is_line).count() >= MIN_LINES
    }

    /// True if an element is content although its name is that of an excluded part.
    fn has_content(&self, element: &OpenElement, reason: ExclusionReason) -> bool {
        /// Longer texts are not a count, in bytes.
        const MAX_COUNT_LEN: usize = 60;
        let text = self.text_from(element.first_node);
        match reason {
            ExclusionReason::Counter => {
                element.text_len > MAX_COUNT_LEN || !text.contains(|it: char| it.is_numeric())
            }
            // The same limit as for an `aside` element.
            ExclusionReason::Sidebar => element.link_text_len * 2 < element.text_len,
            ExclusionReason::Overlay | ExclusionReason::Related
                if element.link_count == 0 && is_notice(text) =>
            {
                true
            }
            _ => element.is_prose(),
        }
    }

    /// Applies the cutoff of a heading that is alone in its element to the parent.
    pub(super) fn propagate_cutoff(&mut self, element: &OpenElement) {
        let Some(cutoff) = element.cutoff else { return };
        let is_alone = self.page.nodes.len() == cutoff.end_node;
        if let Some(parent) = self.elements.last_mut()
            && is_alone
            && parent.reason.is_none()
        {
            parent.cutoff = Some(cutoff);
        }
    }

    pub(super) fn end_link(&mut self) {
        let target = if self.options.links { self.link_targets.pop() } else { None };
        let last = self.elements.len() - 1;
        let first_node = self.elements[last].first_node;
        let is_menu_entry = self.phrase_kind_from(first_node) == Some(PhraseKind::MenuEntry);
        self.line_links += 1;
        self.elements[last].link_count += 1;
        self.line_menu_links += usize::from(is_menu_entry);
        if self.options.links && self.page.nodes.len() > first_node {
            let start = self.page.text.len();
            self.page.text.push_str(" <");
            self.page.text.push_str(&stable_url(target.unwrap_or_default()));
            self.page.text.push('>');
            self.push_text_node(start);
        }
    }

    /// Excludes a `time` element whose text is relative to now.
    pub(super) fn end_time(&mut self) {
        let first_node = self.elements[self.elements.len() - 1].first_node;
        if !self.options.noise && is_relative_time(self.text_from(first_node).trim()) {
            self.exclude_from(first_node, ExclusionReason::Counter);
        }
    }

    /// Excludes all text nodes from an index on that are not excluded yet.
    fn exclude_from(&mut self, first_node: usize, reason: ExclusionReason) {
        for node in &mut self.page.nodes[first_node..] {
            node.reason = node.reason.or(Some(reason));
        }
    }

    fn node_text(&self, node: &TextNode) -> &str {
        &self.page.text[node.start as usize..node.end as usize]
    }

    /// Returns the text from a node on, or an empty text if it is longer than any phrase.
    #[inline]
    pub(super) fn text_from(&self, first_node: usize) -> &str {
        let nodes = self.page.nodes.get(first_node..).unwrap_or_default();
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return "" };
        let (start, end) = (first.start as usize, last.end as usize);
        if end - start > MAX_PHRASE_LEN { "" } else { &self.page.text[start..end] }
    }

    /// Classifies the text from a node on. Caches the result, as a link is often a whole line.
    #[inline]
    fn phrase_kind_from(&mut self, first_node: usize) -> Option<PhraseKind> {
        let range = (first_node, self.page.nodes.len());
        if self.phrase_range != range {
            let kind = classify_phrase(self.text_from(first_node));
            (self.phrase_range, self.phrase_kind) = (range, kind);
        }
        self.phrase_kind
    }

    /// The index of the innermost block element.
    pub(super) fn innermost_block(&self) -> usize {
        self.innermost_block_before(self.elements.len())
    }

    pub(super) fn innermost_block_before(&self, end: usize) -> usize {
        self.elements[..end].iter().rposition(|it| !it.tag.is_inline()).unwrap_or(0)
    }

    /// Ends a line, and excludes what its text marks as boilerplate. `scope` is the element that the line
    /// labels, `closing` the element that ends with the line.
    pub(super) fn end_line(&mut self, scope: usize, closing: Option<usize>) {
        if self.separator == Separator::Line {
            return;
        }
        self.separator = Separator::Line;
        let line = std::mem::replace(&mut self.line_start, self.page.nodes.len());
        if self.has_selection {
            return;
        }
        self.extend_link_run(line, closing.unwrap_or(scope));
        let Some(kind) = self.phrase_kind_from(line) else {
            self.exclude_line_with_ad_label(line);
            self.exclude_links_after_lead(line);
            return;
        };
        let owner = closing.map(|it| self.elements[it].tag);
        let level = owner.and_then(Tag::heading_level);
        let is_item = matches!(
            owner,
            Some(Tag::Td | Tag::Th | Tag::Tr | Tag::Dt | Tag::Dd | Tag::SelectOption)
        );
        let end_node = self.page.nodes.len();
        let element = &mut self.elements[scope];
        if is_item || level == Some(1) || element.reason.is_some() {
            return;
        }
        let reason = match kind {
            PhraseKind::RelatedHeading => {
                let reason = ExclusionReason::Related;
                let level = level.unwrap_or(HeadingCutoff::ANY_LEVEL);
                element.cutoff = Some(HeadingCutoff { level, end_node, reason, first_tag: None });
                reason
            }
            PhraseKind::AdLabel => {
                element.label_reason = Some(ExclusionReason::Advertising);
                ExclusionReason::Advertising
            }
            PhraseKind::SharePrompt => {
                element.label_reason = element.label_reason.or(Some(ExclusionReason::Sharing));
                ExclusionReason::Sharing
            }
            PhraseKind::MenuEntry | PhraseKind::PagerLink => return,
        };
        self.exclude_from(line, reason);
    }

    /// Excludes a line that begins with an element that has an advertising label.
    fn exclude_line_with_ad_label(&mut self, line: usize) {
        /// Shorter labels can begin any line: `Ad`. In bytes.
        const MIN_LABEL_LEN: usize = 7;
        let [first, _, ..] = &self.page.nodes[line..] else { return };
        if first.reason.is_some() {
            return;
        }
        let text = self.node_text(first);
        let has_label_len = (MIN_LABEL_LEN..=MAX_PHRASE_LEN).contains(&trim(text).len());
        if has_label_len && classify_phrase(text) == Some(PhraseKind::AdLabel) {
            self.exclude_from(line, ExclusionReason::Advertising);
        }
    }

    /// Excludes a line of links after a lead: `Read also: ` or `Next message: `.
    fn exclude_links_after_lead(&mut self, line: usize) {
        let nodes = &self.page.nodes[line..];
        let Some(first_link) = nodes.iter().position(|it| it.is_link).filter(|it| *it > 0) else {
            return;
        };
        let (start, end) = (nodes[0].start as usize, nodes[first_link - 1].end as usize);
        let text = trim(&self.page.text[start..end]);
        let is_lead = text.len() <= MAX_PHRASE_LEN
            && (text.ends_with([':', '：', '»', '→']))
            && matches!(
                classify_phrase(text),
                Some(PhraseKind::RelatedHeading | PhraseKind::PagerLink)
            );
        let is_link_or_symbol =
            |it: &TextNode| it.is_link || !self.node_text(it).contains(char::is_alphanumeric);
        if is_lead && nodes[first_link..].iter().all(is_link_or_symbol) {
            self.exclude_from(line, ExclusionReason::Related);
        }
    }

    /// Extends the run of links by a line of links. Any other line ends the run.
    pub(super) fn extend_link_run(&mut self, line: usize, element: usize) {
        let (links, menu_links) =
            (std::mem::take(&mut self.line_links), std::mem::take(&mut self.line_menu_links));
        let nodes = &self.page.nodes[line..];
        if nodes.iter().all(|it| it.reason.is_some()) {
            return;
        }
        let is_link_or_symbol = |it: &TextNode| {
            it.is_link || it.reason.is_some() || !self.node_text(it).contains(char::is_alphanumeric)
        };
        let parent = &self.elements[element];
        if links == 0 || parent.in_main || !nodes.iter().all(is_link_or_symbol) {
            self.end_link_run();
            return;
        }
        let text_len: usize =
            nodes.iter().filter(|it| it.is_link).map(|it| (it.end - it.start) as usize).sum();
        // The items of a list are one run.
        let is_item = matches!(parent.tag, Tag::Li | Tag::Dt | Tag::Dd);
        let parent_depth = if is_item { element.saturating_sub(1) } else { element };
        if self.link_run.is_some_and(|it| it.parent_depth != parent_depth) {
            self.end_link_run();
        }
        let end_node = self.page.nodes.len();
        let run = self.link_run.get_or_insert(LinkRun {
            parent_depth,
            first_node: line,
            end_node,
            link_count: 0,
            menu_link_count: 0,
            text_len: 0,
        });
        run.end_node = end_node;
        run.link_count += links;
        run.menu_link_count += menu_links;
        run.text_len += text_len;
    }

    pub(super) fn end_link_run(&mut self) {
        if let Some(run) = self.link_run.take().filter(LinkRun::is_menu) {
            let range = (run.first_node, run.end_node, ExclusionReason::Navigation);
            self.deferred_exclusions.push(range);
        }
    }

    pub(super) fn apply_deferred_exclusions(&mut self) {
        if self.deferred_exclusions.is_empty() {
            return;
        }
        // Ranges are nested or disjoint, so one range at a time is enough: the reason of any range that
        // contains a node will do.
        let mut ranges = std::mem::take(&mut self.deferred_exclusions);
        ranges.sort_by_key(|&(from, to, _)| (from, usize::MAX - to));
        let mut ranges = ranges.into_iter().peekable();
        let mut current: Option<(usize, ExclusionReason)> = None;
        for (at, node) in self.page.nodes.iter_mut().enumerate() {
            while let Some((_, to, reason)) = ranges.next_if(|&(from, _, _)| from <= at) {
                if current.is_none_or(|(end, _)| to > end) {
                    current = Some((to, reason));
                }
            }
            current = current.filter(|&(end, _)| at < end);
            if let Some((_, reason)) = current {
                node.reason = node.reason.or(Some(reason));
            }
        }
    }
}

/// Removes white space at both ends. Most texts have none.
#[inline]
fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

/// True for a short text with a price, a date, or a word of availability: `Closed on Monday`.
fn is_notice(text: &str) -> bool {
    let has_price = text.contains(['€', '£', '$']) && text.contains(|it: char| it.is_ascii_digit());
    let is_word = |it: &str| AVAILABILITY_WORDS.iter().any(|word| word.eq_ignore_ascii_case(it));
    has_price || text.split(|it: char| !it.is_alphanumeric()).any(is_word) || has_named_date(text)
}
