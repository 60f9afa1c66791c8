//! Changes that an owner makes to sources: the same with a daemon and without one.

use freshet_engine::LearnedState;
use freshet_fetch::InvalidRequest;
use freshet_store::{AddResult, NewSource, SourcePatch, SourceQuery, Store, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::{Millis, days};
use crate::goal::goal;
use crate::host::{InvalidHost, host_filter};
use crate::span::span;
use crate::work::host_of;

/// Sources that are looked through at once.
const PAGE: usize = 10_000;

/// A change to sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Sources are wanted; those that are there get what is said anew.
    Add(Vec<NewSourceRequest>),
    /// Something is said of sources that are there.
    Change(Which, Box<SourceSettings>),
    /// Sources are no longer wanted.
    Remove(Which),
}

/// Sources by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Which {
    /// These URLs.
    pub urls: Vec<String>,
    /// All with this tag.
    pub tag: Option<String>,
    /// All of this host.
    pub host: Option<String>,
    /// Those with these numbers; what is not there is passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<u32>,
}

/// A source that is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewSourceRequest {
    /// What is fetched.
    pub url: String,
    /// What is said of it.
    #[serde(default, skip_serializing_if = "SourceSettings::is_empty")]
    pub settings: SourceSettings,
}

/// What is said of a source. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSettings {
    /// Changes a day that are expected before the first fetch: a beginning, from which is learnt. Of a
    /// source that is known it says nothing.
    pub change_rate: Option<f64>,
    /// Whether somebody announces all its changes.
    pub observed: Option<bool>,
    /// How much it matters.
    pub importance: Option<f64>,
    /// What a fetch takes from the budget.
    pub cost: Option<f64>,
    /// Days that must lie between two fetches; 0 for no limit.
    pub min_interval: Option<f64>,
    /// Days after which it is fetched whatever it is worth; infinite, or 0, for no limit.
    pub max_interval: Option<f64>,
    /// Whether it is left alone for the time being.
    pub paused: Option<bool>,
    /// Names to find it by.
    pub tags: Option<Vec<String>>,
    /// What counts of it, as JSON.
    pub settings: Option<String>,
    /// What its copy is to be good for.
    pub goal: Option<String>,
}

