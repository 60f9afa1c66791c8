//! Events that the engine processes, and actions that it returns.

use crate::checkpoint::LearnedState;
use crate::settings::EngineSettings;
use crate::signal_source::{Signal, SignalHistoryCheckpoint, SignalSource, SignalSourceCheckpoint};
use crate::source::SourceDescription;

/// Cause of a failed fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The host: all its sources wait.
    Host,
    /// The source: only this source waits.
    Source,
    /// The fetcher: no host or source is penalized.
    Us,
}

/// Result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FetchResult {
    /// The source differs from the previous copy.
    Changed,
    /// The source equals the previous copy.
    Unchanged,
    /// There is a copy, but nothing to compare it with. The change rate is not updated.
    Uncompared,
    /// The fetch failed temporarily.
    Failed {
        /// Cause of the failure.
        cause: FailureCause,
        /// Pause in days that the host requested, or, for our own failures, that we impose.
        retry_after: Option<f64>,
    },
    /// The source no longer exists.
    Gone,
}

/// An event for [`Engine::step`](crate::Engine::step).
// Settings are large and rare; boxing them would not help the frequent events.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Event {
    /// Adds or updates sources. The learned state of existing sources is kept; a parked source
    /// stays parked until it is removed and added again. Long lists are processed over several
    /// steps.
    SourcesDescribed(Vec<SourceDescription>),
    /// Adds sources with the learned state from another engine. Existing sources are only updated.
    SourcesRestored(Vec<(SourceDescription, LearnedState)>),
    /// Removes sources.
    SourcesRemoved(Vec<u32>),
    /// Someone started a fetch without being asked. It is charged like any other, on credit if
    /// necessary, and [`FetchFinished`](Self::FetchFinished) follows.
    FetchStarted(u32),
    /// A fetch is finished.
    FetchFinished {
        /// Number of the source.
        id: u32,
        /// Result of the fetch.
        outcome: FetchResult,
    },
    /// A fetch that someone else made earlier is finished; the copy is from that day. A day before
    /// the existing copy counts as that copy's day, and a future day as now.
    FetchReported {
        /// Number of the source.
        id: u32,
        /// Result of the fetch.
        outcome: FetchResult,
        /// Day of the copy.
        day: f64,
    },
    /// A fetch was deferred because something else came first. It is retried after the given time
    /// and penalizes no host or source.
    FetchDeferred {
        /// Number of the source.
        id: u32,
        /// Days until the retry.
        days: f64,
        /// True if no request was sent. The fetch is then not charged.
        unsent: bool,
    },
    /// Someone sends a request to a host that is not for one of its sources, for example to follow
    /// a redirect. [`HostRequestFinished`](Self::HostRequestFinished) follows.
    HostRequestStarted {
        /// Number of the host.
        host: u32,
        /// Earliest day of the request.
        earliest: f64,
    },
    /// A request to a host that was not for one of its sources is finished.
    HostRequestFinished {
        /// Number of the host.
        host: u32,
        /// Pause in days that the host requested.
        retry_after: Option<f64>,
        /// True if the request failed because of the host.
        failed: bool,
    },
    /// A source with observed changes has changed.
    ChangeObserved(u32),
    /// Adds or updates signal sources, optionally with a checkpoint from another engine. The
    /// learned state of existing signal sources is kept.
    SignalSourcesDescribed(Vec<(SignalSource, Option<SignalSourceCheckpoint>)>),
    /// Removes signal sources with everything learned about them.
    SignalSourcesRemoved(Vec<u32>),
    /// Restores histories from another engine, as (source, signal source, checkpoint). Send after
    /// both have been added.
    SignalHistoriesRestored(Vec<(u32, u32, SignalHistoryCheckpoint)>),
    /// A signal source reports that a source has changed.
    SignalReceived(Signal),
    /// A signal source was read completely. All its signals of this read were sent before.
    SignalSourceRead {
        /// Number of the signal source.
        signal_source: u32,
        /// Number of new sources that it listed.
        found: u32,
    },
    /// A host requests a number of days between two requests (crawl delay), at most one day. The
    /// gap of the settings applies if it is longer.
    HostGapChanged {
        /// Number of the host.
        host: u32,
        /// Days between two requests.
        days: f64,
    },
    /// Fetchers are ready for this many more fetches; `u32::MAX` means no limit.
    CapacityAdded(u32),
    /// Fetchers are ready for this many fetches less.
    CapacityRemoved(u32),
    /// Time has passed.
    Tick,
    /// Replaces the settings. Invalid values (see [`validate`](EngineSettings::validate)) are
    /// replaced by safe ones.
    SettingsChanged(EngineSettings),
}

/// An action or notice returned by the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Fetch this source now.
    Fetch {
        /// Number of the source.
        id: u32,
        /// Reason for the fetch.
        reason: FetchReason,
    },
    /// A source has been gone for so long that it is parked.
    SourceGone(u32),
    /// A survey of all sources is complete.
    PriceUpdated {
        /// Minimum value of a fetch now, per unit of cost, in the unit of the objective.
        price: f64,
        /// Expected price in the long run, if nothing changes.
        long_run_price: f64,
        /// Number of hosts that cannot take all fetches worth the price, and have a price of their
        /// own.
        saturated_hosts: u32,
    },
    /// A condition that the owner should know about.
    Alarm(Alarm),
}

/// A condition that the owner should know about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// A host no longer answers.
    HostDown(u32),
    /// A host that was down answers again.
    HostRecovered(u32),
    /// A description was rejected: it is [invalid](crate::SourceDescription::validate), or there
    /// are more than 255 different goals.
    DescriptionRejected(u32),
    /// The maximum intervals of the sources alone need more than the budget.
    BudgetTooSmall {
        /// Budget per day that they need.
        needed: f64,
    },
}

/// Reason for a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchReason {
    /// There is no copy yet.
    New,
    /// Its value reaches the price.
    Value,
    /// The value of its pending changes reaches the price.
    PendingChanges,
    /// Its maximum interval is over.
    Overdue,
    /// The last fetch failed.
    Retry,
    /// Budget is left and no source is worth more.
    SpareBudget,
}
