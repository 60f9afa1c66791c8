//! Entries of documents.

use crate::published_date::PublishedDate;

/// Entry of a document: a page or another sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentEntry {
    /// Absolute `http` or `https` URL in normalized form, without fragment, user name and password.
    pub url: String,
    /// Kind of the document at the URL.
    pub target: EntryTarget,
    /// Date of the last change, as the document states it.
    pub date: Option<PublishedDate>,
    /// Hash of all content of the entry: ID, title, dates, text. A different value means that the
    /// entry has changed, with or without a date.
    pub fingerprint: u64,
}

/// Kind of the document at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryTarget {
    /// Page.
    Page,
    /// Another sitemap: part of a sitemap index.
    Sitemap,
}
