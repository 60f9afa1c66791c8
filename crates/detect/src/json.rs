//! Canonical JSON: sorted members, numbers in their shortest form, no white space. One pass over
//! the text, which keeps a list of the members of open containers besides the result.

mod canonical;
mod lines;
mod list_lengths;
mod number;
mod path;
mod string;

pub(crate) use canonical::{JsonOptions, canonicalize};
pub(crate) use lines::lines;
pub(crate) use path::{JsonPath, parse};

/// True if a text is valid JSON.
pub(crate) fn is_json(text: &str) -> bool {
    canonicalize(text, &JsonOptions::default()).is_ok()
}

/// Returns canonical JSON, or the trimmed text if it is not JSON.
pub(crate) fn canonical_or_original(text: &str) -> String {
    canonicalize(text, &JsonOptions::default())
        .map_or_else(|_| text.trim().to_owned(), |it| it.text)
}
