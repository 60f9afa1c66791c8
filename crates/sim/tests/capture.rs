//! Where every change is an update to be captured: what is counted agrees with what is known in closed
//! form, and the engine with the offline greedy of Pandey et al. 2004.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use freshet_estimate::Capture;
use freshet_model::{Budget, PerDay, SourceTable};
use freshet_sim::{
    Aim, Distribution, Experiment, Measured, Origin, PolicyKind, Report, SimError, Synthetic,
    WebKind,
};

fn capture(life: &str, urgency: &str) -> Capture {
    Capture { life: life.parse().unwrap(), urgency: urgency.parse().unwrap() }
}

fn experiment(origin: Origin, each: f64, capture: Capture, policies: &[&str]) -> Experiment {
    let mut experiment = Experiment::new(origin);
    experiment.budget = Budget::PerSource(PerDay::new(each).unwrap());
    experiment.objective = capture.into();
    experiment.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    experiment
}

fn of(report: &Report, name: &str) -> Measured {
    let found = report.policies.iter().find(|policy| policy.policy.to_string() == name);
    found.unwrap().measured
}

/// What equal polling every `days` captures of the changes of a source, by its rate.
type Share = fn(rate: f64, days: f64) -> f64;

#[track_caller]
fn check(life: &str, urgency: &str, share: Share) {
    const EACH: f64 = 0.5;
    let n = 120;
    let part = |i: usize, step: usize| ((i * step) % n) as f64 / n as f64;
    let table = SourceTable {
        importance: (0..n).map(|i| 0.1 + 5.0 * part(i, 7)).collect(),
        change_rate: (0..n).map(|i| 0.05 + 2.0 * part(i, 11)).collect(),
        ..SourceTable::default()
    };
    let worth = |i: usize| table.importance[i] * table.change_rate[i];
    let all: f64 = (0..n).map(worth).sum();
    let captured = (0..n).map(|i| worth(i) * share(table.change_rate[i], 1.0 / EACH)).sum::<f64>();

    let origin = Origin::Table(Arc::new(table.clone()), WebKind::Poisson);
    let mut experiment = experiment(origin, EACH, capture(life, urgency), &["uniform"]);
    (experiment.days, experiment.burn_in) = (Some(420.0), Some(20.0));
    experiment.seeds = 12;
    let got = experiment.run(&|_| {}).unwrap().policies[0].measured.utility;
    let (low, high) = got.interval.unwrap();
    // Twice the 95 % interval; and of what comes last, on average half an interval of two days in
    // 400, not all is captured.
    let (expect, late) = (captured / all, 1.0 / 400.0);
    let slack = high - low;
    assert!(slack < 0.02 * expect, "{life} {urgency}: too vague: {got:?}");
    assert!(
        got.mean < expect + slack && got.mean > expect * (1.0 - late) - slack,
        "{life} {urgency}: {got:?}, in closed form {expect}"
    );
}

#[test]
fn equal_polling_captures_what_it_does_in_closed_form() {
    // Pandey et al. 2004, §3, with a Poisson process: ∫ P(alive after s) urgency(s) ds over the
    // interval, for each of the cτ changes in it. A half-life of 1 day loses ln 2 a day.
    const D: f64 = std::f64::consts::LN_2;
    check("append", "uniform", |_, _| 1.0);
    check("overwrite", "uniform", |c, t| -(-c * t).exp_m1() / (c * t));
    check("append", "decay:1d", |_, t| -(-D * t).exp_m1() / (D * t));
    check("overwrite", "decay:1d", |c, t| -(-(c + D) * t).exp_m1() / ((c + D) * t));
    check("append", "window:12h", |_, t| 0.5 / t);
    check("window:12h", "uniform", |_, t| 0.5 / t);
    check("overwrite", "window:12h", |c, t| -(-0.5 * c).exp_m1() / (c * t));
    check("window:12h", "decay:1d", |_, t| -(-0.5 * D).exp_m1() / (D * t));
    // E[min(N, 2)] = P(N ≥ 1) + P(N ≥ 2).
    check("changes:2", "uniform", |c, t| {
        let x = c * t;
        (2.0 - (-x).exp() * (2.0 + x)) / x
    });
}
