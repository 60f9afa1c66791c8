//! From a page to the text that counts, in one pass over its tokens.

mod assemble;
pub(crate) mod css;
mod entity;
mod frame;
mod menu;
mod names;
mod otherwise;
mod phrases;
mod reason;
mod rules;
mod tag;
mod text;
mod tokenizer;
mod url;
mod walk;

use std::ops::Range;

use assemble::{Assembled, assemble};
use css::{Matcher, Program};
use otherwise::Otherwise;
use walk::{Extras, Pieces, Walk};

pub use reason::Reason;
pub(crate) use text::{is_single_spaced, push_collapsed};
pub(crate) use url::plain_url;

/// Which part of a page counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// The main text.
    Main,
    /// What the selectors name.
    Selected,
    /// All that can be seen: there is no main text.
    Visible,
    /// All text, hidden or not: there is none that can be seen.
    Hidden,
    /// What the page says of itself to machines: it has no text.
    Structured,
    /// The addresses of what it shows or links to: it says nothing at all.
    Addresses,
    /// All of it: it is no page.
    Whole,
}

impl Basis {
    /// In a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "the main text",
            Self::Selected => "what is selected",
            Self::Visible => "all visible text",
            Self::Hidden => "all text, hidden or not",
            Self::Structured => "structured data",
            Self::Addresses => "addresses",
            Self::Whole => "the whole",
        }
    }
}

/// A part that does not count, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Why.
    pub reason: Reason,
    /// Its text.
    pub text: String,
}

/// How a page is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct HtmlOptions {
    pub(crate) program: Program,
    /// All that can be seen counts, not the main text only.
    pub(crate) visible: bool,
    /// Counters, relative times and the like count.
    pub(crate) noise: bool,
    pub(crate) links: bool,
    pub(crate) images: bool,
}

/// The text that counts.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub(crate) text: String,
    /// Where each space and each end of a line counts.
    pub(crate) verbatim: Vec<Range<usize>>,
    pub(crate) basis: Basis,
    pub(crate) left_out: Vec<LeftOut>,
    /// Selectors that nothing matches.
    pub(crate) unmatched: Vec<String>,
}

/// Below this many bytes there is no main text.
const LEAST: usize = 40;
/// A main text below so many bytes must not be dwarfed by text outside links elsewhere.
const SMALL: usize = 300;
const DWARFED: usize = 10;

pub(crate) fn extract(page: &str, options: &HtmlOptions, explain: bool) -> Extracted {
    let HtmlOptions { program, visible, noise, links, images } = options;
    let extras = Extras { links: *links, images: *images, noise: *noise };
    let mut matcher = (!program.is_empty()).then(|| Matcher::new(program));
    let selects = matcher.as_ref().is_some_and(Matcher::selects);
    if program.asks_for_end() {
        matcher = Walk::new(extras, matcher).run(page).1.map(Matcher::again);
    }
    let (pieces, matcher) = Walk::new(extras, matcher).run(page);
    let unmatched = matcher.map(|it| it.unmatched()).unwrap_or_default();
    let basis = if selects {
        Basis::Selected
    } else if *visible {
        Basis::Visible
    } else {
        basis(&pieces)
    };
    let read = |basis, noise| assemble(&pieces, basis, noise, explain);
    let extracted = |Assembled { text, verbatim, left_out, .. }, basis| Extracted {
        text,
        verbatim,
        basis,
        left_out,
        unmatched: unmatched.clone(),
    };
    if selects {
        return extracted(read(basis, *noise), basis);
    }
    // Where noise is all there is, it counts.
    for (basis, noise) in [(basis, *noise), (basis, true), (Basis::Visible, true)] {
        let mut read = read(basis, noise);
        if read.body >= LEAST {
            return extracted(read, basis);
        }
        if read.body > 0 {
            // `Loading …`: a script makes the page of what it is told.
            let said = Otherwise::of(page).said;
            read.text.push_str(&said);
            return extracted(read, if said.is_empty() { basis } else { Basis::Structured });
        }
    }
    let Otherwise { title, said, frames, addresses } = Otherwise::of(page);
    let found = |text, basis| extracted(Assembled { text, ..Assembled::default() }, basis);
    if !said.is_empty() {
        return found(title + &said, Basis::Structured);
    }
    if !frames.is_empty() {
        return found(title + &frames, Basis::Addresses);
    }
    let hidden = read(Basis::Hidden, true);
    if hidden.body > 0 {
        extracted(hidden, Basis::Hidden)
    } else if title.is_empty() {
        found(addresses, Basis::Addresses)
    } else {
        found(title, Basis::Structured)
    }
}

/// Whether the main text is one. Depends on the main text above all, so that what changes around it
/// does not decide what counts.
fn basis(pieces: &Pieces) -> Basis {
    if pieces.has_main {
        return Basis::Main;
    }
    let (mut main, mut around) = (0, 0);
    for piece in pieces.list.iter().filter(|it| !it.title) {
        let length = (piece.end - piece.start) as usize;
        match piece.reason {
            None => main += length,
            Some(reason) if reason.is_visible() && !piece.link => around += length,
            Some(_) => {}
        }
    }
    if main < LEAST && around > main || main < SMALL && around > DWARFED * main {
        Basis::Visible
    } else {
        Basis::Main
    }
}

/// All text of a fragment that can be seen, for HTML within other formats.
pub(crate) fn visible_text(fragment: &str) -> String {
    let (pieces, _) = Walk::new(Extras::default(), None).run(fragment);
    assemble(&pieces, Basis::Visible, true, false).text
}
