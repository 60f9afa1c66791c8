//! What a fetch is worth, step by step, against the double sum that defines it.

#![allow(clippy::unwrap_used)]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/naive.rs"]
mod naive;

use cases::{chance, instance, kinds};
use freshet_capture::{Life, Pending, Schedule, Share, Urgency};
use proptest::prelude::*;

const TOLERANCE: f64 = 1e-12;
/// Smaller values count as zero.
const NOTHING: f64 = 1e-290;

fn close(got: f64, expect: f64) -> bool {
    (got - expect).abs() <= TOLERANCE * expect + NOTHING
}

fn share(number: f64) -> Share {
    Share::new(number).unwrap()
}

/// Returns the worth after these chances, without a fetch.
fn after(life: &str, urgency: &str, chances: &[f64]) -> f64 {
    let mut pending = Pending::new(life.parse().unwrap(), urgency.parse().unwrap());
    chances.iter().for_each(|&chance| _ = pending.advance(share(chance)));
    pending.worth()
}

#[track_caller]
fn check(life: Life, urgency: Urgency, steps: &[(f64, bool)]) {
    let mut pending = Pending::new(life, urgency);
    let mut since = Vec::new();
    for &(chance, fetch) in steps {
        since.push(chance);
        let worth = pending.advance(share(chance));
        let expect = naive::worth(life, urgency, &since);
        assert!(close(worth, expect), "{life}, {urgency}, {since:?}: {worth:e}, not {expect:e}");
        assert_eq!(worth, pending.worth());
        if fetch {
            pending.fetch();
            assert_eq!(pending.worth(), 0.0);
            since.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_step_is_the_double_sum(
        steps in prop::collection::vec((chance(), prop::bool::weighted(0.05)), 0..60),
    ) {
        kinds().for_each(|(life, urgency)| check(life, urgency, &steps));
    }

    #[test]
    fn small_chances_lose_no_digits(
        steps in prop::collection::vec((0.0_f64..0.03, prop::bool::weighted(0.01)), 60..70),
    ) {
        kinds().for_each(|(life, urgency)| check(life, urgency, &steps));
    }

    #[test]
    fn any_schedule_is_the_sum_over_its_fetches(
        (pages, chances) in instance(4, 30),
        draws in prop::collection::vec(0_u8..16, 30),
    ) {
        let chosen = draws.iter().take(chances.instants()).map(|draw| {
            (0..pages.len() as u32).filter(|page| draw >> page & 1 == 1).collect()
        });
        let schedule = Schedule::new(pages.len(), chosen.collect()).unwrap();
        let (got, expect) = (
            schedule.expected(&pages, &chances).unwrap(),
            naive::expected(&schedule, &pages, &chances),
        );
        prop_assert!(close(got, expect), "{got:e}, not {expect:e}");
    }
}

/// A window of more instants than are kept in one piece.
#[test]
fn long_windows_are_windows() {
    let chances: Vec<f64> =
        (0..1500_u32).map(|i| f64::from(i * 7919 % 1000).powi(3) * 1e-10).collect();
    for instants in [63, 64, 65, 127, 128, 129, 300] {
        for changes in [2, 5, 40] {
            let life = Life::Changes(changes.try_into().unwrap());
            let urgency = Urgency::Window(instants);
            let mut pending = Pending::new(life, urgency);
            for (now, &chance) in chances.iter().enumerate() {
                let worth = pending.advance(share(chance));
                if now % 37 == 0 {
                    let first = (now + 1).saturating_sub(instants as usize + 1);
                    let expect = naive::worth(life, urgency, &chances[first..=now]);
                    assert!(close(worth, expect), "{life}, {urgency}: {worth:e}, not {expect:e}");
                }
            }
        }
    }
}

/// Windows that have been left a thousand times, after a stretch that would swamp the rest if
/// anything of it were left.
#[test]
fn nothing_builds_up_over_time() {
    let chances: Vec<f64> = (0..20_000_u32)
        .map(|i| if i < 10_000 { 1.0 } else { f64::from(i * 7919 % 1000) * 1e-9 })
        .collect();
    let kinds = kinds().filter(|(life, urgency)| {
        matches!(life, Life::Window(0..=20)) || matches!(urgency, Urgency::Window(0..=15))
    });
    for (life, urgency) in kinds {
        let mut pending = Pending::new(life, urgency);
        chances.iter().for_each(|&chance| _ = pending.advance(share(chance)));
        let expect = naive::worth(life, urgency, &chances[chances.len() - 40..]);
        assert!(close(pending.worth(), expect), "{life}, {urgency}: {:e}", pending.worth());
    }
}

#[test]
fn a_worth_that_has_decayed_is_nothing() {
    for life in ["append", "overwrite", "changes:3", "window:30000"] {
        let mut chances = vec![0.0; 20_000];
        chances[0] = 1.0;
        assert_eq!(after(life, "decay:0.9", &chances), 0.0, "{life}");
    }
}

/// WIC §2.3, change windows at a constant chance, with the exponent j − k − q.
#[test]
fn a_constant_chance_has_a_binomial_life() {
    let (chance, n) = (0.3_f64, 4);
    let binomial =
        |of: i32, q: i32| (0..q).map(|i| f64::from(of - i) / f64::from(i + 1)).product::<f64>();
    let life = |delay: i32| -> f64 {
        let term = |q| binomial(delay, q) * chance.powi(q) * (1.0 - chance).powi(delay - q);
        (0..n).map(term).sum()
    };
    for length in 1..60 {
        let expect: f64 = (0..length).map(|delay| 0.9_f64.powi(delay) * chance * life(delay)).sum();
        let worth = after("changes:4", "decay:0.9", &vec![chance; length as usize]);
        assert!(close(worth, expect), "{length}: {worth}, not {expect}");
    }
}

/// The present worth does not give the next one: the rest of the state is needed.
#[test]
fn equal_worths_may_part() {
    let check = |life: &str, urgency: &str, pasts: [&[f64]; 2], now: f64, next, then: [f64; 2]| {
        for (past, then) in pasts.into_iter().zip(then) {
            assert_eq!(after(life, urgency, past), now);
            assert_eq!(after(life, urgency, &[past, &[next]].concat()), then);
        }
    };
    check("window:1", "uniform", [&[1.0, 0.0], &[0.0, 1.0]], 1.0, 0.0, [0.0, 1.0]);
    check("append", "window:1", [&[1.0, 0.0], &[0.0, 1.0]], 1.0, 0.0, [0.0, 1.0]);
    check("changes:2", "uniform", [&[0.5, 0.5], &[1.0]], 1.0, 1.0, [1.75, 2.0]);
}

/// Names for the same thing give the same digits.
#[test]
fn equal_kinds_are_equal() {
    let chances: Vec<f64> = (1..200_u32).map(|i| f64::from(i * 37 % 101) / 100.0 % 1.0).collect();
    for (one, other) in [
        (("overwrite", "decay:0.7"), ("changes:1", "decay:0.7")),
        (("overwrite", "window:9"), ("changes:1", "window:9")),
        (("append", "decay:1"), ("append", "uniform")),
        (("changes:3", "decay:1"), ("changes:3", "uniform")),
        (("changes:3", "decay:0"), ("append", "window:0")),
        (("window:7", "window:12"), ("append", "window:7")),
        (("window:0", "decay:0.5"), ("overwrite", "decay:0")),
    ] {
        assert_eq!(after(one.0, one.1, &chances), after(other.0, other.1, &chances), "{one:?}");
    }
}
