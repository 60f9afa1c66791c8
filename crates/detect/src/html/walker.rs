//! Walks the tokens of a page and collects its text nodes, each with the reason why it is excluded, if
//! it is.

mod decisions;
mod nesting;

use super::css::{Element, SelectorMatcher};
use super::exclusion::ExclusionReason;
use super::open_element::OpenElement;
use super::phrases::PhraseKind;
use super::rules::{DeferredCheck, ElementAttributes, classify};
use super::runs::{ItemRun, LinkRun};
use super::tag::Tag;
use super::text::{push_collapsed, push_preformatted};
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::stable_url;
use crate::noise::{LineContext, TextHint};

/// Maximum number of open elements; deeper ones are ignored, but not their text. Browsers do the same.
const MAX_DEPTH: usize = 512;

/// Depth of most pages.
const TYPICAL_DEPTH: usize = 12;

/// An element with an advertising label is advertising up to this many bytes of text.
const MAX_LABELLED_LEN: usize = 250;

/// A paragraph with at least this many bytes outside links is prose.
const MIN_PROSE_LEN: usize = 80;

/// Separates a text node from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Separator {
    None,
    Cell,
    Line,
}

/// A run of text between two tags.
#[derive(Clone, Debug)]
pub(crate) struct TextNode {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) reason: Option<ExclusionReason>,
    pub(crate) separator: Separator,
    pub(crate) is_link: bool,
    pub(crate) is_title: bool,
    pub(crate) hint: TextHint,
    pub(crate) context: LineContext,
    /// In an element for the main part.
    pub(crate) in_main: bool,
    pub(crate) is_code: bool,
    /// White space is significant.
    pub(crate) is_verbatim: bool,
    /// Row and column of the table cell that contains the node, from 1; 0 outside tables.
    pub(crate) row: u32,
    pub(crate) column: u32,
}

/// Optional content of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkerOptions {
    /// Include the targets of links.
    pub(crate) links: bool,
    /// Include the alternative texts and URLs of images.
    pub(crate) images: bool,
    /// Include relative times.
    pub(crate) noise: bool,
}

/// The text nodes of a page.
#[derive(Debug, Default)]
pub(crate) struct PageText {
    pub(crate) text: String,
    pub(crate) nodes: Vec<TextNode>,
    /// An element for the main part has text that is not excluded.
    pub(crate) has_main: bool,
    /// For each table row, true if the columns of its cells are significant: not in a layout table.
    pub(crate) rows: Vec<bool>,
}

pub(crate) struct PageWalker<'a, 'm> {
    page: PageText,
    elements: Vec<OpenElement>,
    /// Number of open elements beyond the maximum depth.
    skipped_depth: usize,
    /// Number of open elements of each tag, so that a stray closing tag costs nothing.
    open_counts: [u32; Tag::COUNT],
    separator: Separator,
    /// The last table cell has more than one line.
    has_tall_cell: bool,
    /// Open table rows: their numbers, and the number of cells so far.
    open_rows: Vec<(u32, u32)>,
    /// First text node of the current line.
    line_start: usize,
    /// Ranges of text nodes that are excluded at the end.
    deferred_exclusions: Vec<(usize, usize, ExclusionReason)>,
    /// The page has had a paragraph of prose.
    has_prose: bool,
    /// Number of links in the current line, and of those with a text that only menus have.
    line_links: usize,
    line_menu_links: usize,
    link_run: Option<LinkRun>,
    /// Cache: the last range of text nodes that was classified as a phrase, and its kind.
    phrase_range: (usize, usize),
    phrase_kind: Option<PhraseKind>,
    /// Open elements with a check at their end, by depth.
    deferred_checks: Vec<(usize, DeferredCheck)>,
    item_run: ItemRun,
    /// Targets of the open links, if they are included.
    link_targets: Vec<&'a str>,
    options: WalkerOptions,
    matcher: Option<SelectorMatcher<'m>>,
    /// Only selected elements count, and no rules apply.
    has_selection: bool,
}

impl<'a, 'm> PageWalker<'a, 'm> {
    pub(crate) fn new(options: WalkerOptions, matcher: Option<SelectorMatcher<'m>>) -> Self {
        let mut open_counts = [0; Tag::COUNT];
        open_counts[Tag::Html as usize] = 1;
        let has_selection = matcher.as_ref().is_some_and(SelectorMatcher::has_selection);
        let mut elements = Vec::with_capacity(TYPICAL_DEPTH);
        elements.push(OpenElement::root());
        Self {
            has_selection,
            page: PageText::default(),
            elements,
            skipped_depth: 0,
            open_counts,
            separator: Separator::Line,
            has_tall_cell: false,
            open_rows: Vec::new(),
            line_start: 0,
            deferred_exclusions: Vec::new(),
            has_prose: false,
            line_links: 0,
            line_menu_links: 0,
            link_run: None,
            phrase_range: (0, 0),
            phrase_kind: None,
            deferred_checks: Vec::new(),
            item_run: ItemRun::default(),
            link_targets: Vec::new(),
            options,
            matcher,
        }
    }

