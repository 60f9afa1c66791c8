//! Changes at random times, at a constant rate.

use rand_distr::{Distribution, Exp1};

use super::{Definition, Process, Stream};
use crate::population::Population;

pub(super) struct Poisson(Vec<f64>);

impl Definition for Poisson {
    const NAME: &'static str = "poisson";
    const ABOUT: &'static str = "changes at random times, at a constant rate";

    fn build(population: &Population, _: u64) -> Box<dyn Process> {
        Box::new(Self(population.change_rate.clone()))
    }
}

impl Process for Poisson {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        let wait: f64 = Exp1.sample(&mut stream.random);
        stream.at + wait / self.0[source]
    }

    fn mean_rate(&self, source: usize, _: f64, _: f64) -> f64 {
        self.0[source]
    }
}
