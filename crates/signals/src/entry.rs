//! What a document says of one page.

use crate::published_date::PublishedDate;

/// What a document says of one page, or of another sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Absolute, `http` or `https`, in the form in which URLs are compared, without a fragment and
    /// without user or password.
    pub url: String,
    /// What is there.
    pub kind: Kind,
    /// When it changed, as the document says.
    pub changed: Option<PublishedDate>,
    /// Of all that the entry says: id, title, dates, text. Another one means that it says something
    /// else, whether or not it has a date.
    pub fingerprint: u64,
}

/// What is at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page.
    Page,
    /// Another sitemap: a part of an index.
    Part,
}
