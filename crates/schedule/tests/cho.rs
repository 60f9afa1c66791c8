//! Cho & Garcia-Molina 2003, Table II: the freshness of equal sources under the three orders.

#![allow(clippy::unwrap_used)]

use std::num::NonZeroUsize;

use freshet_schedule::{
    FixedOrder, InSlots, PoissonTimes, PurelyRandom, RandomOrder, Rates, SequenceStats,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

const SOURCES: usize = 500;
const ROUNDS: usize = 2000;

/// The mean freshness of sources that change r times a round, from the gaps of the sequence.
#[track_caller]
fn check(sequence: impl Iterator<Item = Option<usize>>, r: f64, expect: f64) {
    let column = vec![1.0 / SOURCES as f64; SOURCES];
    let mut tally = SequenceStats::new(Rates::new(&column).unwrap());
    let per_slot = r / SOURCES as f64;
    let (mut fresh, mut slots) = (0.0, 0);
    for decision in sequence.take(SOURCES * ROUNDS) {
        if let Some(gap) = tally.record(decision) {
            fresh += -(-per_slot * gap as f64).exp_m1() / per_slot;
            slots += gap;
        }
    }
    let freshness = fresh / slots as f64;
    assert!((freshness - expect).abs() < 2e-3, "{freshness}, expected {expect}");
}

#[test]
fn table_ii() {
    let column = vec![1.0 / SOURCES as f64; SOURCES];
    let rates = Rates::new(&column).unwrap();
    let random = || Pcg64::seed_from_u64(9);
    let round = NonZeroUsize::new(SOURCES).unwrap();
    for r in [0.2_f64, 1.0, 5.0] {
        let once = -(-r).exp_m1() / r;
        check(InSlots::new(FixedOrder::new(rates)), r, once);
        check(RandomOrder::new(rates, round, random()), r, (1.0 - once * once) / r);
        check(PurelyRandom::new(rates, random()), r, 1.0 / (1.0 + r));
        check(InSlots::new(PoissonTimes::new(rates, random())), r, 1.0 / (1.0 + r));
    }
}
