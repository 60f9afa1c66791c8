//! Sources as they are described, and as they are kept.

use crate::error::StoreError;
use crate::outcome::SourceState;

/// Bits of the column `flags`.
pub(crate) const PAUSED: i64 = 1;
pub(crate) const OBSERVED: i64 = 2;
/// It is read to hear a herald, and no page.
pub(crate) const SIGNAL_SOURCE: i64 = 4;
/// Stands between tags in the columns `tags`.
pub(crate) const TAG_SEPARATOR: char = '\n';

/// A source as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its number: from 0 on without gaps, never used again.
    pub id: u32,
    /// What is fetched.
    pub url: String,
    /// The number of its host.
    pub host: u32,
    /// How much it counts. 1 unless given.
    pub importance: f64,
    /// What a fetch costs. 1 unless given.
    pub cost: f64,
    /// The shortest time between fetches, in days. 0 unless given.
    pub min_interval: f64,
    /// The longest time between fetches, in days. Infinite unless given.
    pub max_interval: f64,
    /// Whether it is left alone for now.
    pub paused: bool,
    /// Whether its changes are announced.
    pub observed: bool,
    /// Whether it is read to hear a herald, and is no page.
    pub is_signal_source: bool,
    /// Names to find it by.
    pub tags: Vec<String>,
    /// How it is read, as a text that the store does not look into.
    pub settings: String,
    /// What is wanted of it, as a text that the store does not look into.
    pub goal: String,
    /// When it was added.
    pub added_at: i64,
    /// What the last fetch made of it.
    pub state: SourceState,
    /// When the copy was last made or confirmed.
    pub fetched_at: Option<i64>,
    /// When it was last tried.
    pub attempted_at: Option<i64>,
    /// When it was last seen to have changed.
    pub changed_at: Option<i64>,
    /// When it is to be fetched next.
    pub due_at: Option<i64>,
    /// Fetches so far.
    pub fetches: u64,
    /// Fetches that failed since the last good one.
    pub failures: u32,
    /// The number of the newest version; 0 if there is none.
    pub version: u32,
}

/// What is given anew of a source. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourcePatch {
    /// How much it counts.
    pub importance: Option<f64>,
    /// What a fetch costs.
    pub cost: Option<f64>,
    /// The shortest time between fetches, in days; 0 for none.
    pub min_interval: Option<f64>,
    /// The longest time between fetches, in days; infinite for none.
    pub max_interval: Option<f64>,
    /// Whether it is left alone for now.
    pub paused: Option<bool>,
    /// Whether its changes are announced.
    pub observed: Option<bool>,
    /// Names to find it by. They replace those before.
    pub tags: Option<Vec<String>>,
    /// How it is read; empty for nothing special.
    pub settings: Option<String>,
    /// What is wanted of it; empty for nothing special.
    pub goal: Option<String>,
}

/// A source to be added, or described anew if it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSource {
    /// What is fetched. It tells sources apart.
    pub url: String,
    /// The name of the host whose politeness it shares.
    pub host: String,
    /// When it is added.
    pub added_at: i64,
    /// What is given of it.
    pub patch: SourcePatch,
    /// What is expected of it before its first fetch, as bytes that the store does not look into; empty
    /// if nothing. It is left out if the source is known.
    pub learned: Vec<u8>,
}

impl NewSource {
    /// A source of which nothing else is given.
    pub fn new(url: impl Into<String>, host: impl Into<String>, added: i64) -> Self {
        let (url, host) = (url.into(), host.into());
        Self { url, host, added_at: added, patch: SourcePatch::default(), learned: Vec::new() }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let named = [("url", &self.url), ("host", &self.host)];
        if let Some((field, _)) = named.iter().find(|(_, text)| text.is_empty()) {
            return Err(invalid(&self.url, field, "empty"));
        }
        self.patch.check(&self.url)
    }
}

impl SourcePatch {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses what no calculation could use. `whose` is for the message.
    pub(crate) fn check(&self, whose: &str) -> Result<(), StoreError> {
        let finite = |value: f64| value.is_finite() && value >= 0.0;
        let numbers = [
            ("importance", self.importance, finite(self.importance.unwrap_or(0.0))),
            ("cost", self.cost, finite(self.cost.unwrap_or(1.0)) && self.cost != Some(0.0)),
            ("min_interval", self.min_interval, finite(self.min_interval.unwrap_or(0.0))),
            ("max_interval", self.max_interval, self.max_interval.is_none_or(|days| days > 0.0)),
        ];
        for (field, value, good) in numbers {
            if !good {
                return Err(invalid(whose, field, &value.unwrap_or(f64::NAN).to_string()));
            }
        }
        let odd = |tag: &&String| tag.is_empty() || tag.contains(TAG_SEPARATOR);
        match self.tags.iter().flatten().find(odd) {
            Some(tag) => Err(invalid(whose, "tags", &format!("{tag:?}"))),
            None => Ok(()),
        }
    }

    /// The bits that are given, and their values.
    pub(crate) fn flags(&self) -> (i64, i64) {
        let bit = |given: Option<bool>, bit: i64| match given {
            Some(set) => (bit, if set { bit } else { 0 }),
            None => (0, 0),
        };
        let (paused, observed) = (bit(self.paused, PAUSED), bit(self.observed, OBSERVED));
        (paused.0 | observed.0, paused.1 | observed.1)
    }
}

fn invalid(url: &str, field: &'static str, value: &str) -> StoreError {
    StoreError::InvalidValue { url: url.to_owned(), field, value: value.to_owned() }
}

/// Tags as they stand in a column: each once, in order.
pub(crate) fn join_tags(tags: &[String]) -> String {
    let mut sorted: Vec<&str> = tags.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.join("\n")
}

pub(crate) fn split_tags(text: &str) -> Vec<String> {
    text.split(TAG_SEPARATOR).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
