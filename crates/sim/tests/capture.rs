//! Where every change is an update to be captured: what is counted agrees with what is known in closed
//! form, and the engine with the offline greedy of Pandey et al. 2004.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use freshet_estimate::CaptureObjective;
use freshet_model::{Budget, PerDay, SourceTable};
use freshet_sim::{
    Allowance, Distribution, Experiment, Measured, Origin, PolicyKind, Report, Scenario,
    ScenarioAction, ScenarioEvent, Selection, SimError, SimObjective, Synthetic, WebKind,
};

fn capture(life: &str, urgency: &str) -> CaptureObjective {
    CaptureObjective { life: life.parse().unwrap(), urgency: urgency.parse().unwrap() }
}

fn experiment(
    origin: Origin,
    each: f64,
    capture: CaptureObjective,
    policies: &[&str],
) -> Experiment {
    let mut experiment = Experiment::new(origin);
    experiment.budget = Budget::PerSource(PerDay::new(each).unwrap());
    experiment.objective = capture.into();
    experiment.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    experiment
}

fn report(experiment: &Experiment) -> Report {
    experiment.run(&|_| {}).unwrap()
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

const LIVES: [&str; 4] = ["append", "overwrite", "changes:3", "window:6h"];
const URGENCIES: [&str; 3] = ["uniform", "decay:6h", "window:2d"];

/// Rates and importances of very different sizes, on which policies differ most.
fn uneven(each: f64, capture: CaptureObjective, policies: &[&str]) -> Experiment {
    let synthetic = Synthetic {
        sources: 500,
        rates: Distribution::LogNormal { median: 0.2, sigma: 1.5 },
        importance: Distribution::LogNormal { median: 1.0, sigma: 1.5 },
        observed: 0.0,
        per_host: 10.0,
    };
    let origin = Origin::Synthetic(synthetic, WebKind::Poisson);
    let mut experiment = experiment(origin, each, capture, policies);
    experiment.days = Some(120.0);
    experiment.seeds = 4;
    experiment
}

/// The largest difference to what the offline greedy captures, as a share of that.
fn check_against_wic(policy: &str, within: f64) {
    let mut wrong = Vec::new();
    for (life, urgency) in LIVES.iter().flat_map(|life| URGENCIES.map(|it| (*life, it))) {
        let report = report(&uneven(0.2, capture(life, urgency), &[policy, "wic"]));
        let (got, wic) = (of(&report, policy).utility.mean, of(&report, "wic").utility.mean);
        assert!(wic > 0.1 && wic < 1.0, "{life} {urgency}: {wic}");
        let requests = of(&report, policy).requests.mean / of(&report, "wic").requests.mean;
        assert!((requests - 1.0).abs() < 2e-3, "{life} {urgency}: {requests}");
        if (got / wic - 1.0).abs() > within {
            wrong.push(format!("{life} {urgency}: {:+.2} %", 100.0 * (got / wic - 1.0)));
        }
    }
    assert!(wrong.is_empty(), "{policy} against wic: {}", wrong.join(", "));
}

#[test]
fn in_continuous_time_the_greedy_captures_as_much() {
    check_against_wic("greedy", 0.01);
}

#[test]
fn so_it_does_when_budgets_and_rates_change() {
    let turn = |day, what| ScenarioEvent { day, what };
    let turns = vec![
        turn(70.0, ScenarioAction::Budget(Allowance::Share(2.0))),
        turn(80.0, ScenarioAction::Rates { sources: Selection::Share(0.1), factor: 10.0 }),
        turn(90.0, ScenarioAction::Budget(Allowance::Share(0.0))),
        turn(95.0, ScenarioAction::Budget(Allowance::Share(1.0))),
    ];
    for (life, urgency) in
        [("overwrite", "uniform"), ("append", "decay:6h"), ("window:6h", "uniform")]
    {
        let mut experiment = uneven(0.2, capture(life, urgency), &["greedy", "wic"]);
        experiment.scenario = Scenario { turns: turns.clone() };
        let report = report(&experiment);
        let share = |of_it: fn(&Measured) -> f64| {
            of_it(&of(&report, "wic")) / of_it(&of(&report, "greedy"))
        };
        let (utility, requests) = (share(|it| it.utility.mean), share(|it| it.requests.mean));
        assert!((utility - 1.0).abs() < 0.02, "{life} {urgency}: {utility}");
        assert!((requests - 1.0).abs() < 2e-3, "{life} {urgency}: {requests}");
    }
}

#[test]
fn the_engine_that_knows_the_rates_captures_as_much() {
    check_against_wic("engine:known", 0.01);
}

#[test]
fn the_engine_captures_more_than_equal_polling_and_polling_by_change_rate() {
    for urgency in URGENCIES {
        let policies = ["engine", "uniform", "change-rate"];
        let report = report(&uneven(0.2, capture("overwrite", urgency), &policies));
        let [engine, others @ ..] = policies.map(|name| of(&report, name).utility.mean);
        assert!(others.iter().all(|it| engine > 1.2 * it), "{urgency}: {engine} {others:?}");
    }
}

#[test]
fn an_update_that_is_overwritten_is_a_change_that_nobody_saw() {
    // What `captured` counts for every objective, except for changes before the measured time.
    let report = report(&uneven(0.5, capture("overwrite", "uniform"), &["uniform", "nutch"]));
    for policy in &report.policies {
        let (utility, captured) = (policy.measured.utility.mean, policy.measured.captured.mean);
        assert!((utility / captured - 1.0).abs() < 0.03, "{}", policy.policy);
        assert!(utility < captured, "{}", policy.policy);
    }
}

#[test]
fn no_more_is_captured_than_there_is() {
    // A first time in which nearly nothing is fetched leaves much behind, which does not count.
    let mut synthetic = Synthetic::AZAR;
    synthetic.sources = 100;
    let origin = Origin::Synthetic(synthetic, WebKind::Poisson);
    let every = capture("append", "uniform");
    let mut experiment = experiment(origin, 0.02, every, &["wic", "uniform", "engine", "fixed"]);
    experiment.burn_in = Some(170.0);
    for policy in report(&experiment).policies {
        let utility = policy.measured.utility.mean;
        assert!(utility > 0.0 && utility < 0.8, "{}: {utility}", policy.policy);
    }
}

#[test]
fn who_cannot_be_asked_is_named() {
    let origin = Origin::Synthetic(Synthetic::AZAR, WebKind::Poisson);
    let it = experiment(origin.clone(), 0.2, capture("append", "uniform"), &["uniform", "optimum"]);
    let error = |policy: &str, objective| SimError::Policy { policy: policy.to_owned(), objective };
    assert_eq!(it.run(&|_| {}), Err(error("optimum", "capture")));
    let mut it = Experiment::new(origin);
    assert!(it.policies.iter().all(|choice| choice.kind != PolicyKind::Wic));
    it.policies = vec![PolicyKind::Wic.into()];
    assert_eq!(it.run(&|_| {}), Err(error("wic", "harmonic")));
    assert_eq!(it.objective.yardstick(), PolicyKind::Optimum);
    assert_eq!(
        SimObjective::from(capture("changes:1", "window:48h")).to_string(),
        "capture, life overwrite, urgency window:2d"
    );
}

#[test]
fn every_policy_for_it_runs_whatever_happens_to_hosts() {
    let synthetic = Synthetic { sources: 60, per_host: 3.0, ..Synthetic::KOLOBOV };
    for &web in WebKind::ALL {
        let rates = match web {
            WebKind::Slots => Distribution::Uniform { low: 0.0, high: 0.9 },
            _ => synthetic.rates,
        };
        let origin = Origin::Synthetic(Synthetic { rates, ..synthetic }, web);
        for (life, urgency) in [("changes:2", "decay:6h"), ("window:6h", "window:2d")] {
            let mut it = experiment(origin.clone(), 0.5, capture(life, urgency), &[]);
            let fit = PolicyKind::ALL.iter().filter(|kind| kind.serves(it.objective));
            it.policies = fit.map(|&kind| kind.into()).collect();
            assert_eq!(it.policies.len(), PolicyKind::ALL.len() - 1);
            it.faults =
                ["timeout:0.3", "slow:0.2", "gone:0.1"].map(|it| it.parse().unwrap()).into();
            (it.days, it.seeds) = (Some(40.0), 1);
            for policy in it.run(&|_| {}).unwrap().policies {
                let utility = policy.measured.utility.mean;
                assert!(utility > 0.0 && utility < 1.0, "{} on {web}: {utility}", policy.policy);
            }
        }
    }
}
