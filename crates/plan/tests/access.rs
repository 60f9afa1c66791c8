//! Access frequencies when fetches take random time (Liu & Nain 2006, §1.3).

#![allow(clippy::unwrap_used)]

use freshet_plan::{AccessError, AccessTime, access_frequencies, random_access_frequencies};

const CHANGE: [f64; 5] = [0.05, 0.2, 0.5, 1.0, 3.0];
const WEIGHTS: [f64; 5] = [1.0, 0.3, 2.0, 0.7, 4.0];

fn times() -> [AccessTime; 4] {
    [
        AccessTime::Deterministic { mean: 0.1 },
        AccessTime::Exponential { mean: 0.7 },
        AccessTime::Gamma { mean: 1.0, shape: 2.5 },
        AccessTime::Gamma { mean: 3.0, shape: 0.4 },
    ]
}

/// `h = E[e^(−cX)]`, by Simpson's rule over the gamma density: in `x` where that is smooth, else in
/// the variable `x^shape`, which takes away the singularity.
fn transform(access: AccessTime, c: f64) -> f64 {
    let (mean, shape) = match access {
        AccessTime::Deterministic { mean } => return (-c * mean).exp(),
        AccessTime::Exponential { mean } => (mean, 1.0),
        AccessTime::Gamma { mean, shape } => (mean, shape),
    };
    let scale = mean / shape;
    let power = shape.min(1.0);
    let integral = |g: &dyn Fn(f64) -> f64| {
        let (top, steps) = ((60.0 * mean.max(scale)).powf(power), 400_000);
        let h = top / f64::from(steps);
        let at = |i: i32| {
            let x = (f64::from(i) * h).powf(1.0 / power);
            let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * g(x) * x.powf(shape - power) * (-x / scale).exp()
        };
        (0..=steps).map(at).sum::<f64>() * h / 3.0
    };
    integral(&|x| (-c * x).exp()) / integral(&|_| 1.0)
}

#[track_caller]
fn close(got: f64, expect: f64, tolerance: f64) {
    assert!((got - expect).abs() <= tolerance * expect.abs(), "{got:e}, expected {expect:e}");
}

#[test]
fn proportional_weights_have_the_closed_form() {
    // (1.30) and the bound of Prop. 10; for random accesses Prop. 11.
    for access in times() {
        let h: Vec<f64> = CHANGE.iter().map(|&c| transform(access, c)).collect();
        let total: f64 = CHANGE.iter().sum();
        let plan = access_frequencies(&CHANGE, &CHANGE, access).unwrap();
        let logs: f64 = h.iter().map(|h| h.ln()).sum();
        for (f, h) in plan.frequencies.iter().zip(&h) {
            close(*f, h.ln() / logs, 1e-6);
        }
        let bound = total - (1.0 - h.iter().product::<f64>()) / access.mean();
        close(plan.cost, bound, 1e-5);

        let plan = random_access_frequencies(&CHANGE, &CHANGE, access).unwrap();
        let odds: f64 = h.iter().map(|h| 1.0 / h - 1.0).sum();
        for (f, h) in plan.frequencies.iter().zip(&h) {
            close(*f, (1.0 / h - 1.0) / odds, 1e-6);
        }
        close(plan.cost, total - odds / (1.0 + odds) / access.mean(), 1e-5);
    }
}

#[test]
fn general_weights_cannot_be_improved() {
    for access in times() {
        let h: Vec<f64> = CHANGE.iter().map(|&c| transform(access, c)).collect();
        // Prop. 9 and Lemma 4: the share of time out of date.
        let even =
            |f: f64, i: usize| 1.0 - f / (CHANGE[i] * access.mean()) * (1.0 - h[i].powf(1.0 / f));
        let random = |f: f64, i: usize| {
            let again = f * h[i] / (1.0 - h[i] + f * h[i]);
            1.0 - f / (CHANGE[i] * access.mean()) * (1.0 - again)
        };
        let check = |frequencies: &[f64], cost: f64, rate: &dyn Fn(f64, usize) -> f64| {
            let total = |f: &[f64]| -> f64 {
                (0..5).map(|i| WEIGHTS[i] * if f[i] > 0.0 { rate(f[i], i) } else { 1.0 }).sum()
            };
            close(frequencies.iter().sum(), 1.0, 1e-9);
            close(cost, total(frequencies), 1e-6);
            for from in 0..5 {
                for to in 0..5 {
                    let mut moved = frequencies.to_vec();
                    let amount = 1e-3 * moved[from];
                    moved[from] -= amount;
                    moved[to] += amount;
                    assert!(total(&moved) >= total(frequencies) * (1.0 - 1e-12));
                }
            }
        };
        let plan = access_frequencies(&WEIGHTS, &CHANGE, access).unwrap();
        check(&plan.frequencies, plan.cost, &even);
        let plan = random_access_frequencies(&WEIGHTS, &CHANGE, access).unwrap();
        check(&plan.frequencies, plan.cost, &random);
    }
}

#[test]
fn a_time_that_is_none_is_refused() {
    let refused =
        access_frequencies(&WEIGHTS, &CHANGE, AccessTime::Gamma { mean: 1.0, shape: 0.0 });
    assert_eq!(refused, Err(AccessError::AccessTime { what: "shape", value: 0.0 }));
    let refused = access_frequencies(&WEIGHTS, &CHANGE, AccessTime::Deterministic { mean: -1.0 });
    assert_eq!(refused, Err(AccessError::AccessTime { what: "mean", value: -1.0 }));
}
