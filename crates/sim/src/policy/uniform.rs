//! The same rate for all.

use freshet_plan::Policy as PlanPolicy;

use super::paced::{Paced, RHYTHMS};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Uniform;

impl Definition for Uniform {
    const NAME: &'static str = "uniform";
    const ABOUT: &'static str = "the same rate for all";
    const VARIANTS: &'static [&'static str] = RHYTHMS;

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Paced::build(setting, PlanPolicy::Uniform, variant)
    }
}
