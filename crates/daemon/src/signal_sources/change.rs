//! Edits to signal sources.

use freshet_engine::SourceDescription;
use freshet_fetch::InvalidRequest;
use freshet_store::{
    AddSignalSourceResult, NewSignalSource, RemoveSignalSourcesResult, SignalSource,
    SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, SourcePatch, Store, StoreError,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::discovery_rule::DiscoveryRule;
use crate::clock::Millis;
use crate::config::SignalsConfig;
use crate::duration_text::format_days;
use crate::engine_loader::describe_source;
use crate::fetch_context::parse_source_url;

/// Signal sources per page.
const PAGE_SIZE: usize = 1_000;

/// A sitemap or feed to add.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewSignalSourceRequest {
    /// URL of the document.
    pub url: String,
    /// True to list it as a feed. The format is detected when it is read.
    #[serde(default, rename = "feed")]
    pub is_feed: bool,
    /// Rule for the pages it names.
    #[serde(default)]
    pub rule: DiscoveryRule,
    /// Further settings.
    #[serde(default, rename = "given")]
    pub patch: SignalSourcePatch,
}

/// Settings of a signal source to change; `None` keeps the present value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignalSourcePatch {
    /// Rule for the pages it names.
    pub rule: Option<DiscoveryRule>,
    /// True to pause reading.
    pub paused: Option<bool>,
    /// Minimum days between two reads.
    pub min_interval: Option<f64>,
    /// Days after which it is read whatever the value; infinite or 0 for no limit.
    pub max_interval: Option<f64>,
}

/// Failure to edit a signal source.
#[derive(Debug, Error)]
pub enum SignalSourceError {
    /// Invalid URL.
    #[error("{0}")]
    Url(#[from] InvalidRequest),
    /// Invalid setting.
    #[error("{field}: {reason}")]
    InvalidSetting {
        /// Field name.
        field: &'static str,
        /// Value and reason.
        reason: String,
    },
    /// No such signal source.
    #[error("there is no signal source {0}")]
    NotFound(u32),
    /// It is a child of an index and cannot be edited by itself.
    #[error("{name} is managed by its parent {parent}")]
    IsChild {
        /// URL of the child.
        name: String,
        /// URL of the parent.
        parent: String,
    },
    /// It is named elsewhere and would be added again.
    #[error("{name} is named in {managed_by} and would be added again")]
    ManagedElsewhere {
        /// URL of the signal source.
        name: String,
        /// The place that names it.
        managed_by: &'static str,
    },
    /// The daemon has stopped.
    #[error("the daemon has stopped")]
    Stopped,
    /// Store error.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl SignalSourceError {
    /// Returns a hint on how to fix the error, if any.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::IsChild { parent, .. } => Some(format!("change or remove {parent}")),
            Self::ManagedElsewhere { managed_by: "robots.txt", .. } => {
                Some("pause it, or set `robots = false` under `[signals]`".to_owned())
            }
            Self::ManagedElsewhere { .. } => {
                Some("remove it from the configuration and reload".to_owned())
            }
            Self::Store(error) => error.hint(),
            _ => None,
        }
    }
}

/// Changes of signal sources, applied together.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignalSourceChange {
    pub(crate) add: Vec<NewSignalSource>,
    pub(crate) rules: Vec<(u32, String)>,
    /// Patches by id of the source that is fetched.
    pub(crate) patches: Vec<(u32, SourcePatch)>,
    pub(crate) remove: Vec<u32>,
}

/// Result of a change, and what the engine needs to know about it.
#[derive(Debug, Default)]
pub(crate) struct SignalSourceChanges {
    pub(crate) added: Vec<AddSignalSourceResult>,
    /// New and updated signal sources, as stored.
    pub(crate) signal_sources: Vec<SignalSource>,
    pub(crate) described: Vec<SourceDescription>,
    pub(crate) removed: RemoveSignalSourcesResult,
}

