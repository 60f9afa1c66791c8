//! An entry while it is read.

use url::Url;
use xxhash_rust::xxh3::Xxh3;

use crate::address::LONGEST;
use crate::entry::Kind;
use crate::published_date::PublishedDate;

/// An entry while it is read.
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    /// The best address so far, as it is written.
    pub(crate) address: Run,
    rank: Rank,
    /// What the address is relative to, if not to the document.
    pub(crate) base: Option<Url>,
    pub(crate) updated: Option<PublishedDate>,
    pub(crate) published: Option<PublishedDate>,
    /// Whether it has a date at all, understood or not.
    pub(crate) dated: bool,
    hash: Xxh3,
}

/// Where an address stands: the last counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Nowhere.
    Nothing,
    /// In an id that may be an address.
    Id,
    /// In an attribute of the entry.
    About,
    /// Where it should.
    Link,
    /// Where a service between put the original.
    Original,
}

impl Draft {
    pub(crate) fn new() -> Self {
        Self {
            kind: Kind::Page,
            address: Run::default(),
            rank: Rank::Nothing,
            base: None,
            updated: None,
            published: None,
            dated: false,
            hash: Xxh3::new(),
        }
    }

    pub(crate) fn begin(&mut self, kind: Kind) {
        self.kind = kind;
        self.address.clear();
        self.rank = Rank::Nothing;
        self.base = None;
        (self.updated, self.published, self.dated) = (None, None, false);
        self.hash.reset();
    }

    /// Takes an address, unless there is one of at least the same rank.
    pub(crate) fn offer(&mut self, rank: Rank, address: &Run, base: Option<&Url>) {
        if rank > self.rank && !address.text().is_empty() {
            self.rank = rank;
            self.address.clone_from(address);
            self.base = base.cloned();
        }
    }

    /// Takes part of what the entry says.
    pub(crate) fn say(&mut self, text: &str) {
        self.hash.update(text.as_bytes());
    }

    /// Takes all of a part, which has a name.
    pub(crate) fn say_of(&mut self, name: u8, text: &str) {
        self.hash.update(&[0xff, name]);
        self.hash.update(text.trim().as_bytes());
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.hash.digest()
    }
}

/// A text that is kept as far as an address can be long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run(String);

impl Run {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn push(&mut self, text: &str) {
        // Space before it does not count, however long.
        let text = if self.0.is_empty() { text.trim_start() } else { text };
        let most = (2 * LONGEST).saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(most)]);
    }

    pub(crate) fn text(&self) -> &str {
        self.0.trim_end()
    }

    pub(crate) fn of(text: &str) -> Self {
        let mut run = Self::default();
        run.push(text);
        run
    }
}
