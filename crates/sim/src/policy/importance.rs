//! Rates proportional to importance.

use freshet_plan::Policy as PlanPolicy;

use super::rate_policy::{RatePolicy, TIMINGS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Importance;

impl Definition for Importance {
    const NAME: &'static str = "importance";
    const ABOUT: &'static str = "in proportion to importance";
    const VARIANTS: &'static [&'static str] = TIMINGS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        RatePolicy::build(setting, PlanPolicy::Importance, variant)
    }
}
