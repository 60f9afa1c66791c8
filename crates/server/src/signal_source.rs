//! A signal source as clients and commands see it.

use std::collections::BTreeMap;

use freshet_daemon::{DiscoveryRule, SignalSourceRead, SignalSourceReport, SignalSourceState};
use freshet_notify::rfc3339;
use freshet_store::SignalSourceOrigin;
use serde::Serialize;
use utoipa::ToSchema;

const DAY: f64 = 86_400.0;

/// Somebody who says that sources have changed, and how far that is true.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SignalSource)]
pub struct SignalSourceView {
    /// Its number. It may be used again when the signal source is removed.
    pub number: u32,
    /// `sitemap` or `feed`, which are read; `websub`, `indexnow`, `api` or `head`, which speak by
    /// themselves.
    pub kind: &'static str,
    /// The URL of what is read, or the name of who speaks.
    pub url: String,
    /// How it is known: `given` (somebody named it), `file` (freshet.toml names it), `robots` (a
    /// robots.txt does), `part` (an index of sitemaps does) or `heard` (it has spoken).
    pub found_in: &'static str,
    /// The one that it is a part of.
    pub parent: Option<u32>,
    /// How many parts it has.
    pub parts: u64,
    /// The source that is read to hear it: its history is under `/v1/sources/{id}`.
    pub source: Option<u32>,
    /// When it was added (RFC 3339, UTC).
    pub added: String,
    /// Whether it is left alone for the time being.
    pub paused: bool,
    /// Seconds that must lie between two reads; none if it is not read.
    pub min_interval: Option<f64>,
    /// Seconds after which it is read whatever that is worth; 0 for no limit.
    pub max_interval: Option<f64>,
    /// What is done with pages that it names and nobody knows; none if it is not read.
    pub rule: Option<SignalRule>,
    /// When it last said something, or was last read (RFC 3339, UTC).
    pub heard: Option<String>,
    /// What came of the last read.
    pub last_read: Option<LastRead>,
    /// When it is read next, as far as that is known (RFC 3339, UTC).
    pub next_read: Option<String>,
    /// Reads that failed since the last good one.
    pub failures: u32,
    /// What was learnt of it.
    #[serde(flatten)]
    pub learnt: SignalsLearnt,
}

/// What was learnt of a signal source from what fetches found.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct SignalsLearnt {
    /// The share of its signals that stand for a change, as far as is believed; none while nothing is
    /// known.
    pub precision: Option<f64>,
    /// The share of the changes that it tells of, as far as is believed.
    pub recall: Option<f64>,
    /// Seconds from a change to its signal, as far as is believed.
    pub delay_seconds: Option<f64>,
    /// Signals that were heard.
    pub signals: u64,
    /// Of those, the ones that told of changes which the copy had already.
    pub late: u64,
    /// Fetches that signals of it came before.
    pub tried: u64,
    /// How many of these found a change.
    pub proved: u64,
    /// Fetches that found a change of which it had said nothing.
    pub missed: u64,
    /// Sources that it has spoken of.
    pub sources: u32,
    /// Sources that were found by it.
    pub found: u64,
    /// Times that it was read.
    pub reads: u64,
    /// Seconds between two reads of late.
    pub read_every_seconds: Option<f64>,
    /// What its reads take from the budget in a day.
    pub spent_per_day: f64,
    /// The share of the budget that is; none if the budget is 0.
    pub budget_share: Option<f64>,
    /// What a read is worth now, for each unit of cost.
    pub worth: Option<f64>,
    /// What its signals have brought so far: by how much the fetches that they led to were worth more
    /// than the price.
    pub brought: f64,
}

/// What is done with pages that a sitemap or feed names and nobody knows.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SignalRule {
    /// Whether they become sources.
    pub discover: bool,
    /// Only those that match one of these patterns, if there are any.
    pub include: Vec<String>,
    /// None of those that match one of these.
    pub exclude: Vec<String>,
    /// How many are added at most, in all.
    pub most: u64,
    /// Names that they get.
    pub tags: Vec<String>,
    /// How much they matter; 1 unless given.
    pub importance: Option<f64>,
    /// Whether those of other hosts are added too.
    pub other_hosts: bool,
    /// The host whose pages it may speak of, if it may not of others.
    pub speaks_for: Option<String>,
}

