//! What lines, and elements at their end, say of the text around them.

use super::{Gap, LARGEST_AD, LONG_TEXT, Piece, Walk};
use crate::html::frame::{Cut, Frame};
use crate::html::menu::{Items, Run};
use crate::html::phrases::{LONGEST, Phrase, is_weak, phrase};
use crate::html::reason::Reason;
use crate::html::rules::Look;
use crate::html::tag::Tag;
use crate::html::url::plain_url;
use crate::noise::{Place, is_dated, is_relative};

impl Walk<'_, '_> {
    /// Cells of one row stand in one line.
    pub(super) fn line_of_row(&self) -> usize {
        let row = self.frames.iter().rev().find(|it| it.tag == Tag::Tr);
        row.map_or(usize::MAX, |it| it.first)
    }

    /// What can be said of an element only at its end.
    pub(super) fn decide(&mut self, frame: &Frame) {
        if self.selecting {
            return;
        }
        let end = self.out.list.len();
        let mut late = |reason| self.late.push((frame.first, end, reason));
        let whole = matches!(
            frame.tag,
            Tag::Html | Tag::Body | Tag::Main | Tag::Table | Tag::Tbody | Tag::Form
        );
        if let Some(reason) = frame.labelled
            && !whole
            && !frame.has_h1
            && frame.letters <= LARGEST_AD
            && frame.linked * 3 >= frame.letters
        {
            late(reason);
        } else if frame.undecided && frame.linked * 2 >= frame.letters {
            late(Reason::Aside);
        }
        // A cell with much to read is a part of a layout, not of a table.
        if matches!(frame.tag, Tag::Td | Tag::Th) && !frame.has_table && self.is_layout(frame) {
            for piece in &mut self.out.list[frame.first..] {
                if piece.place == Place::Cell {
                    piece.place = Place::Plain;
                }
            }
        }
        if frame.doubted
            && let Some(reason) = frame.reason
            && self.is_to_read(frame, reason)
        {
            for piece in &mut self.out.list[frame.first..] {
                piece.reason = piece.reason.filter(|it| *it != reason);
            }
            self.out.has_main |= frame.in_main;
        }
        let text = frame.letters - frame.linked;
        if frame.reason.is_none() && frame.tag == Tag::P && text >= LONG_TEXT {
            self.long_text = true;
        }
        if let Some(parent) = self.frames.last()
            && parent.reason.is_none()
            && let Some(cut) = parent.cut
            && !frame.tag.is_inline()
            && let Some(from) = self.end_of_cut(frame, cut)
        {
            if let Some(parent) = self.frames.last_mut() {
                parent.cut = None;
            }
            for piece in &mut self.out.list[from..] {
                piece.reason = piece.reason.filter(|it| *it != cut.reason);
            }
        }
    }

    /// From which piece on the main text goes on, if an element after a heading of other things is
    /// none of them.
    fn end_of_cut(&self, frame: &Frame, cut: Cut) -> Option<usize> {
        /// Pieces before it that tell whether a list of other things is over.
        const LOOKED_AT: usize = 16;
        if frame.letters == 0 {
            return None;
        }
        if cut.after == frame.first {
            let heading = cut.after.checked_sub(1)?;
            let piece = self.out.list.get(heading)?;
            let text = &self.out.text[piece.start as usize..piece.end as usize];
            return (frame.links == 0 && is_weak(text)).then_some(heading);
        }
        if frame.tag != Tag::P {
            return None;
        }
        let from = cut.after.max(frame.first.saturating_sub(LOOKED_AT));
        let before = self.out.list.get(from..frame.first).unwrap_or_default();
        let links = before.iter().filter(|it| it.link).count();
        // Paragraphs with links are the list if there is no other.
        let over = if cut.first.is_some() { links > 0 } else { links > 1 && links == before.len() };
        let goes_on = frame.letters - frame.linked >= LONG_TEXT || frame.links == 0 && over;
        goes_on.then_some(frame.first)
    }

    /// What an element is after all, now that all of it is known.
    pub(super) fn look_again(&mut self, frame: &Frame, look: Look) {
        let Some(reason) = frame.reason.filter(|_| !self.selecting) else { return };
        let (end, scope) = (self.out.list.len(), self.frames.len());
        let mut from = frame.first;
        match look {
            Look::Item => {
                let item = Items { scope, first: from, end };
                let last = std::mem::replace(&mut self.items, item);
                // One alone is an advertisement, two are what the page shows.
                if last.scope != scope || last.end != from {
                    return;
                }
                from = last.first;
            }
            Look::Head if frame.has_h1 => {}
            Look::Head => return,
        }
        for piece in &mut self.out.list[from..] {
            let menu = look == Look::Head && piece.link;
            piece.reason = piece.reason.filter(|it| *it != reason || menu);
        }
    }

