//! Heralds come, are described anew, and go.

use freshet_engine::Description;
use freshet_fetch::InvalidRequest;
use freshet_store::{
    AddSignalSourceResult, NewSignalSource, RemoveSignalSourcesResult, SignalSource,
    SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, SourcePatch, Store, StoreError,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::rule::DiscoveryRule;
use crate::clock::Millis;
use crate::config::Signals;
use crate::load::description;
use crate::span::span;
use crate::work::host_of;

/// Heralds that are looked through at once.
const PAGE: usize = 1_000;

/// A sitemap or feed that is to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewSignalSourceRequest {
    /// Where it is.
    pub url: String,
    /// Whether it is a feed. What is there is read whatever it is; a feed is listed as one.
    #[serde(default)]
    pub feed: bool,
    /// What is done with the pages that it names.
    #[serde(default)]
    pub rule: DiscoveryRule,
    /// What else is said of it.
    #[serde(default)]
    pub given: SignalSourcePatch,
}

/// What is said of a herald. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignalSourcePatch {
    /// What is done with the pages that it names.
    pub rule: Option<DiscoveryRule>,
    /// Whether it is left alone for the time being.
    pub paused: Option<bool>,
    /// Days that must lie between two reads.
    pub min_interval: Option<f64>,
    /// Days after which it is read whatever that is worth; infinite, or 0, for no limit.
    pub max_interval: Option<f64>,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum SignalSourceError {
    /// Not a URL that can be read.
    #[error("{0}")]
    Url(#[from] InvalidRequest),
    /// Something that cannot be meant.
    #[error("{field}: {what}")]
    Given {
        /// In which field.
        field: &'static str,
        /// What, and why.
        what: String,
    },
    /// There is no such one.
    #[error("there is no signal source {0}")]
    Unknown(u32),
    /// It is a part of another one.
    #[error("{name} is a part of {parent}, and comes and goes with it")]
    Part {
        /// Its URL.
        name: String,
        /// That of the other.
        parent: String,
    },
    /// It would come back.
    #[error("{name} is named in {by}, and would come back")]
    Named {
        /// Its URL.
        name: String,
        /// Where it stands.
        by: &'static str,
    },
    /// Nobody is there to make the change.
    #[error("the daemon has stopped")]
    Stopped,
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl SignalSourceError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Part { parent, .. } => Some(format!("change or remove {parent}")),
            Self::Named { by: "robots.txt", .. } => {
                Some("pause it, or set `robots = false` under `[signals]`".to_owned())
            }
            Self::Named { .. } => Some("take it out of the configuration, and reload".to_owned()),
            Self::Store(error) => error.hint(),
            _ => None,
        }
    }
}

/// What is to become of heralds, in one go.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignalSourceChange {
    pub(crate) add: Vec<NewSignalSource>,
    pub(crate) rules: Vec<(u32, String)>,
    /// By the source that is read.
    pub(crate) patches: Vec<(u32, SourcePatch)>,
    pub(crate) remove: Vec<u32>,
}

/// What became of them, and what the engine must know of it.
#[derive(Debug, Default)]
pub(crate) struct SignalSourceChanges {
    pub(crate) added: Vec<AddSignalSourceResult>,
    /// Those that are new or described anew, as they are now.
    pub(crate) heralds: Vec<SignalSource>,
    pub(crate) described: Vec<Description>,
    pub(crate) removed: RemoveSignalSourcesResult,
}

impl SignalSourceChange {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { add, rules, patches, remove } = self;
        add.is_empty() && rules.is_empty() && patches.is_empty() && remove.is_empty()
    }

    /// Makes the change.
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
            changed.heralds.extend(store.signal_source(number)?);
        }
        sources.sort_unstable();
        sources.dedup();
        store.load_schedule_of(&sources, |row| {
            // The engine knows better when it was fetched.
            changed.described.push(Description { fetched: None, ..description(&row) });
        })?;
        Ok(changed)
    }

    /// What it takes that those which the configuration names are there, and those that it named and does
    /// not name any more are not; and none that a robots.txt names, if it says so.
    pub(crate) fn to_file(
        store: &freshet_store::Reader,
        signals: &Signals,
        now: Millis,
    ) -> Result<Self, SignalSourceError> {
        let mut change = Self::default();
        for it in &signals.wanted {
            let new = NewSignalSource { origin: SignalSourceOrigin::Config, ..it.check(now)? };
            change.add.push(new);
        }
        for it in of_origin(store, SignalSourceOrigin::Config)? {
            let is_wanted = |new: &NewSignalSource| (new.kind, &new.name) == (it.kind, &it.name);
            if !change.add.iter().any(is_wanted) {
                change.remove.push(it.id);
            }
        }
        if !signals.robots {
            let named = of_origin(store, SignalSourceOrigin::Robots)?;
            change.remove.extend(named.iter().map(|it| it.id));
        }
        Ok(change)
    }
}

