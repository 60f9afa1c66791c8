//! What the requests are to buy.

use std::fmt;

use freshet_estimate::{Belief, Capture, Penalty};
use freshet_plan::Objective;

use crate::policy::PolicyKind;

/// What the policies are asked to make good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// Copies that are like their sources: one that lacks changes costs something.
    Keep(Objective),
    /// Each change as an update: capturing one is worth something, how much says the mode.
    Capture(Capture),
}

impl Aim {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep(objective) => objective.name(),
            Self::Capture(_) => "capture",
        }
    }

    /// Whether a greater number is a better one.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Keep(Objective::Freshness) | Self::Capture(_))
    }

    /// The objective, if a plan can be made for it.
    #[must_use]
    pub fn objective(self) -> Option<Objective> {
        match self {
            Self::Keep(objective) => Some(objective),
            Self::Capture(_) => None,
        }
    }

    /// What updates are worth, if they are what counts.
    #[must_use]
    pub fn capture(self) -> Option<Capture> {
        match self {
            Self::Keep(_) => None,
            Self::Capture(capture) => Some(capture),
        }
    }

    /// The policy that the others are compared with: it knows all change rates.
    #[must_use]
    pub fn yardstick(self) -> PolicyKind {
        match self {
            Self::Keep(_) => PolicyKind::Optimum,
            Self::Capture(_) => PolicyKind::Wic,
        }
    }

    /// What a fetch is worth so many days after the last, for importance 1.
    pub(crate) fn value(self, belief: Belief, days: f64) -> f64 {
        match self {
            Self::Keep(objective) => penalty(objective).value(belief, days),
            Self::Capture(capture) => capture.value(belief, days),
        }
    }

    /// The days after which it is worth a price.
    pub(crate) fn due(self, belief: Belief, price: f64) -> f64 {
        match self {
            Self::Keep(objective) => penalty(objective).due(belief, price),
            Self::Capture(capture) => capture.due(belief, price),
        }
    }
}

/// The penalty of `estimate` for an objective of `plan`.
pub(crate) fn penalty(objective: Objective) -> Penalty {
    match objective {
        Objective::Harmonic => Penalty::Harmonic,
        Objective::Freshness => Penalty::Freshness,
        Objective::Age => Penalty::Age,
    }
}

impl From<Objective> for Aim {
    fn from(objective: Objective) -> Self {
        Self::Keep(objective)
    }
}

impl From<Capture> for Aim {
    fn from(capture: Capture) -> Self {
        Self::Capture(capture)
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Keep(_) => Ok(()),
            Self::Capture(it) => write!(f, ", life {}, urgency {}", it.life, it.urgency),
        }
    }
}
