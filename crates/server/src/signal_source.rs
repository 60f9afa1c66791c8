//! A signal source as the API and the commands show it.

use std::collections::BTreeMap;

use freshet_daemon::{
    DiscoveryRule, SignalSourceReadResult, SignalSourceReport, SignalSourceState,
};
use freshet_notify::rfc3339;
use freshet_store::SignalSourceOrigin;
use serde::Serialize;
use utoipa::ToSchema;

const DAY: f64 = 86_400.0;

/// A signal source, and how reliable its signals are.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SignalSource)]
pub struct SignalSourceView {
    /// Number of the signal source. It can be reused after the signal source is removed.
    pub number: u32,
    /// `sitemap` or `feed`, which are polled; `websub`, `indexnow`, `api` or `head`, which push.
    pub kind: &'static str,
    /// URL of the sitemap or feed, or name of the pushing party.
    pub url: String,
    /// Origin: `given` (added by a user), `file` (named in freshet.toml), `robots` (named in a
    /// robots.txt), `part` (named in a sitemap index) or `heard` (sent a signal).
    pub found_in: &'static str,
    /// Number of the sitemap index that it is a part of.
    pub parent: Option<u32>,
    /// Number of parts of a sitemap index.
    pub parts: u64,
    /// Source that is fetched to read it: its history is under `/v1/sources/{id}`.
    pub source: Option<u32>,
    /// Time at which it was added (RFC 3339, UTC).
    pub added: String,
    /// True if it is not read for now.
    pub paused: bool,
    /// Minimum seconds between two reads; null if it is not polled.
    pub min_interval: Option<f64>,
    /// Maximum seconds between two reads; 0 for no limit.
    pub max_interval: Option<f64>,
    /// Rule for listed pages that are not sources yet; null if it is not polled.
    pub rule: Option<DiscoveryRuleView>,
    /// Time of the last signal or read (RFC 3339, UTC).
    pub heard: Option<String>,
    /// Result of the last read.
    pub last_read: Option<LastReadView>,
    /// Time of the next read, if known (RFC 3339, UTC).
    pub next_read: Option<String>,
    /// Failed reads since the last successful one.
    pub failures: u32,
    /// Statistics of its signals.
    #[serde(flatten)]
    pub statistics: SignalStatsView,
}

/// Statistics of a signal source, learned from the fetches that followed its signals.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[schema(as = SignalsLearnt)]
pub struct SignalStatsView {
    /// Estimated share of its signals that announce a real change; null while nothing is known.
    pub precision: Option<f64>,
    /// Estimated share of changes that it announces.
    pub recall: Option<f64>,
    /// Estimated seconds from a change to its signal.
    pub delay_seconds: Option<f64>,
    /// Signals received.
    pub signals: u64,
    /// Signals for changes that the copy already contained.
    pub late: u64,
    /// Fetches that followed a signal.
    pub tried: u64,
    /// Fetches that followed a signal and found a change.
    pub proved: u64,
    /// Fetches that found a change without a signal.
    pub missed: u64,
    /// Sources that it has sent signals for.
    pub sources: u32,
    /// Sources that were added from it.
    pub found: u64,
    /// Number of reads.
    pub reads: u64,
    /// Recent mean seconds between two reads.
    pub read_every_seconds: Option<f64>,
    /// Budget that its reads use per day.
    pub spent_per_day: f64,
    /// The same as a share of the budget; null if the budget is 0.
    pub budget_share: Option<f64>,
    /// Value of a read now, per unit of cost.
    pub worth: Option<f64>,
    /// Total gain from its signals: the value of the fetches they led to, less the price.
    pub brought: f64,
}

/// Rule for pages that a sitemap or feed lists and that are not sources yet.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SignalRule)]
pub struct DiscoveryRuleView {
    /// True if they are added as sources.
    pub discover: bool,
    /// Patterns; if there are any, only pages that match one are added.
    pub include: Vec<String>,
    /// Patterns; pages that match one are not added.
    pub exclude: Vec<String>,
    /// Maximum number of pages added in all.
    pub most: u64,
    /// Tags of the added sources.
    pub tags: Vec<String>,
    /// Importance of the added sources; default 1.
    pub importance: Option<f64>,
    /// True if pages of other hosts are added too.
    pub other_hosts: bool,
    /// The only host whose pages it may announce, if it is limited to one.
    pub speaks_for: Option<String>,
}

