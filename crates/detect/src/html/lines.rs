//! Joins text nodes into lines of text.

use std::ops::Range;

use super::exclusion::ExclusionReason;
use super::walker::{PageText, Separator, TextNode};
use super::{ExcludedText, TextScope};
use crate::nfc::push_nfc;
use crate::noise::{ElementBoundary, Line, LineContext, find_noise, is_count_label};

/// Most lines have fewer bytes, and fewer text nodes.
const TYPICAL_LINE_LEN: usize = 512;
const TYPICAL_BOUNDARIES: usize = 16;

/// The text of a page within a scope.
#[derive(Debug, Default)]
pub(crate) struct AssembledText {
    pub(crate) text: String,
    /// Ranges in which spaces and line breaks are significant.
    pub(crate) verbatim: Vec<Range<usize>>,
    /// Bytes of text without the title.
    pub(crate) body_len: usize,
    pub(crate) excluded: Vec<ExcludedText>,
}

/// Returns the text of a page within a scope, with the excluded texts if `explain` is set.
pub(crate) fn assemble_text(
    page: &PageText,
    scope: TextScope,
    keep_noise: bool,
    explain: bool,
) -> AssembledText {
    let mut builder = LineBuilder { keep_noise, explain, ..LineBuilder::default() };
    builder.out.text.reserve(page.text.len());
    builder.line.reserve(TYPICAL_LINE_LEN);
    builder.boundaries.reserve(TYPICAL_BOUNDARIES);
    let mut separator = Separator::Line;
    for node in &page.nodes {
        separator = separator.max(node.separator);
        let text = &page.text[node.start as usize..node.end as usize];
        if !is_in_scope(node, scope) {
            if let Some(reason) = node.reason.filter(|_| explain) {
                builder.record_excluded(reason, text, node.separator);
            }
            continue;
        }
        let has_columns = page.rows.get((node.row as usize).wrapping_sub(1));
        let is_column = node.context == LineContext::TableCell && has_columns == Some(&true);
        builder.push(text, separator, node, is_column);
        separator = Separator::None;
    }
    builder.end_line(false);
    builder.out
}

fn is_in_scope(node: &TextNode, scope: TextScope) -> bool {
    match (scope, node.reason) {
        (_, None) => true,
        (_, Some(ExclusionReason::Dropped | ExclusionReason::NotSelected)) => false,
        (TextScope::Visible, Some(reason)) => reason.is_visible(),
        (TextScope::Hidden, Some(_)) => true,
        _ => false,
    }
}

#[derive(Default)]
struct LineBuilder {
    out: AssembledText,
    line: String,
    /// Offsets where text nodes meet in the line.
    boundaries: Vec<ElementBoundary>,
    context: LineContext,
    in_main: bool,
    is_title: bool,
    is_verbatim: bool,
    /// The line is a table row with significant columns, and the row and column of its last cell.
    has_columns: bool,
    cell: (u32, u32),
    /// The line before it is the label of a count.
    is_after_label: bool,
    /// The line before it is a heading without a link.
    is_after_heading: bool,
    keep_noise: bool,
    explain: bool,
}

