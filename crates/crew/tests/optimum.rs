//! The best curve against other ways to find it, and what must hold for any.

#![allow(clippy::unwrap_used)]

use freshet_crew::{
    CrewError, Dynamic, Event, Iteration, Measures, Policy, Setting, best_fixed, evaluate, fixed,
    solve, value_iteration,
};
use proptest::prelude::*;

/// Settings over some powers of ten.
fn settings(buffers: std::ops::Range<u32>) -> impl Strategy<Value = Setting> {
    (-2.5..1.0_f64, -1.0..1.0_f64, buffers, -2.0..2.0_f64).prop_map(
        |(fetch, process, buffer, weight)| {
            let process = 10_f64.powf(process);
            let (fetch, weight) = (process * 10_f64.powf(fetch), process * 10_f64.powf(weight));
            Setting::new(fetch, process, buffer, weight).unwrap()
        },
    )
}

/// Returns the least cost by plain value iteration over (queue, active) for all policies whatsoever, as the
/// two bounds that the last step gives. Shares no code with the library.
fn plain(setting: &Setting, available: usize) -> (f64, f64) {
    let buffer = setting.buffer() as usize;
    let (fetch, process) = (setting.fetch_rate(), setting.process_rate());
    let events = fetch * available as f64 + process;
    let mut old = vec![vec![0.0; available + 1]; buffer + 1];
    loop {
        let best = |queue: usize, active: usize| {
            let stay = if queue + active > 0 { old[queue][active] } else { f64::INFINITY };
            stay.min(old[queue].get(active + 1).copied().unwrap_or(f64::INFINITY))
        };
        let mut new = old.clone();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for queue in 0..=buffer {
            for active in usize::from(queue == 0)..=available {
                let (mut cost, mut rest) = (0.0, events);
                let mut value = 0.0;
                if queue == 0 {
                    cost += setting.starvation_weight();
                } else {
                    value += process * best(queue - 1, active);
                    rest -= process;
                }
                if active > 0 {
                    let arrivals = fetch * active as f64;
                    cost += if queue == buffer { arrivals } else { 0.0 };
                    value += arrivals * best((queue + 1).min(buffer), active - 1);
                    rest -= arrivals;
                }
                new[queue][active] = (cost + value + rest * old[queue][active]) / events;
                let step = events * (new[queue][active] - old[queue][active]);
                (low, high) = (low.min(step), high.max(step));
            }
        }
        if high - low < 1e-10 * process {
            return (low, high);
        }
        let base = new[buffer][available];
        new.iter_mut().flatten().for_each(|value| *value -= base);
        old = new;
    }
}

