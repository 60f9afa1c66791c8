//! Miniflux's entry frequency: the more entries per week, the shorter the interval.

use super::adaptive::{Adaptive, ObservedFetch, Rule};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Miniflux;

impl Definition for Miniflux {
    const NAME: &'static str = "miniflux";
    const ABOUT: &'static str = "miniflux: a week over the number of changes in the last week";
    const SCALED: bool = true;

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Ok(Adaptive::<Self>::build(setting))
    }
}

const WEEK: f64 = 7.0;
const SHORTEST: f64 = 5.0 / 1440.0;
const LONGEST: f64 = 1.0;

/// Number of new entries found on each of the last seven days.
#[derive(Clone)]
pub(super) struct WeekHistory {
    found: [u16; WEEK as usize],
    today: u64,
}

impl Rule for Miniflux {
    type Memory = WeekHistory;

    const RANGE: (f64, f64) = (SHORTEST, LONGEST);

    fn start(now: f64, _: f64) -> WeekHistory {
        WeekHistory { found: [0; WEEK as usize], today: now as u64 }
    }

    fn next(week: &mut WeekHistory, ObservedFetch { now, times, .. }: ObservedFetch) -> f64 {
        let (day, days) = (now as u64, WEEK as u64);
        for passed in 1..=(day - week.today).min(days) {
            week.found[((week.today + passed) % days) as usize] = 0;
        }
        week.today = day;
        let found = &mut week.found[(day % days) as usize];
        *found = found.saturating_add(times.min(u32::from(u16::MAX)) as u16);
        let entries: f64 = week.found.iter().map(|&found| f64::from(found)).sum();
        (WEEK / entries).clamp(SHORTEST, LONGEST)
    }
}
