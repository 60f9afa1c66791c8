//! Cost of a decision, in units of one pop and push on a plain binary heap of as many entries,
//! in the same run.
//!
//! `cargo bench -p freshet-schedule --bench schedule [-- LARGEST]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

use freshet_schedule::{
    EarliestDeadline, FetchValue, FixedOrder, GoldenRatio, Greedy, PurelyRandom, Rates,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const SLOTS: usize = 1_000_000;

/// The harmonic value w(τ − (1 − e^(−cτ))/c).
struct Harmonic {
    w: Vec<f64>,
    c: Vec<f64>,
}

impl FetchValue for &Harmonic {
    fn value(&self, source: usize, elapsed: f64) -> f64 {
        let (w, c) = (self.w[source], self.c[source]);
        w / c * unit_value(c * elapsed)
    }

    fn time_to_reach(&self, source: usize, level: f64) -> f64 {
        let (w, c) = (self.w[source], self.c[source]);
        let y = level * c / w;
        let mut x = y + (2.0 * y).sqrt();
        for _ in 0..30 {
            let step = (unit_value(x) - y) / -(-x).exp_m1();
            x -= step;
            if step.abs() <= 1e-12 * x {
                break;
            }
        }
        x / c
    }
}

/// x − 1 + e^(−x)
fn unit_value(x: f64) -> f64 {
    if x < 1e-2 {
        return x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x / 720.0))));
    }
    x + (-x).exp_m1()
}

/// Nanoseconds for each of the next slots: the best of a few runs.
fn nanoseconds<T>(mut next: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        for _ in 0..SLOTS {
            black_box(next());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / SLOTS as f64 * 1e9
}

/// A heap of times that are replaced by later ones.
fn heap(rates: &[f64], random: &mut Pcg64) -> impl FnMut() -> u32 + use<> {
    let intervals: Vec<u64> = rates.iter().map(|rate| (1.0 / rate) as u64).collect();
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = intervals
        .iter()
        .zip(0..)
        .map(|(&interval, source)| Reverse((random.random_range(0..=interval), source)))
        .collect();
    move || {
        let Reverse((time, source)) = heap.pop().expect("a source");
        heap.push(Reverse((time + intervals[source as usize], source)));
        source
    }
}

fn main() {
    let largest = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let names = ["heap", "fixed", "random", "deadline", "golden", "greedy"];
    println!("nanoseconds per slot, and in heap operations");
    print!("{:>9}", "sources");
    names.iter().for_each(|name| print!(" {name:>14}"));
    println!();
    let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
    for n in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|&n| n <= largest) {
        let mut random = Pcg64::seed_from_u64(n as u64);
        let weights: Vec<f64> =
            (0..n).map(|_| random.random_range(0.01..1.0_f64).powi(2)).collect();
        let total: f64 = weights.iter().sum();
        let column: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let rates = Rates::new(&column).expect("valid rates");
        let c: Vec<f64> = (0..n).map(|_| random.random_range(0.05..5.0) / n as f64).collect();
        let last: Vec<f64> = (0..n).map(|_| -(n as f64) * random.random::<f64>()).collect();
        let values = Harmonic { w: weights, c };

        let mut plain = heap(&column, &mut random);
        let mut fixed = FixedOrder::new(rates);
        let mut purely = PurelyRandom::new(rates, random.clone());
        let mut deadline = EarliestDeadline::new(rates);
        let mut golden = GoldenRatio::new(rates, 100 * n as u64).expect("a cycle");
        let mut greedy = Greedy::new(&values, last);
        // Past the start, where all sources are due at once.
        for _ in 0..2 * n {
            black_box((deadline.next(), greedy.next(), fixed.next(), plain()));
        }
        let times = vec![
            nanoseconds(plain),
            nanoseconds(|| fixed.next()),
            nanoseconds(|| purely.next()),
            nanoseconds(|| deadline.next()),
            nanoseconds(|| golden.next()),
            nanoseconds(|| greedy.next()),
        ];
        print!("{n:>9}");
        times.iter().for_each(|time| print!(" {time:>6.0} ({:>5.2})", time / times[0]));
        println!();
        rows.push((n as f64, times));
    }
    if let [(n0, first), .., (n1, last)] = &rows[..] {
        print!("{:>9}", "growth");
        for (first, last) in first.iter().zip(last) {
            print!(" {:>14}", format!("n^{:.2}", (last / first).ln() / (n1 / n0).ln()));
        }
        println!();
    }
}
