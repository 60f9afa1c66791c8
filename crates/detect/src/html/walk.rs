//! From tokens to pieces of text, each with the reason why it does not count, if there is one.

mod lines;
mod nesting;

use super::css::{Element, Matcher};
use super::frame::Frame;
use super::menu::{Items, Run};
use super::phrases::Phrase;
use super::reason::Reason;
use super::rules::{Look, Marks, judge};
use super::tag::Tag;
use super::text::{push_collapsed, push_preformatted};
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::plain_url;
use crate::noise::{Hint, Place};

/// Elements that are open at a time, at most; those deeper in are read as if they were not there.
/// Browsers do the same.
const DEEPEST: usize = 512;

/// As many elements as most pages nest.
const USUAL_DEPTH: usize = 12;

/// An element with a label that says so is advertising up to this many bytes of text.
const LARGEST_AD: usize = 250;

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
    pub(crate) hint: Hint,
    pub(crate) place: Place,
    /// In the main part, by its element.
    pub(crate) main: bool,
    pub(crate) code: bool,
    /// Each space counts.
    pub(crate) verbatim: bool,
    /// The row and the cell of a table that it stands in, each from 1; 0: in none.
    pub(crate) row: u32,
    pub(crate) column: u32,
}

/// What else a page has to offer than its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// Where links lead.
    pub(crate) links: bool,
    /// What stands for images.
    pub(crate) images: bool,
    /// Relative times count.
    pub(crate) noise: bool,
}

/// All pieces of a page.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) text: String,
    pub(crate) list: Vec<Piece>,
    /// Whether an element that says it is the main part has text that counts.
    pub(crate) has_main: bool,
    /// Of each row of a table, whether the places of its cells count: those of a layout do not.
    pub(crate) rows: Vec<bool>,
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
    /// The open rows of tables, and the cells that began in each.
    rows: Vec<(u32, u32)>,
    /// The first piece of the current line.
    line: usize,
    /// Ranges of pieces that turned out not to count.
    late: Vec<(usize, usize, Reason)>,
    long_text: bool,
    /// Links in the current line, and those with a text that only menus have.
    links: usize,
    menu_links: usize,
    run: Option<Run>,
    /// The last range of pieces that was asked what it says, and what that is.
    asked: (usize, usize),
    said: Option<Phrase>,
    /// Open elements that may be something else than their names say, by their depths.
    looks: Vec<(usize, Look)>,
    items: Items,
    /// Where the open links lead, if that counts.
    targets: Vec<&'a str>,
    extras: Extras,
    matcher: Option<Matcher<'m>>,
    /// Only what selectors name counts, and nothing is guessed.
    selecting: bool,
}

impl<'a, 'm> Walk<'a, 'm> {
    pub(crate) fn new(extras: Extras, matcher: Option<Matcher<'m>>) -> Self {
        let mut open = [0; Tag::COUNT];
        open[Tag::Html as usize] = 1;
        let selecting = matcher.as_ref().is_some_and(Matcher::selects);
        let mut frames = Vec::with_capacity(USUAL_DEPTH);
        frames.push(Frame::root());
        Self {
            selecting,
            out: Pieces::default(),
            frames,
            beyond: 0,
            open,
            gap: Gap::Line,
            tall_cell: false,
            rows: Vec::new(),
            line: 0,
            late: Vec::new(),
            long_text: false,
            links: 0,
            menu_links: 0,
            run: None,
            asked: (0, 0),
            said: None,
            looks: Vec::new(),
            items: Items::default(),
            targets: Vec::new(),
            extras,
            matcher,
        }
    }

