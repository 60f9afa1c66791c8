//! Limits of sources and hosts, budgets that cannot be met or used, and targets.

#![allow(clippy::unwrap_used)]

use freshet_model::PerDay;
use freshet_plan::{
    InvalidSources, Objective, Observed, Options, PlanError, Policy, Rule, Sources, Status, Target,
    Timing, evaluate, solve, target, values,
};

fn per_day(rate: f64) -> PerDay {
    PerDay::new(rate).unwrap()
}

#[track_caller]
fn close(got: f64, expect: f64) {
    assert!((got - expect).abs() <= 1e-9 * expect.abs(), "{got}, expected {expect}");
}

#[test]
fn a_saturated_host_gets_a_price_of_its_own() {
    // Two hosts alike, of which one allows a tenth of what its sources would take.
    let w = [1.0, 4.0, 1.0, 4.0];
    let c = [2.0, 0.5, 2.0, 0.5];
    let free = Sources::new(&w, &c).unwrap();
    let sources = free.with_hosts(&[0, 0, 1, 1], &[0.2, f64::INFINITY]).unwrap();
    let plan = solve(&sources, per_day(4.0), &Options::default()).unwrap();
    close(plan.rates[0] + plan.rates[1], 0.2);
    close(plan.rates[2] + plan.rates[3], 3.8);
    // Each host is as if it were alone with its share.
    let alone = Sources::new(&w[..2], &c[..2]).unwrap();
    for (share, at, price) in [(0.2, 0, plan.host_prices[0].price), (3.8, 2, plan.price)] {
        let own = solve(&alone, per_day(share), &Options::default()).unwrap();
        close(plan.rates[at], own.rates[0]);
        close(plan.rates[at + 1], own.rates[1]);
        close(price, own.price);
    }
    assert_eq!((plan.host_prices.len(), plan.host_prices[0].host), (1, 0));
    assert!(plan.host_prices[0].price > plan.price);
    // What a fetch is worth is the price of its host.
    let worth = values(&sources, &plan, &Options::default());
    close(worth[0], plan.host_prices[0].price);
    close(worth[3], plan.price);
}

#[test]
fn hosts_saturate_one_after_another_as_the_price_falls() {
    let n = 60;
    let w = vec![1.0; n];
    let c: Vec<f64> = (0..n).map(|i| 0.1 + i as f64 * 0.05).collect();
    let host: Vec<u32> = (0..n).map(|i| (i / 10) as u32).collect();
    let limits = [1.0, 1.2, 1.4, 1.6, 1.8, f64::INFINITY];
    let sources = Sources::new(&w, &c).unwrap().with_hosts(&host, &limits).unwrap();
    let plan = solve(&sources, per_day(20.0), &Options::default()).unwrap();
    let taken = |h: u32| -> f64 {
        plan.rates.iter().zip(&host).filter(|(_, host)| **host == h).map(|(rate, _)| rate).sum()
    };
    close(plan.rates.iter().sum(), 20.0);
    for h in 0..5 {
        close(taken(h), limits[h as usize]);
    }
    assert_eq!((plan.status, plan.host_prices.len()), (Status::Optimal, 5));
}

#[test]
fn a_budget_below_the_least_rates_is_refused() {
    let min = [1.0, 2.0];
    let sources =
        Sources::new(&[1.0; 2], &[1.0; 2]).unwrap().with_limits(Some(&min), None).unwrap();
    let refused = solve(&sources, per_day(2.9), &Options::default());
    assert_eq!(refused, Err(PlanError::BelowMinimum { budget: 2.9, minimum: 3.0 }));
    let plan = solve(&sources, per_day(3.0), &Options::default()).unwrap();
    assert_eq!(plan.rates, min);
    let sources = sources.with_hosts(&[0, 1], &[9.0, 1.5]).unwrap();
    let refused = solve(&sources, per_day(5.0), &Options::default());
    assert_eq!(refused, Err(PlanError::HostBelowMinimum { host: 1, limit: 1.5, minimum: 2.0 }));
}

