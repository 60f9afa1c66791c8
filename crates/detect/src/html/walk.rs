//! From tokens to pieces of text, each with the reason why it does not count, if there is one.

use xxhash_rust::xxh3::xxh3_64;

use super::css::{Element, Matcher};
use super::frame::{Cut, Frame};
use super::menu::Run;
use super::phrases::{LONGEST, Phrase, phrase};
use super::reason::Reason;
use super::rules::{Marks, judge};
use super::tag::Tag;
use super::text::{push_collapsed, push_preformatted};
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::plain_url;

/// Elements that are open at a time, at most; those deeper in are read as if they were not there.
/// Browsers do the same.
const DEEPEST: usize = 512;

/// An element with a label that says so is advertising up to this many bytes of text.
const LARGEST_AD: usize = 600;

/// A paragraph of more bytes than this outside links is something to read.
const LONG_TEXT: usize = 80;

/// What is between a piece of text and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    Nothing,
    Cell,
    Line,
}

/// A run of text between two tags.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) reason: Option<Reason>,
    pub(crate) gap: Gap,
    pub(crate) link: bool,
    pub(crate) title: bool,
}

/// What else a page has to offer than its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Where links lead.
    pub(crate) links: bool,
    /// What stands for images.
    pub(crate) images: bool,
}

/// All pieces of a page.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) text: String,
    pub(crate) list: Vec<Piece>,
    /// Whether something matched `select`.
    pub(crate) selected: bool,
}

pub(crate) struct Walk<'a, 'm> {
    out: Pieces,
    frames: Vec<Frame>,
    /// Elements beyond the deepest.
    beyond: usize,
    /// How many of each element are open, so that a closing tag without one costs nothing.
    open: [u32; Tag::COUNT],
    gap: Gap,
    /// The last cell of a table had more than one line.
    tall_cell: bool,
    /// The first piece of the current line.
    line: usize,
    /// Ranges of pieces that turned out not to count.
    late: Vec<(usize, usize, Reason)>,
    long_text: bool,
    /// Links in the current line, and those with a text that only menus have.
    links: usize,
    menu_links: usize,
    run: Option<Run>,
    /// Where the open links lead.
    targets: Vec<&'a str>,
    extras: Extras,
    matcher: Option<Matcher<'m>>,
}

impl<'a, 'm> Walk<'a, 'm> {
    pub(crate) fn new(extras: Extras, matcher: Option<Matcher<'m>>) -> Self {
        let mut open = [0; Tag::COUNT];
        open[Tag::Html as usize] = 1;
        Self {
            out: Pieces::default(),
            frames: vec![Frame::root()],
            beyond: 0,
            open,
            gap: Gap::Line,
            tall_cell: false,
            line: 0,
            late: Vec::new(),
            long_text: false,
            links: 0,
            menu_links: 0,
            run: None,
            targets: Vec::new(),
            extras,
            matcher,
        }
    }

    pub(crate) fn run(mut self, page: &'a str) -> Pieces {
        // Places in the text are kept in four bytes.
        let page = &page[..page.floor_char_boundary(u32::MAX as usize)];
        self.out.text.reserve(page.len() / 4);
        let mut tokenizer = Tokenizer::new(page);
        let mut attributes = Vec::new();
        while let Some(token) = tokenizer.next(&mut attributes) {
            match token {
                Token::Text(text) => self.text(text, true),
                Token::Raw(text) => self.raw(text),
                Token::Open { tag, name, closed } => self.open(tag, name, closed, &attributes),
                Token::Close { tag, name } => self.close(tag, name),
            }
        }
        while self.frames.len() > 1 {
            self.pop();
        }
        self.end_line(0, None);
        self.end_run();
        self.apply_late();
        self.out
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn raw(&mut self, text: &str) {
        match self.top().tag {
            Tag::Script | Tag::Style => {}
            tag => {
                let title = tag == Tag::Title && !self.top().in_svg;
                let from = self.out.list.len();
                self.text(text, matches!(tag, Tag::Title | Tag::Textarea));
                self.out.list[from..].iter_mut().for_each(|it| it.title = title);
            }
        }
    }

    fn text(&mut self, text: &str, references: bool) {
        let start = self.out.text.len();
        let frame = &self.frames[self.frames.len() - 1];
        if frame.in_pre {
            push_preformatted(text, references, &mut self.out.text);
        } else {
            let blank = text.bytes().all(|it| it.is_ascii_whitespace());
            if blank && self.gap != Gap::Nothing {
                return;
            }
            push_collapsed(text, references, &mut self.out.text);
        }
        self.piece(start);
    }

    /// What was appended since `start` becomes a piece.
    fn piece(&mut self, start: usize) {
        let end = self.out.text.len();
        if end == start {
            return;
        }
        let last = self.frames.len() - 1;
        let frame = &mut self.frames[last];
        frame.letters += end - start;
        if frame.in_link {
            frame.linked += end - start;
        }
        let cut = frame.cut.map(|it| it.reason);
        let menu = (frame.in_menu && frame.in_link).then_some(Reason::Navigation);
        let mut reason = frame.reason.or(cut).or(menu);
        if let Some(matcher) = self.matcher.as_ref().filter(|it| it.selects()) {
            let dropped = reason.filter(|it| matches!(it, Reason::Dropped | Reason::Hidden));
            reason = if frame.selected { dropped } else { Some(Reason::NotSelected) };
            self.out.selected |= matcher.selects() && frame.selected;
        }
        let gap = std::mem::replace(&mut self.gap, Gap::Nothing);
        let (link, title) = (frame.in_link, false);
        // The page is cut to what four bytes can say, and text is never longer than its source.
        let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (start, end) = (place(start), place(end));
        self.out.list.push(Piece { start, end, reason, gap, link, title });
    }

    fn open(&mut self, tag: Tag, name: &'a str, closed: bool, attributes: &[Attribute<'a>]) {
        match tag {
            Tag::Html => return,
            Tag::Br | Tag::Hr => {
                let block = self.block();
                self.end_line(block, None);
            }
            _ => self.imply(tag),
        }
        let block = !tag.is_inline() || tag == Tag::Other && name.contains('-');
        if block {
            let container = self.block();
            self.end_line(container, None);
            let cell = matches!(tag, Tag::Td | Tag::Th);
            if cell && !self.tall_cell && self.out.list.len() > self.line_of_row() {
                self.gap = Gap::Cell;
            }
            self.tall_cell &= !cell;
        }
        if tag.is_void() {
            self.void(tag, name, attributes);
            return;
        }
        if closed && self.top().in_svg || tag == Tag::Body && self.open[Tag::Body as usize] > 0 {
            return;
        }
        self.push(tag, name, attributes);
    }