impl LineBuilder {
    fn push(&mut self, text: &str, separator: Separator, node: &TextNode, is_column: bool) {
        if separator == Separator::Line {
            self.end_line(false);
        }
        if is_column {
            self.move_to_cell(node.row, node.column);
        } else if separator == Separator::Cell && !self.line.trim_end().is_empty() {
            self.trim_end();
            self.line.push_str(" | ");
            self.context = LineContext::TableRow;
        }
        self.begin_node(node);
        if !node.is_verbatim {
            // A space at the end of the last node and one at the start of this node are one space.
            let has_double_space = self.line.ends_with(' ') && text.starts_with(' ');
            self.line.push_str(if has_double_space { &text[1..] } else { text });
            return;
        }
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            self.line.push_str(line);
            self.end_line(true);
            self.begin_node(node);
            rest = after;
        }
        self.line.push_str(rest);
    }

    /// Writes a sign for each cell up to this one, so that a value in another column is another text.
    fn move_to_cell(&mut self, row: u32, column: u32) {
        let from = if self.cell.0 == row { self.cell.1 } else { 1 };
        (self.cell, self.has_columns) = ((row, column), true);
        for _ in from..column {
            self.trim_end();
            if !self.line.is_empty() {
                self.line.push(' ');
                self.context = LineContext::TableRow;
            }
            self.line.push_str("| ");
        }
    }

    fn begin_node(&mut self, node: &TextNode) {
        if self.boundaries.is_empty() {
            self.is_title = node.is_title;
            self.in_main = node.in_main;
        }
        self.context = self.context.max(node.context);
        self.is_verbatim |= node.is_verbatim;
        let TextNode { hint, is_link, is_code, .. } = *node;
        let offset = self.line.len();
        self.boundaries.push(ElementBoundary { offset, hint, is_link, is_code });
    }

    fn trim_end(&mut self) {
        let len = self.line.trim_end().len();
        self.line.truncate(len);
        self.boundaries.iter_mut().for_each(|it| it.offset = it.offset.min(len));
    }

    /// Ends a line. `has_break`: verbatim text has a line break here.
    fn end_line(&mut self, has_break: bool) {
        if self.is_verbatim {
            self.write_verbatim(has_break);
        } else {
            self.trim_end();
            let start = self.line.len() - self.line.trim_start().len();
            self.boundaries.iter_mut().for_each(|it| it.offset = it.offset.saturating_sub(start));
            let line = std::mem::take(&mut self.line);
            if start < line.len() {
                self.write(&line[start..]);
            }
            self.line = line;
        }
        self.line.clear();
        self.boundaries.clear();
        (self.context, self.in_main, self.is_title) = (LineContext::Block, false, false);
        (self.is_verbatim, self.has_columns) = (false, false);
    }

    fn write_verbatim(&mut self, has_break: bool) {
        if self.line.is_empty() && !has_break {
            return;
        }
        let start = self.out.text.len();
        self.out.text.push_str(&self.line);
        self.out.text.push('\n');
        self.out.body_len += self.line.trim().len();
        self.mark_verbatim(start);
    }

    /// Marks the text since `start` as verbatim.
    fn mark_verbatim(&mut self, start: usize) {
        let end = self.out.text.len();
        match self.out.verbatim.last_mut().filter(|it| it.end == start) {
            Some(last) => last.end = end,
            None => self.out.verbatim.push(start..end),
        }
    }

    fn write(&mut self, line: &str) {
        let is_after_label = std::mem::take(&mut self.is_after_label);
        let is_after_heading = std::mem::take(&mut self.is_after_heading);
        let text = if self.is_title { strip_unread_count(line) } else { line };
        let boundaries = if self.is_title { &[][..] } else { &self.boundaries };
        let (context, in_main) = (self.context, self.in_main);
        self.is_after_heading =
            context == LineContext::Heading && !boundaries.iter().any(|it| it.is_link);
        let line = Line { text, boundaries, context, in_main, is_after_label, is_after_heading };
        let noise = if self.keep_noise { Vec::new() } else { find_noise(&line) };
        let start = self.out.text.len();
        let mut at = 0;
        for span in &noise {
            push_nfc(text[at..span.range.start].trim_end_matches(' '), &mut self.out.text);
            at = span.range.end;
            if self.explain {
                let text = text[span.range.clone()].to_owned();
                self.out.excluded.push(ExcludedText { reason: span.reason, text });
            }
        }
        push_nfc(&text[at..], &mut self.out.text);
        let written = &self.out.text[start..];
        // Separators alone are removed with the noise between them.
        let is_empty = if noise.is_empty() {
            written.chars().all(char::is_whitespace)
        } else {
            !written.chars().any(char::is_alphanumeric)
        };
        self.is_after_label = context != LineContext::TableRow && is_count_label(text);
        if is_empty {
            self.out.text.truncate(start);
            return;
        }
        if !self.is_title {
            self.out.body_len += self.out.text.len() - start;
        }
        self.out.text.push('\n');
        // The column of a value in a table is part of its meaning.
        if self.has_columns {
            self.mark_verbatim(start);
        }
    }

    fn record_excluded(&mut self, reason: ExclusionReason, text: &str, separator: Separator) {
        let text = text.trim();
        match self.out.excluded.last_mut() {
            Some(last) if last.reason == reason && separator != Separator::Line => {
                if !text.is_empty() {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
            }
            _ if text.is_empty() => {}
            _ => self.out.excluded.push(ExcludedText { reason, text: text.to_owned() }),
        }
    }
}

/// Removes the number of unread messages before a title: `(3) Inbox`.
fn strip_unread_count(title: &str) -> &str {
    let rest =
        title.strip_prefix('(').map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
    rest.and_then(|it| it.trim_start_matches('+').strip_prefix(") ")).unwrap_or(title)
}
