//! What is believed about a source before it is fetched.

use serde::{Deserialize, Serialize};

use crate::belief::{Belief, InvalidBelief};

/// The belief about a source that nothing is known of yet: how the change rates of its siblings
/// are spread. A [`Fit`](crate::Fit) learns it from their beliefs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior(Belief);

impl Prior {
    /// Nearly nothing: Gamma(0.5, 3.5 days). The mean is one change a week, and 95 % of the rates
    /// lie between one change in 20 years and one in 1.4 days.
    pub const BROAD: Self = Self(Belief::from_parts(0.5, 3.5));

    /// The prior Gamma(`shape`, `days`): rates with mean `shape/days`, and a spread relative to it
    /// of `1/√shape`.
    ///
    /// # Errors
    ///
    /// If either is not a positive finite number.
    pub fn new(shape: f64, days: f64) -> Result<Self, InvalidBelief> {
        Belief::new(shape, days).map(Self)
    }

    /// What is believed of a new source.
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