    fn is_layout(&self, cell: &Frame) -> bool {
        const LINES: usize = 4;
        let lines = || self.out.list[cell.first..].iter().filter(|it| it.gap == Gap::Line).count();
        cell.letters >= LONG_TEXT || lines() >= LINES
    }

    /// Whether what a name tells to leave out is something to read.
    fn is_to_read(&self, frame: &Frame, reason: Reason) -> bool {
        /// Counters are shorter.
        const LONGEST_COUNT: usize = 60;
        let text = self.text_of(frame.first);
        let counts = frame.letters <= LONGEST_COUNT && text.contains(|it: char| it.is_numeric());
        match reason {
            Reason::Counter => !counts,
            // As for `aside`.
            Reason::Aside => frame.linked * 2 < frame.letters,
            Reason::Overlay | Reason::Related if frame.links == 0 && is_news(text) => true,
            _ => frame.is_prose(),
        }
    }

    /// A heading alone in its element speaks for what follows that element.
    pub(super) fn carry_cut(&mut self, frame: &Frame) {
        let Some(cut) = frame.cut else { return };
        let alone = self.out.list.len() == cut.after;
        if let Some(parent) = self.frames.last_mut()
            && alone
            && parent.reason.is_none()
        {
            parent.cut = Some(cut);
        }
    }

    pub(super) fn end_link(&mut self) {
        let target = if self.extras.links { self.targets.pop() } else { None };
        let last = self.frames.len() - 1;
        let first = self.frames[last].first;
        let is_menu = self.phrase_from(first) == Some(Phrase::Menu);
        self.links += 1;
        self.frames[last].links += 1;
        self.menu_links += usize::from(is_menu);
        if self.extras.links && self.out.list.len() > first {
            let start = self.out.text.len();
            self.out.text.push_str(" <");
            self.out.text.push_str(&plain_url(target.unwrap_or_default()));
            self.out.text.push('>');
            self.piece(start);
        }
    }

    /// What is said in an element for times, relative to now, is another text with every visit.
    pub(super) fn end_time(&mut self) {
        let first = self.frames[self.frames.len() - 1].first;
        if !self.extras.noise && is_relative(self.text_of(first).trim()) {
            for piece in &mut self.out.list[first..] {
                piece.reason = piece.reason.or(Some(Reason::Counter));
            }
        }
    }

    /// The text from a piece on, unless it is long.
    #[inline]
    pub(super) fn text_of(&self, first: usize) -> &str {
        let list = self.out.list.get(first..).unwrap_or_default();
        let (Some(start), Some(end)) = (list.first(), list.last()) else { return "" };
        let (start, end) = (start.start as usize, end.end as usize);
        if end - start > LONGEST { "" } else { &self.out.text[start..end] }
    }

    /// What the text from a piece on says. A link is often a line of its own, and asked twice.
    #[inline]
    fn phrase_from(&mut self, first: usize) -> Option<Phrase> {
        let asked = (first, self.out.list.len());
        if self.asked != asked {
            (self.asked, self.said) = (asked, phrase(self.text_of(first)));
        }
        self.said
    }

    /// The innermost element that is not part of a line.
    pub(super) fn block(&self) -> usize {
        self.outer_block(self.frames.len())
    }

    pub(super) fn outer_block(&self, below: usize) -> usize {
        self.frames[..below].iter().rposition(|it| !it.tag.is_inline()).unwrap_or(0)
    }

    /// Ends a line, and looks at what it says of what is around it. `scope` is the element that it
    /// speaks for, `closing` the one that ends with it.
    pub(super) fn end_line(&mut self, scope: usize, closing: Option<usize>) {
        if self.gap == Gap::Line {
            return;
        }
        self.gap = Gap::Line;
        let line = std::mem::replace(&mut self.line, self.out.list.len());
        if self.selecting {
            return;
        }
        self.extend_run(line, closing.unwrap_or(scope));
        let Some(said) = self.phrase_from(line) else {
            self.look_for_label(line);
            self.look_for_lead(line);
            return;
        };
        let owner = closing.map(|it| self.frames[it].tag);
        let level = owner.and_then(Tag::heading);
        let cell =
            matches!(owner, Some(Tag::Td | Tag::Th | Tag::Tr | Tag::Dt | Tag::Dd | Tag::Choice));
        let after = self.out.list.len();
        let frame = &mut self.frames[scope];
        if cell || level == Some(1) || frame.reason.is_some() {
            return;
        }
        let reason = match said {
            Phrase::Related => {
                let reason = Reason::Related;
                frame.cut = Some(Cut { level: level.unwrap_or(7), after, reason, first: None });
                reason
            }
            Phrase::Label => {
                frame.labelled = Some(Reason::Advertising);
                Reason::Advertising
            }
            Phrase::Sharing => {
                frame.labelled = frame.labelled.or(Some(Reason::Sharing));
                Reason::Sharing
            }
            Phrase::Menu | Phrase::Step => return,
        };
        for piece in &mut self.out.list[line..] {
            piece.reason = piece.reason.or(Some(reason));
        }
    }

