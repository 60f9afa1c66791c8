//! Sources: new, stored, and changes to their settings.

use crate::error::StoreError;
use crate::outcome::SourceState;

/// Bits of the column `schedule.flags`.
pub(crate) const PAUSED: i64 = 1;
pub(crate) const OBSERVED: i64 = 2;
/// The source is fetched to read a signal source, and is no page.
pub(crate) const SIGNAL_SOURCE: i64 = 4;
/// Separates tags in the columns `tags`.
pub(crate) const TAG_SEPARATOR: char = '\n';

/// Stored source.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Id: counted from 0 without gaps, never reused.
    pub id: u32,
    /// URL to fetch.
    pub url: String,
    /// Id of its host.
    pub host: u32,
    /// Importance; 1 by default.
    pub importance: f64,
    /// Cost of a fetch; 1 by default.
    pub cost: f64,
    /// Minimum time between fetches, in days; 0 by default.
    pub min_interval: f64,
    /// Maximum time between fetches, in days; infinite by default.
    pub max_interval: f64,
    /// True if the source is paused.
    pub paused: bool,
    /// True if all its changes are reported by signals.
    pub observed: bool,
    /// True if it is fetched to read a signal source, and is no page.
    pub is_signal_source: bool,
    /// Tags.
    pub tags: Vec<String>,
    /// Extraction settings, opaque to the store.
    pub settings: String,
    /// Freshness goal, opaque to the store.
    pub goal: String,
    /// Time at which it was added.
    pub added_at: i64,
    /// State after the last fetch.
    pub state: SourceState,
    /// Time of the last fetch that returned or confirmed the copy.
    pub fetched_at: Option<i64>,
    /// Time of the last fetch, successful or not.
    pub attempted_at: Option<i64>,
    /// Time of the last fetch that found a change.
    pub changed_at: Option<i64>,
    /// Time at which the next fetch is due.
    pub due_at: Option<i64>,
    /// Number of fetches.
    pub fetches: u64,
    /// Number of failed fetches since the last successful one.
    pub failures: u32,
    /// Number of the newest version; 0 if there is none.
    pub version: u32,
}

/// Changes to the settings of a source. A field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourcePatch {
    /// Importance.
    pub importance: Option<f64>,
    /// Cost of a fetch.
    pub cost: Option<f64>,
    /// Minimum time between fetches, in days; 0 for none.
    pub min_interval: Option<f64>,
    /// Maximum time between fetches, in days; infinite for none.
    pub max_interval: Option<f64>,
    /// True if the source is paused.
    pub paused: Option<bool>,
    /// True if all its changes are reported by signals.
    pub observed: Option<bool>,
    /// Tags, replacing the present ones.
    pub tags: Option<Vec<String>>,
    /// Extraction settings; empty for the default.
    pub settings: Option<String>,
    /// Freshness goal; empty for the default.
    pub goal: Option<String>,
}

/// A source to add, or to update if it exists.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSource {
    /// URL to fetch: unique among sources.
    pub url: String,
    /// Name of the host whose rate limits apply.
    pub host: String,
    /// Time of the addition.
    pub added_at: i64,
    /// Settings.
    pub patch: SourcePatch,
    /// Prior belief of the engine before the first fetch, opaque to the store; empty if there is none. Ignored if the
    /// source already exists.
    pub learned: Vec<u8>,
}

impl NewSource {
    /// Creates a source with default settings.
    pub fn new(url: impl Into<String>, host: impl Into<String>, added_at: i64) -> Self {
        let (url, host) = (url.into(), host.into());
        Self { url, host, added_at, patch: SourcePatch::default(), learned: Vec::new() }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let required = [("url", &self.url), ("host", &self.host)];
        if let Some((field, _)) = required.iter().find(|(_, text)| text.is_empty()) {
            return Err(invalid(&self.url, field, "empty"));
        }
        self.patch.check(&self.url)
    }
}

impl SourcePatch {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses values that no calculation can use. `url` is for the message.
    pub(crate) fn check(&self, url: &str) -> Result<(), StoreError> {
        let finite = |value: f64| value.is_finite() && value >= 0.0;
        let numbers = [
            ("importance", self.importance, finite(self.importance.unwrap_or(0.0))),
            ("cost", self.cost, finite(self.cost.unwrap_or(1.0)) && self.cost != Some(0.0)),
            ("min_interval", self.min_interval, finite(self.min_interval.unwrap_or(0.0))),
            ("max_interval", self.max_interval, self.max_interval.is_none_or(|days| days > 0.0)),
        ];
        for (field, value, is_valid) in numbers {
            if !is_valid {
                return Err(invalid(url, field, &value.unwrap_or(f64::NAN).to_string()));
            }
        }
        let is_invalid = |tag: &&String| tag.is_empty() || tag.contains(TAG_SEPARATOR);
        match self.tags.iter().flatten().find(is_invalid) {
            Some(tag) => Err(invalid(url, "tags", &format!("{tag:?}"))),
            None => Ok(()),
        }
    }

    /// Returns the mask of the flags to set, and their values.
    pub(crate) fn flags(&self) -> (i64, i64) {
        let bit = |value: Option<bool>, bit: i64| match value {
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

/// Formats tags for a column: sorted, without duplicates.
pub(crate) fn join_tags(tags: &[String]) -> String {
    let mut sorted: Vec<&str> = tags.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.join("\n")
}

pub(crate) fn split_tags(text: &str) -> Vec<String> {
    text.split(TAG_SEPARATOR).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
