//! Seconds for a schedule of a day's minutes over the paper's 7,550 pages, and in units of one pass
//! that only adds up the same chances, in the same run.
//!
//! `cargo bench -p freshet-capture --bench capture [-- PAGES]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

#[path = "../tests/support/auctions.rs"]
mod auctions;

use std::hint::black_box;
use std::time::Instant;

use auctions::auctions;
use freshet_capture::{Chances, Noise, Page, Share, greedy};
use rand::SeedableRng;
use rand_pcg::Pcg64;

const INSTANTS: usize = 1440;
const LIVES: [&str; 6] =
    ["append", "overwrite", "window:60", "changes:3", "changes:10", "changes:100"];
const URGENCIES: [&str; 4] = ["uniform", "decay:0.9", "window:0", "window:30"];

/// Returns the best time of a few, and what came out.
fn seconds<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut run = || {
        let start = Instant::now();
        let out = black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
        out
    };
    let out = (run(), run(), run()).2;
    (best, out)
}

fn main() {
    let pages = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(7550);
    let mut random = Pcg64::seed_from_u64(1);
    let changes = auctions(pages, INSTANTS, &mut random);
    let noise = Noise::new(2.0, Share::new(0.1).expect("a share")).expect("a spread");
    let (time, chances) = seconds(|| noise.chances(&changes, &mut random));
    println!("{pages} pages, {INSTANTS} instants, {} changes", changes.total());
    println!("noise, σ = 2, FPN = 0.1: {time:.3} s");
    let everywhere = (0..pages * INSTANTS).map(|i| 0.02 * ((i % 97) as f64 / 97.0)).collect();
    let everywhere = Chances::new(pages, everywhere).expect("chances");
    for (what, chances) in [("around the changes", &chances), ("everywhere", &everywhere)] {
        let (unit, sum) = seconds(|| chances.iter().flatten().sum::<f64>());
        println!("\nchances {what}: {sum:.0} changes expected, {unit:.4} s to add up");
        println!("{:>12} {:>12} {:>4} {:>8} {:>8}", "life", "urgency", "C", "seconds", "passes");
        for (life, urgency) in LIVES.iter().flat_map(|life| URGENCIES.map(|it| (life, it))) {
            let page =
                Page::new(1.0, life.parse().expect("a life"), urgency.parse().expect("an urgency"));
            let table = vec![page.expect("a page"); pages];
            for capacity in [8, pages / 10] {
                let work = || greedy(&table, chances, capacity).expect("a schedule");
                let time = seconds(work).0;
                println!("{life:>12} {urgency:>12} {capacity:>4} {time:>8.3} {:>8.1}", time / unit);
            }
        }
    }
}
