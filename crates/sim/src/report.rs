//! Results of policies on a web.

use freshet_plan::Objective;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::ledger::{Calendar, Sums};
use crate::objective::SimObjective;
use crate::policy::Choice;
use crate::run::Run;

/// Mean over seeds, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanWithInterval {
    /// Mean.
    pub mean: f64,
    /// Ends of the interval; `None` with a single seed.
    pub interval: Option<(f64, f64)>,
}

impl MeanWithInterval {
    /// Computes mean and interval from one value per seed.
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

/// Measures of a policy over the measured time. All but the counts are weighted by importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Share of time in which copies are fresh.
    pub freshness: MeanWithInterval,
    /// Mean age of copies in days.
    pub age: MeanWithInterval,
    /// Mean harmonic number of the changes that copies lack.
    pub harmonic_cost: MeanWithInterval,
    /// Share of changes that a fetch observed.
    pub captured: MeanWithInterval,
    /// Mean number of days from an observed change to the fetch.
    pub delay: MeanWithInterval,
    /// Worth of the captured changes as a share of their worth when they
    /// occurred; NaN unless the objective is capture.
    pub utility: MeanWithInterval,
    /// Requests.
    pub requests: MeanWithInterval,
    /// Share of requests that found a change.
    pub found: MeanWithInterval,
    /// Most requests to one host in one day.
    pub host_load: MeanWithInterval,
}

impl Measured {
    fn of(runs: &[Run], objective: SimObjective) -> Self {
        let sums: Vec<Sums> = runs.iter().map(|run| run.ledger.measured()).collect();
        let spread =
            |of: fn(&Sums) -> f64| MeanWithInterval::of(&sums.iter().map(of).collect::<Vec<_>>());
        Self {
            freshness: spread(Sums::freshness),
            age: spread(Sums::mean_age),
            harmonic_cost: spread(Sums::harmonic_cost),
            captured: spread(|sums| sums.captured / sums.changes),
            delay: spread(|sums| sums.delay / sums.captured),
            utility: match objective {
                SimObjective::Keep(_) => MeanWithInterval { mean: f64::NAN, interval: None },
                SimObjective::Capture(_) => spread(Sums::utility),
            },
            requests: spread(|sums| sums.requests),
            found: spread(|sums| sums.found / sums.requests),
            host_load: MeanWithInterval::of(
                &runs.iter().map(|run| f64::from(run.host_load)).collect::<Vec<_>>(),
            ),
        }
    }

    /// Objective of the policies.
    #[must_use]
    pub fn objective(&self, objective: impl Into<SimObjective>) -> MeanWithInterval {
        match objective.into() {
            SimObjective::Keep(Objective::Harmonic) => self.harmonic_cost,
            SimObjective::Keep(Objective::Freshness) => self.freshness,
            SimObjective::Keep(Objective::Age) => self.age,
            SimObjective::Capture(_) => self.utility,
        }
    }
}

impl Sums {
    /// Returns the share of time in which copies were fresh.
    #[must_use]
    pub fn freshness(&self) -> f64 {
        (1.0 - self.stale / self.present).max(0.0)
    }

    /// Days that copies were stale for, over all time.
    #[must_use]
    pub fn mean_age(&self) -> f64 {
        self.age / self.present
    }

    /// Returns the mean harmonic number of the changes that copies lacked.
    #[must_use]
    pub fn harmonic_cost(&self) -> f64 {
        self.harmonic / self.present
    }

    /// Returns the worth of the captured changes as a share of the worth of all changes.
    #[must_use]
    pub fn utility(&self) -> f64 {
        self.utility / self.changes
    }

    /// Returns the cost of an objective; less is better.
    #[must_use]
    pub fn cost(&self, objective: SimObjective) -> f64 {
        match objective {
            SimObjective::Keep(Objective::Harmonic) => self.harmonic_cost(),
            SimObjective::Keep(Objective::Freshness) => 1.0 - self.freshness(),
            SimObjective::Keep(Objective::Age) => self.mean_age(),
            SimObjective::Capture(_) => 1.0 - self.utility(),
        }
    }
}

/// Measures over time: means over seeds, one value per calendar step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Share of time in which copies are fresh.
    pub freshness: Vec<f64>,
    /// Mean age in days.
    pub age: Vec<f64>,
    /// Mean harmonic number of the changes that copies lack.
    pub harmonic_cost: Vec<f64>,
    /// Worth of the changes captured in the step, as a share of the worth of its changes;
    /// empty unless the objective is capture.
    pub utility: Vec<f64>,
    /// Requests per day.
    pub requests: Vec<f64>,
    /// Cost of the objective above that of the bound; empty if the bound was not simulated.
    pub regret: Vec<f64>,
}

/// Result of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyReport {
    /// The policy, host or source.
    pub policy: Choice,
    /// Scaling factor of the intervals, for rules without a budget.
    pub scale: Option<f64>,
    /// Measures over the measured time.
    pub measured: Measured,
    /// Measures over all steps.
    pub series: Series,
    /// Runs, one per seed.
    pub runs: Vec<Run>,
}

/// Result of all policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of sources.
    pub sources: usize,
    /// Simulated time.
    pub calendar: Calendar,
    /// Requests per day.
    pub budget: f64,
    /// Objective of the policies.
    pub objective: SimObjective,
    /// Number of seeds.
    pub seeds: usize,
    /// Results in the order of the request.
    pub policies: Vec<PolicyReport>,
}

impl PolicyReport {
    pub(crate) fn new(
        policy: Choice,
        scale: Option<f64>,
        runs: Vec<Run>,
        objective: SimObjective,
    ) -> Self {
        let measured = Measured::of(&runs, objective);
        let series = Series::of(&runs, objective);
        Self { policy, scale, measured, series, runs }
    }

    /// Computes the regret against the bound.
    pub(crate) fn compare(&mut self, bound: &[f64], objective: SimObjective) {
        let costs = costs(&self.runs, objective);
        self.series.regret = costs.iter().zip(bound).map(|(cost, bound)| cost - bound).collect();
    }
}

/// Returns the cost of the objective in each step, averaged over seeds.
pub(crate) fn costs(runs: &[Run], objective: SimObjective) -> Vec<f64> {
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
    fn of(runs: &[Run], objective: SimObjective) -> Self {
        Self {
            freshness: means(runs, |sums, _| sums.freshness()),
            age: means(runs, |sums, _| sums.mean_age()),
            harmonic_cost: means(runs, |sums, _| sums.harmonic_cost()),
            utility: match objective {
                SimObjective::Keep(_) => Vec::new(),
                SimObjective::Capture(_) => means(runs, |sums, _| sums.utility()),
            },
            requests: means(runs, |sums, days| sums.requests / days),
            regret: Vec::new(),
        }
    }
}
