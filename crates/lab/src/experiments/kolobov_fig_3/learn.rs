//! LambdaLearnAndCrawl and its variants (Algorithm 4): estimate, plan, follow the plan for a day, repeat.

use freshet_estimate::{Observation, observed_rate, smoothed_rate};
use rand::RngExt;
use rand_distr::{Distribution as _, Exp1};

use crate::error::LabError;
use crate::experiments::kolobov_web::{BUDGET, Costs, Crawl, Pages};
use crate::random::{Random, random};

/// Initial estimate of every change rate per day.
const GUESS: f64 = 1.0;

/// Returns the costs of the plan for each day, and of the one after the last, at the true rates.
pub(super) fn learn(
    pages: &Pages,
    crawl: Crawl,
    days: usize,
    seed: u64,
) -> Result<Vec<Costs>, LabError> {
    let mut random = random(seed);
    let n = pages.len();
    let listens = crawl != Crawl::BlcFloor;
    let mut believed = Pages {
        weights: pages.weights.clone(),
        changes: vec![GUESS; n],
        complete: pages.complete.clone(),
    };
    let mut sources: Vec<Source> = (0..n).map(|_| Source::default()).collect();
    let mut costs = Vec::new();
    for day in 0..=days {
        let rates = believed.rates(crawl, BUDGET * n as f64)?;
        // A plan is a rate for polled sources, and a probability at each announced change for
        // observed ones, whose rate follows from the true change rate.
        let carried_out: Vec<f64> = (0..n)
            .map(|i| {
                let announced = listens && pages.complete[i];
                let chance = (rates[i] / believed.changes[i]).min(1.0);
                if announced { chance * pages.changes[i] } else { rates[i] }
            })
            .collect();
        costs.push(pages.costs(crawl, &carried_out)?);
        for (i, source) in sources.iter_mut().enumerate() {
            believed.changes[i] = if listens && pages.complete[i] {
                source.counted += changes_in_a_day(pages.changes[i], &mut random);
                observed_rate(source.counted, (day + 1) as f64)
            } else {
                source.poll(day as f64, rates[i], pages.changes[i], &mut random)
            };
        }
    }
    Ok(costs)
}

fn changes_in_a_day(rate: f64, random: &mut Random) -> u64 {
    let (mut time, mut count) = (0.0, 0);
    loop {
        let wait: f64 = Exp1.sample(random);
        time += wait / rate;
        if time > 1.0 {
            return count;
        }
        count += 1;
    }
}

#[derive(Default)]
struct Source {
    history: Vec<Observation>,
    last: f64,
    counted: u64,
    estimate: Option<f64>,
}

impl Source {
    /// Returns a day of fetches at random times, and the rate that is believed after it.
    fn poll(&mut self, day: f64, rate: f64, change: f64, random: &mut Random) -> f64 {
        let before = self.history.len();
        let mut time = day;
        loop {
            let wait: f64 = Exp1.sample(random);
            time += wait / rate;
            if time > day + 1.0 {
                break;
            }
            let days = time - self.last;
            let changed = random.random::<f64>() < -(-change * days).exp_m1();
            self.history.push(Observation { days, changed });
            self.last = time;
        }
        if self.history.len() > before {
            self.estimate = Some(smoothed_rate(&self.history));
        }
        self.estimate.unwrap_or(GUESS)
    }
}