impl SignalSourceChange {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { add, rules, patches, remove } = self;
        add.is_empty() && rules.is_empty() && patches.is_empty() && remove.is_empty()
    }

    /// Applies the change to the store.
    pub(crate) fn apply(&self, store: &mut Store) -> Result<SignalSourceChanges, StoreError> {
        let mut changed = SignalSourceChanges::default();
        if !self.remove.is_empty() {
            changed.removed = store.remove_signal_sources(&self.remove)?;
        }
        changed.added = store.add_signal_sources(&self.add)?;
        let mut sources: Vec<u32> = changed.added.iter().filter_map(|it| it.source).collect();
        let mut numbers: Vec<u32> = changed.added.iter().map(|it| it.id).collect();
        for (number, settings) in &self.rules {
            store.set_signal_source_settings(*number, settings)?;
            numbers.push(*number);
        }
        for (source, patch) in &self.patches {
            store.update_sources(&[*source], patch)?;
            sources.push(*source);
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            changed.signal_sources.extend(store.signal_source(number)?);
        }
        sources.sort_unstable();
        sources.dedup();
        store.load_schedule_for(&sources, |row| {
            // The engine has a more recent time of the last fetch.
            changed.described.push(SourceDescription { last_fetch: None, ..describe_source(&row) });
        })?;
        Ok(changed)
    }

    /// Returns the change that matches the store to the configuration: adds configured signal
    /// sources, removes those no longer configured, and removes those from robots.txt if `robots =
    /// false`.
    pub(crate) fn to_match_config(
        store: &freshet_store::Reader,
        signals: &SignalsConfig,
        now: Millis,
    ) -> Result<Self, SignalSourceError> {
        let mut change = Self::default();
        for it in &signals.signal_sources {
            let new = NewSignalSource {
                origin: SignalSourceOrigin::Config,
                ..it.to_new_signal_source(now)?
            };
            change.add.push(new);
        }
        for it in signal_sources_of_origin(store, SignalSourceOrigin::Config)? {
            let is_wanted = |new: &NewSignalSource| (new.kind, &new.name) == (it.kind, &it.name);
            if !change.add.iter().any(is_wanted) {
                change.remove.push(it.id);
            }
        }
        if !signals.robots_sitemaps {
            let named = signal_sources_of_origin(store, SignalSourceOrigin::Robots)?;
            change.remove.extend(named.iter().map(|it| it.id));
        }
        Ok(change)
    }
}

fn signal_sources_of_origin(
    store: &freshet_store::Reader,
    origin: SignalSourceOrigin,
) -> Result<Vec<SignalSource>, StoreError> {
    let mut query = SignalSourceQuery {
        origin: Some(origin),
        limit: PAGE_SIZE,
        ..SignalSourceQuery::default()
    };
    let mut all = Vec::new();
    loop {
        let page = store.signal_sources(&query)?;
        let Some(last) = page.last() else { return Ok(all) };
        query.after = Some(last.id);
        all.extend(page);
    }
}

impl SignalSourcePatch {
    fn validate(&self) -> Result<SourcePatch, SignalSourceError> {
        if let Some(rule) = &self.rule {
            rule.validate()
                .map_err(|(field, reason)| SignalSourceError::InvalidSetting { field, reason })?;
        }
        let max_interval =
            self.max_interval.map(|days| if days > 0.0 { days } else { f64::INFINITY });
        let is_time = |days: f64| days.is_finite() && days >= 0.0;
        if let Some(days) = self.min_interval.filter(|days| !is_time(*days)) {
            let reason = format!("`{days}` is not a number of days");
            return Err(SignalSourceError::InvalidSetting { field: "min_interval", reason });
        }
        if max_interval.is_some_and(f64::is_nan) {
            let reason = "not a number of days".to_owned();
            return Err(SignalSourceError::InvalidSetting { field: "max_interval", reason });
        }
        if let (Some(min), Some(max)) = (self.min_interval, max_interval)
            && min > max
        {
            let reason = format!(
                "min_interval is longer than max_interval: {} > {}",
                format_days(min),
                format_days(max)
            );
            return Err(SignalSourceError::InvalidSetting { field: "min_interval", reason });
        }
        let (min_interval, paused) = (self.min_interval, self.paused);
        Ok(SourcePatch { min_interval, max_interval, paused, ..SourcePatch::default() })
    }
}

