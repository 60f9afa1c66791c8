//! Accuracy of beliefs against the exact posterior: prior × Π (1 − e^(−cτ)) × e^(−c Σ τ), on a grid
//! in ln c. The tolerances are the figures in the documentation of `Belief`.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Belief, Observation, Prior};
use uniform::Uniform;

struct Posterior {
    mean: f64,
    std_dev: f64,
    low: f64,
    high: f64,
}

fn exact(prior: Prior, history: &[Observation]) -> Posterior {
    const POINTS: usize = 6000;
    let (first, last) = (1e-7_f64.ln(), 1e4_f64.ln());
    let width = (last - first) / POINTS as f64;
    let unchanged: f64 = history.iter().filter(|o| !o.changed).map(|o| o.days).sum();
    // Equal intervals are combined into one term: most histories here have few different ones.
    let mut changed: Vec<(f64, f64)> = Vec::new();
    for observation in history.iter().filter(|o| o.changed) {
        match changed.last_mut() {
            Some((days, count)) if *days == observation.days => *count += 1.0,
            _ => changed.push((observation.days, 1.0)),
        }
    }
    let density = |x: f64| {
        let c = x.exp();
        let observe: f64 = changed.iter().map(|(days, n)| n * (-(-c * days).exp_m1()).ln()).sum();
        prior.belief().shape() * x - c * (prior.belief().days() + unchanged) + observe
    };
    let points: Vec<f64> = (0..POINTS).map(|i| first + (i as f64 + 0.5) * width).collect();
    let logs: Vec<f64> = points.iter().map(|&x| density(x)).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let average = |f: &dyn Fn(f64) -> f64| {
        points.iter().zip(&weights).map(|(x, w)| w * f(x.exp())).sum::<f64>() / total
    };
    let mean = average(&|c| c);
    let std_dev = average(&|c| (c - mean) * (c - mean)).sqrt();
    let quantile = |chance: f64| {
        let mut sum = 0.0;
        for (x, weight) in points.iter().zip(&weights) {
            let next = sum + weight / total;
            if next >= chance {
                return (x + width * ((chance - sum) / (next - sum) - 0.5)).exp();
            }
            sum = next;
        }
        f64::INFINITY
    };
    Posterior { mean, std_dev, low: quantile(0.025), high: quantile(0.975) }
}

fn belief_from_history(prior: Prior, history: &[Observation]) -> Belief {
    history.iter().fold(prior.belief(), |belief, observation| {
        if observation.changed {
            belief.observe_change(observation.days)
        } else {
            belief.observe_no_change(observation.days)
        }
    })
}

/// Errors of the mean, the standard deviation (relative), and the worse end of the 95 % interval,
/// in posterior standard deviations.
fn errors(prior: Prior, history: &[Observation]) -> [f64; 3] {
    let (belief, exact) = (belief_from_history(prior, history), exact(prior, history));
    let (low, high) = belief.credible_interval(0.95);
    let off = |got: f64, expect: f64| (got - expect).abs() / exact.std_dev;
    [
        off(belief.mean(), exact.mean),
        (belief.std_dev() / exact.std_dev - 1.0).abs(),
        off(low, exact.low).max(off(high, exact.high)),
    ]
}

#[track_caller]
fn check(label: &str, got: [f64; 3], limits: [f64; 3]) {
    let is_within = got.iter().zip(limits).all(|(got, limit)| *got <= limit);
    assert!(is_within, "{label}: mean, std_dev, interval off by {got:.3?}, not {limits:?}");
}

/// Quantile of the errors of many histories.
fn error_quantile(mut all: Vec<[f64; 3]>, share: f64) -> [f64; 3] {
    let mut result = [0.0; 3];
    for (at, result) in result.iter_mut().enumerate() {
        all.sort_by(|x, y| x[at].total_cmp(&y[at]));
        *result = all[((all.len() - 1) as f64 * share) as usize][at];
    }
    result
}

#[test]
fn random_histories() {
    let mut uniform = Uniform::new(7);
    let mut all = Vec::new();
    for fetches in [1, 3, 10, 30, 100, 400] {
        for at in 0..60 {
            let shape = [0.3, 1.0, 3.0][at % 3];
            let prior = Prior::new(shape, 2.0 * shape).unwrap();
            let rate = prior.belief().quantile(uniform.next()).max(1e-4);
            let history: Vec<Observation> = (0..fetches)
                .map(|_| {
                    let days = 0.02 * 1000_f64.powf(uniform.next()) / rate;
                    Observation { days, changed: uniform.next() < -(-rate * days).exp_m1() }
                })
                .collect();
            all.push(errors(prior, &history));
        }
    }
    let (median, p99, worst) = (
        error_quantile(all.clone(), 0.5),
        error_quantile(all.clone(), 0.99),
        error_quantile(all, 1.0),
    );
    check("typical", median, [0.03, 0.02, 0.07]);
    check("one in a hundred", p99, [0.4, 0.15, 0.5]);
    check("worst", worst, [0.7, 0.32, 1.4]);
}

#[test]
fn every_fetch_found_a_change() {
    let prior = Prior::new(1.0, 1.0).unwrap();
    for (fetches, limits) in [
        (1, [0.01, 0.01, 0.05]),
        (10, [0.15, 0.1, 0.4]),
        (100, [0.6, 0.36, 1.4]),
        (1000, [2.3, 0.6, 3.2]),
    ] {
        for days in [0.1, 1.0, 10.0, 100.0] {
            let history = vec![Observation { days, changed: true }; fetches];
            check(&format!("{fetches} × {days}"), errors(prior, &history), limits);
            let (belief, exact) = (belief_from_history(prior, &history), exact(prior, &history));
            assert!((belief.mean() / exact.mean - 1.0).abs() < 0.35);
        }
    }
}

#[test]
fn no_fetch_found_a_change() {
    // Exact, up to the grid.
    let prior = Prior::new(0.7, 1.0).unwrap();
    let history = vec![Observation { days: 3.0, changed: false }; 50];
    check("none", errors(prior, &history), [1e-3, 1e-3, 2e-3]);
}

#[test]
fn a_change_of_rate_is_tracked_faster_than_by_the_exact_posterior() {
    let prior = Prior::new(1.0, 1.0).unwrap();
    let mut history = vec![Observation { days: 5.0, changed: true }; 100];
    history.extend([Observation { days: 0.5, changed: false }; 100]);
    let (belief, exact) = (belief_from_history(prior, &history), exact(prior, &history));
    assert!(belief.mean() < exact.mean);
    check("two habits", errors(prior, &history), [5.6, 0.2, 5.8]);
}
