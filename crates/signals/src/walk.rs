//! Which parts of an index of sitemaps are read.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

/// How far an index is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// How deep: the document that one begins with is at 0, its parts are at 1.
    pub depth: u32,
    /// Documents at most.
    pub parts: usize,
}

impl Default for WalkLimits {
    /// An index may be in an index, which the protocol forbids and people publish.
    fn default() -> Self {
        Self { depth: 2, parts: 50_000 }
    }
}

/// Why a part is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has been read in this walk: it is named twice, or the indexes go in a circle.
    #[error("it has been read already: the index names it twice, or leads back to it")]
    Again,
    /// It is an index in an index in an index.
    #[error("it is more than {0} levels below the first index")]
    TooDeep(u32),
    /// The index has too many parts.
    #[error("the index has more than {0} parts")]
    TooMany(usize),
}

impl Refused {
    /// Its name, which never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Again => "again",
            Self::TooDeep(_) => "too-deep",
            Self::TooMany(_) => "too-many",
        }
    }
}

/// A walk over an index of sitemaps and its parts: what was read is not read again, so that it ends.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    limits: WalkLimits,
    /// Digests of URLs: eight bytes for each.
    read: HashSet<u64>,
}

impl Walk {
    /// A walk that has not begun.
    #[must_use]
    pub fn new(limits: WalkLimits) -> Self {
        Self { limits, read: HashSet::new() }
    }

    /// Asks whether to read the document at `url`, which is `depth` steps from the first, and
    /// remembers that it is read.
    ///
    /// # Errors
    /// If it is not to be read.
    pub fn enter(&mut self, url: &str, depth: u32) -> Result<(), Refused> {
        if depth > self.limits.depth {
            return Err(Refused::TooDeep(self.limits.depth));
        }
        let digest = xxh3_64(url.as_bytes());
        if self.read.contains(&digest) {
            return Err(Refused::Again);
        }
        if self.read.len() >= self.limits.parts {
            return Err(Refused::TooMany(self.limits.parts));
        }
        self.read.insert(digest);
        Ok(())
    }

    /// Documents that were entered.
    #[must_use]
    pub fn entered(&self) -> usize {
        self.read.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_ends() {
        let mut walk = Walk::new(WalkLimits { depth: 2, parts: 3 });
        assert_eq!(walk.enter("https://a/", 0), Ok(()));
        assert_eq!(walk.enter("https://a/1", 1), Ok(()));
        assert_eq!(walk.enter("https://a/", 2), Err(Refused::Again));
        assert_eq!(walk.enter("https://a/2", 3), Err(Refused::TooDeep(2)));
        assert_eq!(walk.enter("https://a/2", 2), Ok(()));
        assert_eq!(walk.enter("https://a/3", 1), Err(Refused::TooMany(3)));
        assert_eq!(walk.enter("https://a/1", 1), Err(Refused::Again));
        assert_eq!(walk.entered(), 3);
    }
}