/// Every curve for so many queue lengths and fetchers.
fn curves(queues: usize, available: u32) -> Vec<Vec<u32>> {
    let mut curves = vec![vec![]];
    for queue in 0..queues {
        let longer = |curve: Vec<u32>| {
            let top = curve.last().copied().unwrap_or(available);
            let low = u32::from(queue == 0);
            (low..=top).map(move |target| [&curve[..], &[target]].concat())
        };
        curves = curves.into_iter().flat_map(longer).collect();
    }
    curves
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_policy_costs_less(setting in settings(1..8), available in 1_u32..10) {
        let dynamic = solve(&setting, Some(available)).unwrap();
        let (low, high) = plain(&setting, available as usize);
        let (cost, slack) = (dynamic.measures.cost, 1e-9 * setting.process_rate());
        prop_assert!(low - slack <= cost && cost <= high + slack, "{low} {cost} {high}");
        prop_assert!(dynamic.gap <= 1e-3 * slack, "gap {}", dynamic.gap);
    }

    #[test]
    fn no_curve_costs_less(setting in settings(1..4), available in 1_u32..5) {
        let dynamic = solve(&setting, Some(available)).unwrap();
        let queues = setting.buffer() as usize + 1;
        let costs = curves(queues, available).into_iter().map(|targets| {
            let policy = Policy::new(targets, available).unwrap();
            evaluate(&setting, &policy).unwrap().cost
        });
        let least = costs.fold(f64::INFINITY, f64::min);
        prop_assert!(close(least, dynamic.measures.cost, 1e-12), "{least} {dynamic:?}");
    }

    #[test]
    fn a_constant_curve_is_a_fixed_number(setting in settings(1..30), fetchers in 1_u32..40) {
        let policy = Policy::constant(fetchers, setting.buffer()).unwrap();
        let own = evaluate(&setting, &policy).unwrap();
        let expect = fixed(&setting, fetchers.into());
        prop_assert!(close(own.cost, expect.cost, 1e-12), "{own:?} {expect:?}");
        prop_assert!(close(own.starvation, expect.starvation, 1e-12));
        prop_assert!(close(own.loss_rate, expect.loss_rate, 1e-12));
        prop_assert_eq!((own.min_active, own.max_active), (fetchers, fetchers));
    }

    #[test]
    fn what_is_brought_is_processed_or_lost(setting in settings(1..40), available in 1_u32..60) {
        let Dynamic { measures, policy, .. } = solve(&setting, Some(available)).unwrap();
        let brought = setting.fetch_rate() * measures.mean_active;
        let taken = setting.process_rate() * (1.0 - measures.starvation) + measures.loss_rate;
        prop_assert!((brought - taken).abs() <= 1e-12 * setting.process_rate().max(taken));
        let cost = setting.starvation_weight() * measures.starvation + measures.loss_rate;
        prop_assert!(close(measures.cost, cost, 1e-15));
        prop_assert!(measures.max_active <= policy.available());
        prop_assert_eq!(evaluate(&setting, &policy).unwrap(), measures);
    }

    #[test]
    fn it_is_never_worse_than_a_fixed_number_and_more_fetchers_never_hurt(
        setting in settings(1..20),
        available in 1_u32..30,
    ) {
        let few = solve(&setting, Some(available)).unwrap();
        let more = solve(&setting, Some(available + 1)).unwrap();
        let free = solve(&setting, None).unwrap();
        let constant = best_fixed(&setting, Some(available)).unwrap();
        let slack = 1e-12 * setting.process_rate();
        prop_assert!(few.measures.cost <= constant.cost + slack);
        prop_assert!(more.measures.cost <= few.measures.cost + slack);
        prop_assert!(free.measures.cost <= more.measures.cost + slack);
        // With as many fetchers as it can use, one more brings no improvement.
        let same = solve(&setting, Some(free.policy.available() + 1)).unwrap();
        prop_assert!((same.measures.cost - free.measures.cost).abs() <= slack);
    }

    #[test]
    fn the_unit_of_time_does_not_matter(setting in settings(1..12), unit in -9.0..9.0_f64) {
        let unit = 10_f64.powf(unit);
        let other = Setting::new(
            unit * setting.fetch_rate(),
            unit * setting.process_rate(),
            setting.buffer(),
            unit * setting.starvation_weight(),
        ).unwrap();
        let (one, other) = (solve(&setting, None).unwrap(), solve(&other, None).unwrap());
        let Measures { cost, starvation, mean_active, .. } = other.measures;
        prop_assert!(close(cost, unit * one.measures.cost, 1e-9));
        prop_assert!(close(starvation, one.measures.starvation, 1e-6));
        prop_assert!(close(mean_active, one.measures.mean_active, 1e-6));
    }

    #[test]
    fn value_iteration_closes_in_on_it(setting in settings(1..8), available in 1_u32..8) {
        let iteration = Iteration { damping: 0.9, tolerance: 1e-8, ..Iteration::default() };
        let iterated = value_iteration(&setting, available, &iteration).unwrap();
        let cost = solve(&setting, Some(available)).unwrap().measures.cost;
        let slack = 1e-9 * setting.process_rate();
        prop_assert!(iterated.least - slack <= cost && cost <= iterated.most + slack);
    }
}

/// Returns a gap that is small compared with the cost, the weight and the rate of the processor, and a policy to
/// match.
#[track_caller]
fn check(fetch_rate: f64, buffer: u32, weight: f64, available: Option<u32>) -> Dynamic {
    let setting = Setting::new(fetch_rate, 1.0, buffer, weight).unwrap();
    let dynamic = solve(&setting, available).unwrap();
    let Dynamic { policy, measures, gap, .. } = &dynamic;
    assert!(*gap <= 1e-10 * (measures.cost + weight.max(1.0)), "{gap} {measures:?}");
    assert!(measures.cost >= 0.0 && measures.mean_active > 0.0, "{measures:?}");
    assert!(measures.mean_active >= f64::from(measures.min_active), "{measures:?}");
    assert!(measures.mean_active <= f64::from(measures.max_active), "{measures:?}");
    assert_eq!(policy.targets().len(), buffer as usize + 1);
    let constant = best_fixed(&setting, available).unwrap();
    assert!(measures.cost <= constant.cost * (1.0 + 1e-12), "{measures:?} {constant:?}");
    dynamic
}

