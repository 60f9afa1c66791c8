//! Limits for reading a document.

/// Limits for reading a document, and the time at which it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Current time in seconds since 1970, for checking dates.
    pub now: i64,
    /// Maximum number of entries.
    pub max_entries: u64,
    /// Maximum size in bytes, after decompression.
    pub max_bytes: u64,
    /// True if the document is part of a sitemap index and should not be an index itself.
    pub in_index: bool,
}

impl DocumentLimits {
    /// Returns the default limits: ten times those of the sitemap protocol.
    #[must_use]
    pub fn new(now: i64) -> Self {
        Self { now, max_entries: 500_000, max_bytes: 500 << 20, in_index: false }
    }
}
