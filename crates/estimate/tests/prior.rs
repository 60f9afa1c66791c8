//! Priors fitted to synthetic populations of sources.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Belief, Observation, Prior, PriorFit, fit_prior};
use uniform::Uniform;

type History = Vec<Observation>;

/// Histories of sources with the given rates: 1 to 40 fetches, 0.05 to 50 `days` apart.
fn simulate_histories(rates: &[f64], days: f64, uniform: &mut Uniform) -> Vec<History> {
    rates
        .iter()
        .map(|&rate| {
            let fetches = 1 + (40.0 * uniform.next()) as usize;
            (0..fetches)
                .map(|_| {
                    let days = days * 0.05 * 1000_f64.powf(uniform.next());
                    Observation { days, changed: uniform.next() < -(-rate * days).exp_m1() }
                })
                .collect()
        })
        .collect()
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

/// Fits by rebasing beliefs, and forms the beliefs again from the histories, six times.
fn refit(histories: &[History], start: Prior) -> Prior {
    let mut prior = start;
    for _ in 0..6 {
        let beliefs: Vec<Belief> =
            histories.iter().map(|h| belief_from_history(prior, h)).collect();
        prior = fit_prior(&beliefs, prior, Prior::BROAD, PriorFit::GLOBAL_STRENGTH);
    }
    prior
}

fn gamma(n: usize, shape: f64, days: f64, uniform: &mut Uniform) -> Vec<f64> {
    let population = Belief::new(shape, days).expect("a belief");
    (0..n).map(|_| population.quantile(uniform.next())).collect()
}

#[track_caller]
fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
    let off = (got / expect).ln().abs();
    assert!(off < tolerance.ln_1p(), "{label}: {got}, expected {expect} within {tolerance}");
}

#[test]
fn gamma_populations_are_recovered() {
    for (shape, days) in [(0.4, 4.0), (1.0, 3.0), (3.0, 10.0)] {
        let mut uniform = Uniform::new(11);
        let rates = gamma(4000, shape, days, &mut uniform);
        let histories = simulate_histories(&rates, 1.0, &mut uniform);
        let prior = refit(&histories, Prior::BROAD);
        check("mean", prior.mean(), shape / days, 0.1);
        check("shape", prior.belief().shape(), shape, 0.2);
        // Once, from the beliefs alone, as the engine does.
        let beliefs: Vec<Belief> =
            histories.iter().map(|h| belief_from_history(Prior::BROAD, h)).collect();
        let once = fit_prior(&beliefs, Prior::BROAD, Prior::BROAD, PriorFit::GLOBAL_STRENGTH);
        check("mean, once", once.mean(), shape / days, 0.25);
        check("shape, once", once.belief().shape(), shape, 0.6);
    }
}

