//! What is simulated agrees with what `freshet-plan` says in closed form.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use freshet_model::{Budget, PerDay, SourceTable};
use freshet_plan::{Objective, Observed, Options, Order, Policy, Sources, Timing, evaluate, solve};
use freshet_sim::{Experiment, MeanWithInterval, Measured, Origin, WebKind};

const BUDGET: f64 = 40.0;

/// Importances and change rates of very different sizes.
fn table(n: usize, observed: bool) -> SourceTable {
    let part = |i: usize, step: usize| ((i * step) % n) as f64 / n as f64;
    SourceTable {
        importance: (0..n).map(|i| 0.1 + 5.0 * part(i, 7)).collect(),
        change_rate: (0..n).map(|i| 0.02 + 0.9 * part(i, 11)).collect(),
        observed: observed.then(|| (0..n).map(|i| i % 3 == 0).collect()),
        ..SourceTable::default()
    }
}

struct Case {
    objective: Objective,
    order: Order,
    observed: Option<Observed>,
    policy: Policy,
    name: &'static str,
}

fn simulated(table: &SourceTable, case: &Case) -> Measured {
    let web = match case.order {
        Order::Timed(Timing::Slots) => WebKind::Slots,
        _ => WebKind::Poisson,
    };
    let mut experiment = Experiment::new(Origin::Table(Arc::new(table.clone()), web));
    experiment.objective = case.objective.into();
    experiment.observed = case.observed.unwrap_or_default();
    experiment.budget = Budget::Total(PerDay::new(BUDGET).unwrap());
    experiment.policies = vec![case.name.parse().unwrap()];
    (experiment.days, experiment.burn_in) = (Some(440.0), Some(40.0));
    experiment.seeds = 12;
    experiment.run(&|_| {}).unwrap().policies[0].measured
}

fn check(case: &Case) {
    let table = table(120, case.observed.is_some());
    let timing = match case.order {
        Order::Timed(timing) => timing,
        Order::RandomOrder => Timing::Periodic,
    };
    let options = Options {
        objective: case.objective,
        timing,
        observed: case.observed.unwrap_or_default(),
        policy: case.policy,
    };
    let mut sources = Sources::new(&table.importance, &table.change_rate).unwrap();
    if let Some(complete) = &table.observed {
        sources = sources.with_complete(complete).unwrap();
    }
    let rates = solve(&sources, PerDay::new(BUDGET).unwrap(), &options).unwrap().rates;
    if case.policy != Policy::Optimal {
        sources = sources.without_observations();
    }
    let closed = evaluate(&sources, &rates, case.order, options.rule());
    let got = simulated(&table, case);
    let within = |what: &str, spread: MeanWithInterval, expect: f64| {
        let (low, high) = spread.interval.unwrap();
        // Three times the 95 % interval, and what the ends of the measured time cut off.
        let slack = 1.5 * (high - low) + 2e-3 * expect;
        let off = (spread.mean - expect).abs();
        assert!(
            off <= slack,
            "{} {}: {what} {spread:?}, in closed form {expect}",
            case.name,
            case.objective
        );
        assert!(slack < 0.2 * expect, "{}: {what} is too vague to tell: {spread:?}", case.name);
    };
    within("freshness", got.freshness, closed.freshness());
    let weight = closed.weight();
    if closed.cost(Objective::Harmonic).is_finite() {
        within("harmonic", got.harmonic_cost, closed.cost(Objective::Harmonic) / weight);
        // In slots, age is read at the ends of slots; in between it is half a slot more.
        let half = if timing == Timing::Slots { 0.5 * (1.0 - closed.freshness()) } else { 0.0 };
        within("age", got.age, closed.age() + half);
    }
    let spent: f64 = rates.iter().sum();
    within("requests", got.requests, spent * 400.0);
}

#[test]
fn polled_sources_in_every_rhythm() {
    let orders = [
        (Order::Timed(Timing::Periodic), "optimum:periodic", "uniform:periodic"),
        (Order::Timed(Timing::Poisson), "optimum:poisson", "uniform:poisson"),
        (Order::Timed(Timing::Slots), "optimum:slots", "change-rate:slots"),
        (Order::RandomOrder, "optimum:random-order", "uniform:random-order"),
    ];
    for (order, optimum, baseline) in orders {
        for &objective in Objective::ALL {
            check(&Case {
                objective,
                order,
                observed: None,
                policy: Policy::Optimal,
                name: optimum,
            });
        }
        let policy =
            if baseline == "change-rate:slots" { Policy::ChangeRate } else { Policy::Uniform };
        check(&Case {
            objective: Objective::Harmonic,
            order,
            observed: None,
            policy,
            name: baseline,
        });
    }
}

#[test]
fn announced_changes_under_every_rule() {
    for &observed in Observed::ALL {
        for timing in [Timing::Periodic, Timing::Slots] {
            let name = if timing == Timing::Slots { "optimum:slots" } else { "optimum:periodic" };
            for &objective in Objective::ALL {
                check(&Case {
                    objective,
                    order: Order::Timed(timing),
                    observed: Some(observed),
                    policy: Policy::Optimal,
                    name,
                });
            }
        }
    }
}
