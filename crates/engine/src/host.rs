//! What the engine knows about a host.

use freshet_estimate::Prior;

/// A host: how it is to be treated, and which of its sources wait for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Host {
    /// What its sources are like.
    pub(crate) prior: Prior,
    /// Sources that are worth their price.
    pub(crate) ready: Vec<u32>,
    /// Fetches under way.
    pub(crate) asked: u32,
    /// The day from which on it may be asked again.
    pub(crate) free: f64,
    /// Failures in a row.
    pub(crate) failures: u8,
    /// How much more than the price a fetch here must be worth: more than 1 while more is worth its
    /// price than the host can take.
    pub(crate) surcharge: f64,
    /// Whether it stands in the line of hosts that can be asked.
    pub(crate) lined_up: bool,
}

impl Host {
    pub(crate) fn new(prior: Prior) -> Self {
        Self {
            prior,
            ready: Vec::new(),
            asked: 0,
            free: f64::NEG_INFINITY,
            failures: 0,
            surcharge: 1.0,
            lined_up: false,
        }
    }
}

/// Days to wait after so many failures in a row: a minute, then twice as long each time, four hours at
/// most.
pub(crate) fn back_off(failures: u8) -> f64 {
    let minutes = f64::from(1_u32 << failures.clamp(1, 12).saturating_sub(1));
    (minutes / 1440.0).min(1.0 / 6.0)
}