/// What an edit did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Sources that are new.
    pub new: u64,
    /// Sources that were there, and were described anew.
    pub known: u64,
    /// Sources that were removed.
    pub removed: u64,
    /// URLs of which there is no source.
    pub unknown: Vec<String>,
    /// Of sources that were to be added, what became of each, in their order. Not told through the
    /// daemon's door.
    #[serde(skip)]
    pub added: Vec<AddResult>,
    #[serde(skip)]
    pub(crate) described: Vec<u32>,
    #[serde(skip)]
    pub(crate) gone: Vec<u32>,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum EditError {
    /// Not a URL that can be a source.
    #[error("{0}")]
    Url(#[from] InvalidRequest),
    /// Something that cannot be meant.
    #[error("{url}: {what}")]
    Given {
        /// Of which source.
        url: String,
        /// In which field.
        field: &'static str,
        /// What, and why.
        what: String,
    },
    /// Not a host.
    #[error("{0}")]
    Host(#[from] InvalidHost),
    /// Nobody is there to make it.
    #[error("the daemon has stopped")]
    Stopped,
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// What is expected counts as much as so many changes that were seen.
const EXPECTED: f64 = 2.0;
/// Days in which there was no change, of what is expected never to change.
const NEVER: f64 = 1000.0;

impl SourceSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is expected, as the engine keeps it; empty if nothing is.
    fn expected(&self, now: Millis) -> Vec<u8> {
        let Some(rate) = self.change_rate else { return Vec::new() };
        let (changes, time) = if rate > EXPECTED / NEVER {
            (EXPECTED, EXPECTED / rate)
        } else {
            (rate * NEVER, NEVER)
        };
        LearnedState::with_expected_changes(days(now), changes, time).to_bytes()
    }

    fn check(&self, url: &str) -> Result<SourcePatch, EditError> {
        let refuse = |field, what: String| EditError::Given { url: url.to_owned(), field, what };
        if let Some(text) = self.goal.as_deref().filter(|text| !text.is_empty()) {
            goal(text).map_err(|why| refuse("objective", format!("objective: {why}")))?;
        }
        if let Some(text) = self.settings.as_deref().filter(|text| !text.is_empty()) {
            let raw: freshet_detect::RawSettings = serde_json::from_str(text)
                .map_err(|why| refuse("detect", format!("what counts cannot be read: {why}")))?;
            let layer = freshet_detect::Layer { name: url, settings: &raw };
            freshet_detect::Settings::resolve(&[layer])
                .map_err(|why| refuse("detect", why.to_string()))?;
        }
        if let Some(rate) = self.change_rate.filter(|rate| !(0.0..=1e30).contains(rate)) {
            let what = format!("change rate: {rate} is not a number of changes a day");
            return Err(refuse("change_rate", what));
        }
        let longest = self.max_interval.map(|days| if days > 0.0 { days } else { f64::INFINITY });
        if let (Some(least), Some(most)) = (self.min_interval, longest)
            && least > most
        {
            let (least, most) = (span(least), span(most));
            let what =
                format!("the shortest interval, {least}, is longer than the longest, {most}");
            return Err(refuse("min_interval", what));
        }
        Ok(SourcePatch {
            importance: self.importance,
            cost: self.cost,
            min_interval: self.min_interval,
            max_interval: longest,
            paused: self.paused,
            observed: self.observed,
            tags: self.tags.clone(),
            settings: self.settings.clone(),
            goal: self.goal.clone(),
        })
    }
}

impl NewSourceRequest {
    /// A source of which nothing else is said.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), settings: SourceSettings::default() }
    }

    /// As the store takes it.
    ///
    /// # Errors
    /// If it is not a URL, or something that is said of it cannot be meant.
    pub fn check(&self, now: Millis) -> Result<NewSource, EditError> {
        let (url, host) = host_of(&self.url)?;
        let mut source = NewSource::new(url, host, now);
        if !self.settings.is_empty() {
            source.patch = self.settings.check(&self.url)?;
            source.learned = self.settings.expected(now);
        }
        Ok(source)
    }
}

/// Makes a change in the store.
///
/// # Errors
/// If something in it cannot be meant, or the store does not take it. Then nothing has changed.
pub fn apply(store: &mut Store, edit: &Edit, now: Millis) -> Result<Applied, EditError> {
    let mut applied = Applied::default();
    match edit {
        Edit::Add(some) => {
            let sources = some.iter().map(|it| it.check(now)).collect::<Result<Vec<_>, _>>()?;
            for added in store.add_sources(&sources)? {
                if added.is_new {
                    applied.new += 1;
                } else {
                    applied.known += 1;
                }
                applied.described.push(added.id);
                applied.added.push(added);
            }
        }
        Edit::Change(which, given) => {
            let patch = given.check(which.urls.first().map_or("these sources", |url| url))?;
            applied.described = which.find(store, &mut applied.unknown)?;
            store.update_sources(&applied.described, &patch)?;
            applied.known = applied.described.len() as u64;
        }
        Edit::Remove(which) => {
            applied.gone = which.find(store, &mut applied.unknown)?;
            store.remove_sources(&applied.gone)?;
            applied.removed = applied.gone.len() as u64;
        }
    }
    Ok(applied)
}

impl Which {
    fn find(&self, store: &Store, unknown: &mut Vec<String>) -> Result<Vec<u32>, EditError> {
        let mut ids = Vec::new();
        for url in &self.urls {
            let canonical = host_of(url).map_or_else(|_| url.clone(), |(url, _)| url);
            match store.find_source(&canonical)? {
                Some(id) => ids.push(id),
                None => unknown.push(url.clone()),
            }
        }
        for &id in &self.ids {
            // What is read to hear a herald is no page.
            if store.source(id)?.is_some_and(|it| !it.is_signal_source) {
                ids.push(id);
            }
        }
        if self.tag.is_some() || self.host.is_some() {
            let mut query =
                SourceQuery { tag: self.tag.clone(), limit: PAGE, ..SourceQuery::default() };
            if let Some(name) = &self.host {
                let filter = host_filter(name)?;
                query.scheme = filter.scheme;
                query.hosts = store.find_hosts(&filter)?.iter().map(|host| host.id).collect();
                if query.hosts.is_empty() {
                    return Ok(ids);
                }
            }
            loop {
                let page = store.list_sources(&query)?;
                ids.extend(page.sources.iter().map(|source| source.id));
                query.after = page.next;
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
