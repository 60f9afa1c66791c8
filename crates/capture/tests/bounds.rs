//! Greedy against the optimum, and the optimum against all schedules there are.

#![allow(clippy::unwrap_used)]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/naive.rs"]
mod naive;

use cases::{instance, lives, urgencies};
use freshet_capture::{Chances, Greedy, Page, Schedule, bound, greedy, optimum};
use proptest::prelude::*;

/// What greedy and the optimum are expected to capture.
fn both(pages: &[Page], chances: &Chances, capacity: usize) -> (f64, f64) {
    let greedy = greedy(pages, chances, capacity).unwrap();
    let optimum = optimum(pages, chances, capacity).unwrap();
    for schedule in [&greedy, &optimum] {
        assert!(schedule.iter().all(|fetched| fetched.len() <= capacity));
    }
    (greedy.expected(pages, chances).unwrap(), optimum.expected(pages, chances).unwrap())
}

/// Returns the most that any schedule captures, idle fetches included: one set of pages for each instant.
fn best_of_all(pages: &[Page], chances: &Chances, capacity: usize) -> f64 {
    let sets: Vec<Vec<u32>> = (0_u32..1 << pages.len())
        .filter(|set| set.count_ones() as usize <= capacity)
        .map(|set| (0..pages.len() as u32).filter(|page| set >> page & 1 == 1).collect())
        .collect();
    let schedules = sets.len().pow(chances.instants() as u32);
    let worth = |number: usize| {
        let chosen = (0..chances.instants() as u32)
            .map(|instant| sets[number / sets.len().pow(instant) % sets.len()].clone());
        let schedule = Schedule::new(pages.len(), chosen.collect()).unwrap();
        naive::expected(&schedule, pages, chances)
    };
    (0..schedules).map(worth).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// WIC, Theorem 1 and corollaries.
    #[test]
    fn greedy_is_within_its_bound(
        (pages, chances) in instance(4, 7),
        capacity in 0_usize..4,
    ) {
        let (greedy, optimum) = both(&pages, &chances, capacity);
        prop_assert!(greedy <= optimum * (1.0 + 1e-12));
        prop_assert!(optimum <= bound(&pages) * greedy * (1.0 + 1e-12) + 1e-290);
    }

    /// WIC, corollary (ii), and the same for a life of one instant.
    #[test]
    fn greedy_is_optimal_where_only_the_present_counts(
        (pages, chances) in instance(4, 6),
        capacity in 0_usize..4,
        by_life in any::<bool>(),
    ) {
        let (life, urgency) = ("window:0".parse().unwrap(), "window:0".parse().unwrap());
        let pages: Vec<Page> = pages.into_iter().map(|page| {
            let kind = if by_life { (life, page.urgency()) } else { (page.life(), urgency) };
            Page::new(page.weight(), kind.0, kind.1).unwrap()
        }).collect();
        prop_assert_eq!(bound(&pages), 1.0);
        let (greedy, optimum) = both(&pages, &chances, capacity);
        prop_assert!((greedy - optimum).abs() <= 1e-12 * optimum);
        // In closed form: the highest weighted chances of each instant.
        let highest = |row: &[f64]| {
            let mut worth: Vec<f64> =
                row.iter().zip(&pages).map(|(chance, page)| chance * page.weight()).collect();
            worth.sort_by(|a, b| b.total_cmp(a));
            worth.iter().take(capacity).sum::<f64>()
        };
        let expect: f64 = chances.iter().map(highest).sum();
        prop_assert!((greedy - expect).abs() <= 1e-12 * expect);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_schedule_is_better_than_the_optimum(
        (pages, chances) in instance(3, 4),
        capacity in 0_usize..3,
    ) {
        let (_, optimum) = both(&pages, &chances, capacity);
        let best = best_of_all(&pages, &chances, capacity);
        prop_assert!((optimum - best).abs() <= 1e-12 * best, "{optimum}, not {best}");
    }
}

/// Two pages change at once, one for good, one for this instant only: greedy takes the first.
#[test]
fn the_bound_is_reached() {
    let page = |life: &str| Page::new(1.0, life.parse().unwrap(), "uniform".parse().unwrap());
    let pages = [page("append").unwrap(), page("window:0").unwrap()];
    let chances = Chances::new(2, vec![1.0, 1.0, 0.0, 0.0]).unwrap();
    assert_eq!(both(&pages, &chances, 1), (1.0, 2.0));
    assert_eq!(bound(&pages), 2.0);
}

#[test]
fn the_bound_is_that_of_the_most_patient_page() {
    for life in lives() {
        for urgency in urgencies() {
            let page = |weight| Page::new(weight, life, urgency).unwrap();
            let most = (1..40).map(|delay| urgency.worth(delay) / urgency.worth(delay - 1));
            let most = most.filter(|ratio| ratio.is_finite()).fold(0.0, f64::max);
            let most = if life.holds(1, 0) { most } else { 0.0 };
            assert!((bound(&[page(1.0)]) - 1.0 - most).abs() < 1e-12, "{life}, {urgency}");
            assert_eq!(bound(&[page(0.0)]), 1.0);
        }
    }
    assert_eq!(bound(&[]), 1.0);
}

/// CAM counts a change in its own instant only, so how long it is there makes no difference.
#[test]
fn cam_is_overwriting_without_delay() {
    let chances: Vec<f64> = (1..=60_u32).map(|i| f64::from(i * 37 % 101) / 101.0).collect();
    let chances = Chances::new(3, chances).unwrap();
    let weights = [0.5, 1.0, 0.8];
    let cam = weights.map(|weight| Page::cam(weight).unwrap());
    let schedule = greedy(&cam, &chances, 1).unwrap();
    for life in lives() {
        let urgency = "decay:0".parse().unwrap();
        let pages = weights.map(|weight| Page::new(weight, life, urgency).unwrap());
        assert_eq!(greedy(&pages, &chances, 1).unwrap(), schedule);
    }
}

#[test]
fn instant_by_instant_is_the_same_as_all_at_once() {
    let chances: Vec<f64> = (1..=400_u32).map(|i| f64::from(i * 37 % 101) / 101.0).collect();
    let chances = Chances::new(5, chances).unwrap();
    let page = Page::new(1.0, "changes:2".parse().unwrap(), "decay:0.8".parse().unwrap());
    let pages = [page.unwrap(); 5];
    let schedule = greedy(&pages, &chances, 2).unwrap();
    let mut live = Greedy::new(&pages, 2).unwrap();
    for (row, fetched) in chances.iter().zip(schedule.iter()) {
        assert!(live.step(&[0.5; 4]).is_err() && live.step(&[0.5, 0.5, 2.0, 0.5, 0.5]).is_err());
        assert_eq!(live.step(row).unwrap(), fetched);
    }
    let expected = schedule.expected(&pages, &chances).unwrap();
    assert!((live.expected() / expected - 1.0).abs() < 1e-12);
}

/// Among equal pages the first one is fetched, and never a worthless one.
#[test]
fn ties_go_to_the_first() {
    let page = Page::new(1.0, "append".parse().unwrap(), "uniform".parse().unwrap()).unwrap();
    let chances = Chances::new(4, vec![0.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]).unwrap();
    let schedule = greedy(&[page; 4], &chances, 2).unwrap();
    assert_eq!(schedule.iter().collect::<Vec<_>>(), [&[1, 2][..], &[3]]);
    let all = greedy(&[page; 4], &chances, usize::MAX).unwrap();
    assert_eq!(all.iter().collect::<Vec<_>>(), [&[1, 2, 3][..], &[]]);
    assert_eq!(greedy(&[page; 4], &chances, 0).unwrap().fetches(), 0);
}
