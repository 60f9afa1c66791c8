//! How it goes, for people and for programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::fetch_concurrency::CrewState;

/// How it goes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    /// When this was so.
    pub at: Millis,
    /// Since when the daemon runs.
    pub since: Millis,
    /// Sources.
    pub sources: u64,
    /// Signal sources: sitemaps, feeds, and whoever else says that sources have changed.
    #[serde(default)]
    pub signal_sources: u64,
    /// Signals that were heard of sources since it runs, by the kind of who gave them.
    #[serde(default)]
    pub signals: BTreeMap<String, u64>,
    /// Fetches that may be made in a day.
    pub budget: f64,
    /// Bytes that may come in a day, if that is limited.
    pub bytes_budget: Option<f64>,
    /// Fetches since it runs, and requests, with those for robots.txt and redirects.
    pub fetches: u64,
    /// Requests, with those for robots.txt and redirects.
    pub requests: u64,
    /// Bytes that came.
    pub bytes: u64,
    /// Of what the ledger says was spent, what is paid for and not asked for yet.
    #[serde(default)]
    pub ahead: f64,
    /// Changes that were found.
    pub changes: u64,
    /// Fetches that failed.
    pub failures: u64,
    /// The share of copies that are fresh, weighted by importance, as far as is believed.
    pub freshness: f64,
    /// What a fetch must be worth now.
    pub price: f64,
    /// What it will have to be worth in the long run.
    pub outlook: f64,
    /// Hosts that cannot take all that is worth the price.
    pub saturated_hosts: u64,
    /// When the next fetch or look at the sources is, if one is known.
    pub wake: Option<Millis>,
    /// How many fetchers are active, and why.
    pub crew: CrewState,
    /// Sources that others are fetching, on leases.
    #[serde(default)]
    pub claimed: u64,
    /// The cursor of the newest change.
    pub cursor: i64,
    /// What keeps the daemon from writing, if something does.
    pub trouble: Option<String>,
}