/// Result of the last read of a sitemap or feed.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LastRead)]
pub struct LastReadView {
    /// Time of the read (RFC 3339, UTC).
    pub at: Option<String>,
    /// Result code: `read`, or the reason of the failure: `html`, `cut-off`, `too-large`, …
    pub outcome: String,
    /// Result as a sentence.
    pub about: String,
    /// Format of the document: `sitemap`, `rss`, `html`, …; null if none was received.
    pub format: Option<String>,
    /// Pages listed.
    pub entries: u64,
    /// Sitemaps listed as parts.
    pub parts: u64,
    /// Listed pages that are sources.
    pub known: u64,
    /// Listed sources that were announced as changed since the previous read.
    pub signals: u64,
    /// Pages added as sources.
    pub found: u64,
    /// Pages not added because of the limit of the rule.
    pub over: u64,
    /// Pages that it is not authorized to announce.
    pub elsewhere: u64,
    /// WebSub hubs named in the document.
    pub hubs: Vec<String>,
    /// Defects of the document by name, with their counts.
    pub defects: BTreeMap<String, u64>,
}

impl SignalSourceView {
    /// Builds the view of a signal source; `budget` is the budget per day.
    #[must_use]
    pub fn new(state: SignalSourceState, budget: f64) -> Self {
        let SignalSourceState {
            signal_source: stored,
            rule,
            last_read: last,
            report,
            source,
            children: parts,
        } = state;
        let at = source.as_ref().and_then(|source| source.attempted_at).or(stored.last_signal_at);
        let seconds = |days: f64| if days.is_finite() { days * DAY } else { 0.0 };
        let polled = source.as_ref();
        let is_read = polled.is_some();
        Self {
            number: stored.id,
            kind: stored.kind.name(),
            found_in: stored.origin.name(),
            parent: stored.parent,
            parts,
            source: stored.source,
            added: rfc3339(stored.created_at),
            paused: polled.is_some_and(|it| it.paused),
            min_interval: polled.map(|it| seconds(it.min_interval)),
            max_interval: polled.map(|it| seconds(it.max_interval)),
            rule: is_read.then(|| DiscoveryRuleView::new(rule)),
            heard: stored.last_signal_at.map(rfc3339),
            last_read: last.filter(|_| is_read).map(|it| LastReadView::new(it, at.map(rfc3339))),
            next_read: polled.filter(|it| !it.paused).and_then(|it| it.due_at).map(rfc3339),
            failures: polled.map_or(0, |it| it.failures),
            statistics: SignalStatsView::new(
                &report.unwrap_or_default(),
                stored.sources_added,
                budget,
            ),
            url: stored.name,
        }
    }

    /// Describes how a signal source was found.
    #[must_use]
    pub fn origin_words(origin: SignalSourceOrigin) -> &'static str {
        match origin {
            SignalSourceOrigin::Owner => "added by hand",
            SignalSourceOrigin::Config => "named in freshet.toml",
            SignalSourceOrigin::Robots => "named in robots.txt",
            SignalSourceOrigin::Parent => "part of an index",
            SignalSourceOrigin::Push => "found by its first signal",
        }
    }
}

impl SignalStatsView {
    fn new(report: &SignalSourceReport, found: u64, budget: f64) -> Self {
        let finite = |number: Option<f64>| number.filter(|it| it.is_finite());
        let share = Some(report.cost_per_day / budget).filter(|_| budget > 0.0);
        Self {
            precision: finite(report.precision),
            recall: finite(report.recall),
            delay_seconds: finite(report.delay).map(|days| days * DAY),
            signals: report.signals,
            late: report.late_signals,
            tried: report.signalled_fetches,
            proved: report.confirmed_fetches,
            missed: report.missed_changes,
            sources: report.sources,
            found: found.max(report.sources_found),
            reads: report.reads,
            read_every_seconds: finite(report.read_interval).map(|days| days * DAY),
            spent_per_day: finite(Some(report.cost_per_day)).unwrap_or(0.0),
            budget_share: finite(share),
            worth: finite(report.read_value),
            brought: finite(Some(report.gained_value)).unwrap_or(0.0),
        }
    }
}

impl DiscoveryRuleView {
    fn new(rule: DiscoveryRule) -> Self {
        let DiscoveryRule {
            discover,
            include,
            exclude,
            max_pages: most,
            tags,
            importance,
            other_hosts,
            only_host: speaks_for,
        } = rule;
        Self { discover, include, exclude, most, tags, importance, other_hosts, speaks_for }
    }
}

impl LastReadView {
    fn new(read: SignalSourceReadResult, at: Option<String>) -> Self {
        Self {
            at,
            about: read.describe(),
            outcome: read.outcome,
            format: Some(read.format).filter(|it| !it.is_empty()),
            entries: read.pages,
            parts: read.parts,
            known: read.known,
            signals: read.signals,
            found: read.found,
            over: read.over,
            elsewhere: read.elsewhere,
            hubs: read.hubs,
            defects: read.defects,
        }
    }
}
