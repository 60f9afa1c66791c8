//! Every response against its own cost: worth is the slope of the cost, demand inverts worth.

use super::Objective;
use crate::options::{Observed, Options, Rule, Timing};
use crate::response::{Blocks, Power};

fn responses() -> Vec<(String, Power, bool, &'static dyn Blocks)> {
    let mut all = Vec::new();
    for &objective in Objective::ALL {
        for &timing in Timing::ALL {
            let slots = timing == Timing::Slots;
            let name = format!("{objective} {timing}");
            all.push((name.clone(), objective.power(), slots, objective.polled(timing)));
            for &observed in Observed::ALL {
                let response = objective.observed(observed, timing);
                all.push((format!("{name} {observed}"), objective.power(), slots, response));
            }
        }
    }
    all
}

fn chances(slots: bool) -> &'static [f64] {
    if slots { &[1e-30, 1e-9, 0.01, 0.3, 0.99] } else { &[1e-30, 0.7, 1e6] }
}

#[test]
fn demand_inverts_worth() {
    for (name, _, slots, response) in responses() {
        for &c in chances(slots) {
            for step in -270_i32..=270 {
                // Every tenth of a decade near 1, whole decades to the ends of the range.
                let y = 10f64.powf(if step.abs() < 100 {
                    f64::from(step) * 0.1
                } else {
                    f64::from(step)
                });
                let s = response.demand_one(y, c).fetches;
                let worth = response.worth_one(s, c);
                let slack = 3e-14 * y;
                // Nothing is worth more than the price at a rate of zero, nothing at all at most.
                let low_enough = worth.next <= y + slack;
                let high_enough = s == 0.0 || worth.last >= y - slack;
                assert!(
                    low_enough && high_enough,
                    "{name}, c = {c}: y = {y:e}, s = {s:e}, {worth:?}"
                );
            }
        }
    }
}

#[test]
fn demand_falls_as_the_price_rises() {
    for (name, _, slots, response) in responses() {
        for &c in chances(slots) {
            let mut before = f64::INFINITY;
            for step in -3000..=3000 {
                let y = 10f64.powf(f64::from(step) * 0.004);
                let s = response.demand_one(y, c).fetches;
                assert!(s <= before * (1.0 + 1e-13), "{name}, c = {c}: rises at y = {y:e}");
                assert!(s <= response.max_fetches_at(c));
                before = s;
            }
        }
    }
}

#[test]
fn slope_is_the_derivative_of_demand() {
    for (name, _, slots, response) in responses() {
        for &c in chances(slots) {
            for step in -60..=60 {
                let y = 10f64.powf(f64::from(step) * 0.0931);
                let h = 1e-5;
                if !response.smooth_between(y * (1.0 - 2.0 * h), y * (1.0 + 2.0 * h), c) {
                    continue;
                }
                let at = |y: f64| response.demand_one(y, c).fetches;
                let numeric = (at(y * f64::exp(h)) - at(y * f64::exp(-h))) / (2.0 * h);
                let got = response.demand_one(y, c).slope;
                let error = (got - numeric).abs() / (numeric.abs() + 1e-6 * at(y) + 1e-300);
                assert!(error < 1e-3, "{name}, c = {c}, y = {y:e}: {got:e}, not {numeric:e}");
            }
        }
    }
}

#[test]
fn worth_is_the_slope_of_the_cost() {
    for (name, power, slots, response) in responses() {
        for &c in chances(slots) {
            // Worth is per fetch a day; scale-free it is worth·c^p, so the slope by s is that /c^(p−1).
            let scale = if power == Power::Two { 1.0 / c } else { 1.0 };
            for step in -30..=30 {
                let s = 10f64.powf(f64::from(step) * 0.0973);
                let most = if slots {
                    response.max_fetches_at(c).min(1.0 / c)
                } else {
                    response.max_fetches_at(c)
                };
                if s >= 0.99 * most {
                    continue;
                }
                let h = 1e-4 * s;
                let slope = (response.cost_at(s - h, c) - response.cost_at(s + h, c)) / (2.0 * h);
                // A mean slope lies between the slopes at the ends.
                let low = response.worth_one(s + h, c).next * scale;
                let high = response.worth_one(s - h, c).last * scale;
                let slack = 1e-6 * high + 1e-9;
                assert!(
                    slope >= low - slack && slope <= high + slack,
                    "{name}, c = {c}, s = {s}: cost falls by {slope:e}, worth {low:e} to {high:e}"
                );
            }
        }
    }
}

