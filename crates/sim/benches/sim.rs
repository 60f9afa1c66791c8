//! Simulated events a second, from a thousand sources to a million.
//!
//! `cargo bench -p freshet-sim --bench sim [-- LARGEST]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use freshet_model::{Budget, PerDay};
use freshet_schedule::DueQueue;
use freshet_sim::{Experiment, Origin, Synthetic, WebKind};

/// Changes and requests to simulate at each size.
const EVENTS: f64 = 2e7;

fn main() {
    let largest = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    println!("one core; events are changes and requests; a step is a pop and a push on a heap");
    println!("of as many entries, in the same run");
    println!(
        "{:>9} {:>14} {:>12} {:>14} {:>10}",
        "sources", "policy", "M events/s", "ns an event", "steps"
    );
    let mut sources = 1000;
    while sources <= largest {
        let step = heap_step(sources);
        for policy in ["optimum", "uniform", "nutch", "lambda"] {
            let (events, seconds) = measure(sources, policy);
            let each = seconds / events as f64;
            println!(
                "{sources:>9} {policy:>14} {:>12.2} {:>14.0} {:>10.2}",
                events as f64 / seconds / 1e6,
                each * 1e9,
                each / step
            );
        }
        sources *= 10;
    }
}

/// Seconds for a pop and a push.
fn heap_step(entries: usize) -> f64 {
    let mut agenda = DueQueue::from_entries(
        (0..entries as u32).map(|i| (f64::from(i.wrapping_mul(40_503) % 65_536), i)),
    );
    let start = Instant::now();
    let rounds = 2_000_000;
    for _ in 0..rounds {
        let (day, source) = agenda.pop().unwrap();
        agenda.push(day + 60_000.0 + f64::from(source % 9973), source);
    }
    black_box(agenda.next_day());
    start.elapsed().as_secs_f64() / f64::from(rounds)
}

/// Events and seconds of one run: as many requests as changes, of log-normal rates around one in
/// five days.
fn measure(sources: usize, policy: &str) -> (u64, f64) {
    let web = Synthetic { sources, observed: 0.0, ..Synthetic::KOLOBOV };
    let mut experiment = Experiment::new(Origin::Synthetic(web, WebKind::Poisson));
    experiment.policies = vec![policy.parse().unwrap()];
    experiment.seeds = 1;
    experiment.budget = Budget::PerSource(PerDay::new(0.6).unwrap());
    experiment.days = Some((EVENTS / (1.2 * sources as f64)).clamp(1.0, 5000.0));
    let start = Instant::now();
    let report = experiment.run(&|_| {}).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    (report.policies[0].runs.iter().map(|run| run.events).sum(), seconds)
}
