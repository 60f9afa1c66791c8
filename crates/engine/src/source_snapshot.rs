//! Snapshots of sources, to be sorted by the caller: expensive values are computed on demand,
//! outside the engine.

use freshet_estimate::Belief;

use crate::engine::Engine;
use crate::explain::SourcePhase;
use crate::fetch_value::{SignalInfluence, SourceView};
use crate::source::{Goal, Source, SourceFlags, SourceState};

/// Snapshot of a source.
#[derive(Clone, Debug)]
pub struct SourceSnapshot {
    id: u32,
    source: Source,
    belief: Belief,
    goal: Goal,
    signal_influence: SignalInfluence,
    now: f64,
    price: f64,
    /// First day on which a request to its host is allowed.
    free_at: f64,
}

/// Status of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceStatus {
    /// Number of the source.
    pub id: u32,
    /// Number of its host.
    pub host: u32,
    /// Importance.
    pub importance: f64,
    /// Expected changes per day.
    pub change_rate: f64,
    /// Value of a fetch now, per unit of cost; infinite if there is no copy.
    pub value: f64,
    /// Minimum value of a fetch now, at its host.
    pub price: f64,
    /// Day on which it is due and its host is available; infinite if never.
    pub due_day: f64,
    /// Phase of the source.
    pub phase: SourcePhase,
}

impl SourceSnapshot {
    /// Number of the source.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// True if it was never fetched and has not failed.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.source.is_new() && self.has_no_fault()
    }

    /// True if there is a copy and the last fetch was answered.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        !self.source.is_new() && self.has_no_fault()
    }

    fn has_no_fault(&self) -> bool {
        self.source.failures == 0 && !self.source.is_retry()
    }

    /// Importance.
    #[must_use]
    pub fn importance(&self) -> f64 {
        f64::from(self.source.importance)
    }

    /// Expected changes per day.
    #[must_use]
    pub fn change_rate(&self) -> f64 {
        self.belief.mean()
    }

    /// Value of a fetch now as a share of the price at its host; infinite if there is no copy, 0 if
    /// it is never fetched.
    #[must_use]
    pub fn relative_value(&self) -> f64 {
        match self.fetch_value() / self.price {
            _ if !self.is_active() => 0.0,
            value if value.is_nan() => 0.0,
            value => value,
        }
    }

    /// Day on which it is due and its host is available; infinite if never.
    #[must_use]
    pub fn due_day(&self) -> f64 {
        let source = &self.source;
        match source.state {
            _ if !self.is_active() => f64::INFINITY,
            SourceState::InFlight => self.now,
            SourceState::Waiting if source.is_retry() => source.due.max(self.free_at),
            _ => self.view().due_day(self.now, self.price).max(self.free_at),
        }
    }

    fn fetch_value(&self) -> f64 {
        if self.source.is_new() { f64::INFINITY } else { self.view().fetch_value(self.now) }
    }

    /// True if it is neither paused nor gone for good.
    fn is_active(&self) -> bool {
        self.source.state != SourceState::Parked && !self.source.flags.has(SourceFlags::PAUSED)
    }

    fn view(&self) -> SourceView<'_> {
        SourceView {
            source: &self.source,
            belief: self.belief,
            goal: self.goal,
            signal_influence: self.signal_influence.clone(),
        }
    }
}

impl Engine {
    /// Returns a snapshot of a source; `None` if there is no such source.
    #[must_use]
    pub fn source_snapshot(&self, id: u32) -> Option<SourceSnapshot> {
        let source = *self.sources.get(id as usize)?;
        (source.state != SourceState::Absent).then(|| SourceSnapshot {
            id,
            source,
            belief: self.belief(&source),
            goal: self.goal(&source),
            signal_influence: self.signal_influence(&source),
            now: self.now,
            price: self.host_price(source.host),
            free_at: self.hosts[source.host as usize].free_at,
        })
    }

    /// Returns the status of a source; `None` if there is no such source.
    #[must_use]
    pub fn source_status(&self, id: u32) -> Option<SourceStatus> {
        let source_snapshot = self.source_snapshot(id)?;
        Some(SourceStatus {
            id,
            host: source_snapshot.source.host,
            importance: source_snapshot.importance(),
            change_rate: source_snapshot.change_rate(),
            value: source_snapshot.fetch_value(),
            price: source_snapshot.price,
            due_day: source_snapshot.due_day(),
            phase: self.phase(&source_snapshot.source)?,
        })
    }
}
