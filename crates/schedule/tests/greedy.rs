//! Greedy by value: the same choice as by comparing all sources, at a fraction of the work.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use freshet_schedule::{FetchValue, Greedy};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Compares all sources in every slot.
fn brute_force<V: FetchValue>(values: &V, mut last: Vec<f64>, times: &[f64]) -> Vec<Option<usize>> {
    let decide = |&now: &f64| {
        let mut best = (0.0, None);
        for (source, last) in last.iter().enumerate() {
            let value = values.value(source, now - last);
            if value > best.0 {
                best = (value, Some(source));
            }
        }
        if let Some(source) = best.1 {
            last[source] = now;
        }
        best.1
    };
    times.iter().map(decide).collect()
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// w(τ − (1 − e^(−cτ))/c)
    Harmonic,
    /// (w/c)(1 − e^(−cτ)(1 + cτ)): bounded, so that some sources starve.
    Freshness,
    /// w⌊cτ⌋: jumps and plateaus, so that values are equal more often than not.
    Steps,
    /// w√τ
    Root,
}

/// Sources with importance w and change rate c, counting what is asked of them.
struct Sources {
    kind: Kind,
    w: Vec<f64>,
    c: Vec<f64>,
    asked: Cell<u64>,
}

impl Sources {
    fn new(kind: Kind, w: Vec<f64>, c: Vec<f64>) -> Self {
        Self { kind, w, c, asked: Cell::new(0) }
    }

    fn compute(&self, source: usize, elapsed: f64) -> f64 {
        let (w, c) = (self.w[source], self.c[source]);
        let x = c * elapsed;
        match self.kind {
            Kind::Harmonic if x < 1e-3 => w / c * x * x * (0.5 - x / 6.0 + x * x / 24.0),
            Kind::Harmonic => w / c * (x + (-x).exp_m1()),
            Kind::Freshness if x < 1e-3 => w / c * x * x * (0.5 - x / 3.0 + x * x / 8.0),
            Kind::Freshness => w / c * (-(-x).exp_m1() - x * (-x).exp()),
            Kind::Steps => w * x.floor(),
            Kind::Root => w * elapsed.sqrt(),
        }
    }
}

impl FetchValue for &Sources {
    fn value(&self, source: usize, elapsed: f64) -> f64 {
        self.asked.set(self.asked.get() + 1);
        self.compute(source, elapsed)
    }

    /// By bisection: the last time found at which the level is not reached.
    fn time_to_reach(&self, source: usize, level: f64) -> f64 {
        self.asked.set(self.asked.get() + 1);
        let (mut low, mut high) = (0.0, 1.0);
        while self.compute(source, high) < level {
            (low, high) = (high, 2.0 * high);
            if high > 1e12 {
                return f64::INFINITY;
            }
        }
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if self.compute(source, middle) < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[track_caller]
fn check(sources: &Sources, last: Vec<f64>, times: &[f64]) {
    let mut greedy = Greedy::new(sources, last.clone());
    let ours: Vec<Option<usize>> = times.iter().map(|&now| greedy.fetch(now)).collect();
    assert_eq!(ours, brute_force(&sources, last, times));
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Harmonic, Kind::Freshness, Kind::Steps, Kind::Root])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_choice_is_that_of_comparing_all(
        kind in kinds(),
        columns in prop::collection::vec((0.01_f64..100.0, 1e-3_f64..1.0, -50.0_f64..=0.0), 1..60),
        gaps in prop::collection::vec(0.0_f64..3.0, 300),
    ) {
        let w = columns.iter().map(|column| column.0).collect();
        let c = columns.iter().map(|column| column.1).collect();
        let last = columns.iter().map(|column| column.2).collect();
        let times: Vec<f64> =
            gaps.iter().scan(0.0, |now, gap| { *now += gap; Some(*now) }).collect();
        check(&Sources::new(kind, w, c), last, &times);
    }

    /// A small number of distinct sources, all fetched at the start: many ties, and sources with value zero.
    #[test]
    fn ties_go_to_the_lowest(
        kind in kinds(),
        columns in prop::collection::vec((0_u8..4, 1_u8..4), 1..40),
    ) {
        let w = columns.iter().map(|column| f64::from(column.0)).collect();
        let c = columns.iter().map(|column| 0.05 * f64::from(column.1)).collect();
        let times: Vec<f64> = (1..=400).map(f64::from).collect();
        check(&Sources::new(kind, w, c), vec![0.0; columns.len()], &times);
    }

    /// The budget falls to a fifth and rises again, so that winning values do the opposite.
    #[test]
    fn the_choice_survives_a_change_of_pace(seed in any::<u64>(), kind in kinds()) {
        let mut random = Pcg64::seed_from_u64(seed);
        let w = (0..50).map(|_| random.random::<f64>().powi(3)).collect();
        let c = (0..50).map(|_| random.random_range(0.001..0.2)).collect();
        let mut now = 0.0;
        let times: Vec<f64> = (0..600)
            .map(|slot| { now += if slot / 100 % 2 == 0 { 1.0 } else { 5.0 }; now })
            .collect();
        check(&Sources::new(kind, w, c), vec![0.0; 50], &times);
    }
}

#[test]
fn nothing_to_gain_is_nothing_to_fetch() {
    let sources = Sources::new(Kind::Harmonic, vec![0.0; 3], vec![1.0; 3]);
    assert!(Greedy::new(&sources, vec![0.0; 3]).take(10).all(|slot| slot.is_none()));
    assert!(Greedy::new(&sources, vec![]).take(10).all(|slot| slot.is_none()));
}

#[test]
fn equal_sources_take_turns() {
    let sources = Sources::new(Kind::Harmonic, vec![1.0; 7], vec![0.3; 7]);
    let order: Vec<usize> = Greedy::new(&sources, vec![0.0; 7]).take(21).flatten().collect();
    let turns: Vec<usize> = (0..7).chain(0..7).chain(0..7).collect();
    assert_eq!(order, turns);
}

/// Questions per slot, for values and times together: in the first 2n slots after all sources were
/// fetched at once, and in the next 2n.
fn asked(kind: Kind, n: usize, importance: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut random = Pcg64::seed_from_u64(7);
    let w = (0..n).map(|_| importance(random.random())).collect();
    let c = (0..n).map(|_| 5.0 / n as f64 * random.random_range(0.001..1.0)).collect();
    let sources = Sources::new(kind, w, c);
    let mut greedy = Greedy::new(&sources, vec![0.0; n]);
    let mut run = || {
        greedy.by_ref().take(2 * n).for_each(drop);
        sources.asked.replace(0) as f64 / (2 * n) as f64
    };
    (run(), run())
}

#[test]
fn few_sources_are_looked_at() {
    for kind in [Kind::Harmonic, Kind::Freshness, Kind::Root] {
        let skewed = |uniform: f64| uniform.powi(4) + 0.01;
        let (first, later) = asked(kind, 10_000, skewed);
        assert!(first < 40.0 && later < 20.0, "{kind:?}: {first} {later}");
        let (_, fewer) = asked(kind, 100, skewed);
        assert!(later < 2.0 * fewer, "{kind:?}: {later} {fewer}");
    }
    for kind in [Kind::Harmonic, Kind::Freshness] {
        let (_, later) = asked(kind, 10_000, |_| 1.0);
        assert!(later < 40.0, "{kind:?}: {later}");
    }
}
