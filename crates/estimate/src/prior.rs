//! Prior belief about a source before its first fetch.

use serde::{Deserialize, Serialize};

use crate::belief::{Belief, InvalidBelief};

/// Belief about the change rate of a source without observations: the distribution of the rates of
/// similar sources. A [`PriorFit`](crate::PriorFit) learns it from their beliefs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior(Belief);

impl Prior {
    /// Nearly uninformative: Gamma(0.5, 3.5 days). The mean is one change a week, and 95 % of the
    /// rates lie between one change in 20 years and one in 1.4 days.
    pub const BROAD: Self = Self(Belief::from_parts(0.5, 3.5));

    /// Returns the prior Gamma(`shape`, `days`): rates with mean `shape/days` and a relative spread
    /// of `1/√shape`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidBelief`] if either parameter is not a positive finite number.
    pub fn new(shape: f64, days: f64) -> Result<Self, InvalidBelief> {
        Belief::new(shape, days).map(Self)
    }

    /// Belief about a new source.
    #[must_use]
    pub fn belief(self) -> Belief {
        self.0
    }

    /// Mean change rate, per day.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.0.mean()
    }
}

impl From<Belief> for Prior {
    fn from(belief: Belief) -> Self {
        Self(belief)
    }
}

impl From<Prior> for Belief {
    fn from(prior: Prior) -> Self {
        prior.0
    }
}
