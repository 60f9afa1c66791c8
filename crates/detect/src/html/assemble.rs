//! From pieces to lines of text.

use std::ops::Range;

use super::reason::Reason;
use super::walk::{Gap, Piece, Pieces};
use super::{Basis, LeftOut};
use crate::noise::{Bound, Line, Place, is_label, noise};
use crate::normal::push_normal;

/// Few lines have more bytes, or more pieces.
const USUAL_LINE: usize = 512;
const USUAL_BOUNDS: usize = 16;

/// Lines that count, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    pub(crate) text: String,
    /// Where each space and each end of a line counts.
    pub(crate) verbatim: Vec<Range<usize>>,
    /// Bytes of text besides the title.
    pub(crate) body: usize,
    pub(crate) left_out: Vec<LeftOut>,
}

/// The text of a page on a basis; with `explain` also what was left out.
pub(crate) fn assemble(
    pieces: &Pieces,
    basis: Basis,
    keep_noise: bool,
    explain: bool,
) -> Assembled {
    let mut lines = Lines { keep_noise, explain, ..Lines::default() };
    lines.out.text.reserve(pieces.text.len());
    lines.line.reserve(USUAL_LINE);
    lines.bounds.reserve(USUAL_BOUNDS);
    let mut gap = Gap::Line;
    for piece in &pieces.list {
        gap = gap.max(piece.gap);
        let text = &pieces.text[piece.start as usize..piece.end as usize];
        if !counts(piece, basis) {
            if let Some(reason) = piece.reason.filter(|_| explain) {
                lines.leave_out(reason, text, piece.gap);
            }
            continue;
        }
        let row = pieces.rows.get((piece.row as usize).wrapping_sub(1));
        let cell = piece.place == Place::Cell && row == Some(&true);
        lines.push(text, gap, piece, cell);
        gap = Gap::Nothing;
    }
    lines.end(false);
    lines.out
}

fn counts(piece: &Piece, basis: Basis) -> bool {
    match (basis, piece.reason) {
        (_, None) => true,
        (_, Some(Reason::Dropped | Reason::NotSelected)) => false,
        (Basis::Visible, Some(reason)) => reason.is_visible(),
        (Basis::Hidden, Some(_)) => true,
        _ => false,
    }
}

#[derive(Default)]
struct Lines {
    out: Assembled,
    line: String,
    /// Where pieces of the line meet.
    bounds: Vec<Bound>,
    place: Place,
    main: bool,
    title: bool,
    verbatim: bool,
    /// The line is of a row whose cells have places, and the last such row and cell.
    row: bool,
    cell: (u32, u32),
    /// The last line is the name of a count.
    labelled: bool,
    /// The last line is a heading that leads nowhere.
    headed: bool,
    keep_noise: bool,
    explain: bool,
}

