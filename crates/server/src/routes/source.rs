//! A source as clients see it, and as they describe it.

use std::collections::HashMap;

use freshet_daemon::SourceSettings;
use freshet_notify::rfc3339;
use freshet_store::{Reader, Source, SourceState, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;

const DAY: f64 = 86_400.0;
/// Bytes of a URL and of a tag, and tags of a source, at most.
const LONGEST_URL: usize = 8192;
const LONGEST_TAG: usize = 200;
const MOST_TAGS: usize = 100;

/// A source.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(crate) struct SourceView {
    /// Its number. It is never used again.
    pub(crate) id: u32,
    /// What is fetched.
    pub(crate) url: String,
    /// The host whose politeness it shares.
    pub(crate) host: String,
    /// How much it matters.
    pub(crate) importance: f64,
    /// What a fetch takes from the budget.
    pub(crate) cost: f64,
    /// Seconds that must lie between two fetches; 0 for no limit.
    pub(crate) min_interval: f64,
    /// Seconds after which it is fetched whatever it is worth; 0 for no limit.
    pub(crate) max_interval: f64,
    /// Whether it is left alone for the time being.
    pub(crate) paused: bool,
    /// Whether somebody announces all its changes.
    pub(crate) observed: bool,
    /// Names to find it by.
    pub(crate) tags: Vec<String>,
    /// What counts of it, where that is not as usual.
    #[schema(value_type = Option<Object>)]
    pub(crate) detect: Option<serde_json::Value>,
    /// What its copy is to be good for, where that is not as usual.
    pub(crate) objective: Option<String>,
    /// When it was added (RFC 3339, UTC).
    pub(crate) added: String,
    /// What the last fetch made of it.
    pub(crate) state: WireSourceState,
    /// When the copy was last made or confirmed.
    pub(crate) fetched: Option<String>,
    /// When it was last tried.
    pub(crate) tried: Option<String>,
    /// When it was last seen to have changed.
    pub(crate) changed: Option<String>,
    /// When it is due, as far as that is known.
    pub(crate) due: Option<String>,
    /// Fetches so far.
    pub(crate) fetches: u64,
    /// Fetches that failed since the last good one.
    pub(crate) failures: u32,
    /// The number of the newest version; 0 if there is none.
    pub(crate) version: u32,
    /// The number of the signal source that is heard by reading it: then it is no page, and no list of
    /// sources has it.
    pub(crate) signal_source: Option<u32>,
}

/// What the last fetch made of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SourceState)]
pub(crate) enum WireSourceState {
    /// Never fetched.
    New,
    /// The last fetch brought a copy, or confirmed it.
    Good,
    /// The last fetch failed.
    Failing,
    /// It does not exist any more.
    Gone,
    /// Its host does not want it fetched.
    Disallowed,
}

impl From<SourceState> for WireSourceState {
    fn from(state: SourceState) -> Self {
        match state {
            SourceState::New => Self::New,
            SourceState::Good => Self::Good,
            SourceState::Failing => Self::Failing,
            SourceState::Gone => Self::Gone,
            SourceState::Disallowed => Self::Disallowed,
        }
    }
}

impl From<WireSourceState> for SourceState {
    fn from(state: WireSourceState) -> Self {
        match state {
            WireSourceState::New => Self::New,
            WireSourceState::Good => Self::Good,
            WireSourceState::Failing => Self::Failing,
            WireSourceState::Gone => Self::Gone,
            WireSourceState::Disallowed => Self::Disallowed,
        }
    }
}

impl SourceView {
    /// Sources with the names of their hosts.
    pub(crate) fn all(reader: &Reader, sources: Vec<Source>) -> Result<Vec<Self>, StoreError> {
        let mut names: HashMap<u32, String> = HashMap::new();
        let mut all = Vec::with_capacity(sources.len());
        for source in sources {
            let host = match names.get(&source.host) {
                Some(name) => name.clone(),
                None => {
                    let name = reader.host(source.host)?.map(|it| it.name).unwrap_or_default();
                    names.insert(source.host, name.clone());
                    name
                }
            };
            let herald = match source.is_signal_source {
                true => reader.signal_source_at(source.id)?.map(|it| it.id),
                false => None,
            };
            all.push(Self { signal_source: herald, ..Self::of(source, host) });
        }
        Ok(all)
    }

    /// The source with a number, if there is one.
    pub(crate) fn find(reader: &Reader, id: u32) -> Result<Option<Self>, StoreError> {
        let found = reader.source(id)?.into_iter().collect();
        Ok(Self::all(reader, found)?.pop())
    }

