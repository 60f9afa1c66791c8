//! Compact view of a source for plans over many of them.

use crate::engine::Engine;
use crate::source::{SourceFlags, SourceState};

/// What the engine believes about a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceBelief {
    /// Number of its host.
    pub host: u32,
    /// Importance.
    pub importance: f64,
    /// Cost of a fetch, in units of the budget.
    pub cost: f64,
    /// Expected changes per day.
    pub change_rate: f64,
    /// True if each of its changes is observed.
    pub observed: bool,
    /// True if it is fetched: neither paused nor gone for good.
    pub active: bool,
    /// Minimum days between two fetches.
    pub min_interval: f64,
    /// Days after which it is fetched regardless of its value.
    pub max_interval: f64,
    /// Days between two requests to its host.
    pub host_gap: f64,
}

impl Engine {
    /// Returns what the engine believes about a source; `None` if there is no such source.
    #[must_use]
    pub fn source_belief(&self, id: u32) -> Option<SourceBelief> {
        let source = self.sources.get(id as usize)?;
        (source.state != SourceState::Absent).then(|| SourceBelief {
            host: source.host,
            importance: f64::from(source.importance),
            cost: f64::from(source.cost),
            change_rate: self.belief(source).mean(),
            observed: source.is_observed(),
            active: source.state != SourceState::Parked && !source.flags.has(SourceFlags::PAUSED),
            min_interval: f64::from(source.min_interval),
            max_interval: f64::from(source.max_interval),
            host_gap: self.known_host_gap(source.host),
        })
    }

    /// Exclusive upper bound of the source numbers used so far.
    #[must_use]
    pub fn id_bound(&self) -> u32 {
        u32::try_from(self.sources.len()).unwrap_or(u32::MAX)
    }
}
