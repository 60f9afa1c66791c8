//! Rates that change every season by log-normal factors with mean 1.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};

use super::{Definition, Process, Stream};
use crate::population::Population;
use crate::seed::{RandomPurpose, mixed, of_source};

/// Length of a season in days.
const SEASON: f64 = 90.0;
/// Standard deviation of the logarithm of a rate.
const SIGMA: f64 = 0.8;

pub(super) struct Drifting {
    rates: Vec<f64>,
    /// Phase of each source within a season.
    phases: Vec<f64>,
    seed: u64,
}

impl Definition for Drifting {
    const NAME: &'static str = "drifting";
    const ABOUT: &'static str = "rates that change every 90 days by log-normal factors";

    fn build(population: &Population, seed: u64) -> Box<dyn Process> {
        let phase = |source: usize| {
            of_source(seed, RandomPurpose::Drift, source as u64).random::<f64>() * SEASON
        };
        let phases = (0..population.len()).map(phase).collect();
        Box::new(Self { rates: population.change_rate.clone(), phases, seed })
    }
}

impl Drifting {
    fn season(&self, source: usize, day: f64) -> u64 {
        ((day + self.phases[source]) / SEASON) as u64
    }

    /// Returns the end of a season.
    fn end(&self, source: usize, season: u64) -> f64 {
        (season + 1) as f64 * SEASON - self.phases[source]
    }

    fn rate(&self, source: usize, season: u64) -> f64 {
        let key = mixed(source as u64) ^ (season + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z: f64 = StandardNormal.sample(&mut of_source(self.seed, RandomPurpose::Drift, key));
        self.rates[source] * SIGMA.mul_add(z, -0.5 * SIGMA * SIGMA).exp()
    }
}

impl Process for Drifting {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        if self.rates[source] <= 0.0 {
            return f64::INFINITY;
        }
        let mut left: f64 = Exp1.sample(&mut stream.random);
        let mut day = stream.at;
        let first = self.season(source, day);
        // No simulation lasts ten thousand seasons.
        for season in first..first + 10_000 {
            let (rate, end) = (self.rate(source, season), self.end(source, season));
            let here = rate * (end - day).max(0.0);
            if left <= here {
                return day + left / rate;
            }
            left -= here;
            day = end;
        }
        f64::INFINITY
    }

    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64 {
        let (mut day, mut sum) = (from, 0.0);
        while day < to {
            let season = self.season(source, day);
            let end = self.end(source, season).min(to);
            // The last part of a season can round to its end.
            let end = if end > day { end } else { (day + 1e-9).min(to) };
            sum += self.rate(source, season) * (end - day);
            day = end;
        }
        if to > from { sum / (to - from) } else { self.rates[source] }
    }
}
