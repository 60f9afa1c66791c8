//! State of a host.

use freshet_estimate::{Prior, PriorFit};
use serde::{Deserialize, Serialize};

use crate::ranked_heap::RankedHeap;

/// State of a host and its candidates. The fields used for each fetch come first and fit in two
/// cache lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Host {
    /// Prior over the change rates of its sources.
    pub(crate) prior: Prior,
    /// Minimum value of a fetch while the host is saturated; 0 otherwise.
    pub(crate) price: f64,
    /// First day on which the next request is allowed.
    pub(crate) free_at: f64,
    /// Crawl delay requested by the host, in days.
    pub(crate) gap: f64,
    /// Place in the heap of ready hosts.
    pub(crate) place: Option<u32>,
    /// Requests in flight.
    pub(crate) in_flight: u32,
    /// Consecutive failures.
    pub(crate) failures: u8,
    /// True if it is in the heap of resting hosts.
    pub(crate) is_resting: bool,
    /// True if it was reported as down.
    pub(crate) down: bool,
    /// Sources that are worth their price, or nearly.
    pub(crate) candidates: RankedHeap,
    /// Fit of the prior in progress, and the survey it belongs to.
    pub(crate) fit: PriorFit,
    pub(crate) survey: u32,
    /// Requests in flight that are not for one of its sources.
    pub(crate) external_requests: u32,
}

impl Host {
    pub(crate) fn new(prior: Prior) -> Self {
        Self {
            prior,
            fit: PriorFit::new(prior),
            survey: 0,
            external_requests: 0,
            candidates: RankedHeap::default(),
            in_flight: 0,
            free_at: f64::NEG_INFINITY,
            gap: 0.0,
            price: 0.0,
            place: None,
            is_resting: false,
            failures: 0,
            down: false,
        }
    }
}

/// Consecutive failures after which a host is reported as down.
pub(crate) const DOWN_AFTER_FAILURES: u8 = 5;

/// Days to wait after consecutive failures: one minute, doubled each time up to four hours; after
/// two days of that doubled again each time, up to 30 days.
pub(crate) fn back_off(failures: u8) -> f64 {
    const SLOW: u8 = 9;
    const SLOWER: u8 = 21;
    let doubled = |times: u8| f64::from(1_u32 << times);
    match failures {
        0..SLOW => doubled(failures.saturating_sub(1)) / 1440.0,
        SLOW..SLOWER => 1.0 / 6.0,
        _ => (doubled((failures - SLOWER + 1).min(10)) / 6.0).min(30.0),
    }
}

/// The failure count stops here.
pub(crate) const MAX_FAILURES: u8 = 30;
