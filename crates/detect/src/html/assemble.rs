//! From pieces to lines of text.

use super::reason::Reason;
use super::walk::{Gap, Piece, Pieces};
use super::{Basis, LeftOut};
use crate::noise::noise;

/// Lines that count, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    pub(crate) text: String,
    /// Whether there is text besides the title.
    pub(crate) has_body: bool,
    pub(crate) left_out: Vec<LeftOut>,
}

/// The text of a page on a basis; with `explain` also what was left out.
pub(crate) fn assemble(
    pieces: &Pieces,
    basis: Basis,
    keep_noise: bool,
    explain: bool,
) -> Assembled {
    let mut lines = Lines { out: Assembled::default(), keep_noise, explain, ..Lines::default() };
    lines.out.text.reserve(pieces.text.len());
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
        lines.push(text, gap, piece.title);
        gap = Gap::Nothing;
    }
    lines.end();
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
    bounds: Vec<usize>,
    title: bool,
    keep_noise: bool,
    explain: bool,
}

impl Lines {
    fn push(&mut self, text: &str, gap: Gap, title: bool) {
        if gap == Gap::Line {
            self.end();
            self.title = title;
        } else if gap == Gap::Cell && !self.line.trim_end().is_empty() {
            self.trim();
            self.line.push_str(" | ");
        }
        if !self.line.is_empty() {
            self.bounds.push(self.line.len());
        }
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            self.line.push_str(line);
            self.end();
            rest = after;
        }
        // A space at the end of the last piece and one at the start of this are one.
        let double = self.line.ends_with(' ') && rest.starts_with(' ');
        self.line.push_str(if double { &rest[1..] } else { rest });
    }

    fn trim(&mut self) {
        let length = self.line.trim_end().len();
        self.line.truncate(length);
        self.bounds.iter_mut().for_each(|it| *it = (*it).min(length));
    }

    fn end(&mut self) {
        self.trim();
        if !self.line.is_empty() {
            // Indentation is kept where text is preformatted; elsewhere it is one space.
            let lead = self.line.len() - self.line.trim_start().len();
            let start = if lead == 1 { 1 } else { 0 };
            let bounds: Vec<usize> =
                self.bounds.iter().map(|it| it.saturating_sub(start)).collect();
            let line = self.line[start..].to_owned();
            self.write(&line, &bounds);
        }
        self.line.clear();
        self.bounds.clear();
        self.title = false;
    }

    fn write(&mut self, line: &str, bounds: &[usize]) {
        let (line, bounds) =
            if self.title { (without_count(line), &[][..]) } else { (line, bounds) };
        let found = if self.keep_noise { Vec::new() } else { noise(line, bounds) };
        let start = self.out.text.len();
        let mut at = 0;
        for noise in &found {
            self.out.text.push_str(line[at..noise.range.start].trim_end_matches(' '));
            at = noise.range.end;
            if self.explain {
                let text = line[noise.range.clone()].to_owned();
                self.out.left_out.push(LeftOut { reason: noise.reason, text });
            }
        }
        self.out.text.push_str(&line[at..]);
        let written = &self.out.text[start..];
        // What only separated noise goes with it.
        let empty = if found.is_empty() {
            written.trim().is_empty()
        } else {
            !written.chars().any(char::is_alphanumeric)
        };
        if empty {
            self.out.text.truncate(start);
            return;
        }
        self.out.has_body |= !self.title;
        self.out.text.push('\n');
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
