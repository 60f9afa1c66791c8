//! Captured changes in simulated histories, compared with the expectation from their probabilities.

#![allow(clippy::unwrap_used)]

#[path = "support/cases.rs"]
mod cases;

use cases::{instance, kinds};
use freshet_capture::{Captured, Chances, Changes, Page, Schedule, greedy};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

const RUNS: u32 = 4000;

/// Pages that change now and then, at chances that vary.
fn chances(pages: usize, instants: usize) -> Chances {
    let chance = |i: usize| (i * 7919 % 1009) as f64 / 1009.0;
    Chances::new(pages, (0..pages * instants).map(|i| chance(i).powi(3)).collect()).unwrap()
}

/// Changes drawn many times: on average a schedule captures what it is expected to.
#[test]
fn the_mean_of_many_runs_is_the_expectation() {
    let chances = chances(3, 24);
    let mut random = Pcg64::seed_from_u64(5);
    for (life, urgency) in kinds() {
        let pages = [0.5, 1.0, 2.0].map(|weight| Page::new(weight, life, urgency).unwrap());
        let schedule = greedy(&pages, &chances, 1).unwrap();
        let expect = schedule.expected(&pages, &chances).unwrap();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..RUNS {
            let changes = chances.draw(&mut random);
            let worth = schedule.captured(&pages, &changes).unwrap().worth;
            sum += worth;
            squares += worth * worth;
        }
        let runs = f64::from(RUNS);
        let mean = sum / runs;
        let error = ((squares / runs - mean * mean) / runs).sqrt();
        assert!((mean - expect).abs() < 4.5 * error, "{life}, {urgency}: {mean} for {expect}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With known changes, the expectation is exact.
    #[test]
    fn sure_changes_are_captured_as_expected(
        (pages, chances) in instance(4, 40),
        capacity in 1_usize..3,
        seed in any::<u64>(),
    ) {
        let changes = chances.draw(&mut Pcg64::seed_from_u64(seed));
        let schedule = greedy(&pages, &chances, capacity).unwrap();
        let captured = schedule.captured(&pages, &changes).unwrap();
        let expect = schedule.expected(&pages, &changes.chances()).unwrap();
        prop_assert!((captured.worth - expect).abs() <= 1e-12 * expect);
        prop_assert!(captured.worth <= captured.most * (1.0 + 1e-12));
        prop_assert!(captured.captured() <= captured.changes);
        prop_assert!(captured.ratio().is_none_or(|ratio| (0.0..1.0 + 1e-12).contains(&ratio)));
    }

    /// With a fetch for every page there is no delay and no loss.
    #[test]
    fn fetching_everything_captures_everything(
        (pages, chances) in instance(4, 20),
        seed in any::<u64>(),
    ) {
        let changes = chances.draw(&mut Pcg64::seed_from_u64(seed));
        let all = vec![(0..pages.len() as u32).collect(); chances.instants()];
        let schedule = Schedule::new(pages.len(), all).unwrap();
        let captured = schedule.captured(&pages, &changes).unwrap();
        prop_assert_eq!(captured.at_once(), captured.changes);
        prop_assert!((captured.worth - captured.most).abs() <= 1e-12 * captured.most);
    }
}

/// A page that changes at 0, 1, 4 and 7 is fetched at 5 and 7.
#[test]
fn a_schedule_by_hand() {
    let changes = Changes::new(9, vec![vec![0, 1, 4, 7]]).unwrap();
    let fetched = [vec![], vec![0]];
    let fetched = (0..9).map(|now| fetched[usize::from(now == 5 || now == 7)].clone()).collect();
    let schedule = Schedule::new(1, fetched).unwrap();
    let check = |life: &str, urgency: &str, worth: f64, delays: &[u64]| {
        let page = Page::new(2.0, life.parse().unwrap(), urgency.parse().unwrap()).unwrap();
        let got = schedule.captured(&[page], &changes).unwrap();
        let delays = delays.to_vec();
        assert_eq!(got, Captured { worth, most: 8.0, changes: 4, delays }, "{life}, {urgency}");
    };
    check("append", "uniform", 8.0, &[1, 1, 0, 0, 1, 1]);
    check("append", "window:1", 4.0, &[1, 1, 0, 0, 1, 1]);
    check("append", "decay:0.5", 2.0 * (1.0 + 0.5 + 0.0625 + 0.03125), &[1, 1, 0, 0, 1, 1]);
    check("window:4", "uniform", 6.0, &[1, 1, 0, 0, 1]);
    check("changes:2", "uniform", 6.0, &[1, 1, 0, 0, 1]);
    check("overwrite", "uniform", 4.0, &[1, 1]);
    check("overwrite", "window:0", 2.0, &[1, 1]);
}

#[test]
fn without_changes_there_is_no_ratio() {
    let changes = Changes::new(2, vec![vec![]]).unwrap();
    let schedule = Schedule::new(1, vec![vec![0], vec![0]]).unwrap();
    let captured = schedule.captured(&[Page::cam(1.0).unwrap()], &changes).unwrap();
    assert_eq!((captured.ratio(), captured.captured(), captured.at_once()), (None, 0, 0));
}
