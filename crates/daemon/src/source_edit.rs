//! Edits to sources, with or without a daemon.

use freshet_engine::LearnedState;
use freshet_fetch::InvalidRequest;
use freshet_store::{AddResult, NewSource, SourcePatch, SourceQuery, Store, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::{Millis, days_from_millis};
use crate::duration_text::format_days;
use crate::fetch_context::parse_source_url;
use crate::goal::parse_goal;
use crate::host_filter::{InvalidHost, parse_host_filter};

/// Sources per page.
const PAGE_SIZE: usize = 10_000;

/// An edit to sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceEdit {
    /// Add sources; existing ones get the given settings.
    Add(Vec<NewSourceRequest>),
    /// Change the settings of existing sources.
    #[serde(rename = "change")]
    Update(SourceSelector, Box<SourceSettings>),
    /// Remove sources.
    Remove(SourceSelector),
}

/// Selects sources by URL, tag, host or id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceSelector {
    /// These URLs.
    pub urls: Vec<String>,
    /// All sources with this tag.
    pub tag: Option<String>,
    /// All sources of this host.
    pub host: Option<String>,
    /// These ids; unknown ones are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<u32>,
}

/// A source to add.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSourceRequest {
    /// URL to fetch.
    pub url: String,
    /// Settings of the source.
    #[serde(default, skip_serializing_if = "SourceSettings::is_empty")]
    pub settings: SourceSettings,
}

/// Settings of a source as a user gives them. `None` keeps the value of an existing source and
/// means the default for a new one.
///
/// Unlike [`SourcePatch`], which the store applies, they are not validated yet and include the
/// prior `change_rate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSettings {
    /// Expected changes per day, a prior until the first fetch. Ignored if the source already
    /// exists.
    pub change_rate: Option<f64>,
    /// True if every change of the source is announced.
    pub observed: Option<bool>,
    /// Importance weight.
    pub importance: Option<f64>,
    /// Cost of a fetch, in units of the budget.
    pub cost: Option<f64>,
    /// Minimum days between two fetches; 0 for no limit.
    pub min_interval: Option<f64>,
    /// Days after which it is fetched whatever the value; infinite or 0 for no limit.
    pub max_interval: Option<f64>,
    /// True to pause fetching.
    pub paused: Option<bool>,
    /// Tags.
    pub tags: Option<Vec<String>>,
    /// Change detection settings, as JSON.
    #[serde(rename = "settings")]
    pub detect_settings: Option<String>,
    /// Objective of its copy.
    pub goal: Option<String>,
}

/// Result of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditResult {
    /// Number of sources created.
    #[serde(rename = "new")]
    pub created: u64,
    /// Number of existing sources updated.
    #[serde(rename = "known")]
    pub updated: u64,
    /// Number of sources removed.
    pub removed: u64,
    /// URLs that are not sources.
    #[serde(rename = "unknown")]
    pub unknown_urls: Vec<String>,
    /// Result for each added source, in order. Not sent over the control socket.
    #[serde(skip)]
    pub add_results: Vec<AddResult>,
    #[serde(skip)]
    pub(crate) updated_ids: Vec<u32>,
    #[serde(skip)]
    pub(crate) removed_ids: Vec<u32>,
}

