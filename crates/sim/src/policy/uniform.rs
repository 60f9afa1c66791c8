//! The same rate for all sources.

use freshet_plan::Policy as PlanPolicy;

use super::rate_policy::{RatePolicy, TIMINGS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Uniform;

impl Definition for Uniform {
    const NAME: &'static str = "uniform";
    const ABOUT: &'static str = "the same rate for all";
    const VARIANTS: &'static [&'static str] = TIMINGS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        RatePolicy::build(setting, PlanPolicy::Uniform, variant)
    }
}
