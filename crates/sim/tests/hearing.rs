//! The engine's use of signals: never worse than ignoring them, and better than trusting them blindly.
//! It knows nothing about them at the start.

#![allow(clippy::unwrap_used)]

use freshet_model::{Budget, PerDay};
use freshet_plan::Objective;
use freshet_sim::{Distribution, Experiment, MeanWithInterval, Origin, Report, Synthetic, WebKind};

/// Changes every few days, some ten times as often as others.
const ORDINARY: Synthetic = Synthetic {
    sources: 40,
    rates: Distribution::LogNormal { median: 0.3, sigma: 1.0 },
    importance: Distribution::Uniform { low: 0.5, high: 1.5 },
    observed: 0.0,
    per_host: 10.0,
};

fn report(objective: Objective, signals: &str, policies: &[&str]) -> Report {
    let mut experiment = Experiment::new(Origin::Synthetic(ORDINARY, WebKind::Poisson));
    experiment.budget = Budget::PerSource(PerDay::new(0.3).unwrap());
    experiment.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    experiment.objective = objective.into();
    experiment.signals = Some(signals.parse().unwrap());
    experiment.days = Some(120.0);
    experiment.seeds = 5;
    experiment.run(&|_| {}).unwrap()
}

/// Returns how much more the first costs than another, as a share, on the same changes.
fn more(report: &Report, other: usize) -> MeanWithInterval {
    let costs = |at: usize| {
        let runs = report.policies[at].runs.iter();
        runs.map(|run| run.ledger.measured().cost(report.objective)).collect::<Vec<f64>>()
    };
    let (own, other) = (costs(0), costs(other));
    let shares: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other - 1.0).collect();
    MeanWithInterval::of(&shares)
}

/// Recall and precision, and at least how much less it must cost than without signals.
fn check(objective: Objective, signals: &str, less: f64) {
    let report = report(objective, signals, &["engine", "engine:ignoring"]);
    let more = more(&report, 1);
    let noise = more.interval.unwrap().1 - more.mean;
    assert!(more.mean <= noise.min(0.04) - less, "{objective}, {signals}: {more:?}");
    let spent = report.policies[0].measured.requests.mean / (report.budget * 60.0);
    assert!((spent - 1.0).abs() < 0.02, "{objective}, {signals}: {spent} of the budget");
}

#[test]
fn false_signals_cost_no_more_than_noise() {
    for objective in [Objective::Harmonic, Objective::Freshness] {
        for signals in ["recall=0.2,precision=0.01", "recall=1,precision=0.05"] {
            check(objective, signals, 0.0);
        }
    }
}

#[test]
fn missing_and_late_signals_cost_no_more_than_noise() {
    for objective in [Objective::Harmonic, Objective::Freshness] {
        check(objective, "recall=0.2", 0.0);
        check(objective, "recall=0.5,precision=0.2", 0.0);
        check(objective, "recall=0.8,precision=0.5,delay=6h", 0.0);
    }
}

#[test]
fn true_signals_are_worth_a_lot() {
    for objective in [Objective::Harmonic, Objective::Freshness] {
        check(objective, "recall=1", 0.4);
        check(objective, "recall=0.8,precision=0.8", 0.2);
    }
}

#[test]
fn good_signals_are_worth_more_than_to_those_who_believe_them() {
    // Kolobov et al. 2019 take every signal for a change; the objective is theirs.
    let all = ["engine", "lambda", "engine:blind"];
    let report = report(Objective::Harmonic, "recall=0.95,precision=0.95", &all);
    let (lambda, blind) = (more(&report, 1), more(&report, 2));
    assert!(lambda.mean < 0.0, "over lambda: {lambda:?}");
    assert!(blind.interval.unwrap().0 < 0.0 || blind.mean < 0.02, "over blind: {blind:?}");
}

#[test]
fn a_liar_costs_less_than_two_percent_of_the_freshness() {
    for objective in [Objective::Harmonic, Objective::Freshness] {
        for signals in ["liar:every=6h", "liar:every=1d"] {
            let report = report(objective, signals, &["engine", "engine:ignoring"]);
            let [own, without] = [0, 1].map(|at| report.policies[at].measured.freshness.mean);
            assert!(own > 0.98 * without, "{objective}, {signals}: {own} instead of {without}");
        }
    }
}