/// Failure of an edit.
#[derive(Debug, Error)]
pub enum EditError {
    /// Invalid URL.
    #[error("{0}")]
    Url(#[from] InvalidRequest),
    /// Invalid setting.
    #[error("{url}: {reason}")]
    InvalidSetting {
        /// URL of the source.
        url: String,
        /// Field name.
        field: &'static str,
        /// Value and reason.
        reason: String,
    },
    /// Invalid host name.
    #[error("{0}")]
    Host(#[from] InvalidHost),
    /// The daemon has stopped.
    #[error("the daemon has stopped")]
    Stopped,
    /// Store error.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Weight of an expected change rate, in observed changes.
const EXPECTED_CHANGES: f64 = 2.0;
/// Observation time in days that an expected rate of nearly 0 stands for.
const MAX_EXPECTED_DAYS: f64 = 1000.0;

impl SourceSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the engine's prior for the expected rate; empty without one.
    fn initial_state(&self, now: Millis) -> Vec<u8> {
        let Some(rate) = self.change_rate else { return Vec::new() };
        let (changes, time) = if rate > EXPECTED_CHANGES / MAX_EXPECTED_DAYS {
            (EXPECTED_CHANGES, EXPECTED_CHANGES / rate)
        } else {
            (rate * MAX_EXPECTED_DAYS, MAX_EXPECTED_DAYS)
        };
        LearnedState::with_expected_changes(days_from_millis(now), changes, time).to_bytes()
    }

    fn validate(&self, url: &str) -> Result<SourcePatch, EditError> {
        let refuse = |field, reason: String| EditError::InvalidSetting {
            url: url.to_owned(),
            field,
            reason,
        };
        if let Some(text) = self.goal.as_deref().filter(|text| !text.is_empty()) {
            parse_goal(text).map_err(|error| refuse("objective", format!("objective: {error}")))?;
        }
        if let Some(text) = self.detect_settings.as_deref().filter(|text| !text.is_empty()) {
            let raw: freshet_detect::RawDetectSettings =
                serde_json::from_str(text).map_err(|error| {
                    refuse("detect", format!("invalid detection settings: {error}"))
                })?;
            let layer = freshet_detect::SettingsLayer { name: url, settings: &raw };
            freshet_detect::DetectSettings::resolve(&[layer])
                .map_err(|error| refuse("detect", error.to_string()))?;
        }
        if let Some(rate) = self.change_rate.filter(|rate| !(0.0..=1e30).contains(rate)) {
            let reason = format!("change rate: `{rate}` is not a number of changes per day");
            return Err(refuse("change_rate", reason));
        }
        let max_interval =
            self.max_interval.map(|days| if days > 0.0 { days } else { f64::INFINITY });
        if let (Some(min), Some(max)) = (self.min_interval, max_interval)
            && min > max
        {
            let (min, max) = (format_days(min), format_days(max));
            let reason = format!("min_interval is longer than max_interval: {min} > {max}");
            return Err(refuse("min_interval", reason));
        }
        Ok(SourcePatch {
            importance: self.importance,
            cost: self.cost,
            min_interval: self.min_interval,
            max_interval,
            paused: self.paused,
            observed: self.observed,
            tags: self.tags.clone(),
            settings: self.detect_settings.clone(),
            goal: self.goal.clone(),
        })
    }
}

impl NewSourceRequest {
    /// Creates a request with default settings.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), settings: SourceSettings::default() }
    }

    /// Validates the request and converts it for the store.
    ///
    /// # Errors
    /// Returns [`EditError`] if the URL or a setting is invalid.
    pub fn to_new_source(&self, now: Millis) -> Result<NewSource, EditError> {
        let (url, host) = parse_source_url(&self.url)?;
        let mut source = NewSource::new(url, host, now);
        if !self.settings.is_empty() {
            source.patch = self.settings.validate(&self.url)?;
            source.learned = self.settings.initial_state(now);
        }
        Ok(source)
    }
}

/// Applies an edit to the store.
///
/// # Errors
/// Returns [`EditError`] if the edit is invalid or the store rejects it; nothing has changed then.
pub fn apply_edit(
    store: &mut Store,
    edit: &SourceEdit,
    now: Millis,
) -> Result<EditResult, EditError> {
    let mut result = EditResult::default();
    match edit {
        SourceEdit::Add(requests) => {
            let sources =
                requests.iter().map(|it| it.to_new_source(now)).collect::<Result<Vec<_>, _>>()?;
            for added in store.add_sources(&sources)? {
                if added.is_new {
                    result.created += 1;
                } else {
                    result.updated += 1;
                }
                result.updated_ids.push(added.id);
                result.add_results.push(added);
            }
        }
        SourceEdit::Update(selector, settings) => {
            let patch =
                settings.validate(selector.urls.first().map_or("selected sources", |url| url))?;
            result.updated_ids = selector.find_ids(store, &mut result.unknown_urls)?;
            store.update_sources(&result.updated_ids, &patch)?;
            result.updated = result.updated_ids.len() as u64;
        }
        SourceEdit::Remove(selector) => {
            result.removed_ids = selector.find_ids(store, &mut result.unknown_urls)?;
            store.remove_sources(&result.removed_ids)?;
            result.removed = result.removed_ids.len() as u64;
        }
    }
    Ok(result)
}

impl SourceSelector {
    fn find_ids(&self, store: &Store, unknown: &mut Vec<String>) -> Result<Vec<u32>, EditError> {
        let mut ids = Vec::new();
        for url in &self.urls {
            let canonical = parse_source_url(url).map_or_else(|_| url.clone(), |(url, _)| url);
            match store.find_source(&canonical)? {
                Some(id) => ids.push(id),
                None => unknown.push(url.clone()),
            }
        }
        for &id in &self.ids {
            // Sitemaps and feeds are not pages.
            if store.source(id)?.is_some_and(|it| !it.is_signal_source) {
                ids.push(id);
            }
        }
        if self.tag.is_some() || self.host.is_some() {
            let mut query =
                SourceQuery { tag: self.tag.clone(), limit: PAGE_SIZE, ..SourceQuery::default() };
            if let Some(name) = &self.host {
                let filter = parse_host_filter(name)?;
                query.url_prefix = filter.url_prefix;
                query.hosts = store.find_hosts(&filter)?.iter().map(|host| host.id).collect();
                if query.hosts.is_empty() {
                    return Ok(ids);
                }
            }
            loop {
                let page = store.list_sources(&query)?;
                ids.extend(page.sources.iter().map(|source| source.id));
                query.after = page.next_after;
                if query.after.is_none() {
                    break;
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}
