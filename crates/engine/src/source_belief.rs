//! What is known of a source in a few numbers, for plans over many of them.

use crate::engine::Engine;
use crate::source::{Flags, State};

/// What is known of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceBelief {
    /// The number of its host.
    pub host: u32,
    /// How much it matters.
    pub importance: f64,
    /// What a fetch takes from the budget.
    pub cost: f64,
    /// Changes a day, as far as is believed.
    pub rate: f64,
    /// Whether each of its changes is announced.
    pub observed: bool,
    /// Whether it is fetched at all: neither paused nor gone for good.
    pub active: bool,
    /// Days that must lie between two fetches.
    pub min_interval: f64,
    /// Days after which it is fetched whatever it is worth.
    pub max_interval: f64,
    /// Days that must lie between two fetches from its host.
    pub host_gap: f64,
}

impl Engine {
    /// What is known of a source; `None` if there is no such source.
    #[must_use]
    pub fn known(&self, id: u32) -> Option<SourceBelief> {
        let source = self.sources.get(id as usize)?;
        (source.state != State::Absent).then(|| SourceBelief {
            host: source.host,
            importance: f64::from(source.importance),
            cost: f64::from(source.cost),
            rate: self.belief(source).mean(),
            observed: source.is_observed(),
            active: source.state != State::Parked && !source.flags.has(Flags::PAUSED),
            min_interval: f64::from(source.min_interval),
            max_interval: f64::from(source.max_interval),
            host_gap: self.gap(source.host),
        })
    }

    /// The number after the largest that a source has or had.
    #[must_use]
    pub fn numbers(&self) -> u32 {
        u32::try_from(self.sources.len()).unwrap_or(u32::MAX)
    }
}