    fn of(it: Source, host: String) -> Self {
        let interval = |days: f64| if days.is_finite() { days * DAY } else { 0.0 };
        Self {
            id: it.id,
            url: it.url,
            host,
            importance: it.importance,
            cost: it.cost,
            min_interval: interval(it.min_interval),
            max_interval: interval(it.max_interval),
            paused: it.paused,
            observed: it.observed,
            tags: it.tags,
            detect: serde_json::from_str(&it.settings).ok(),
            objective: Some(it.goal).filter(|goal| !goal.is_empty()),
            added: rfc3339(it.added_at),
            state: it.state.into(),
            fetched: it.fetched_at.map(rfc3339),
            tried: it.attempted_at.map(rfc3339),
            changed: it.changed_at.map(rfc3339),
            due: it.due_at.map(rfc3339),
            fetches: it.fetches,
            failures: it.failures,
            version: it.version,
            signal_source: None,
        }
    }
}

/// What is said of a source. What is left out stays as it is.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SourceSettingsView {
    /// How much it matters: 1 unless said.
    #[schema(minimum = 0.0, maximum = 1e12)]
    pub(crate) importance: Option<f64>,
    /// What a fetch takes from the budget: 1 unless said.
    #[schema(minimum = 1e-6, maximum = 1e6)]
    pub(crate) cost: Option<f64>,
    /// Seconds that must lie between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) min_interval: Option<f64>,
    /// Seconds after which it is fetched whatever it is worth; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) max_interval: Option<f64>,
    /// Whether it is left alone for the time being.
    pub(crate) paused: Option<bool>,
    /// Whether somebody announces all its changes, with `POST /v1/signals`.
    pub(crate) observed: Option<bool>,
    /// Names to find it by. They replace those before.
    #[schema(max_items = 100)]
    pub(crate) tags: Option<Vec<String>>,
    /// What counts of it: the settings under `[detect]` in freshet.toml. `{}` for nothing special.
    #[schema(value_type = Option<Object>)]
    pub(crate) detect: Option<serde_json::Map<String, serde_json::Value>>,
    /// What its copy is to be good for: `harmonic`, `freshness`, `age`, `capture …`; empty for as usual.
    pub(crate) objective: Option<String>,
    /// Changes a day that are expected before the first fetch. Of a source that is known it says nothing.
    #[schema(minimum = 0.0, maximum = 1e6)]
    pub(crate) change_rate: Option<f64>,
}

impl SourceSettingsView {
    /// As the daemon takes it.
    pub(crate) fn given(self) -> Result<SourceSettings, Problem> {
        within("importance", self.importance, 0.0, 1e12)?;
        within("cost", self.cost, 1e-6, 1e6)?;
        within("min_interval", self.min_interval, 0.0, 1e10)?;
        within("max_interval", self.max_interval, 0.0, 1e10)?;
        within("change_rate", self.change_rate, 0.0, 1e6)?;
        if let Some(tags) = &self.tags {
            check_tags(tags)?;
        }
        let settings = self.detect.map(|detect| match detect.is_empty() {
            true => String::new(),
            false => serde_json::Value::Object(detect).to_string(),
        });
        Ok(SourceSettings {
            change_rate: self.change_rate,
            observed: self.observed,
            importance: self.importance,
            cost: self.cost,
            min_interval: self.min_interval.map(|seconds| seconds / DAY),
            max_interval: self.max_interval.map(|seconds| seconds / DAY),
            paused: self.paused,
            tags: self.tags,
            settings,
            goal: self.objective,
        })
    }
}

fn within(field: &str, said: Option<f64>, least: f64, most: f64) -> Result<(), Problem> {
    match said.filter(|said| !(least..=most).contains(said)) {
        None => Ok(()),
        Some(said) => Err(Problem::field(field, format!("{said} is not from {least} to {most}"))),
    }
}

pub(crate) fn check_tags(tags: &[String]) -> Result<(), Problem> {
    if tags.len() > MOST_TAGS {
        return Err(Problem::field(
            "tags",
            format!("{} tags, not {MOST_TAGS} or less", tags.len()),
        ));
    }
    for (at, tag) in tags.iter().enumerate() {
        let is_odd = tag.is_empty() || tag.len() > LONGEST_TAG || tag.contains(char::is_control);
        if is_odd {
            let detail = format!("a tag is one line of 1 to {LONGEST_TAG} bytes");
            return Err(Problem::field(format!("tags[{at}]"), detail));
        }
    }
    Ok(())
}

/// Refuses what is too long to be kept.
pub(crate) fn check_url(url: &str) -> Result<(), Problem> {
    if url.len() > LONGEST_URL {
        let detail = format!("{} bytes, not {LONGEST_URL} or less", url.len());
        return Err(Problem::field("url", detail));
    }
    Ok(())
}
