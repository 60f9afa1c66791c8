//! What a fetch is worth now: everywhere, and where a host cannot take all.

use freshet_engine::{Engine, SourceSnapshot};

/// Numbers that are looked at in one step of the loop: fetches wait no longer than a millisecond.
const SEEN: u32 = 8192;

/// What a fetch is worth now, and what it buys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// How many sources there are.
    pub sources: u64,
    /// Fetches a day.
    pub budget: f64,
    /// What a fetch must be worth now, for each unit of cost.
    pub price: f64,
    /// What it will have to be worth in the long run.
    pub outlook: f64,
    /// How many copies are fresh, by importance, as far as is believed.
    pub freshness: Option<f64>,
    /// Hosts that cannot take all that is worth the price, and their own price.
    pub hosts: Vec<(u32, f64)>,
}

/// Some of all sources as they are at a moment.
#[derive(Clone, Debug, Default)]
pub struct SourceSnapshots {
    /// The sources, in order of their numbers.
    pub each: Vec<SourceSnapshot>,
    /// The number after the last that was looked at; `None` if there are no more.
    pub next: Option<u32>,
}

impl SourceSnapshots {
    /// Of sources with numbers from one on, as many as the loop has time for.
    pub(crate) fn of(engine: &Engine, from: u32) -> Self {
        let all = engine.numbers();
        let until = from.saturating_add(SEEN).min(all);
        let mut each = Vec::with_capacity(until.saturating_sub(from) as usize);
        each.extend((from..until).filter_map(|id| engine.sight(id)));
        Self { each, next: (until < all).then_some(until) }
    }
}

impl Plan {
    pub(crate) fn of(engine: &Engine) -> Self {
        Self {
            sources: engine.len() as u64,
            budget: engine.settings().budget,
            price: engine.price(),
            outlook: engine.outlook(),
            freshness: engine.freshness(),
            hosts: engine.host_prices().collect(),
        }
    }
}
