//! Extracts the text of a web page in one pass over its tokens.

pub(crate) mod css;
mod exclusion;
mod fallback;
mod lines;
mod names;
mod open_element;
mod phrases;
mod reference;
mod rules;
mod runs;
mod tag;
mod text;
mod tokenizer;
mod url;
mod walker;

use std::ops::Range;

use css::{SelectorMatcher, SelectorProgram};
use fallback::FallbackContent;
use lines::{AssembledText, assemble_text};
use walker::{PageText, PageWalker, WalkerOptions};

pub use exclusion::ExclusionReason;
pub(crate) use text::{is_single_spaced, push_collapsed};
pub(crate) use url::stable_url;

/// The part of a page that the text is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextScope {
    /// The main text.
    Main,
    /// The selected elements.
    Selected,
    /// All visible text, as there is no main text.
    Visible,
    /// All text, as none is visible.
    Hidden,
    /// Structured data, as the page has no text.
    Structured,
    /// URLs of images, links and frames, as the page has neither text nor structured data.
    Addresses,
    /// The whole document, as it is not a page.
    Whole,
}

impl TextScope {
    /// Returns a short description.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "the main text",
            Self::Selected => "the selected content",
            Self::Visible => "all visible text",
            Self::Hidden => "all text, hidden or not",
            Self::Structured => "structured data",
            Self::Addresses => "addresses",
            Self::Whole => "the whole",
        }
    }
}

/// A text that is excluded, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedText {
    /// Reason.
    pub reason: ExclusionReason,
    /// Text.
    pub text: String,
}

/// Settings of the extraction.
#[derive(Clone, Debug, Default)]
pub(crate) struct HtmlSettings {
    pub(crate) program: SelectorProgram,
    /// Include all visible text, not only the main text.
    pub(crate) visible: bool,
    /// Include counters, relative times and other noise.
    pub(crate) noise: bool,
    pub(crate) links: bool,
    pub(crate) images: bool,
}

/// The text of a page that counts.
#[derive(Debug)]
pub(crate) struct ExtractedText {
    pub(crate) text: String,
    /// Ranges in which spaces and line breaks are significant.
    pub(crate) verbatim: Vec<Range<usize>>,
    pub(crate) scope: TextScope,
    pub(crate) excluded: Vec<ExcludedText>,
    /// Selectors that match nothing.
    pub(crate) unmatched: Vec<String>,
}

/// Minimum length of a main text, in bytes.
const MIN_MAIN_LEN: usize = 40;
/// A main text below this length is one only if the text outside links elsewhere is not longer by
/// more than the ratio.
const SMALL_MAIN_LEN: usize = 300;
const MAX_SURROUNDING_RATIO: usize = 10;

pub(crate) fn extract(page: &str, options: &HtmlSettings, explain: bool) -> ExtractedText {
    let HtmlSettings { program, visible, noise, links, images } = options;
    let extras = WalkerOptions { links: *links, images: *images, noise: *noise };
    let mut matcher = (!program.is_empty()).then(|| SelectorMatcher::new(program));
    let has_selection = matcher.as_ref().is_some_and(SelectorMatcher::has_selection);
    if program.counts_from_end() {
        matcher = PageWalker::new(extras, matcher).run(page).1.map(SelectorMatcher::second_pass);
    }
    let (page_text, matcher) = PageWalker::new(extras, matcher).run(page);
    let unmatched = matcher.map(|it| it.unmatched()).unwrap_or_default();
    let scope = if has_selection {
        TextScope::Selected
    } else if *visible {
        TextScope::Visible
    } else {
        choose_scope(&page_text)
    };
    let read = |scope, keep_noise| assemble_text(&page_text, scope, keep_noise, explain);
    let extracted = |AssembledText { text, verbatim, excluded, .. }, scope| ExtractedText {
        text,
        verbatim,
        scope,
        excluded,
        unmatched: unmatched.clone(),
    };
    if has_selection {
        return extracted(read(scope, *noise), scope);
    }
    // If all text is noise, noise counts.
    for (scope, keep_noise) in [(scope, *noise), (scope, true), (TextScope::Visible, true)] {
        let mut text = read(scope, keep_noise);
        if text.body_len >= MIN_MAIN_LEN {
            return extracted(text, scope);
        }
        if text.body_len > 0 {
            // `Loading …`: a script builds the page from structured data.
            let structured_data = FallbackContent::extract(page).structured_data;
            text.text.push_str(&structured_data);
            return extracted(
                text,
                if structured_data.is_empty() { scope } else { TextScope::Structured },
            );
        }
    }
    let FallbackContent { title, structured_data, frame_urls, resource_urls } =
        FallbackContent::extract(page);
    let fallback =
        |text, scope| extracted(AssembledText { text, ..AssembledText::default() }, scope);
    if !structured_data.is_empty() {
        return fallback(title + &structured_data, TextScope::Structured);
    }
    if !frame_urls.is_empty() {
        return fallback(title + &frame_urls, TextScope::Addresses);
    }
    let hidden = read(TextScope::Hidden, true);
    if hidden.body_len > 0 {
        extracted(hidden, TextScope::Hidden)
    } else if title.is_empty() {
        fallback(resource_urls, TextScope::Addresses)
    } else {
        fallback(title, TextScope::Structured)
    }
}

/// Chooses between the main text and all visible text. The choice depends mostly on the main text,
/// so that a change around it does not decide what counts.
fn choose_scope(page_text: &PageText) -> TextScope {
    if page_text.has_main {
        return TextScope::Main;
    }
    let (mut main, mut surrounding) = (0, 0);
    for node in page_text.nodes.iter().filter(|it| !it.is_title) {
        let length = (node.end - node.start) as usize;
        match node.reason {
            None => main += length,
            Some(reason) if reason.is_visible() && !node.is_link => surrounding += length,
            Some(_) => {}
        }
    }
    if main < MIN_MAIN_LEN && surrounding > main
        || main < SMALL_MAIN_LEN && surrounding > MAX_SURROUNDING_RATIO * main
    {
        TextScope::Visible
    } else {
        TextScope::Main
    }
}

/// Returns all visible text of an HTML fragment in another format.
pub(crate) fn visible_text(fragment: &str) -> String {
    let (page_text, _) = PageWalker::new(WalkerOptions::default(), None).run(fragment);
    assemble_text(&page_text, TextScope::Visible, true, false).text
}
