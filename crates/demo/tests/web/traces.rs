//! The recorded traces in the directory beside the project, if present.

use std::path::Path;

use freshet_demo::{Client, Window, World, simulated};
use freshet_model::ChangeTrace;
use freshet_sim::Distribution;
use freshet_tables::{Input, pages_beside, read_trace};

use crate::order::kept;

fn trace(name: &str) -> Option<ChangeTrace> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = directory.join(name);
    if !path.exists() {
        eprintln!("skipped: there are no traces in {}", directory.display());
        return None;
    }
    let pages = pages_beside(&path).map(Input::File);
    Some(read_trace(&Input::File(path), pages.as_ref(), false, &mut |_| {}).unwrap())
}

/// Returns the last two years of a record.
fn window(history: &ChangeTrace) -> Window {
    let days = 730.0;
    Window { start: history.time_range().unwrap().end - days * 86_400.0, days }
}

#[test]
fn the_changes_of_a_record_are_those_of_the_web() {
    let Some(history) = trace("k8s_docs.csv.gz") else { return };
    let window = window(&history);
    let world = World::recorded(1, &history, window, Distribution::Zipf(1.0)).unwrap();
    assert!((500..5000).contains(&world.len()), "{}", world.len());
    let served = world.history(window.days);
    assert_eq!(served.len(), world.len());
    let mut truth = freshet_demo::Truth::new(&world, false);
    for page in 0..world.len() {
        let version = truth.version(page as u32, window.days);
        assert_eq!(version.number as usize, served.change_times(page).len());
    }
    assert!(served.change_count() > 1000, "{}", served.change_count());
}

// Issue 7: freshness measured by the server within 1 % of the simulator's for the same seed.
#[test]
fn the_truth_is_what_the_simulator_says_for_the_same_seed() {
    let Some(history) = trace("k8s_docs.csv.gz") else { return };
    let window = window(&history);
    for seed in 1..=2 {
        let world = World::recorded(seed, &history, window, Distribution::Zipf(1.0)).unwrap();
        let (truth, ours) = kept(&world, 0.02, window.days, true);
        let theirs = simulated(&world, 0.02, window.days, 0.5 * window.days).unwrap()[0];
        assert!(truth.tally(Client::Freshet).answered > 10_000);
        assert!((ours - theirs).abs() < 0.01 * theirs, "{ours} is not {theirs}");
    }
}
