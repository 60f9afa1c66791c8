//! One interval for all sources, as with cron.

use super::adaptive::{Adaptive, ObservedFetch, Rule};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Fixed;

impl Definition for Fixed {
    const NAME: &'static str = "fixed";
    const ABOUT: &'static str = "one interval for all, as from cron";
    const SCALED: bool = true;

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Ok(Adaptive::<Self>::build(setting))
    }
}

impl Rule for Fixed {
    type Memory = ();

    const RANGE: (f64, f64) = (1.0, 1.0);

    fn start(_: f64, _: f64) {}

    fn next((): &mut (), _: ObservedFetch) -> f64 {
        1.0
    }
}