    /// All pieces, and what is known of the selectors.
    pub(crate) fn run(mut self, page: &'a str) -> (Pieces, Option<Matcher<'m>>) {
        // Places in the text are kept in four bytes.
        let page = &page[..page.floor_char_boundary(u32::MAX as usize)];
        self.out.text.reserve(page.len() / 2);
        self.out.list.reserve(page.len() / 64);
        let Extras { links, images, .. } = self.extras;
        let all = self.matcher.is_some() || links || images;
        let mut tokenizer = if all { Tokenizer::new(page) } else { Tokenizer::telling(page) };
        let mut attributes = Vec::new();
        loop {
            // What begins ends, and nearly every other tag is the end of the innermost element.
            if let Some(eight) = tokenizer.closing()
                && self.beyond == 0
                && tokenizer.closes(self.top().tag, eight)
            {
                self.pop();
                continue;
            }
            let Some(token) = tokenizer.next(&mut attributes) else { break };
            match token {
                Token::Text(text) => self.text(text, true),
                Token::Raw(text) => self.raw(text),
                Token::Open { tag, name, closed } => {
                    self.open(tag, name, closed, tokenizer.class(), &attributes);
                }
                Token::Close { tag, name } => self.close(tag, name),
            }
        }
        while self.frames.len() > 1 {
            self.pop();
        }
        self.end_line(0, None);
        self.end_run();
        self.apply_late();
        (self.out, self.matcher)
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
        let (pre, first) = (frame.in_pre, frame.first == self.out.list.len());
        if pre {
            // The end of the line that `<pre>` stands in is none of its text.
            let text = if first { text.trim_start_matches('\r') } else { text };
            let text = if first { text.strip_prefix('\n').unwrap_or(text) } else { text };
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
    #[inline]
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
        if self.selecting {
            let dropped = reason.filter(|it| matches!(it, Reason::Dropped | Reason::Hidden));
            reason = if frame.selected { dropped } else { Some(Reason::NotSelected) };
        }
        self.out.has_main |= frame.in_main && reason.is_none();
        let gap = std::mem::replace(&mut self.gap, Gap::Nothing);
        let (link, title) = (frame.in_link, false);
        // The page is cut to what four bytes can say, and text is never longer than its source.
        let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (start, end) = (place(start), place(end));
        let (row, column) = self.rows.last().copied().unwrap_or_default();
        let Frame { hint, place, in_main: main, in_code: code, in_pre: verbatim, .. } = *frame;
        self.out.list.push(Piece {
            start,
            end,
            reason,
            gap,
            link,
            title,
            hint,
            place,
            main,
            code,
            verbatim,
            row,
            column,
        });
    }

    fn open(
        &mut self,
        tag: Tag,
        name: &'a str,
        closed: bool,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
        match tag {
            Tag::Html => return,
            Tag::Br | Tag::Hr => {
                let block = self.block();
                self.end_line(block, None);
            }
            _ => self.imply(tag),
        }
        let block =
            !tag.is_inline() || tag == Tag::Other && name.contains('-') && !tells_time(name);
        if block {
            if self.gap != Gap::Line {
                let container = self.block();
                self.end_line(container, None);
            }
            let cell = matches!(tag, Tag::Td | Tag::Th);
            if cell && !self.tall_cell && self.out.list.len() > self.line_of_row() {
                self.gap = Gap::Cell;
            }
            self.tall_cell &= !cell;
        }
        if tag.is_void() {
            self.void(tag, name, class, attributes);
            return;
        }
        if closed && self.top().in_svg || tag == Tag::Body && self.open[Tag::Body as usize] > 0 {
            return;
        }
        self.push(tag, name, class, attributes);
    }

    /// A row of a table, or a cell of one, begins.
    fn enter_cell(&mut self, tag: Tag) {
        if tag == Tag::Tr {
            self.out.rows.push(false);
            self.rows.push((u32::try_from(self.out.rows.len()).unwrap_or(0), 0));
        } else if matches!(tag, Tag::Td | Tag::Th)
            && let Some((_, column)) = self.rows.last_mut()
        {
            *column += 1;
        }
    }

    /// A row ends. With one cell it is no more than a line, and with a table in it a layout.
    fn leave_row(&mut self, row: &Frame) {
        let whole = row.selected || !self.selecting;
        if let Some((number, columns)) = self.rows.pop()
            && let Some(counts) = self.out.rows.get_mut((number as usize).wrapping_sub(1))
        {
            *counts = columns > 1 && !row.has_table && whole;
        }
    }

    fn void(
        &mut self,
        tag: Tag,
        name: &'a str,
        class: Option<&'a str>,
        attributes: &[Attribute<'a>],
    ) {
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
        let marks = Marks::of(class, attributes);
        let depth = self.frames.len();
        let mut frame = self.top().child(tag, 0, 0);
        judge(&mut frame, name, &marks, depth, self.long_text, false);
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
}

/// Whether an element of a site's own tells a time relative to now.
fn tells_time(name: &str) -> bool {
    ["relative-time", "timeago", "time-ago"].iter().any(|it| name.contains(it))
}