fn of_origin(
    store: &freshet_store::Reader,
    origin: SignalSourceOrigin,
) -> Result<Vec<SignalSource>, StoreError> {
    let mut query =
        SignalSourceQuery { origin: Some(origin), limit: PAGE, ..SignalSourceQuery::default() };
    let mut all = Vec::new();
    loop {
        let some = store.signal_sources(&query)?;
        let Some(last) = some.last() else { return Ok(all) };
        query.after = Some(last.id);
        all.extend(some);
    }
}

impl SignalSourcePatch {
    fn check(&self) -> Result<SourcePatch, SignalSourceError> {
        if let Some(rule) = &self.rule {
            rule.check().map_err(|(field, what)| SignalSourceError::Given { field, what })?;
        }
        let longest = self.max_interval.map(|days| if days > 0.0 { days } else { f64::INFINITY });
        let is_time = |days: f64| days.is_finite() && days >= 0.0;
        if let Some(days) = self.min_interval.filter(|days| !is_time(*days)) {
            let what = format!("{days} is not a number of days");
            return Err(SignalSourceError::Given { field: "min_interval", what });
        }
        if longest.is_some_and(f64::is_nan) {
            let what = "it is not a number of days".to_owned();
            return Err(SignalSourceError::Given { field: "max_interval", what });
        }
        if let (Some(least), Some(most)) = (self.min_interval, longest)
            && least > most
        {
            let what = format!("{} is longer than the longest, {}", span(least), span(most));
            return Err(SignalSourceError::Given { field: "min_interval", what });
        }
        let (min_interval, paused) = (self.min_interval, self.paused);
        Ok(SourcePatch { min_interval, max_interval: longest, paused, ..SourcePatch::default() })
    }
}

impl NewSignalSourceRequest {
    /// Days between two reads at least, unless they are given.
    pub const MIN_INTERVAL: f64 = 5.0 / 1440.0;
    /// Days between two reads at most, unless they are given: what seems to be worth nothing is looked at
    /// now and then, since it may have become better.
    pub const MAX_INTERVAL: f64 = 7.0;

    /// A sitemap of which nothing else is said.
    #[must_use]
    pub fn sitemap(url: impl Into<String>) -> Self {
        let (rule, given) = (DiscoveryRule::default(), SignalSourcePatch::default());
        Self { url: url.into(), feed: false, rule, given }
    }

    /// A feed of which nothing else is said.
    #[must_use]
    pub fn feed(url: impl Into<String>) -> Self {
        Self { feed: true, ..Self::sitemap(url) }
    }

    /// As the store takes it.
    pub(crate) fn check(&self, now: Millis) -> Result<NewSignalSource, SignalSourceError> {
        let (url, host) = host_of(&self.url)?;
        self.rule.check().map_err(|(field, what)| SignalSourceError::Given { field, what })?;
        let given = self.given.check()?;
        let intervals = Some((Self::MIN_INTERVAL, Self::MAX_INTERVAL));
        let kind = if self.feed { SignalSourceKind::Feed } else { SignalSourceKind::Sitemap };
        let settings = self.rule.to_text();
        Ok(NewSignalSource {
            settings,
            settings_patch: given,
            intervals,
            ..NewSignalSource::polled(kind, url, host, now)
        })
    }
}

/// What it takes to change a herald.
pub(crate) fn change_of(
    herald: &SignalSource,
    given: &SignalSourcePatch,
) -> Result<SignalSourceChange, SignalSourceError> {
    let patch = given.check()?;
    let mut change = SignalSourceChange::default();
    if let Some(rule) = &given.rule {
        // Of whom it may speak is not for owners to say.
        let speaks_for = DiscoveryRule::of(herald).speaks_for;
        change.rules.push((herald.id, DiscoveryRule { speaks_for, ..rule.clone() }.to_text()));
    }
    match herald.source {
        _ if patch == SourcePatch::default() => {}
        Some(source) => change.patches.push((source, patch)),
        None => {
            let what = format!("{} speaks by itself, and is not read", herald.name);
            let field = if given.paused.is_some() { "paused" } else { "min_interval" };
            return Err(SignalSourceError::Given { field, what });
        }
    }
    Ok(change)
}

/// Whether a herald can be removed by itself.
pub(crate) fn may_go(
    herald: &SignalSource,
    parent: impl FnOnce(u32) -> Result<Option<SignalSource>, StoreError>,
) -> Result<(), SignalSourceError> {
    let name = herald.name.clone();
    match (herald.origin, herald.parent) {
        (_, Some(number)) => {
            let parent = parent(number)?.map_or_else(|| number.to_string(), |it| it.name);
            Err(SignalSourceError::Part { name, parent })
        }
        (SignalSourceOrigin::Robots, _) => Err(SignalSourceError::Named { name, by: "robots.txt" }),
        (SignalSourceOrigin::Config, _) => {
            Err(SignalSourceError::Named { name, by: "the configuration" })
        }
        _ => Ok(()),
    }
}
