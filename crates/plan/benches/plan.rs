//! How long a plan takes, in units of one streaming pass over two columns (a dot product on the
//! same threads, in the same run).
//!
//! `cargo bench -p freshet-plan --bench plan [-- LARGEST] [OBJECTIVE]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use freshet_model::PerDay;
use freshet_plan::{Objective, Observed, Options, Sources, Timing, solve, solve_in};
use rayon::prelude::*;

const KOLOBOV: usize = 18_532_314;

struct Table {
    importance: Vec<f64>,
    change_rate: Vec<f64>,
    complete: Vec<bool>,
}

/// Shaped like the data of Kolobov et al. 2019: importance heavy-tailed, mostly below 1000, most
/// sources change once in a few days, 4 % with complete observations.
fn table(n: usize) -> Table {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut table = Table {
        importance: Vec::with_capacity(n),
        change_rate: Vec::with_capacity(n),
        complete: Vec::with_capacity(n),
    };
    for _ in 0..n {
        let pareto = 5.0 * (1.0 - uniform()).powf(-1.0 / 1.2);
        let normal: f64 = (0..6).map(|_| uniform()).sum::<f64>() - 3.0;
        table.importance.push(pareto);
        table.change_rate.push(0.25 * (1.3 * std::f64::consts::SQRT_2 * normal).exp());
        table.complete.push(uniform() < 0.04);
    }
    table
}

fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.par_chunks(1 << 14)
        .zip(b.par_chunks(1 << 14))
        .map(|(a, b)| {
            let mut lanes = [0.0; 16];
            for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
                for lane in 0..16 {
                    lanes[lane] += a[lane] * b[lane];
                }
            }
            lanes.iter().sum::<f64>()
        })
        .sum()
}

fn main() {
    let largest = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(KOLOBOV);
    let only = std::env::args().skip(1).find(|arg| arg.starts_with(char::is_alphabetic));
    let mut objectives = vec![
        ("harmonic", Objective::Harmonic, Timing::Periodic),
        ("harmonic poisson", Objective::Harmonic, Timing::Poisson),
        ("freshness", Objective::Freshness, Timing::Periodic),
        ("freshness poisson", Objective::Freshness, Timing::Poisson),
        ("age", Objective::Age, Timing::Periodic),
        ("age poisson", Objective::Age, Timing::Poisson),
    ];
    if let Some(only) = only {
        objectives.retain(|(name, ..)| *name == only);
    }
    println!("solve time in streaming passes; {} threads", rayon::current_num_threads());
    println!(
        "{:>12} {:>18} {:>7} {:>8} {:>8} {:>8} {:>9}",
        "sources", "objective", "passes", "again", "first", "ns each", "gap"
    );
    let mut growth: Vec<(f64, f64)> = Vec::new();
    for n in [10_000, 100_000, 1_000_000, 10_000_000, KOLOBOV] {
        if n > largest {
            break;
        }
        let table = table(n);
        let sources = Sources::new(&table.importance, &table.change_rate)
            .and_then(|sources| sources.with_complete(&table.complete))
            .expect("valid columns");
        let budget = PerDay::new(0.2 * n as f64).expect("a valid budget");
        for &(name, objective, timing) in &objectives {
            let options =
                Options { objective, timing, observed: Observed::Threshold, ..Options::default() };
            // The best of each, in turns, so that all see the machine in the same mood. Planning
            // again overwrites the last plan; the first time a new column is needed as well.
            let (mut stream, mut again, mut first) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
            let mut plan = solve(&sources, budget, &options).expect("a plan");
            for _ in 0..(60_000_000 / n).clamp(7, 50) {
                let (time, _) = seconds(|| black_box(dot(&table.importance, &table.change_rate)));
                stream = stream.min(time);
                let memory = std::mem::take(&mut plan.rates);
                let (time, next) = seconds(|| solve_in(&sources, budget, &options, memory));
                again = again.min(time);
                plan = next.expect("a plan");
                let (time, fresh) = seconds(|| solve(&sources, budget, &options));
                first = first.min(time);
                drop(fresh);
            }
            println!(
                "{n:>12} {name:>18} {:>7} {:>8.1} {:>8.1} {:>8.1} {:>9.1e}",
                plan.passes,
                again / stream,
                first / stream,
                again / n as f64 * 1e9,
                plan.gap.worst()
            );
            if name == "harmonic" {
                growth.push((n as f64, again));
            }
        }
    }
    if let [(n0, t0), .., (n1, t1)] = growth[..] {
        println!("growth of the harmonic solve: n^{:.2}", (t1 / t0).ln() / (n1 / n0).ln());
    }
}