impl Lines {
    fn push(&mut self, text: &str, gap: Gap, piece: &Piece, cell: bool) {
        if gap == Gap::Line {
            self.end(false);
        }
        if cell {
            self.move_to(piece.row, piece.column);
        } else if gap == Gap::Cell && !self.line.trim_end().is_empty() {
            self.trim();
            self.line.push_str(" | ");
            self.place = Place::Cells;
        }
        self.begin(piece);
        if !piece.verbatim {
            // A space at the end of the last piece and one at the start of this are one.
            let double = self.line.ends_with(' ') && text.starts_with(' ');
            self.line.push_str(if double { &text[1..] } else { text });
            return;
        }
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            self.line.push_str(line);
            self.end(true);
            self.begin(piece);
            rest = after;
        }
        self.line.push_str(rest);
    }

    /// A sign for each cell passed, so that a value in another one is another text.
    fn move_to(&mut self, row: u32, column: u32) {
        let from = if self.cell.0 == row { self.cell.1 } else { 1 };
        (self.cell, self.row) = ((row, column), true);
        for _ in from..column {
            self.trim();
            if !self.line.is_empty() {
                self.line.push(' ');
                self.place = Place::Cells;
            }
            self.line.push_str("| ");
        }
    }

    fn begin(&mut self, piece: &Piece) {
        if self.bounds.is_empty() {
            self.title = piece.title;
            self.main = piece.main;
        }
        self.place = self.place.max(piece.place);
        self.verbatim |= piece.verbatim;
        let Piece { hint, link, code, .. } = *piece;
        self.bounds.push(Bound { at: self.line.len(), hint, link, code });
    }

    fn trim(&mut self) {
        let length = self.line.trim_end().len();
        self.line.truncate(length);
        self.bounds.iter_mut().for_each(|it| it.at = it.at.min(length));
    }

    /// Ends a line; `broken`: where a text that counts as it is says so.
    fn end(&mut self, broken: bool) {
        if self.verbatim {
            self.write_verbatim(broken);
        } else {
            self.trim();
            let start = self.line.len() - self.line.trim_start().len();
            self.bounds.iter_mut().for_each(|it| it.at = it.at.saturating_sub(start));
            let line = std::mem::take(&mut self.line);
            if start < line.len() {
                self.write(&line[start..]);
            }
            self.line = line;
        }
        self.line.clear();
        self.bounds.clear();
        (self.place, self.main, self.title) = (Place::Plain, false, false);
        (self.verbatim, self.row) = (false, false);
    }

    fn write_verbatim(&mut self, broken: bool) {
        if self.line.is_empty() && !broken {
            return;
        }
        let start = self.out.text.len();
        self.out.text.push_str(&self.line);
        self.out.text.push('\n');
        self.out.body += self.line.trim().len();
        self.keep_as_is(start);
    }

    /// What was written since `start` counts as it is.
    fn keep_as_is(&mut self, start: usize) {
        let end = self.out.text.len();
        match self.out.verbatim.last_mut().filter(|it| it.end == start) {
            Some(last) => last.end = end,
            None => self.out.verbatim.push(start..end),
        }
    }

    fn write(&mut self, line: &str) {
        let labelled = std::mem::take(&mut self.labelled);
        let line = if self.title { without_count(line) } else { line };
        let bounds = if self.title { &[][..] } else { &self.bounds };
        let (place, main) = (self.place, self.main);
        let headed = std::mem::take(&mut self.headed);
        self.headed = place == Place::Heading && !bounds.iter().any(|it| it.link);
        let line = Line { text: line, bounds, place, main, labelled, headed };
        let found = if self.keep_noise { Vec::new() } else { noise(&line) };
        let line = line.text;
        let start = self.out.text.len();
        let mut at = 0;
        for noise in &found {
            push_normal(line[at..noise.range.start].trim_end_matches(' '), &mut self.out.text);
            at = noise.range.end;
            if self.explain {
                let text = line[noise.range.clone()].to_owned();
                self.out.left_out.push(LeftOut { reason: noise.reason, text });
            }
        }
        push_normal(&line[at..], &mut self.out.text);
        let written = &self.out.text[start..];
        // What only separated noise goes with it.
        let empty = if found.is_empty() {
            written.chars().all(char::is_whitespace)
        } else {
            !written.chars().any(char::is_alphanumeric)
        };
        self.labelled = place != Place::Cells && is_label(line);
        if empty {
            self.out.text.truncate(start);
            return;
        }
        if !self.title {
            self.out.body += self.out.text.len() - start;
        }
        self.out.text.push('\n');
        // Where a value stands in a table says what it means.
        if self.row {
            self.keep_as_is(start);
        }
    }

    fn leave_out(&mut self, reason: Reason, text: &str, gap: Gap) {
        let text = text.trim();
        match self.out.left_out.last_mut() {
            Some(last) if last.reason == reason && gap != Gap::Line => {
                if !text.is_empty() {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
            }
            _ if text.is_empty() => {}
            _ => self.out.left_out.push(LeftOut { reason, text: text.to_owned() }),
        }
    }
}

/// A title without the number of unread messages before it.
fn without_count(title: &str) -> &str {
    let rest =
        title.strip_prefix('(').map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
    rest.and_then(|it| it.trim_start_matches('+').strip_prefix(") ")).unwrap_or(title)
}
