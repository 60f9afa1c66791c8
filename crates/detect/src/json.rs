//! JSON in one form, however it is written: members sorted, numbers in their shortest form, no white
//! space. One pass over the text; what is kept beside the result is a list of members that are
//! still open.

mod canonical;
mod lengths;
mod lines;
mod number;
mod path;
mod string;

pub(crate) use canonical::{Options, canonical};
pub(crate) use lines::lines;
pub(crate) use path::{Path, parse};

/// Whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    canonical(text, &Options::default()).is_ok()
}

/// JSON in one form, or the text as it is if it is none.
pub(crate) fn plain(text: &str) -> String {
    canonical(text, &Options::default()).map_or_else(|_| text.trim().to_owned(), |it| it.text)
}
