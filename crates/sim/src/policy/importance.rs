//! In proportion to importance.

use freshet_plan::Policy as PlanPolicy;

use super::paced::{Paced, RHYTHMS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Importance;

impl Definition for Importance {
    const NAME: &'static str = "importance";
    const ABOUT: &'static str = "in proportion to importance";
    const VARIANTS: &'static [&'static str] = RHYTHMS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Paced::build(setting, PlanPolicy::Importance, variant)
    }
}
