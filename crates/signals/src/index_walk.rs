//! Traversal of sitemap indexes.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

/// Limits of the traversal of a sitemap index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitemapIndexLimits {
    /// Maximum depth: the first document is at 0, its parts are at 1.
    pub max_depth: u32,
    /// Maximum number of documents.
    pub max_documents: usize,
}

impl Default for SitemapIndexLimits {
    /// Allows an index within an index, which the protocol forbids but sites publish.
    fn default() -> Self {
        Self { max_depth: 2, max_documents: 50_000 }
    }
}

/// Reason for which a part of an index is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SitemapSkipReason {
    /// The part was already visited: it is listed twice, or the indexes form a loop.
    #[error("it was already read: the index lists it twice or leads back to it")]
    AlreadyVisited,
    /// The part is nested too deep.
    #[error("it is nested more than {0} levels below the first index")]
    TooDeep(u32),
    /// The index has too many parts.
    #[error("the index has more than {0} parts")]
    TooMany(usize),
}

impl SitemapSkipReason {
    /// Returns the stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AlreadyVisited => "again",
            Self::TooDeep(_) => "too-deep",
            Self::TooMany(_) => "too-many",
        }
    }
}

/// Traversal of a sitemap index and its parts. No document is visited twice, so it terminates.
#[derive(Clone, Debug, Default)]
pub struct SitemapIndexWalk {
    limits: SitemapIndexLimits,
    /// Digests of visited URLs: eight bytes each.
    visited: HashSet<u64>,
}

impl SitemapIndexWalk {
    /// Starts a traversal.
    #[must_use]
    pub fn new(limits: SitemapIndexLimits) -> Self {
        Self { limits, visited: HashSet::new() }
    }

    /// Marks the document at `url`, which is `depth` steps from the first one, as visited.
    ///
    /// # Errors
    /// Returns [`SitemapSkipReason`] if the document must be skipped.
    pub fn visit(&mut self, url: &str, depth: u32) -> Result<(), SitemapSkipReason> {
        if depth > self.limits.max_depth {
            return Err(SitemapSkipReason::TooDeep(self.limits.max_depth));
        }
        let digest = xxh3_64(url.as_bytes());
        if self.visited.contains(&digest) {
            return Err(SitemapSkipReason::AlreadyVisited);
        }
        if self.visited.len() >= self.limits.max_documents {
            return Err(SitemapSkipReason::TooMany(self.limits.max_documents));
        }
        self.visited.insert(digest);
        Ok(())
    }

    /// Returns the number of visited documents.
    #[must_use]
    pub fn visited_count(&self) -> usize {
        self.visited.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_document_is_visited_twice() {
        let mut walk = SitemapIndexWalk::new(SitemapIndexLimits { max_depth: 2, max_documents: 3 });
        assert_eq!(walk.visit("https://a/", 0), Ok(()));
        assert_eq!(walk.visit("https://a/1", 1), Ok(()));
        assert_eq!(walk.visit("https://a/", 2), Err(SitemapSkipReason::AlreadyVisited));
        assert_eq!(walk.visit("https://a/2", 3), Err(SitemapSkipReason::TooDeep(2)));
        assert_eq!(walk.visit("https://a/2", 2), Ok(()));
        assert_eq!(walk.visit("https://a/3", 1), Err(SitemapSkipReason::TooMany(3)));
        assert_eq!(walk.visit("https://a/1", 1), Err(SitemapSkipReason::AlreadyVisited));
        assert_eq!(walk.visited_count(), 3);
    }
}
