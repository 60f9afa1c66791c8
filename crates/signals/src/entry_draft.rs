//! Entry under construction.

use url::Url;
use xxhash_rust::xxh3::Xxh3;

use crate::entry::EntryTarget;
use crate::entry_url::MAX_URL_LEN;
use crate::published_date::PublishedDate;

/// Entry under construction.
pub(crate) struct EntryDraft {
    pub(crate) target: EntryTarget,
    /// Best address so far, as written.
    pub(crate) address: BoundedText,
    rank: AddressRank,
    /// Base URL of the address, if it is not that of the document.
    pub(crate) base: Option<Url>,
    pub(crate) updated: Option<PublishedDate>,
    pub(crate) published: Option<PublishedDate>,
    /// True if the entry has a date, whether or not it could be parsed.
    pub(crate) has_date: bool,
    hash: Xxh3,
}

/// Origin of an address, least preferred first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressRank {
    /// No address yet.
    None,
    /// ID that may be an address.
    Id,
    /// Attribute of the entry.
    About,
    /// Link of the entry.
    Link,
    /// Original link, preserved by an intermediary service.
    Original,
}

impl EntryDraft {
    pub(crate) fn new() -> Self {
        Self {
            target: EntryTarget::Page,
            address: BoundedText::default(),
            rank: AddressRank::None,
            base: None,
            updated: None,
            published: None,
            has_date: false,
            hash: Xxh3::new(),
        }
    }

    pub(crate) fn reset(&mut self, target: EntryTarget) {
        self.target = target;
        self.address.clear();
        self.rank = AddressRank::None;
        self.base = None;
        (self.updated, self.published, self.has_date) = (None, None, false);
        self.hash.reset();
    }

    /// Sets the address, unless there is one of at least the same rank.
    pub(crate) fn offer_address(
        &mut self,
        rank: AddressRank,
        address: &BoundedText,
        base: Option<&Url>,
    ) {
        if rank > self.rank && !address.as_str().is_empty() {
            self.rank = rank;
            self.address.clone_from(address);
            self.base = base.cloned();
        }
    }

    /// Adds text to the fingerprint.
    pub(crate) fn hash_text(&mut self, text: &str) {
        self.hash.update(text.as_bytes());
    }

    /// Adds a complete field with its name to the fingerprint.
    pub(crate) fn hash_field(&mut self, name: u8, text: &str) {
        self.hash.update(&[0xff, name]);
        self.hash.update(text.trim().as_bytes());
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.hash.digest()
    }
}

/// Text that is truncated at twice the maximum length of an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundedText(String);

impl BoundedText {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn push(&mut self, text: &str) {
        // Leading white space does not count, however long.
        let text = if self.0.is_empty() { text.trim_start() } else { text };
        let remaining = (2 * MAX_URL_LEN).saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(remaining)]);
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.trim_end()
    }

    pub(crate) fn from_text(text: &str) -> Self {
        let mut run = Self::default();
        run.push(text);
        run
    }
}
