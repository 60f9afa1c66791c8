//! StormCrawler's adaptive schedule, in whole minutes.

use super::adaptive::{Adaptive, ObservedFetch, Rule};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct StormCrawler;

impl Definition for StormCrawler {
    const NAME: &'static str = "stormcrawler";
    const ABOUT: &'static str = "StormCrawler: half the interval if changed, 1.5 times if not";
    const SCALED: bool = true;

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Ok(Adaptive::<Self>::build(setting))
    }
}

const MINUTE: f64 = 1.0 / 1440.0;
const SHORTEST: f64 = 60.0;
const LONGEST: f64 = 20_160.0;

impl Rule for StormCrawler {
    /// Interval in minutes.
    type Memory = f64;

    const RANGE: (f64, f64) = (SHORTEST * MINUTE, LONGEST * MINUTE);

    fn start(_: f64, interval: f64) -> f64 {
        (interval / MINUTE).round()
    }

    fn next(interval: &mut f64, ObservedFetch { changed, .. }: ObservedFetch) -> f64 {
        *interval = if changed {
            (0.5 * *interval + 0.5 * SHORTEST).floor()
        } else {
            (1.5 * *interval).floor().min(LONGEST)
        };
        *interval * MINUTE
    }
}