#[test]
fn what_cannot_be_used_is_left() {
    let sources = Sources::new(&[1.0; 2], &[3.0, 4.0]).unwrap().with_complete(&[true; 2]).unwrap();
    for &observed in Observed::ALL {
        let options = Options { observed, ..Options::default() };
        let plan = solve(&sources, per_day(10.0), &options).unwrap();
        assert_eq!((plan.rates, plan.price, plan.status), (vec![3.0, 4.0], 0.0, Status::Unspent));
    }
    let max = [0.5, 0.25];
    let sources =
        Sources::new(&[1.0; 2], &[3.0, 4.0]).unwrap().with_limits(None, Some(&max)).unwrap();
    let plan = solve(&sources, per_day(10.0), &Options::default()).unwrap();
    assert_eq!((plan.rates, plan.status), (max.to_vec(), Status::Unspent));
}

#[test]
fn a_budget_of_zero_buys_nothing_at_the_price_of_the_first_fetch() {
    let sources = Sources::new(&[1.0, 6.0], &[2.0, 3.0]).unwrap();
    let freshness = Options { objective: Objective::Freshness, ..Options::default() };
    let plan = solve(&sources, per_day(0.0), &freshness).unwrap();
    assert_eq!((plan.rates, plan.status), (vec![0.0; 2], Status::Optimal));
    close(plan.price, 2.0);
    let plan = solve(&sources, per_day(0.0), &Options::default()).unwrap();
    assert_eq!(plan.price, f64::INFINITY);
}

#[test]
fn the_marginal_source_takes_what_is_left() {
    // With freshness at fixed intervals the rate of a marginal source jumps within the last bit
    // of the price: a search on the price alone would miss the budget.
    let freshness = Options { objective: Objective::Freshness, ..Options::default() };
    for budget in [1e-9, 1e-3, 0.01, 0.1] {
        let sources = Sources::new(&[1.0, 1.0], &[1.0, 2.0]).unwrap();
        let plan = solve(&sources, per_day(budget), &freshness).unwrap();
        close(plan.rates[0], budget);
        assert_eq!(plan.rates[1], 0.0);
        // Equal sources share alike.
        let many = vec![1.0; 3000];
        let sources = Sources::new(&many, &many).unwrap();
        let plan = solve(&sources, per_day(3000.0 * budget), &freshness).unwrap();
        for rate in &plan.rates {
            close(*rate, budget);
        }
    }
}

#[test]
fn no_policy_beats_the_optimum_at_its_own_game() {
    let n = 400;
    let w: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + i as f64)).collect();
    let c: Vec<f64> = (0..n).map(|i| 0.002 + ((i * 37) % n) as f64 / (n as f64 * 1.01)).collect();
    let sources = Sources::new(&w, &c).unwrap();
    let others = [
        Policy::Uniform,
        Policy::ChangeRate,
        Policy::Importance,
        Policy::Floor(0.0),
        Policy::Floor(0.4),
    ];
    for &objective in Objective::ALL {
        for &timing in Timing::ALL {
            for budget in [1.0, 30.0, 300.0] {
                let cost = |policy: Policy| {
                    let options = Options { objective, timing, policy, ..Options::default() };
                    let plan = solve(&sources, per_day(budget), &options).unwrap();
                    close(plan.rates.iter().sum(), budget);
                    evaluate(&sources, &plan.rates, timing, Rule::Count).cost(objective)
                };
                let best = cost(Policy::Optimal);
                for policy in others {
                    assert!(cost(policy) >= best * (1.0 - 1e-12), "{policy} {objective} {timing}");
                }
            }
        }
    }
}

#[test]
fn the_floor_never_starves() {
    let (w, c) = ([1.0; 5], [1.0, 2.0, 3.0, 4.0, 500.0]);
    let sources = Sources::new(&w, &c).unwrap();
    let options =
        Options { policy: Policy::Floor(0.4), timing: Timing::Poisson, ..Options::default() };
    let plan = solve(&sources, per_day(5.0), &options).unwrap();
    close(plan.rates[4], 0.4);
    assert!(plan.rates.iter().all(|rate| *rate >= 0.4 * (1.0 - 1e-12)));
}

