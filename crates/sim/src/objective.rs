//! Objective of a simulation.

use std::fmt;

use freshet_estimate::{Belief, CaptureObjective, Penalty};
use freshet_plan::Objective;

use crate::policy::PolicyKind;

/// Objective that the policies optimise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimObjective {
    /// Up-to-date copies: a copy that lacks changes has a cost.
    Keep(Objective),
    /// Captured updates: each change is an update whose worth depends on the mode.
    Capture(CaptureObjective),
}

impl SimObjective {
    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep(objective) => objective.name(),
            Self::Capture(_) => "capture",
        }
    }

    /// Returns true if a larger value is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Keep(Objective::Freshness) | Self::Capture(_))
    }

    /// Returns the planner's objective, if there is one.
    #[must_use]
    pub fn objective(self) -> Option<Objective> {
        match self {
            Self::Keep(objective) => Some(objective),
            Self::Capture(_) => None,
        }
    }

    /// Returns the worth of updates if the objective is capture.
    #[must_use]
    pub fn capture(self) -> Option<CaptureObjective> {
        match self {
            Self::Keep(_) => None,
            Self::Capture(capture) => Some(capture),
        }
    }

    /// Returns the reference policy, which knows all change rates.
    #[must_use]
    pub fn yardstick(self) -> PolicyKind {
        match self {
            Self::Keep(_) => PolicyKind::Optimum,
            Self::Capture(_) => PolicyKind::Wic,
        }
    }

    /// Returns the value of a fetch `days` after the last one, for importance 1.
    pub(crate) fn value(self, belief: Belief, days: f64) -> f64 {
        match self {
            Self::Keep(objective) => penalty(objective).fetch_value(belief, days),
            Self::Capture(capture) => capture.fetch_value(belief, days),
        }
    }

    /// Returns the number of days after which the value reaches a price.
    pub(crate) fn due(self, belief: Belief, price: f64) -> f64 {
        match self {
            Self::Keep(objective) => penalty(objective).interval_at_price(belief, price),
            Self::Capture(capture) => capture.interval_at_price(belief, price),
        }
    }
}

/// Returns the penalty of `estimate` for an objective of `plan`.
pub(crate) fn penalty(objective: Objective) -> Penalty {
    match objective {
        Objective::Harmonic => Penalty::Harmonic,
        Objective::Freshness => Penalty::Freshness,
        Objective::Age => Penalty::Age,
    }
}

impl From<Objective> for SimObjective {
    fn from(objective: Objective) -> Self {
        Self::Keep(objective)
    }
}

impl From<CaptureObjective> for SimObjective {
    fn from(capture: CaptureObjective) -> Self {
        Self::Capture(capture)
    }
}

impl fmt::Display for SimObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Keep(_) => Ok(()),
            Self::Capture(it) => write!(f, ", life {}, urgency {}", it.life, it.urgency),
        }
    }
}
