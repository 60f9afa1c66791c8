//! What policies made of a web.

use freshet_plan::Objective;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::aim::Aim;
use crate::ledger::{Calendar, Sums};
use crate::policy::Choice;
use crate::run::Run;

/// A mean over seeds, and where it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The ends of the interval; `None` where one seed tells nothing about it.
    pub interval: Option<(f64, f64)>,
}

impl Spread {
    /// Of one value for each seed.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() < 2 {
            return Self { mean, interval: None };
        }
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let quantile = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
        let half = quantile * (variance / n).sqrt();
        Self { mean, interval: Some((mean - half, mean + half)) }
    }
}

/// The measures of a policy over the measured days. All but the counts are weighted by importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The share of time at which copies are fresh.
    pub freshness: Spread,
    /// Days that copies are stale for, over all time.
    pub age: Spread,
    /// The harmonic number of the changes that copies lack, over all time.
    pub harmonic_cost: Spread,
    /// The share of changes that a fetch got to see.
    pub captured: Spread,
    /// Days from those changes to the fetch.
    pub delay: Spread,
    /// What was captured of the changes by the end, as a share of what they were worth when they
    /// came; not a number unless the objective is to capture.
    pub utility: Spread,
    /// Requests.
    pub requests: Spread,
    /// The share of requests that found a change.
    pub found: Spread,
    /// The most requests to one host in one day.
    pub host_load: Spread,
}

impl Measured {
    fn of(runs: &[Run], objective: Aim) -> Self {
        let sums: Vec<Sums> = runs.iter().map(|run| run.ledger.measured()).collect();
        let spread = |of: fn(&Sums) -> f64| Spread::of(&sums.iter().map(of).collect::<Vec<_>>());
        Self {
            freshness: spread(Sums::freshness),
            age: spread(Sums::mean_age),
            harmonic_cost: spread(Sums::harmonic_cost),
            captured: spread(|sums| sums.captured / sums.changes),
            delay: spread(|sums| sums.delay / sums.captured),
            utility: match objective {
                Aim::Keep(_) => Spread { mean: f64::NAN, interval: None },
                Aim::Capture(_) => spread(Sums::utility),
            },
            requests: spread(|sums| sums.requests),
            found: spread(|sums| sums.found / sums.requests),
            host_load: Spread::of(
                &runs.iter().map(|run| f64::from(run.host_load)).collect::<Vec<_>>(),
            ),
        }
    }

    /// What the policies were asked to make good.
    #[must_use]
    pub fn objective(&self, objective: impl Into<Aim>) -> Spread {
        match objective.into() {
            Aim::Keep(Objective::Harmonic) => self.harmonic_cost,
            Aim::Keep(Objective::Freshness) => self.freshness,
            Aim::Keep(Objective::Age) => self.age,
            Aim::Capture(_) => self.utility,
        }
    }
}

impl Sums {
    /// The share of time at which copies were fresh.
    #[must_use]
    pub fn freshness(&self) -> f64 {
        (1.0 - self.stale / self.present).max(0.0)
    }

    /// Days that copies were stale for, over all time.
    #[must_use]
    pub fn mean_age(&self) -> f64 {
        self.age / self.present
    }

    /// The harmonic number of the changes that copies lacked, over all time.
    #[must_use]
    pub fn harmonic_cost(&self) -> f64 {
        self.harmonic / self.present
    }

    /// What was captured, as a share of what all changes were worth when they came.
    #[must_use]
    pub fn utility(&self) -> f64 {
        self.utility / self.changes
    }

    /// The cost of an objective: its own number, of which less is better.
    #[must_use]
    pub fn cost(&self, objective: Aim) -> f64 {
        match objective {
            Aim::Keep(Objective::Harmonic) => self.harmonic_cost(),
            Aim::Keep(Objective::Freshness) => 1.0 - self.freshness(),
            Aim::Keep(Objective::Age) => self.mean_age(),
            Aim::Capture(_) => 1.0 - self.utility(),
        }
    }
}

/// A policy over time: means over seeds, a value for each piece of the calendar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The share of time at which copies are fresh.
    pub freshness: Vec<f64>,
    /// Days that copies are stale for.
    pub age: Vec<f64>,
    /// The harmonic number of the changes that copies lack.
    pub harmonic_cost: Vec<f64>,
    /// What was captured in the piece, as a share of what its changes were worth when they came;
    /// empty unless the objective is to capture.
    pub utility: Vec<f64>,
    /// Requests a day.
    pub requests: Vec<f64>,
    /// The cost of the objective above that of the bound; empty if the bound was not simulated.
    pub regret: Vec<f64>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyReport {
    /// Which.
    pub policy: Choice,
    /// The factor on its intervals, for rules that know no budget.
    pub scale: Option<f64>,
    /// Over the measured days.
    pub measured: Measured,
    /// Over all days.
    pub series: Series,
    /// The runs, seed by seed.
    pub runs: Vec<Run>,
}

/// All policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many sources there are.
    pub sources: usize,
    /// The days.
    pub calendar: Calendar,
    /// Requests a day.
    pub budget: f64,
    /// What the policies were asked to make good.
    pub objective: Aim,
    /// How many seeds.
    pub seeds: usize,
    /// In the order in which they were asked for.
    pub policies: Vec<PolicyReport>,
}

impl PolicyReport {
    pub(crate) fn new(policy: Choice, scale: Option<f64>, runs: Vec<Run>, objective: Aim) -> Self {
        let measured = Measured::of(&runs, objective);
        let series = Series::of(&runs, objective);
        Self { policy, scale, measured, series, runs }
    }

    /// Sets the regret against the bound.
    pub(crate) fn compare(&mut self, bound: &[f64], objective: Aim) {
        let costs = costs(&self.runs, objective);
        self.series.regret = costs.iter().zip(bound).map(|(cost, bound)| cost - bound).collect();
    }
}

/// The cost of the objective in each piece, averaged over seeds.
pub(crate) fn costs(runs: &[Run], objective: Aim) -> Vec<f64> {
    means(runs, |sums, _| sums.cost(objective))
}

fn means(runs: &[Run], of: impl Fn(&Sums, f64) -> f64) -> Vec<f64> {
    let Some(first) = runs.first() else { return Vec::new() };
    let calendar = *first.ledger.calendar();
    let mean = |at: usize| {
        let days = calendar.edge(at + 1) - calendar.edge(at);
        let sum: f64 = runs.iter().map(|run| of(&run.ledger.pieces()[at], days)).sum();
        sum / runs.len() as f64
    };
    (0..calendar.pieces()).map(mean).collect()
}

impl Series {
    fn of(runs: &[Run], objective: Aim) -> Self {
        Self {
            freshness: means(runs, |sums, _| sums.freshness()),
            age: means(runs, |sums, _| sums.mean_age()),
            harmonic_cost: means(runs, |sums, _| sums.harmonic_cost()),
            utility: match objective {
                Aim::Keep(_) => Vec::new(),
                Aim::Capture(_) => means(runs, |sums, _| sums.utility()),
            },
            requests: means(runs, |sums, days| sums.requests / days),
            regret: Vec::new(),
        }
    }
}
