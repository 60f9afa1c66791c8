//! In proportion to the change rate.

use freshet_plan::Policy as PlanPolicy;

use super::paced::{Paced, RHYTHMS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct ChangeRate;

impl Definition for ChangeRate {
    const NAME: &'static str = "change-rate";
    const ABOUT: &'static str = "in proportion to the true change rate";
    const VARIANTS: &'static [&'static str] = RHYTHMS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Paced::build(setting, PlanPolicy::ChangeRate, variant)
    }
}
