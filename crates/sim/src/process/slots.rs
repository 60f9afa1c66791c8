//! Discrete time: a change at the start of each day with a fixed probability (Azar et al. 2018,
//! Problem 1).

use rand::RngExt;

use super::{Definition, Process, Stream};
use crate::population::Population;

pub(super) struct Slots(Vec<f64>);

impl Definition for Slots {
    const NAME: &'static str = "slots";
    const ABOUT: &'static str = "in each day a change with the chance `change_rate`, at its start";

    fn build(population: &Population, _: u64) -> Box<dyn Process> {
        Box::new(Self(population.change_rate.clone()))
    }
}

impl Process for Slots {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        // Slots begin with the day, wherever the wait for the next change starts.
        stream.at.floor() + slots_until(self.0[source], stream.random.random())
    }

    fn mean_rate(&self, source: usize, _: f64, _: f64) -> f64 {
        self.0[source]
    }
}

/// Returns the number of slots until an event with a fixed probability per slot, from a uniform number.
pub(crate) fn slots_until(chance: f64, uniform: f64) -> f64 {
    if chance >= 1.0 {
        return 1.0;
    }
    // 1 − u is never 0.
    1.0 + ((1.0 - uniform).ln() / (-chance).ln_1p()).floor()
}
