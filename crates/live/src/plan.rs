//! What a fetch is worth now: everywhere, and where a host cannot take all.

use freshet_engine::Engine;

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
