//! The current fetch price, globally and per saturated host.

use freshet_engine::{Engine, SourceSnapshot};

/// Source ids examined in one step of the event loop, so that no fetch waits longer than a
/// millisecond.
const SNAPSHOT_RANGE: u32 = 8192;

/// Current fetch price, budget and expected freshness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetPlan {
    /// Number of sources.
    pub sources: u64,
    /// Fetches per day.
    pub budget: f64,
    /// Current price: the value per unit of cost at which a source is fetched.
    pub price: f64,
    /// Long-run price that the engine expects.
    pub outlook: f64,
    /// Estimated share of fresh copies, weighted by importance.
    pub freshness: Option<f64>,
    /// Saturated hosts, as host id and the host's own price. A host is saturated if it cannot serve
    /// every fetch that is worth the global price.
    pub hosts: Vec<(u32, f64)>,
}

/// A page of source snapshots, taken at one moment.
#[derive(Clone, Debug, Default)]
pub struct SourceSnapshotPage {
    /// Snapshots in ascending order of source id.
    pub sources: Vec<SourceSnapshot>,
    /// First id of the next page; `None` on the last page.
    pub next_id: Option<u32>,
}

impl SourceSnapshotPage {
    /// Takes snapshots of the sources with ids from `from` on, as many as one step of the loop
    /// allows.
    pub(crate) fn collect(engine: &Engine, from: u32) -> Self {
        let all = engine.id_bound();
        let until = from.saturating_add(SNAPSHOT_RANGE).min(all);
        let mut each = Vec::with_capacity(until.saturating_sub(from) as usize);
        each.extend((from..until).filter_map(|id| engine.source_snapshot(id)));
        Self { sources: each, next_id: (until < all).then_some(until) }
    }
}

impl BudgetPlan {
    pub(crate) fn from_engine(engine: &Engine) -> Self {
        Self {
            sources: engine.len() as u64,
            budget: engine.settings().budget,
            price: engine.price(),
            outlook: engine.long_run_price(),
            freshness: engine.freshness(),
            hosts: engine.host_prices().collect(),
        }
    }
}
