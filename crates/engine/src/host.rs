//! What the engine knows about a host.

use freshet_estimate::{Fit, Prior};
use serde::{Deserialize, Serialize};

use crate::ranked::Ranked;

/// A host: how it is to be treated, and which of its sources wait for it. What is needed for each fetch
/// comes first, in two lines of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Host {
    /// What its sources are like.
    pub(crate) prior: Prior,
    /// What a fetch here must be worth while more is worth its price than the host can take; 0
    /// otherwise.
    pub(crate) price: f64,
    /// The day from which on it may be asked again.
    pub(crate) free: f64,
    /// Days between two fetches that it asks for itself.
    pub(crate) gap: f64,
    /// Its place in the line of hosts that can be asked.
    pub(crate) place: Option<u32>,
    /// Fetches under way.
    pub(crate) asked: u32,
    /// Failures in a row.
    pub(crate) failures: u8,
    /// Whether it is among those that rest.
    pub(crate) resting: bool,
    /// Whether it was reported to be down.
    pub(crate) down: bool,
    /// Sources that are worth their price, or nearly.
    pub(crate) ready: Ranked,
    /// What is being found out about what its sources are like, and in which survey.
    pub(crate) fit: Fit,
    pub(crate) survey: u32,
    /// Of what is under way, what is for none of its sources.
    pub(crate) visits: u32,
}

impl Host {
    pub(crate) fn new(prior: Prior) -> Self {
        Self {
            prior,
            fit: Fit::new(prior),
            survey: 0,
            visits: 0,
            ready: Ranked::default(),
            asked: 0,
            free: f64::NEG_INFINITY,
            gap: 0.0,
            price: 0.0,
            place: None,
            resting: false,
            failures: 0,
            down: false,
        }
    }
}

/// Failures in a row after which a host is said to be down.
pub(crate) const DOWN: u8 = 5;

/// Days to wait after so many failures in a row: a minute, then twice as long each time up to four
/// hours; and after two days of that twice as long again each time, up to a month.
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

/// More failures in a row make no difference.
pub(crate) const MOST_FAILURES: u8 = 30;
