//! Status of the daemon, for people and programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::fetch_concurrency::ConcurrencyStatus;

/// Status of the daemon.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// Time of this status.
    pub at: Millis,
    /// Start of the daemon.
    #[serde(rename = "since")]
    pub started_at: Millis,
    /// Number of sources.
    pub sources: u64,
    /// Number of signal sources: sitemaps, feeds and push sources.
    #[serde(default)]
    pub signal_sources: u64,
    /// Signals received since the start, by kind of signal source.
    #[serde(default)]
    pub signals: BTreeMap<String, u64>,
    /// Budget in fetches per day.
    pub budget: f64,
    /// Limit on bytes received per day, if any.
    #[serde(rename = "bytes_budget")]
    pub bytes_per_day: Option<f64>,
    /// Fetches since the start.
    pub fetches: u64,
    /// Requests since the start, including robots.txt and redirects.
    pub requests: u64,
    /// Bytes received since the start.
    pub bytes: u64,
    /// Budget that the ledger counts as spent, but that is prepaid and not used yet.
    #[serde(default, rename = "ahead")]
    pub prepaid: f64,
    /// Changes found since the start.
    pub changes: u64,
    /// Failed fetches since the start.
    pub failures: u64,
    /// Estimated share of fresh copies, weighted by importance.
    pub freshness: f64,
    /// Current price of a fetch.
    pub price: f64,
    /// Expected long-run price.
    #[serde(rename = "outlook")]
    pub long_run_price: f64,
    /// Number of hosts that cannot serve every fetch worth the price.
    pub saturated_hosts: u64,
    /// Time of the engine's next scheduled work, if known.
    #[serde(rename = "wake")]
    pub next_wake_at: Option<Millis>,
    /// Number of concurrent fetches and the measurements behind it.
    #[serde(rename = "crew")]
    pub concurrency: ConcurrencyStatus,
    /// Sources claimed by external clients.
    #[serde(default)]
    pub claimed: u64,
    /// Cursor of the newest change.
    pub cursor: i64,
    /// Reason why results cannot be written, if they cannot.
    #[serde(rename = "trouble")]
    pub write_error: Option<String>,
}