#[test]
fn log_normal_populations_keep_their_mean() {
    let mut uniform = Uniform::new(5);
    let rates: Vec<f64> = (0..4000)
        .map(|_| {
            let normal: f64 = (0..12).map(|_| uniform.next()).sum::<f64>() - 6.0;
            0.25 * normal.exp()
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let prior = refit(&simulate_histories(&rates, 1.0, &mut uniform), Prior::BROAD);
    check("mean", prior.mean(), mean, 0.15);
    // The gamma closest in likelihood has ln a − ψ(a) = σ²/2 = 1/2, so a = 1.11.
    check("shape", prior.belief().shape(), 1.11, 0.25);
}

#[test]
fn the_fit_scales_with_the_unit_of_time() {
    let mut uniform = Uniform::new(3);
    let rates = gamma(500, 0.8, 2.0, &mut uniform);
    let histories = simulate_histories(&rates, 1.0, &mut uniform);
    let fit = |scale: f64| {
        let start = Prior::new(0.5, 3.5 * scale).unwrap();
        let beliefs: Vec<Belief> = histories
            .iter()
            .map(|history| {
                let longer: History =
                    history.iter().map(|o| Observation { days: o.days * scale, ..*o }).collect();
                belief_from_history(start, &longer)
            })
            .collect();
        fit_prior(&beliefs, start, start, 1.0).belief()
    };
    let (one, thousand) = (fit(1.0), fit(1000.0));
    check("shape", thousand.shape(), one.shape(), 1e-7);
    check("days", thousand.days(), 1000.0 * one.days(), 1e-7);
}

#[test]
fn counted_changes_give_the_negative_binomial_fit() {
    // Gamma(2, 4) rates observed for 30 days: every change is counted, so the fit is close.
    let mut uniform = Uniform::new(9);
    let beliefs: Vec<Belief> = gamma(3000, 2.0, 4.0, &mut uniform)
        .into_iter()
        .map(|rate| {
            let (mut changes, mut day) = (0, 0.0);
            loop {
                day += -uniform.next().ln() / rate;
                if day > 30.0 {
                    break Prior::BROAD.belief().observe_count(changes, 30.0);
                }
                changes += 1;
            }
        })
        .collect();
    let prior = fit_prior(&beliefs, Prior::BROAD, Prior::BROAD, PriorFit::GLOBAL_STRENGTH);
    check("mean", prior.mean(), 0.5, 0.03);
    check("shape", prior.belief().shape(), 2.0, 0.1);
}

#[test]
fn identical_sources_do_not_make_the_prior_certain() {
    let beliefs = vec![Prior::BROAD.belief().observe_count(30, 30.0); 1000];
    let prior = fit_prior(&beliefs, Prior::BROAD, Prior::BROAD, PriorFit::GLOBAL_STRENGTH);
    check("mean", prior.mean(), 1.0, 0.02);
    assert!((20.0..1e4).contains(&prior.belief().shape()), "{prior:?}");
}

#[test]
fn hosts_with_few_sources_keep_the_global_prior() {
    let global = Prior::new(1.0, 4.0).unwrap();
    let host = |sources: usize, fetches: usize| {
        let history = vec![Observation { days: 1.0, changed: true }; fetches];
        let mut history: History = history;
        history.extend(vec![Observation { days: 0.2, changed: false }; fetches]);
        let beliefs = vec![belief_from_history(global, &history); sources];
        fit_prior(&beliefs, global, global, PriorFit::HOST_STRENGTH)
    };
    check("none", host(0, 5).mean(), global.mean(), 1e-9);
    check("never fetched", host(1000, 0).mean(), global.mean(), 1e-9);
    assert!(host(1, 5).mean() < 1.5 * global.mean());
    let (ten, many) = (host(10, 5).mean(), host(1000, 5).mean());
    assert!(ten > 1.5 * global.mean() && ten < many && many > 4.0 * global.mean());
}

#[test]
fn parts_merge_to_the_whole() {
    let prior = Prior::new(0.7, 3.0).unwrap();
    let beliefs: Vec<Belief> = (1..40)
        .map(|i| prior.belief().observe_no_change(f64::from(i)).observe_change(0.1 * f64::from(i)))
        .collect();
    let (mut whole, mut left, mut right) =
        (PriorFit::new(prior), PriorFit::new(prior), PriorFit::new(prior));
    for (at, &belief) in beliefs.iter().enumerate() {
        whole.add(belief);
        if at % 3 == 0 { left.add(belief) } else { right.add(belief) }
    }
    left.merge(&right);
    assert_eq!(left.sources(), 39);
    let (one, other) =
        (whole.newton_step(prior, 1.0).belief(), left.newton_step(prior, 1.0).belief());
    check("shape", one.shape(), other.shape(), 1e-12);
    check("days", one.days(), other.days(), 1e-12);
}

#[test]
fn empty_and_extreme_fits_give_a_valid_prior() {
    assert_eq!(PriorFit::new(Prior::BROAD).newton_step(Prior::BROAD, 0.0), Prior::BROAD);
    for (shape, days) in [(1e-3, 1e-6), (1e6, 1e-6), (1e-3, 1e12), (1e6, 1e12)] {
        let beliefs = vec![Belief::new(shape, days).unwrap(); 10];
        let prior = fit_prior(&beliefs, Prior::BROAD, Prior::BROAD, 1.0).belief();
        assert!(prior.shape() > 0.0 && prior.days() > 0.0 && prior.mean().is_finite());
    }
}