    /// Walks the page. Returns its text nodes, and the matcher with its results.
    pub(crate) fn run(mut self, page: &'a str) -> (PageText, Option<SelectorMatcher<'m>>) {
        // Offsets into the text have four bytes.
        let page = &page[..page.floor_char_boundary(u32::MAX as usize)];
        self.page.text.reserve(page.len() / 2);
        self.page.nodes.reserve(page.len() / 64);
        let WalkerOptions { links, images, .. } = self.options;
        let needs_all_attributes = self.matcher.is_some() || links || images;
        let mut tokenizer = if needs_all_attributes {
            Tokenizer::new(page)
        } else {
            Tokenizer::with_relevant_attributes(page)
        };
        let mut attributes = Vec::new();
        loop {
            // Nearly every other tag closes the innermost element.
            if let Some(word) = tokenizer.peek_closing_tag()
                && self.skipped_depth == 0
                && tokenizer.skip_closing_tag(self.innermost().tag, word)
            {
                self.pop_element();
                continue;
            }
            let Some(token) = tokenizer.next(&mut attributes) else { break };
            match token {
                Token::Text(text) => self.on_text(text, true),
                Token::Raw(text) => self.on_raw_text(text),
                Token::Open { tag, name, is_self_closing } => {
                    let class = tokenizer.class();
                    self.on_open_tag(tag, name, is_self_closing, class, &attributes);
                }
                Token::Close { tag, name } => self.on_close_tag(tag, name),
            }
        }
        while self.elements.len() > 1 {
            self.pop_element();
        }
        self.end_line(0, None);
        self.end_link_run();
        self.apply_deferred_exclusions();
        (self.page, self.matcher)
    }

    fn innermost(&mut self) -> &mut OpenElement {
        let last = self.elements.len() - 1;
        &mut self.elements[last]
    }

    fn on_raw_text(&mut self, text: &str) {
        match self.innermost().tag {
            Tag::Script | Tag::Style => {}
            tag => {
                let is_title = tag == Tag::Title && !self.innermost().in_svg;
                let from = self.page.nodes.len();
                self.on_text(text, matches!(tag, Tag::Title | Tag::Textarea));
                self.page.nodes[from..].iter_mut().for_each(|it| it.is_title = is_title);
            }
        }
    }

    fn on_text(&mut self, text: &str, has_references: bool) {
        let start = self.page.text.len();
        let element = &self.elements[self.elements.len() - 1];
        let (in_pre, is_first) = (element.in_pre, element.first_node == self.page.nodes.len());
        if in_pre {
            // The line break right after `<pre>` is not part of its text.
            let text = if is_first { text.trim_start_matches('\r') } else { text };
            let text = if is_first { text.strip_prefix('\n').unwrap_or(text) } else { text };
            push_preformatted(text, has_references, &mut self.page.text);
        } else {
            let is_blank = text.bytes().all(|it| it.is_ascii_whitespace());
            if is_blank && self.separator != Separator::None {
                return;
            }
            push_collapsed(text, has_references, &mut self.page.text);
        }
        self.push_text_node(start);
    }

    /// Adds a text node for the text that was appended since `start`.
    #[inline]
    fn push_text_node(&mut self, start: usize) {
        let end = self.page.text.len();
        if end == start {
            return;
        }
        let last = self.elements.len() - 1;
        let element = &mut self.elements[last];
        element.text_len += end - start;
        if element.in_link {
            element.link_text_len += end - start;
        }
        let cutoff = element.cutoff.map(|it| it.reason);
        let menu = (element.in_menu && element.in_link).then_some(ExclusionReason::Navigation);
        let mut reason = element.reason.or(cutoff).or(menu);
        if self.has_selection {
            use ExclusionReason::{Dropped, Hidden, NotSelected};
            let dropped = reason.filter(|it| matches!(it, Dropped | Hidden));
            reason = if element.is_selected { dropped } else { Some(NotSelected) };
        }
        self.page.has_main |= element.in_main && reason.is_none();
        let separator = std::mem::replace(&mut self.separator, Separator::None);
        // The page is cut to the range of an offset, and its text is never longer than its source.
        let offset = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (row, column) = self.open_rows.last().copied().unwrap_or_default();
        self.page.nodes.push(TextNode {
            start: offset(start),
            end: offset(end),
            reason,
            separator,
            is_link: element.in_link,
            is_title: false,
            hint: element.hint,
            context: element.context,
            in_main: element.in_main,
            is_code: element.in_code,
            is_verbatim: element.in_pre,
            row,
            column,
        });
    }

