//! Sources in responses, and their settings in requests.

use std::collections::HashMap;

use freshet_daemon::SourceSettings;
use freshet_notify::rfc3339;
use freshet_store::{Reader, Source, SourceState, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;

const DAY: f64 = 86_400.0;
/// Maximum length of a URL and of a tag in bytes, and maximum number of tags of a source.
const MAX_URL_LEN: usize = 8192;
const MAX_TAG_LEN: usize = 200;
const MAX_TAGS: usize = 100;

/// A source.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(crate) struct SourceView {
    /// Id of the source. Ids are never reused.
    pub(crate) id: u32,
    /// URL to fetch.
    pub(crate) url: String,
    /// Host whose politeness limits apply.
    pub(crate) host: String,
    /// Importance.
    pub(crate) importance: f64,
    /// Cost of a fetch, in units of the budget.
    pub(crate) cost: f64,
    /// Minimum seconds between two fetches; 0 for no limit.
    pub(crate) min_interval: f64,
    /// Maximum seconds between two fetches; 0 for no limit.
    pub(crate) max_interval: f64,
    /// True if it is not fetched for now.
    pub(crate) paused: bool,
    /// True if every change is announced by a signal.
    pub(crate) observed: bool,
    /// Tags.
    pub(crate) tags: Vec<String>,
    /// Change detection settings that differ from the default.
    #[schema(value_type = Option<Object>)]
    pub(crate) detect: Option<serde_json::Value>,
    /// Objective, if it differs from the default.
    pub(crate) objective: Option<String>,
    /// Time at which it was added (RFC 3339, UTC).
    pub(crate) added: String,
    /// State after the last fetch.
    pub(crate) state: SourceStateView,
    /// Time of the last fetch that returned or confirmed the copy.
    pub(crate) fetched: Option<String>,
    /// Time of the last fetch attempt.
    pub(crate) tried: Option<String>,
    /// Time of the last detected change.
    pub(crate) changed: Option<String>,
    /// Time of the next fetch, if known.
    pub(crate) due: Option<String>,
    /// Number of fetches.
    pub(crate) fetches: u64,
    /// Failed fetches since the last successful one.
    pub(crate) failures: u32,
    /// Number of the newest version; 0 if there is none.
    pub(crate) version: u32,
    /// Number of the signal source that is read through this source. Such a source is not a page,
    /// and is not listed among the sources.
    pub(crate) signal_source: Option<u32>,
}

/// State of a source after the last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SourceState)]
pub(crate) enum SourceStateView {
    /// Never fetched.
    New,
    /// The last fetch returned or confirmed the copy.
    Good,
    /// The last fetch failed.
    Failing,
    /// It no longer exists.
    Gone,
    /// Its host forbids fetching it.
    Disallowed,
}

impl From<SourceState> for SourceStateView {
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

impl From<SourceStateView> for SourceState {
    fn from(state: SourceStateView) -> Self {
        match state {
            SourceStateView::New => Self::New,
            SourceStateView::Good => Self::Good,
            SourceStateView::Failing => Self::Failing,
            SourceStateView::Gone => Self::Gone,
            SourceStateView::Disallowed => Self::Disallowed,
        }
    }
}

impl SourceView {
    /// Builds the views of sources, with the names of their hosts.
    pub(crate) fn from_sources(
        reader: &Reader,
        sources: Vec<Source>,
    ) -> Result<Vec<Self>, StoreError> {
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
            let signal_source = match source.is_signal_source {
                true => reader.signal_source_of_source(source.id)?.map(|it| it.id),
                false => None,
            };
            all.push(Self { signal_source, ..Self::new(source, host) });
        }
        Ok(all)
    }

    /// Returns the view of a source, if the source exists.
    pub(crate) fn find(reader: &Reader, id: u32) -> Result<Option<Self>, StoreError> {
        let found = reader.source(id)?.into_iter().collect();
        Ok(Self::from_sources(reader, found)?.pop())
    }

