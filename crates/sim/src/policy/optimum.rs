//! The best rates for those who know all change rates: the bound.

use freshet_plan::{Policy as PlanPolicy, Timing};

use super::paced::Paced;
use super::sequenced::{Sequence, Sequenced};
use super::{Definition, Policy};
use crate::aim::Aim;
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Optimum;

impl Definition for Optimum {
    const NAME: &'static str = "optimum";
    const ABOUT: &'static str = "the best rates for those who know all change rates: the bound";
    const VARIANTS: &'static [&'static str] =
        &["periodic", "poisson", "slots", "random-order", "edf", "golden", "poisson-edf"];

    /// Plans know no updates.
    fn serves(objective: Aim) -> bool {
        objective.objective().is_some()
    }

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        match variant {
            Some("edf") => Sequenced::build(setting, Timing::Periodic, Sequence::EarliestDeadline),
            Some("golden") => Sequenced::build(setting, Timing::Periodic, Sequence::GoldenRatio),
            // The rates of Azar et al. 2018 in the order of their Alg. 3.
            Some("poisson-edf") => {
                Sequenced::build(setting, Timing::Poisson, Sequence::EarliestDeadline)
            }
            _ => Paced::build(setting, PlanPolicy::Optimal, variant),
        }
    }
}
