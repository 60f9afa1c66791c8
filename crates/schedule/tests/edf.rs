//! Earliest deadline first: no source is ever a whole fetch ahead or behind, checked in integers.

#![allow(clippy::unwrap_used)]

use freshet_schedule::{EarliestDeadline, Rates, SequenceStats};
use proptest::prelude::*;

/// A rate as an exact multiple of 2^−90.
fn exact(rate: f64) -> i128 {
    let scaled = rate * 2_f64.powi(90);
    assert_eq!(scaled, scaled.trunc(), "{rate} is no multiple of 2^-90");
    scaled as i128
}

/// The bound of Azar et al. 2018, Algorithm 3, after every slot for the source that is fetched and
/// at the end for all: between fetches tρ − N only rises.
#[track_caller]
fn check(column: &[f64], slots: i128) {
    let one = 1_i128 << 90;
    let rates: Vec<i128> = column.iter().map(|&rate| exact(rate)).collect();
    let mut counts = vec![0_i128; column.len()];
    let mut fetched = 0;
    let sequence = EarliestDeadline::new(Rates::new(column).unwrap());
    for (decision, slot) in sequence.zip(1..=slots) {
        let Some(source) = decision else { continue };
        assert!(rates[source] > 0, "source {source} has no rate");
        let before = (slot - 1) * rates[source] - counts[source] * one;
        counts[source] += 1;
        fetched += 1;
        let after = slot * rates[source] - counts[source] * one;
        assert!(before <= one, "slot {slot}: source {source} is late by {before}");
        assert!(after >= -one, "slot {slot}: source {source} is early by {after}");
    }
    for (source, (rate, count)) in rates.iter().zip(&counts).enumerate() {
        let end = slots * rate - count * one;
        assert!(end.abs() <= one, "source {source} ends {end} from its rate");
    }
    let sum: i128 = rates.iter().sum();
    assert!(fetched >= (slots * sum.min(one)) / one - column.len() as i128);
    if sum >= one {
        assert_eq!(fetched, slots, "a slot was left idle");
    }
}

#[test]
fn one_source_takes_nearly_all() {
    let mut column = vec![1e-9; 1000];
    column[500] = 0.999_999;
    check(&column, 100_000);
    check(&[0.999_999, 0.000_001], 3_000_000);
    check(&[1.0, 0.0, 0.0], 1000);
    check(&[1.0 - f64::EPSILON, f64::EPSILON], 100_000);
}

#[test]
fn equal_rates_take_turns() {
    for n in [1, 2, 3, 7, 49, 1000] {
        let column = vec![1.0 / n as f64; n];
        check(&column, 20_000);
        let sequence = EarliestDeadline::new(Rates::new(&column).unwrap());
        let order: Vec<usize> = sequence.take(3 * n).flatten().collect();
        let turns: Vec<usize> = (0..n).chain(0..n).chain(0..n).collect();
        assert_eq!(order, turns);
    }
}

#[test]
fn a_hundred_thousand_sources_in_as_many_slots() {
    let n = 100_000;
    check(&vec![1.0 / n as f64; n], n as i128);
    let total: f64 = (1..=n).map(|i| 1.0 / i as f64).sum();
    let harmonic: Vec<f64> = (1..=n).map(|i| 1.0 / i as f64 / total).collect();
    check(&harmonic, n as i128);
    let mut skewed = vec![1e-9; n];
    skewed[n - 1] = 1.0 - 1e-4;
    check(&skewed, n as i128);
}

#[test]
fn harmonically_related_rates() {
    let powers: Vec<f64> = (1..=50).map(|i| 0.5_f64.powi(i)).collect();
    check(&powers, 200_000);
    check(&[1.0 / 2.0, 1.0 / 3.0, 1.0 / 6.0], 200_000);
    check(&[1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0, 1.0 / 8.0], 200_000);
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    check(&[golden, golden * golden], 200_000);
}

/// The rates add up to 1 + 49·2⁻⁵³ or so: within what a sum of rounded numbers may.
#[test]
fn rounding_up_does_no_harm() {
    let up = |rate: f64| f64::from_bits(rate.to_bits() + 1);
    check(&vec![up(1.0 / 49.0); 49], 500_000);
    check(&vec![up(1.0 / 1000.0); 1000], 500_000);
}

#[test]
fn the_tally_agrees() {
    let column: Vec<f64> = (1..=100).map(|i| f64::from(i) / 5050.0).collect();
    let rates = Rates::new(&column).unwrap();
    let mut tally = SequenceStats::new(rates);
    for decision in EarliestDeadline::new(rates).take(100_000) {
        tally.record(decision);
    }
    assert!(tally.discrepancy() < 1.0 && tally.discrepancy() > 0.5);
    assert_eq!((tally.slots(), tally.idle()), (100_000, 0));
    for (spread, rate) in tally.spacings().zip(&column) {
        // Two windows of a fetch before and after: a gap is less than 2/ρ + 1 slots.
        assert!((spread.gaps.unwrap().1 as f64) < 2.0 / rate + 1.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rates of integer weights out of a power of two: exact numbers, and a sum of at most 1.
    #[test]
    fn the_bound_holds_for_exact_rates(
        weights in prop::collection::vec((1_u64..1 << 40, 0_u32..40), 1..40),
        fill in any::<bool>(),
    ) {
        let mut weights: Vec<u64> = weights.iter().map(|&(w, shift)| (w >> shift) / 40).collect();
        if fill {
            weights.push((1 << 40) - weights.iter().sum::<u64>());
        }
        let column: Vec<f64> =
            weights.iter().map(|&weight| weight as f64 / (1_u64 << 40) as f64).collect();
        check(&column, 3000);
    }

    /// Normalised by a rounded sum, as callers do it.
    #[test]
    fn the_bound_holds_for_rounded_rates(weights in prop::collection::vec(1e-3_f64..1.0, 1..60)) {
        let sum: f64 = weights.iter().sum();
        let column: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let slots = 3000;
        let sequence = EarliestDeadline::new(Rates::new(&column).unwrap());
        let mut counts = vec![0; column.len()];
        let one = 1_i128 << 90;
        for (decision, slot) in sequence.zip(1..=slots) {
            if let Some(source) = decision {
                counts[source] += 1;
            }
            for (rate, count) in column.iter().zip(&counts) {
                prop_assert!((slot * exact(*rate) - count * one).abs() <= one);
            }
        }
    }
}