    /// Cells of one row stand in one line.
    fn line_of_row(&self) -> usize {
        let row = self.frames.iter().rev().find(|it| it.tag == Tag::Tr);
        row.map_or(usize::MAX, |it| it.first)
    }

    /// Ends what a new element ends, and opens what it needs around it.
    fn imply(&mut self, tag: Tag) {
        if self.beyond > 0 {
            return;
        }
        while let Some(at) = self.ended_by(tag) {
            while self.frames.len() > at {
                self.pop();
            }
        }
        let in_head = matches!(
            tag,
            Tag::Head
                | Tag::Title
                | Tag::Meta
                | Tag::Link
                | Tag::Script
                | Tag::Style
                | Tag::Base
                | Tag::Template
                | Tag::Noscript
                | Tag::Body
                | Tag::Frameset
        );
        if self.frames.len() == 1 && !in_head {
            self.push(Tag::Body, "body", &[]);
        } else if tag == Tag::Tr && self.top().tag == Tag::Table {
            self.push(Tag::Tbody, "tbody", &[]);
        }
    }

    /// The place of an open element that ends where `tag` begins.
    fn ended_by(&self, tag: Tag) -> Option<usize> {
        let table_part =
            matches!(tag, Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot);
        let open = |tag: Tag| self.open[tag as usize] > 0;
        let candidates = match tag {
            Tag::Li => open(Tag::Li),
            Tag::Dt | Tag::Dd => open(Tag::Dt) || open(Tag::Dd),
            Tag::OptionTag | Tag::Optgroup => open(Tag::OptionTag),
            Tag::Body => open(Tag::Head),
            _ if table_part => open(Tag::Table),
            _ => open(Tag::P) && Tag::P.ends_at(tag),
        };
        if !candidates && !(open(Tag::P) && Tag::P.ends_at(tag)) {
            return None;
        }
        let mut found = None;
        for (at, frame) in self.frames.iter().enumerate().skip(1).rev() {
            if frame.tag.ends_at(tag) && (frame.tag != Tag::P || found.is_none()) {
                found = Some(at);
                if !table_part {
                    break;
                }
            } else if frame.tag.holds_items() || !table_part && frame.tag.is_barrier() {
                break;
            }
        }
        found
    }

