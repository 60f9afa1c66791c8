//! Result of a plan, with evidence of its accuracy.

use std::fmt;

/// Rates, their price, and the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Fetches per day of each source.
    pub rates: Vec<f64>,
    /// Sum of the rates times the costs.
    pub spent: f64,
    /// Worth of one more fetch per day: the decrease of the cost, in the unit of the objective. Zero if the
    /// budget is not used up; NaN for a policy that does not optimise.
    pub price: f64,
    /// Price at each host that is at its limit: the worth of one more fetch per day there.
    pub host_prices: Vec<HostPrice>,
    /// Status of the solution.
    pub status: Status,
    /// Deviation from the conditions of an optimum.
    pub gap: Gap,
    /// Number of passes over the columns.
    pub passes: u32,
}

/// Price at a saturated host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPrice {
    /// Index of the host.
    pub host: u32,
    /// Worth of one more fetch per day at this host.
    pub price: f64,
}

/// Status of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The conditions of an optimum hold within 1e-9.
    Optimal,
    /// Optimal, and the sources cannot use the whole budget.
    Unspent,
    /// The rates follow a rule that does not optimise.
    Baseline,
    /// The conditions of an optimum do not hold within 1e-9; [`Gap`] has the residuals.
    Inexact,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Optimal => "optimal",
            Self::Unspent => "unspent",
            Self::Baseline => "baseline",
            Self::Inexact => "inexact",
        })
    }
}

/// Relative residuals of the conditions of an optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Spending against the budget (zero if the budget is not used up).
    pub budget: f64,
    /// Worth of a fetch against its price: the largest deviation over all sources.
    pub kkt: f64,
}

impl Gap {
    /// Returns the larger of the two.
    #[must_use]
    pub fn worst(self) -> f64 {
        self.budget.max(self.kkt)
    }
}
