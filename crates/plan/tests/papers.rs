//! The papers' numbers, to the digits that they print (or that are right).

#![allow(clippy::unwrap_used)]

use freshet_model::PerDay;
use freshet_plan::{Objective, Observed, Options, Policy, Sources, Timing, solve};

fn options(objective: Objective, timing: Timing) -> Options {
    Options { objective, timing, ..Options::default() }
}

#[track_caller]
fn check(w: &[f64], c: &[f64], budget: f64, options: &Options, expect: &[f64], tolerance: f64) {
    let sources = Sources::new(w, c).unwrap();
    let plan = solve(&sources, PerDay::new(budget).unwrap(), options).unwrap();
    for (i, (rate, expect)) in plan.rates.iter().zip(expect).enumerate() {
        assert!((rate - expect).abs() <= tolerance, "source {i}: {rate}, expected {expect}");
    }
    assert!((plan.rates.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
    assert!(plan.gap.worst() <= 1e-9, "{:?}", plan.gap);
}

const FIVE: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

#[test]
fn cho_table_iv() {
    let freshness = options(Objective::Freshness, Timing::Periodic);
    check(&[1.0; 5], &FIVE, 5.0, &freshness, &[1.15, 1.36, 1.35, 1.14, 0.0], 0.005);
    // The first is printed as 0.84.
    let age = options(Objective::Age, Timing::Periodic);
    check(&[1.0; 5], &FIVE, 5.0, &age, &[0.8349, 0.97, 1.03, 1.07, 1.09], 0.005);
}

#[test]
fn cho_table_v() {
    let (w, c) = ([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    let freshness = options(Objective::Freshness, Timing::Periodic);
    check(&w, &c, 6.0, &freshness, &[0.78, 0.76, 0.0, 1.28, 1.56, 1.62], 0.005);
    let age = options(Objective::Age, Timing::Periodic);
    check(&w, &c, 6.0, &age, &[0.76, 0.88, 0.94, 0.99, 1.17, 1.26], 0.005);
}

/// Azar et al. 2018, Algorithms 1 (`slots`) and 2, line by line.
fn azar(w: &[f64], c: &[f64], budget: f64, slots: bool) -> Vec<f64> {
    let weight = |c: f64| if slots { 1.0 / (1.0 - c) } else { 1.0 };
    let mut order: Vec<usize> = (0..w.len()).collect();
    order.sort_by(|&i, &j| (w[i] / c[i]).total_cmp(&(w[j] / c[j])));
    let mut r: f64 = (0..w.len()).map(|i| (w[i] * c[i]).sqrt() * weight(c[i])).sum();
    let mut s: f64 = (0..w.len()).map(|i| c[i] * weight(c[i])).sum();
    let mut rates = vec![0.0; w.len()];
    for i in order {
        if w[i] / c[i] <= (r / (budget + s)).powi(2) {
            r -= (w[i] * c[i]).sqrt() * weight(c[i]);
            s -= c[i] * weight(c[i]);
        } else {
            rates[i] = ((w[i] * c[i]).sqrt() * (budget + s) / r - c[i]) * weight(c[i]);
        }
    }
    rates
}

#[test]
fn azar_algorithms() {
    let w = [3.0, 0.1, 2.5, 0.7, 1.0, 0.02];
    let c = [0.2, 0.9, 0.55, 0.31, 0.07, 0.6];
    let one = options(Objective::Freshness, Timing::Slots);
    check(&w, &c, 1.0, &one, &azar(&w, &c, 1.0, true), 1e-12);
    let two = options(Objective::Freshness, Timing::Poisson);
    for budget in [0.01, 1.0, 10.0] {
        check(&w, &c, budget, &two, &azar(&w, &c, budget, false), 1e-12 * budget);
    }
}

#[test]
fn kolobov_algorithm_1() {
    // Prop. 2, by bisection on the price as in the paper.
    let (w, c) = ([5.0, 1.0, 0.2, 9.0], [0.5, 3.0, 0.1, 20.0]);
    let rates = |price: f64| -> Vec<f64> {
        (0..4).map(|i| (-c[i] + (c[i] * c[i] + 4.0 * w[i] * c[i] / price).sqrt()) / 2.0).collect()
    };
    let (mut low, mut high) = (1e-9_f64, 1e9_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if rates(middle).iter().sum::<f64>() > 2.0 { low = middle } else { high = middle }
    }
    check(&w, &c, 2.0, &options(Objective::Harmonic, Timing::Poisson), &rates(low), 1e-10);
}

#[test]
fn kolobov_algorithm_2() {
    // All observed: in proportion to importance, but at most at every change. With a budget of 4
    // the first would get 4·10/12.5 = 3.2 > 1, then the second 3·2/2.5 = 2.4 > 2.
    let (w, c) = ([10.0, 2.0, 0.5], [1.0, 2.0, 5.0]);
    let sources = Sources::new(&w, &c).unwrap().with_complete(&[true; 3]).unwrap();
    let random =
        Options { timing: Timing::Poisson, observed: Observed::Random, ..Options::default() };
    let plan = solve(&sources, PerDay::new(4.0).unwrap(), &random).unwrap();
    for (rate, expect) in plan.rates.iter().zip([1.0, 2.0, 1.0]) {
        assert!((rate - expect).abs() < 1e-12, "{:?}", plan.rates);
    }
}

#[test]
fn kolobov_proposition_9() {
    // Where importance is in proportion to the change rate, so are the best rates.
    let c = [0.3, 2.0, 7.0, 0.01];
    let w: Vec<f64> = c.iter().map(|c| 4.0 * c).collect();
    let total: f64 = w.iter().sum();
    let expect: Vec<f64> = w.iter().map(|w| 3.0 * w / total).collect();
    let best = options(Objective::Harmonic, Timing::Poisson);
    check(&w, &c, 3.0, &best, &expect, 1e-12);
    check(&w, &c, 3.0, &Options { policy: Policy::Importance, ..best }, &expect, 1e-12);
}
