//! Optimal rates for known change rates: the bound.

use freshet_plan::{Policy as PlanPolicy, Timing};

use super::rate_policy::RatePolicy;
use super::sequenced::{Sequence, Sequenced};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::objective::SimObjective;
use crate::setting::Setting;

pub(super) struct Optimum;

impl Definition for Optimum {
    const NAME: &'static str = "optimum";
    const ABOUT: &'static str = "the best rates for those who know all change rates: the bound";
    const VARIANTS: &'static [&'static str] =
        &["periodic", "poisson", "slots", "random-order", "edf", "golden", "poisson-edf"];

    /// The planner does not support updates.
    fn serves(objective: SimObjective) -> bool {
        objective.objective().is_some()
    }

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        match variant {
            Some("edf") => Sequenced::build(setting, Timing::Periodic, Sequence::EarliestDeadline),
            Some("golden") => Sequenced::build(setting, Timing::Periodic, Sequence::GoldenRatio),
            // Rates of Azar et al. 2018, sequenced by their Alg. 3.
            Some("poisson-edf") => {
                Sequenced::build(setting, Timing::Poisson, Sequence::EarliestDeadline)
            }
            _ => RatePolicy::build(setting, PlanPolicy::Optimal, variant),
        }
    }
}
