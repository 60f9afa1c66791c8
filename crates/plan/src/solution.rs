//! What a plan comes to, and how well that is known.

use std::fmt;

/// Rates, the price behind them, and the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Fetches a day of each source.
    pub rates: Vec<f64>,
    /// What all of them together take from the budget.
    pub spent: f64,
    /// What one more fetch a day is worth, in the unit of the objective: by so much its cost would
    /// fall. Zero when the budget is not used up; NaN for a policy that does not optimise.
    pub price: f64,
    /// The price at each host that is at its limit: what one more fetch a day there is worth.
    pub host_prices: Vec<HostPrice>,
    /// How the search ended.
    pub status: Status,
    /// How far the rates are from meeting the conditions of an optimum.
    pub gap: Gap,
    /// How often the columns were gone through.
    pub passes: u32,
}

/// The price at a saturated host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPrice {
    /// The host's number.
    pub host: u32,
    /// What one more fetch a day there is worth.
    pub price: f64,
}

/// How a plan was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The conditions of an optimum hold within 1e-9.
    Optimal,
    /// The same, but there is more budget than the sources can use.
    Unspent,
    /// The rates follow a rule that does not optimise.
    Baseline,
    /// The conditions of an optimum do not hold within 1e-9; [`Gap`] says how well they do.
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
    /// What is spent, against the budget (zero where the budget is not used up).
    pub budget: f64,
    /// What a fetch of each source is worth, against its price: the largest over all sources.
    pub kkt: f64,
}

impl Gap {
    /// The larger of the two.
    #[must_use]
    pub fn worst(self) -> f64 {
        self.budget.max(self.kkt)
    }
}
