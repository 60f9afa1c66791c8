//! Measured freshness. Only the demo can measure it: it generates the pages and knows when they
//! changed.

use freshet_daemon::Millis;

/// Measured freshness of several polling policies over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrueFreshness {
    /// One series per policy; the first is freshet.
    pub series: Vec<FreshnessSeries>,
}

/// Measured freshness of one polling policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FreshnessSeries {
    /// Name of the policy.
    pub name: String,
    /// Importance-weighted share of fresh copies, at increasing times of the daemon's clock.
    pub points: Vec<(Millis, f64)>,
    /// Mean freshness since the start.
    pub mean: f64,
    /// Number of requests made.
    pub requests: u64,
}