#[test]
fn blocks_and_single_sources_agree_to_the_bit_with_and_without_the_vector_unit() {
    for (name, _, slots, response) in responses() {
        for &c in chances(slots) {
            let y: Vec<f64> = (0..301).map(|i| 10f64.powf(f64::from(i) * 0.13 - 19.5)).collect();
            let c = vec![c; y.len()];
            let (mut s, mut slope) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            response.demand_block(&y, &c, &mut s, &mut slope);
            for i in 0..y.len() {
                let one = response.demand_one(y[i], c[i]);
                assert_eq!((s[i], slope[i]), (one.fetches, one.slope), "{name} at {:e}", y[i]);
                assert_eq!(response.demand_scalar(y[i], c[i]), one, "{name} at {:e}", y[i]);
            }
        }
    }
}

#[test]
fn fixed_intervals_cost_least_and_random_order_lies_between() {
    // Cho & Garcia-Molina 2003, §4.4.
    for &objective in Objective::ALL {
        for step in -40..=40 {
            let s = 10f64.powf(f64::from(step) * 0.1);
            let periodic = objective.polled(Timing::Periodic).cost_at(s, 2.0);
            let between = objective.random_order(1.0 / s, 2.0);
            let poisson = objective.polled(Timing::Poisson).cost_at(s, 2.0);
            assert!(periodic < between && between < poisson, "{objective} at {s}");
        }
    }
}

#[test]
fn waiting_for_a_change_costs_less_than_fetching_at_random() {
    for &objective in Objective::ALL {
        for k in 2..50 {
            let s = 1.0 / (f64::from(k) + 0.3);
            let threshold =
                objective.observed(Observed::Threshold, Timing::Periodic).cost_at(s, 3.0);
            let random = objective.observed(Observed::Random, Timing::Periodic).cost_at(s, 3.0);
            assert!(
                threshold <= random * (1.0 + 1e-12),
                "{objective} at {s}: {threshold} > {random}"
            );
        }
    }
    // Waiting for the second change costs 1/2, one in two at random ln 2.
    let harmonic = |observed| Objective::Harmonic.observed(observed, Timing::Periodic);
    assert_eq!(harmonic(Observed::Threshold).cost_at(0.5, 1.0), 0.5);
    assert_eq!(harmonic(Observed::Random).cost_at(0.5, 1.0), std::f64::consts::LN_2);
}

#[test]
fn a_rule_costs_its_own_objective_what_was_planned() {
    for &objective in Objective::ALL {
        for &observed in Observed::ALL {
            for &timing in Timing::ALL {
                let rule = Options { objective, observed, timing, ..Options::default() }.rule();
                for (s, c) in [(0.013, 0.2), (0.5, 0.9), (0.77, 1e-9), (1.0, 0.3)] {
                    let planned = objective.observed(observed, timing).cost_at(s, c);
                    let cost = objective.observed_cost(rule, timing, s, c);
                    assert_eq!(cost, planned, "{objective} {observed} {timing} at {s}");
                }
            }
        }
    }
}

#[test]
fn waiting_in_slots_has_the_harmonic_cost_of_the_binomial_sum() {
    // Σ over j < t of Σᵢ P(i changes in j slots)·H(1 + i), over 1/c + t, in 30 digits.
    for (t, c, expect) in [
        (1.0, 0.3, 0.230_769_230_769_230_76),
        (9.0, 0.05, 0.340_216_344_370_074_4),
        (60.0, 0.2, 2.208_894_039_378_295),
        (3.0, 0.99, 1.077_691_057_934_508_8),
    ] {
        let s = 1.0 / (1.0 + c * t);
        let got = Objective::Harmonic.observed_cost(Rule::Wait, Timing::Slots, s, c);
        assert!((got / expect - 1.0).abs() < 1e-13, "{t} slots at {c}: {got}, not {expect}");
    }
}