    fn new(source: Source, host: String) -> Self {
        let interval = |days: f64| if days.is_finite() { days * DAY } else { 0.0 };
        Self {
            id: source.id,
            url: source.url,
            host,
            importance: source.importance,
            cost: source.cost,
            min_interval: interval(source.min_interval),
            max_interval: interval(source.max_interval),
            paused: source.paused,
            observed: source.observed,
            tags: source.tags,
            detect: serde_json::from_str(&source.settings).ok(),
            objective: Some(source.goal).filter(|goal| !goal.is_empty()),
            added: rfc3339(source.added_at),
            state: source.state.into(),
            fetched: source.fetched_at.map(rfc3339),
            tried: source.attempted_at.map(rfc3339),
            changed: source.changed_at.map(rfc3339),
            due: source.due_at.map(rfc3339),
            fetches: source.fetches,
            failures: source.failures,
            version: source.version,
            signal_source: None,
        }
    }
}

/// Settings of a source. Omitted fields stay unchanged.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
// The name of the schema is part of the published API document.
#[schema(as = Said)]
pub(crate) struct SourceSettingsInput {
    /// Importance; default 1.
    #[schema(minimum = 0.0, maximum = 1e12)]
    pub(crate) importance: Option<f64>,
    /// Cost of a fetch, in units of the budget; default 1.
    #[schema(minimum = 1e-6, maximum = 1e6)]
    pub(crate) cost: Option<f64>,
    /// Minimum seconds between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) min_interval: Option<f64>,
    /// Maximum seconds between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) max_interval: Option<f64>,
    /// True if it is not fetched for now.
    pub(crate) paused: Option<bool>,
    /// True if every change is announced, with `POST /v1/signals`.
    pub(crate) observed: Option<bool>,
    /// Tags. They replace the present ones.
    #[schema(max_items = 100)]
    pub(crate) tags: Option<Vec<String>>,
    /// Change detection settings, as under `[detect]` in freshet.toml; `{}` for the default.
    #[schema(value_type = Option<Object>)]
    pub(crate) detect: Option<serde_json::Map<String, serde_json::Value>>,
    /// Objective: `harmonic`, `freshness`, `age`, `capture …`; empty for the default.
    pub(crate) objective: Option<String>,
    /// Expected changes per day before the first fetch. Ignored if the source already exists.
    #[schema(minimum = 0.0, maximum = 1e6)]
    pub(crate) change_rate: Option<f64>,
}

impl SourceSettingsInput {
    /// Validates the settings and converts their units.
    pub(crate) fn into_settings(self) -> Result<SourceSettings, Problem> {
        check_range("importance", self.importance, 0.0, 1e12)?;
        check_range("cost", self.cost, 1e-6, 1e6)?;
        check_range("min_interval", self.min_interval, 0.0, 1e10)?;
        check_range("max_interval", self.max_interval, 0.0, 1e10)?;
        check_range("change_rate", self.change_rate, 0.0, 1e6)?;
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
            detect_settings: settings,
            goal: self.objective,
        })
    }
}

fn check_range(field: &str, value: Option<f64>, min: f64, max: f64) -> Result<(), Problem> {
    match value.filter(|value| !(min..=max).contains(value)) {
        None => Ok(()),
        Some(value) => Err(Problem::invalid(
            field,
            format!("{field} out of range: {value} is not between {min} and {max}"),
        )),
    }
}

pub(crate) fn check_tags(tags: &[String]) -> Result<(), Problem> {
    if tags.len() > MAX_TAGS {
        return Err(Problem::invalid(
            "tags",
            format!("too many tags: {}, at most {MAX_TAGS} are allowed", tags.len()),
        ));
    }
    for (at, tag) in tags.iter().enumerate() {
        let is_invalid =
            tag.is_empty() || tag.len() > MAX_TAG_LEN || tag.contains(char::is_control);
        if is_invalid {
            let detail = format!("invalid tag: a tag is one line of 1 to {MAX_TAG_LEN} bytes");
            return Err(Problem::invalid(format!("tags[{at}]"), detail));
        }
    }
    Ok(())
}

/// Refuses a URL that is too long to be stored.
pub(crate) fn check_url(url: &str) -> Result<(), Problem> {
    if url.len() > MAX_URL_LEN {
        let detail =
            format!("URL too long: {} bytes, at most {MAX_URL_LEN} are allowed", url.len());
        return Err(Problem::invalid("url", detail));
    }
    Ok(())
}