#[test]
fn a_target_is_met_with_the_smallest_budget() {
    let (w, c) = ([3.0, 1.0, 0.5, 2.0], [0.2, 1.0, 5.0, 0.01]);
    let sources =
        Sources::new(&w, &c).unwrap().with_complete(&[false, false, true, false]).unwrap();
    for goal in
        ["freshness=0.8", "freshness=0.999", "age=0.5", "harmonic_cost=1.5", "binary_cost=2"]
    {
        let goal: Target = goal.parse().unwrap();
        let options = Options::default();
        let (budget, plan) = target(&sources, &goal, &options).unwrap();
        let reached = |rates: &[f64]| {
            let all = evaluate(&sources, rates, options.timing, options.rule());
            all.measures().find(|(measure, _)| *measure == goal.measure()).unwrap().1
        };
        close(reached(&plan.rates), goal.value());
        let less = solve(&sources, per_day(budget.get() * 0.999), &options).unwrap();
        let (at, below) = (reached(&plan.rates), reached(&less.rates));
        let better = if goal.measure().key == "freshness" { at > below } else { at < below };
        assert!(better, "{goal:?}: {at} with the budget, {below} with less");
    }
}

#[test]
fn a_target_out_of_reach_says_how_far_one_gets() {
    let max = [0.1];
    let sources = Sources::new(&[1.0], &[1.0]).unwrap().with_limits(None, Some(&max)).unwrap();
    let goal: Target = "freshness=0.9".parse().unwrap();
    let Err(PlanError::OutOfReach { measure, target, best }) =
        freshet_plan::target(&sources, &goal, &Options::default())
    else {
        panic!("a target out of reach");
    };
    assert_eq!((measure, target), ("freshness", 0.9));
    // (1 − e^(−10))/10.
    close(best, 0.099_995_460_007_023_75);
    let wrong = |text: &str| text.parse::<Target>().unwrap_err().to_string();
    assert_eq!(
        wrong("freshness=1"),
        "freshness = 1 is not a target: it must be at least 0 and below 1"
    );
    assert_eq!(
        wrong("speed=3"),
        "unknown measure `speed` (known: harmonic_cost, freshness, binary_cost, age)"
    );
}

#[test]
fn columns_are_checked_once() {
    let refused = |importance: &[f64], change: &[f64]| {
        Sources::new(importance, change).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refused(&[1.0], &[1.0, 2.0]), "column `importance` has 1 rows, not 2");
    assert_eq!(
        refused(&[1.0], &[-2.0]),
        "row 0: change_rate is -2; it must be 0 or between 1e-30 and 1e30"
    );
    assert_eq!(
        refused(&[f64::NAN], &[1.0]),
        "row 0: importance is NaN; it must be 0 or between 1e-30 and 1e30"
    );
    let sources = Sources::new(&[1.0], &[1.0]).unwrap();
    let refused = sources.with_limits(Some(&[2.0]), Some(&[1.0])).map(|_| ()).unwrap_err();
    assert_eq!(refused, InvalidSources::MinAboveMax { row: 0, min: 2.0, max: 1.0 });
}

#[test]
fn slots_require_probabilities() {
    let sources = Sources::new(&[1.0], &[1.5]).unwrap();
    let slots = Options { timing: Timing::Slots, ..Options::default() };
    let refused = solve(&sources, per_day(0.5), &slots).unwrap_err().to_string();
    assert_eq!(refused, "row 0: with slots, change_rate is a probability and must be below 1: 1.5");
}

#[test]
fn the_floor_gives_way_to_limits() {
    let floor = Options { policy: Policy::Floor(0.4), ..Options::default() };
    // Three sources on a host that allows one fetch a day, where the floor would take 1.2.
    let sources = Sources::new(&[1.0; 4], &[1.0; 4]).unwrap();
    let limited = sources.with_hosts(&[0, 0, 0, 1], &[1.0, f64::INFINITY]).unwrap();
    let plan = solve(&limited, per_day(4.0), &floor).unwrap();
    close(plan.rates[..3].iter().sum(), 1.0);
    assert!(plan.price.is_nan());
    // A minimum rate that leaves less than the floor for the other sources.
    let min = [3.0, 0.0, 0.0, 0.0];
    let sources = sources.with_limits(Some(&min), None).unwrap();
    let plan = solve(&sources, per_day(4.0), &floor).unwrap();
    close(plan.rates.iter().sum(), 4.0);
    assert!(plan.rates[1..].iter().all(|rate| *rate > 0.3));
}
