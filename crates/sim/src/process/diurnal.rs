//! More by day than by night, and less at weekends.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::{Definition, Process, Stream};
use crate::population::Population;
use crate::seed::mixed;

/// Relative amplitude of the rate over a day.
const SWING: f64 = 0.8;
/// Rates on weekdays and weekends relative to the mean: `5·1.24 + 2·0.4 = 7`.
const WEEKDAY: f64 = 1.24;
const WEEKEND: f64 = 0.4;

pub(super) struct Diurnal {
    rates: Vec<f64>,
    /// Busiest time of each host, as a fraction of the day.
    noons: Vec<f64>,
}

impl Definition for Diurnal {
    const NAME: &'static str = "diurnal";
    const ABOUT: &'static str = "more by day than by night, less at weekends";

    fn build(population: &Population, seed: u64) -> Box<dyn Process> {
        let noon = |&host: &u32| mixed(seed ^ u64::from(host)) as f64 / u64::MAX as f64;
        let noons = population.host.iter().map(noon).collect();
        Box::new(Self { rates: population.change_rate.clone(), noons })
    }
}

impl Process for Diurnal {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        let most = self.rates[source] * (1.0 + SWING) * WEEKDAY;
        let mut day = stream.at;
        loop {
            // Thinning: propose at the highest rate, accept in proportion.
            let wait: f64 = Exp1.sample(&mut stream.random);
            day += wait / most;
            if !day.is_finite() {
                return f64::INFINITY;
            }
            let weekday = if day.rem_euclid(7.0) < 5.0 { WEEKDAY } else { WEEKEND };
            let hour = SWING.mul_add((TAU * (day - self.noons[source])).cos(), 1.0);
            if stream.random.random::<f64>() * (1.0 + SWING) * WEEKDAY <= hour * weekday {
                return day;
            }
        }
    }

    fn mean_rate(&self, source: usize, _: f64, _: f64) -> f64 {
        self.rates[source]
    }
}