    fn on_open_tag(
        &mut self,
        tag: Tag,
        name: &'a str,
        is_self_closing: bool,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
        match tag {
            Tag::Html => return,
            Tag::Br | Tag::Hr => {
                let block = self.innermost_block();
                self.end_line(block, None);
            }
            _ => self.apply_implied_tags(tag),
        }
        let is_custom_block =
            tag == Tag::Other && name.contains('-') && !is_relative_time_element(name);
        if !tag.is_inline() || is_custom_block {
            if self.separator != Separator::Line {
                let block = self.innermost_block();
                self.end_line(block, None);
            }
            let is_cell = matches!(tag, Tag::Td | Tag::Th);
            if is_cell && !self.has_tall_cell && self.page.nodes.len() > self.row_start() {
                self.separator = Separator::Cell;
            }
            self.has_tall_cell &= !is_cell;
        }
        if tag.is_void() {
            self.on_void_element(tag, name, class, attributes);
            return;
        }
        if is_self_closing && self.innermost().in_svg
            || tag == Tag::Body && self.open_counts[Tag::Body as usize] > 0
        {
            return;
        }
        self.push_element(tag, name, class, attributes);
    }

    /// Counts a table row or cell that begins.
    fn enter_cell(&mut self, tag: Tag) {
        if tag == Tag::Tr {
            self.page.rows.push(false);
            self.open_rows.push((u32::try_from(self.page.rows.len()).unwrap_or(0), 0));
        } else if matches!(tag, Tag::Td | Tag::Th)
            && let Some((_, column)) = self.open_rows.last_mut()
        {
            *column += 1;
        }
    }

    /// Ends a table row. A row of one cell is a mere line, and one that contains a table is layout.
    fn leave_row(&mut self, row: &OpenElement) {
        let is_whole = row.is_selected || !self.has_selection;
        if let Some((number, columns)) = self.open_rows.pop()
            && let Some(has_columns) = self.page.rows.get_mut((number as usize).wrapping_sub(1))
        {
            *has_columns = columns > 1 && !row.has_table && is_whole;
        }
    }

    fn on_void_element(
        &mut self,
        tag: Tag,
        name: &'a str,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
        self.match_selectors(name, attributes, true);
        let start = self.page.text.len();
        let get = |name| attribute(attributes, name).unwrap_or_default();
        match tag {
            Tag::Img if self.options.images => {
                self.page.text.push_str(" [");
                push_collapsed(get("alt"), true, &mut self.page.text);
                self.page.text.push(' ');
                self.page.text.push_str(&stable_url(get("src")));
                self.page.text.push_str("] ");
            }
            // The text of a button: `Sold out` may be all that changes.
            Tag::Input
                if ["submit", "button"].iter().any(|it| get("type").eq_ignore_ascii_case(it)) =>
            {
                self.separator = self.separator.max(Separator::Line);
                push_collapsed(get("value"), true, &mut self.page.text);
            }
            _ => return,
        }
        let attributes = ElementAttributes::new(class, attributes);
        let depth = self.elements.len();
        let mut element = self.innermost().child(tag, 0, 0);
        classify(&mut element, name, &attributes, depth, self.has_prose, false);
        self.push_text_node(start);
        if let (Some(node), None) = (self.page.nodes.last_mut(), self.matcher.as_ref()) {
            node.reason = node.reason.or(element.reason);
        }
    }

    /// Matches the selectors against an element that begins. Returns whether they drop and select it.
    fn match_selectors(
        &mut self,
        name: &str,
        attributes: &[Attribute<'a>],
        is_void: bool,
    ) -> (bool, bool) {
        let Some(matcher) = &mut self.matcher else { return (false, false) };
        let result = matcher.open(&Element { name, attributes });
        if is_void {
            matcher.close();
        }
        result
    }
}

/// True for a custom element that shows a time relative to now.
fn is_relative_time_element(name: &str) -> bool {
    ["relative-time", "timeago", "time-ago"].iter().any(|it| name.contains(it))
}
