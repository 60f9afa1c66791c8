//! Changes in bursts: Weibull gaps with a shape below 1.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, Gamma};

use super::{Definition, Process, Stream};
use crate::population::Population;

/// Shape of the gaps. Their standard deviation is 1.46 times their mean, as for the median page of real
/// histories.
const SHAPE: f64 = 0.7;
/// `Γ(1 + 1/SHAPE)`, the mean gap at scale 1.
const MEAN_AT_ONE: f64 = 1.265_823_506_057_283_4;

pub(super) struct Bursty {
    rates: Vec<f64>,
    /// Distribution of the gap around a fixed time, to the power of the shape: long gaps are more likely there.
    met: Gamma<f64>,
}

impl Definition for Bursty {
    const NAME: &'static str = "bursty";
    const ABOUT: &'static str = "changes in bursts: Weibull gaps of shape 0.7";

    fn build(population: &Population, _: u64) -> Box<dyn Process> {
        let met = Gamma::new(1.0 + 1.0 / SHAPE, 1.0).expect("constants are in range");
        Box::new(Self { rates: population.change_rate.clone(), met })
    }
}

impl Process for Bursty {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        let scale = 1.0 / (self.rates[source] * MEAN_AT_ONE);
        let gap = if stream.drawn == 0 {
            // The start is in the middle of a gap.
            let whole = self.met.sample(&mut stream.random).powf(1.0 / SHAPE);
            whole * stream.random.random::<f64>()
        } else {
            let e: f64 = Exp1.sample(&mut stream.random);
            e.powf(1.0 / SHAPE)
        };
        stream.at + gap * scale
    }

    fn mean_rate(&self, source: usize, _: f64, _: f64) -> f64 {
        self.rates[source]
    }
}