/// What came of the last read of a sitemap or feed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LastRead {
    /// When (RFC 3339, UTC).
    pub at: Option<String>,
    /// In a word: `read`, or what was in the way: `html`, `cut-off`, `too-large`, …
    pub outcome: String,
    /// The same in a sentence.
    pub about: String,
    /// What the document is: `sitemap`, `rss`, `html`, …; none if none came.
    pub format: Option<String>,
    /// Pages that it names.
    pub entries: u64,
    /// Sitemaps that it names as parts of itself.
    pub parts: u64,
    /// Of the pages, those that are sources.
    pub known: u64,
    /// Of those, the ones that were said to have changed since the read before.
    pub signals: u64,
    /// Pages that became sources.
    pub found: u64,
    /// Pages that would have, but for the limit of the rule.
    pub over: u64,
    /// Pages of which it may not speak.
    pub elsewhere: u64,
    /// Hubs that it names.
    pub hubs: Vec<String>,
    /// What is wrong with it, by name, and how often.
    pub defects: BTreeMap<String, u64>,
}

impl SignalSourceView {
    /// A signal source as it is now, where so much may be spent in a day.
    #[must_use]
    pub fn of(it: SignalSourceState, budget: f64) -> Self {
        let SignalSourceState { herald, rule, last, report, source, parts } = it;
        let at = source.as_ref().and_then(|source| source.attempted_at).or(herald.last_signal_at);
        let seconds = |days: f64| if days.is_finite() { days * DAY } else { 0.0 };
        let source_of = source.as_ref();
        let is_read = source_of.is_some();
        Self {
            number: herald.id,
            kind: herald.kind.name(),
            found_in: herald.origin.name(),
            parent: herald.parent,
            parts,
            source: herald.source,
            added: rfc3339(herald.created_at),
            paused: source_of.is_some_and(|it| it.paused),
            min_interval: source_of.map(|it| seconds(it.min_interval)),
            max_interval: source_of.map(|it| seconds(it.max_interval)),
            rule: is_read.then(|| SignalRule::of(rule)),
            heard: herald.last_signal_at.map(rfc3339),
            last_read: last.filter(|_| is_read).map(|it| LastRead::of(it, at.map(rfc3339))),
            next_read: source_of.filter(|it| !it.paused).and_then(|it| it.due_at).map(rfc3339),
            failures: source_of.map_or(0, |it| it.failures),
            learnt: SignalsLearnt::of(&report.unwrap_or_default(), herald.sources_added, budget),
            url: herald.name,
        }
    }

    /// How it is known, in words.
    #[must_use]
    pub fn origin(origin: SignalSourceOrigin) -> &'static str {
        match origin {
            SignalSourceOrigin::Owner => "given by hand",
            SignalSourceOrigin::Config => "named in freshet.toml",
            SignalSourceOrigin::Robots => "named in robots.txt",
            SignalSourceOrigin::Parent => "part of an index",
            SignalSourceOrigin::Push => "spoke by itself",
        }
    }
}

impl SignalsLearnt {
    fn of(it: &SignalSourceReport, found: u64, budget: f64) -> Self {
        let finite = |number: Option<f64>| number.filter(|it| it.is_finite());
        let share = Some(it.spent / budget).filter(|_| budget > 0.0);
        Self {
            precision: finite(it.precision),
            recall: finite(it.recall),
            delay_seconds: finite(it.delay).map(|days| days * DAY),
            signals: it.signals,
            late: it.late,
            tried: it.tried,
            proved: it.proved,
            missed: it.missed,
            sources: it.sources,
            found: found.max(it.found),
            reads: it.reads,
            read_every_seconds: finite(it.read_every).map(|days| days * DAY),
            spent_per_day: finite(Some(it.spent)).unwrap_or(0.0),
            budget_share: finite(share),
            worth: finite(it.worth),
            brought: finite(Some(it.brought)).unwrap_or(0.0),
        }
    }
}

impl SignalRule {
    fn of(it: DiscoveryRule) -> Self {
        let DiscoveryRule {
            discover,
            include,
            exclude,
            most,
            tags,
            importance,
            other_hosts,
            speaks_for,
        } = it;
        Self { discover, include, exclude, most, tags, importance, other_hosts, speaks_for }
    }
}

impl LastRead {
    fn of(it: SignalSourceRead, at: Option<String>) -> Self {
        Self {
            at,
            about: it.words(),
            outcome: it.outcome,
            format: Some(it.format).filter(|it| !it.is_empty()),
            entries: it.pages,
            parts: it.parts,
            known: it.known,
            signals: it.signals,
            found: it.found,
            over: it.over,
            elsewhere: it.elsewhere,
            hubs: it.hubs,
            defects: it.defects,
        }
    }
}