#[test]
fn the_smallest_cases() {
    for fetch_rate in [1e-9, 0.3, 1.0, 1e9] {
        for weight in [0.0, 1e-9, 1.0, 1e9] {
            check(fetch_rate, 1, weight, Some(1));
            check(fetch_rate, 1, weight, Some(2));
            check(fetch_rate, 2, weight, Some(1));
            check(fetch_rate, 30, weight, Some(40));
        }
    }
    // One place, one fetcher that always waits its turn: fetch, process, fetch, process.
    let turns = check(3.0, 1, 1e-3, Some(1)).measures;
    assert_eq!((turns.loss_rate, turns.min_active), (0.0, 0));
    assert!((turns.starvation - 0.25).abs() < 1e-15);
}

#[test]
fn starving_that_does_not_matter_costs_nothing() {
    let dynamic = check(0.05, 10, 0.0, None);
    assert_eq!((dynamic.measures.cost, dynamic.gap), (0.0, 0.0));
    // It is always starved, so it did not end for want of anything to improve.
    assert!(!dynamic.ended_early);
}

#[test]
fn a_large_buffer_practically_never_fails() {
    for fetch_rate in [1e-3, 0.05, 1e9] {
        let measures = check(fetch_rate, 2000, 1.2, None).measures;
        assert!(measures.cost < 1e-14, "{measures:?}");
        assert!((fetch_rate * measures.mean_active - 1.0).abs() < 1e-12, "{measures:?}");
    }
}

#[test]
fn a_search_that_ends_early_says_so() {
    assert!(check(0.05, 300, 1.2, None).ended_early);
    assert!(check(0.05, 300, 1.2, Some(40)).ended_early);
    assert!(!check(0.05, 10, 1.2, None).ended_early);
}

#[test]
fn many_slow_fetchers_are_hardly_better_than_a_fixed_number() {
    let setting = Setting::new(1e-4, 1.0, 5, 1.4).unwrap();
    let dynamic = check(1e-4, 5, 1.4, None);
    let constant = best_fixed(&setting, None).unwrap().cost;
    assert!(dynamic.measures.cost > 0.99 * constant);
}

#[test]
fn fast_fetchers_keep_the_queue_full_and_lose_nothing() {
    let dynamic = check(1e9, 10, 1.0, None);
    // Queue length and fetches in flight add up to ten.
    assert_eq!(dynamic.policy.targets(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn a_million_states_of_any_shape() {
    check(1e-3, 1000, 1.2, Some(1000));
    check(1e-5, 10, 1.2, Some(100_000));
    check(1e-2, 10_000, 1.2, Some(100));
    check(0.4, 100_000, 1.2, Some(10));
}

#[test]
fn what_cannot_be_computed_is_said() {
    let setting = Setting::new(1e-9, 1.0, 10, 1.2).unwrap();
    let states = |error| matches!(error, CrewError::TooManyStates { states, .. } if states > 1e10);
    assert!(states(solve(&setting, None).unwrap_err()));
    assert!(solve(&setting, Some(100)).is_ok());
    let setting = Setting::new(0.05, 1.0, 10, 1.2).unwrap();
    assert_eq!(solve(&setting, Some(0)), Err(CrewError::NoFetchers));
    let iteration = Iteration::default();
    assert_eq!(value_iteration(&setting, 0, &iteration).err(), Some(CrewError::NoFetchers));
    let few = Iteration { most: 3, ..iteration };
    assert_eq!(value_iteration(&setting, 9, &few).err(), Some(CrewError::Unsettled(3)));
    let none = Iteration { damping: 0.0, ..iteration };
    assert_eq!(value_iteration(&setting, 9, &none).err(), Some(CrewError::Damping(0.0)));
    let policy = Policy::new(vec![2, 1], 2).unwrap();
    let other = CrewError::OtherBuffer { policy: 1, setting: 10 };
    assert_eq!(evaluate(&setting, &policy), Err(other));
}

#[test]
fn a_fetcher_is_never_started_without_need() {
    let policy = check(0.05, 10, 1.2, Some(25)).policy;
    assert!(!policy.starts(0, 25) && !policy.starts(0, u32::MAX));
    assert!(!policy.starts(u32::MAX, 10) && policy.starts(u32::MAX, 7));
    assert!(!policy.starts_on(Event::Departure, 0, 3) && !policy.starts_on(Event::Arrival, 3, 0));
}