    /// A line that begins with an element that says it is paid for.
    fn look_for_label(&mut self, line: usize) {
        /// Shorter ones can begin any line: `Ad`.
        const LEAST: usize = 7;
        let [first, _, ..] = &self.out.list[line..] else { return };
        if first.reason.is_some() {
            return;
        }
        let (start, end) = (first.start as usize, first.end as usize);
        let text = &self.out.text[start..end];
        let fits = (LEAST..=LONGEST).contains(&trimmed(text).len());
        if fits && phrase(text) == Some(Phrase::Label) {
            for piece in &mut self.out.list[line..] {
                piece.reason = piece.reason.or(Some(Reason::Advertising));
            }
        }
    }

    /// `Read also: ` and links, `Next message: ` and a link.
    fn look_for_lead(&mut self, line: usize) {
        let list = &self.out.list[line..];
        let Some(first) = list.iter().position(|it| it.link).filter(|it| *it > 0) else { return };
        let (start, end) = (list[0].start as usize, list[first - 1].end as usize);
        let text = trimmed(&self.out.text[start..end]);
        let leads = text.len() <= LONGEST
            && (text.ends_with([':', '：', '»', '→']))
            && matches!(phrase(text), Some(Phrase::Related | Phrase::Step));
        let piece = |it: &Piece| &self.out.text[it.start as usize..it.end as usize];
        let links = |it: &Piece| it.link || !piece(it).contains(char::is_alphanumeric);
        if leads && list[first..].iter().all(links) {
            for piece in &mut self.out.list[line..] {
                piece.reason = piece.reason.or(Some(Reason::Related));
            }
        }
    }

    /// A line of links goes on a run of them, another line ends it.
    pub(super) fn extend_run(&mut self, line: usize, element: usize) {
        let (links, menu_links) =
            (std::mem::take(&mut self.links), std::mem::take(&mut self.menu_links));
        let list = &self.out.list[line..];
        if list.iter().all(|it| it.reason.is_some()) {
            return;
        }
        let text = |it: &Piece| &self.out.text[it.start as usize..it.end as usize];
        let linked = |it: &Piece| {
            it.link || it.reason.is_some() || !text(it).contains(char::is_alphanumeric)
        };
        let frame = &self.frames[element];
        if links == 0 || frame.in_main || !list.iter().all(linked) {
            self.end_run();
            return;
        }
        let letters: usize =
            list.iter().filter(|it| it.link).map(|it| (it.end - it.start) as usize).sum();
        // Items of a list are one run.
        let item = matches!(frame.tag, Tag::Li | Tag::Dt | Tag::Dd);
        let scope = if item { element.saturating_sub(1) } else { element };
        if self.run.is_some_and(|it| it.scope != scope) {
            self.end_run();
        }
        let end = self.out.list.len();
        let first = Run { scope, first: line, end, links: 0, menu_links: 0, letters: 0 };
        let run = self.run.get_or_insert(first);
        run.end = end;
        run.links += links;
        run.menu_links += menu_links;
        run.letters += letters;
    }

    pub(super) fn end_run(&mut self) {
        if let Some(run) = self.run.take().filter(Run::is_menu) {
            self.late.push((run.first, run.end, Reason::Navigation));
        }
    }

    pub(super) fn apply_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        // Ranges are nested or apart: the last that begins at or before a piece and ends after it
        // is the innermost, and any will do.
        let mut starts = std::mem::take(&mut self.late);
        starts.sort_by_key(|&(from, to, _)| (from, usize::MAX - to));
        let mut ranges = starts.into_iter().peekable();
        let mut current: Option<(usize, Reason)> = None;
        for (at, piece) in self.out.list.iter_mut().enumerate() {
            while let Some((_, to, reason)) = ranges.next_if(|&(from, _, _)| from <= at) {
                if current.is_none_or(|(end, _)| to > end) {
                    current = Some((to, reason));
                }
            }
            current = current.filter(|&(end, _)| at < end);
            if let Some((_, reason)) = current {
                piece.reason = piece.reason.or(Some(reason));
            }
        }
    }
}

/// Without white space around it. Most texts have none.
#[inline]
fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

/// Whether a short text says what something costs, or whether it is open.
fn is_news(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "available",
        "cancelled",
        "closed",
        "closes",
        "fermé",
        "geschlossen",
        "geöffnet",
        "open",
        "opens",
        "ouvert",
        "sold",
        "verschoben",
        "ausverkauft",
    ];
    let price = text.contains(['€', '£', '$']) && text.contains(|it: char| it.is_ascii_digit());
    let word = |it: &str| WORDS.iter().any(|word| word.eq_ignore_ascii_case(it));
    price || text.split(|it: char| !it.is_alphanumeric()).any(word) || is_dated(text)
}