impl NewSignalSourceRequest {
    /// Default minimum days between two reads.
    pub const MIN_INTERVAL: f64 = 5.0 / 1440.0;
    /// Default maximum days between two reads. A signal source that seems worthless is still read
    /// now and then, since it may have improved.
    pub const MAX_INTERVAL: f64 = 7.0;

    /// Creates a request for a sitemap with default settings.
    #[must_use]
    pub fn sitemap(url: impl Into<String>) -> Self {
        let (rule, patch) = (DiscoveryRule::default(), SignalSourcePatch::default());
        Self { url: url.into(), is_feed: false, rule, patch }
    }

    /// Creates a request for a feed with default settings.
    #[must_use]
    pub fn feed(url: impl Into<String>) -> Self {
        Self { is_feed: true, ..Self::sitemap(url) }
    }

    /// Validates the request and converts it for the store.
    pub(crate) fn to_new_signal_source(
        &self,
        now: Millis,
    ) -> Result<NewSignalSource, SignalSourceError> {
        let (url, host) = parse_source_url(&self.url)?;
        self.rule
            .validate()
            .map_err(|(field, reason)| SignalSourceError::InvalidSetting { field, reason })?;
        let settings_patch = self.patch.validate()?;
        let default_intervals = Some((Self::MIN_INTERVAL, Self::MAX_INTERVAL));
        let kind = if self.is_feed { SignalSourceKind::Feed } else { SignalSourceKind::Sitemap };
        let settings = self.rule.to_json();
        Ok(NewSignalSource {
            settings,
            settings_patch,
            default_intervals,
            ..NewSignalSource::new_polled(kind, url, host, now)
        })
    }
}

/// Returns the change that applies a patch to a signal source.
pub(crate) fn change_for_patch(
    signal_source: &SignalSource,
    patch: &SignalSourcePatch,
) -> Result<SignalSourceChange, SignalSourceError> {
    let source_patch = patch.validate()?;
    let mut change = SignalSourceChange::default();
    if let Some(rule) = &patch.rule {
        // Users cannot change the host restriction.
        let only_host = DiscoveryRule::from_signal_source(signal_source).only_host;
        change
            .rules
            .push((signal_source.id, DiscoveryRule { only_host, ..rule.clone() }.to_json()));
    }
    match signal_source.source {
        _ if source_patch == SourcePatch::default() => {}
        Some(source) => change.patches.push((source, source_patch)),
        None => {
            let reason = format!("{} is a push source, which is not read", signal_source.name);
            let field = if patch.paused.is_some() { "paused" } else { "min_interval" };
            return Err(SignalSourceError::InvalidSetting { field, reason });
        }
    }
    Ok(change)
}

/// Checks that a signal source can be removed by itself.
pub(crate) fn check_removable(
    signal_source: &SignalSource,
    parent: impl FnOnce(u32) -> Result<Option<SignalSource>, StoreError>,
) -> Result<(), SignalSourceError> {
    let name = signal_source.name.clone();
    match (signal_source.origin, signal_source.parent) {
        (_, Some(number)) => {
            let parent = parent(number)?.map_or_else(|| number.to_string(), |it| it.name);
            Err(SignalSourceError::IsChild { name, parent })
        }
        (SignalSourceOrigin::Robots, _) => {
            Err(SignalSourceError::ManagedElsewhere { name, managed_by: "robots.txt" })
        }
        (SignalSourceOrigin::Config, _) => {
            Err(SignalSourceError::ManagedElsewhere { name, managed_by: "the configuration" })
        }
        _ => Ok(()),
    }
}
