//! Apache Nutch's adaptive schedule.

use super::adaptive::{Adaptive, ObservedFetch, Rule};
use super::{Definition, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Nutch;

impl Definition for Nutch {
    const NAME: &'static str = "nutch";
    const ABOUT: &'static str = "Apache Nutch: 0.8 times the interval if changed, 1.4 if not";
    const SCALED: bool = true;

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Ok(Adaptive::<Self>::build(setting))
    }
}

const SECOND: f64 = 1.0 / 86_400.0;
const SHORTEST: f64 = 60.0 * SECOND;
const LONGEST: f64 = 31_536_000.0 * SECOND;
/// Interval in days above which a source is fetched and its history reset.
const RENEWED_FROM: f64 = 7_776_000.0 * SECOND;
/// Share of the time since the last modification by which the next fetch is moved forward.
const SYNC: f64 = 0.3;

#[derive(Clone)]
pub(super) struct Memory {
    interval: f64,
    /// Fetch that found the last modification, which is all that a crawler knows if the server
    /// sends no date.
    modified: Option<f64>,
}

impl Rule for Nutch {
    type Memory = Memory;

    const RANGE: (f64, f64) = (SHORTEST, LONGEST);

    fn start(now: f64, interval: f64) -> Memory {
        Memory { interval, modified: Some(now) }
    }

    fn next(memory: &mut Memory, ObservedFetch { now, changed, .. }: ObservedFetch) -> f64 {
        memory.interval *= if changed { 0.8 } else { 1.4 };
        if changed {
            memory.modified = Some(now);
        }
        let unmodified = now - memory.modified.unwrap_or(now);
        memory.interval = memory.interval.max(unmodified).clamp(SHORTEST, LONGEST);
        let mut next = memory.interval - SYNC * unmodified;
        if memory.interval > RENEWED_FROM {
            memory.interval = 0.9 * RENEWED_FROM;
            memory.modified = None;
            next = memory.interval;
        }
        next.max(SHORTEST)
    }
}
