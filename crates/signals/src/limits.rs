//! How far a document is read.

/// How far a document is read, and the moment at which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Now, in seconds since 1970. Dates are judged by it.
    pub now: i64,
    /// Entries at most.
    pub entries: u64,
    /// Bytes at most, after decompression.
    pub bytes: u64,
    /// Whether the document was found in an index of sitemaps: it should not be one itself.
    pub in_index: bool,
}

impl Limits {
    /// The usual ones: ten times what the sitemap protocol allows.
    #[must_use]
    pub fn at(now: i64) -> Self {
        Self { now, entries: 500_000, bytes: 500 << 20, in_index: false }
    }
}
