//! Rates proportional to the change rate.

use freshet_plan::Policy as PlanPolicy;

use super::rate_policy::{RatePolicy, TIMINGS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct ChangeRate;

impl Definition for ChangeRate {
    const NAME: &'static str = "change-rate";
    const ABOUT: &'static str = "in proportion to the true change rate";
    const VARIANTS: &'static [&'static str] = TIMINGS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        RatePolicy::build(setting, PlanPolicy::ChangeRate, variant)
    }
}