    fn void(&mut self, tag: Tag, name: &'a str, attributes: &[Attribute<'a>]) {
        self.observe(name, attributes, true);
        let start = self.out.text.len();
        let get = |name| attribute(attributes, name).unwrap_or_default();
        match tag {
            Tag::Img if self.extras.images => {
                self.out.text.push_str(" [");
                push_collapsed(get("alt"), true, &mut self.out.text);
                self.out.text.push(' ');
                self.out.text.push_str(&plain_url(get("src")));
                self.out.text.push_str("] ");
            }
            // What a button says: `Sold out` may be all that changes.
            Tag::Input
                if ["submit", "button"].iter().any(|it| get("type").eq_ignore_ascii_case(it)) =>
            {
                self.gap = self.gap.max(Gap::Line);
                push_collapsed(get("value"), true, &mut self.out.text);
            }
            _ => return,
        }
        let marks = Marks::of(attributes);
        let depth = self.frames.len();
        let mut frame = self.top().child(tag, 0, 0);
        judge(&mut frame, name, &marks, depth, self.long_text);
        self.piece(start);
        if let (Some(piece), None) = (self.out.list.last_mut(), self.matcher.as_ref()) {
            piece.reason = piece.reason.or(frame.reason);
        }
    }

    /// Tells the selectors of an element, and says whether they drop or select it.
    fn observe(&mut self, name: &str, attributes: &[Attribute<'a>], void: bool) -> (bool, bool) {
        let Some(matcher) = &mut self.matcher else { return (false, false) };
        let found = matcher.open(&Element { name, attributes });
        if void {
            matcher.close();
        }
        found
    }

    fn push(&mut self, tag: Tag, name: &'a str, attributes: &[Attribute<'a>]) {
        if self.frames.len() >= DEEPEST {
            self.beyond += 1;
            return;
        }
        let (dropped, selected) = self.observe(name, attributes, false);
        let hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let (first, depth, long_text) =
            (self.out.list.len(), self.frames.len() + 1, self.long_text);
        let parent = self.top();
        let mut frame = parent.child(tag, hash, first);
        let level = tag.heading();
        if let Some(cut) = parent.cut {
            let section = matches!(tag, Tag::Section | Tag::Article | Tag::Main);
            if section || level.is_some_and(|it| it <= cut.level) {
                parent.cut = None;
            } else {
                frame.reason = frame.reason.or(Some(cut.reason));
            }
        }
        judge(&mut frame, name, &Marks::of(attributes), depth, long_text);
        if selected {
            frame.selected = true;
            // Who names a part that is hidden wants it.
            frame.reason = frame.reason.filter(|it| *it == Reason::Dropped);
        }
        if dropped {
            frame.reason = Some(Reason::Dropped);
        }
        if tag == Tag::H1 {
            frame.has_h1 = true;
        }
        let main = tag == Tag::Main || attribute(attributes, "role") == Some("main");
        if main || tag == Tag::H1 {
            self.take_back(&mut frame, main);
        }
        if tag == Tag::A {
            self.targets.push(attribute(attributes, "href").unwrap_or_default());
        }
        self.open[tag as usize] += 1;
        self.frames.push(frame);
    }

    /// The main part, or the main heading, is not boilerplate, whatever the parts around it are
    /// called.
    fn take_back(&mut self, frame: &mut Frame, main: bool) {
        use Reason::{Aside, Footer, Header, Navigation};
        let wrong = |it: &Reason| main && it.is_visible() || *it == Header;
        let guessed = |it: &Reason| matches!(it, Aside | Navigation | Footer | Header);
        let Some(reason) = frame.reason else { return };
        if wrong(&reason) || frame.guessed && guessed(&reason) {
            frame.reason = None;
            if frame.guessed {
                for outer in &mut self.frames {
                    if outer.guessed && outer.reason == Some(reason) && reason != Header {
                        outer.reason = None;
                    }
                }
            }
        }
    }

    fn close(&mut self, tag: Tag, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        // As browsers do: a closing tag alone stands for an empty paragraph or a new line.
        if tag == Tag::Br || tag == Tag::P && self.open[Tag::P as usize] == 0 {
            let block = self.block();
            self.end_line(block, None);
            return;
        }
        if self.open[tag as usize] == 0 || matches!(tag, Tag::Html | Tag::Body) {
            return;
        }
        let hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let table_part = matches!(
            tag,
            Tag::Table | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Tfoot
        );
        let same = |it: &Frame| it.tag == tag && it.name == hash;
        let found = self.frames.iter().enumerate().skip(1).rev().find_map(|(at, frame)| {
            if same(frame) {
                Some(Some(at))
            } else {
                // A stray closing tag does not end the cell that it stands in, nor a table its row.
                let holds = frame.tag.is_barrier() && !table_part
                    || table_part && frame.tag == Tag::Table && tag != Tag::Table;
                holds.then_some(None)
            }
        });
        if let Some(Some(at)) = found {
            while self.frames.len() > at {
                self.pop();
            }
        }
    }

    /// Ends the innermost element.
    fn pop(&mut self) {
        let last = self.frames.len() - 1;
        let tag = self.frames[last].tag;
        let cell = matches!(tag, Tag::Td | Tag::Th);
        if cell {
            self.tall_cell = self.line > self.frames[last].first;
        }
        if !tag.is_inline() && (!cell || self.tall_cell) {
            let parent = self.outer_block(last);
            self.end_line(parent, Some(last));
        } else if tag == Tag::A {
            self.end_link();
        }
        if self.run.is_some_and(|it| it.scope == last) {
            self.end_run();
        }
        let Some(frame) = self.frames.pop() else { return };
        self.open[tag as usize] -= 1;
        if let Some(matcher) = &mut self.matcher {
            matcher.close();
        }
        self.decide(&frame);
        self.carry_cut(&frame);
        if let Some(parent) = self.frames.last_mut() {
            parent.add(&frame);
        }
    }

    /// What can be said of an element only at its end.
    fn decide(&mut self, frame: &Frame) {
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
            && (reason == Reason::Advertising || frame.linked * 2 >= frame.letters)
        {
            late(reason);
        } else if frame.undecided && frame.linked * 2 >= frame.letters {
            late(Reason::Aside);
        }
        let text = frame.letters - frame.linked;
        if frame.reason.is_none() && frame.tag == Tag::P && text >= LONG_TEXT {
            self.long_text = true;
        }
        // A paragraph to read right after a list of other things belongs to the main text again.
        if frame.tag == Tag::P
            && text >= LONG_TEXT
            && let Some(parent) = self.frames.last_mut()
            && parent.reason.is_none()
            && parent.cut.is_some_and(|it| it.after < frame.first)
        {
            parent.cut = None;
            self.out.list[frame.first..].iter_mut().for_each(|it| it.reason = None);
        }
    }

    /// A heading alone in its element speaks for what follows that element.
    fn carry_cut(&mut self, frame: &Frame) {
        let Some(cut) = frame.cut else { return };
        let alone = self.out.list.len() == cut.after;
        if let Some(parent) = self.frames.last_mut()
            && alone
            && parent.reason.is_none()
        {
            parent.cut = Some(cut);
        }
    }

    fn end_link(&mut self) {
        let target = self.targets.pop().unwrap_or_default();
        let last = self.frames.len() - 1;
        let first = self.frames[last].first;
        let text = self.text_of(first);
        self.links += 1;
        self.menu_links += usize::from(phrase(&text) == Some(Phrase::Menu));
        if self.extras.links && self.out.list.len() > first {
            let start = self.out.text.len();
            self.out.text.push_str(" <");
            self.out.text.push_str(&plain_url(target));
            self.out.text.push('>');
            self.piece(start);
        }
    }

    /// The text from a piece on, unless it is long.
    fn text_of(&self, first: usize) -> String {
        let list = self.out.list.get(first..).unwrap_or_default();
        let (Some(start), Some(end)) = (list.first(), list.last()) else { return String::new() };
        let (start, end) = (start.start as usize, end.end as usize);
        if end - start > LONGEST { String::new() } else { self.out.text[start..end].to_owned() }
    }

    /// The innermost element that is not part of a line.
    fn block(&self) -> usize {
        self.outer_block(self.frames.len())
    }

    fn outer_block(&self, below: usize) -> usize {
        let mut blocks = self.frames[..below].iter().enumerate().rev();
        blocks.find(|(_, it)| !it.tag.is_inline()).map_or(0, |(at, _)| at)
    }

    /// Ends a line, and looks at what it says of what is around it. `scope` is the element that it
    /// speaks for, `closing` the one that ends with it.
    fn end_line(&mut self, scope: usize, closing: Option<usize>) {
        if self.gap == Gap::Line {
            return;
        }
        self.gap = Gap::Line;
        let line = std::mem::replace(&mut self.line, self.out.list.len());
        self.extend_run(line, closing.unwrap_or(scope));
        let text = self.text_of(line);
        let Some(said) = phrase(&text) else { return };
        let owner = closing.map(|it| self.frames[it].tag);
        let level = owner.and_then(Tag::heading);
        let cell =
            matches!(owner, Some(Tag::Td | Tag::Th | Tag::Tr | Tag::Dt | Tag::Dd | Tag::OptionTag));
        let after = self.out.list.len();
        let frame = &mut self.frames[scope];
        if cell || level == Some(1) || frame.reason.is_some() {
            return;
        }
        let reason = match said {
            Phrase::Related => {
                let reason = Reason::Related;
                frame.cut = Some(Cut { level: level.unwrap_or(7), after, reason });
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
            Phrase::Menu => return,
        };
        for piece in &mut self.out.list[line..] {
            piece.reason = piece.reason.or(Some(reason));
        }
    }

    /// A line of links goes on a run of them, another line ends it.
    fn extend_run(&mut self, line: usize, element: usize) {
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

    fn end_run(&mut self) {
        if let Some(run) = self.run.take().filter(Run::is_menu) {
            self.late.push((run.first, run.end, Reason::Navigation));
        }
    }

    fn apply_late(&mut self) {
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

/// Names in any case are the same.
fn hash_name(name: &str) -> u64 {
    xxh3_64(name.to_ascii_lowercase().as_bytes())
}
