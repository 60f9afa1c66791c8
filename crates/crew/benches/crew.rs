//! Cost of computing the best switching curve, in units of one sweep of value iteration over as many states,
//! in the same run; and how many sweeps value iteration itself would take.
//!
//! `cargo bench -p freshet-crew --bench crew [-- LARGEST]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use freshet_crew::{Setting, best_fixed, solve};

/// Value iteration ends when its bounds are this close, or after this many sweeps.
const CLOSE: f64 = 1e-8;
const PATIENCE: u32 = 20_000;

/// Plain value iteration over (queue, active).
struct Plain {
    setting: Setting,
    fetchers: usize,
    values: Vec<f64>,
    next: Vec<f64>,
}

impl Plain {
    fn new(setting: Setting, fetchers: u32) -> Self {
        let fetchers = fetchers as usize;
        let values = vec![0.0; (setting.buffer() as usize + 1) * (fetchers + 1)];
        Self { setting, fetchers, next: values.clone(), values }
    }

    /// One sweep, and how far apart the bounds on the cost are after it.
    fn sweep(&mut self) -> f64 {
        let Self { setting, fetchers, values, next } = self;
        let (width, buffer) = (*fetchers + 1, setting.buffer() as usize);
        let (fetch, process) = (setting.fetch_rate(), setting.process_rate());
        let rate = fetch * *fetchers as f64 + process;
        values[0] = f64::INFINITY;
        let best = |queue: usize, active: usize| {
            let at = queue * width + active;
            if active < *fetchers { values[at].min(values[at + 1]) } else { values[at] }
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for queue in 0..=buffer {
            let idle = if queue == 0 { setting.starvation_weight() } else { 0.0 };
            let lost = if queue == buffer { 1.0 } else { 0.0 };
            for active in usize::from(queue == 0)..width {
                let own = values[queue * width + active];
                let mut step = idle;
                if queue > 0 {
                    step += process * (best(queue - 1, active) - own);
                }
                if active > 0 {
                    let after = best((queue + 1).min(buffer), active - 1);
                    step += fetch * active as f64 * (lost + after - own);
                }
                (low, high) = (low.min(step), high.max(step));
                next[queue * width + active] = own + step / rate;
            }
        }
        let base = next[buffer * width];
        for value in next.iter_mut() {
            *value -= base;
        }
        std::mem::swap(values, next);
        high - low
    }
}

/// Seconds, the best of a few runs.
fn seconds<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let run = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(run).fold(f64::INFINITY, f64::min)
}

fn main() {
    let largest = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(2e6);
    println!(
        "{:>9} {:>8} {:>9} {:>7} {:>9} {:>7} {:>8} {:>10} {:>16}",
        "fetchers", "queue", "rate", "curves", "cost", "gap", "ms", "in sweeps", "value iteration"
    );
    for (fetchers, buffer, load) in [
        (16_u32, 5_u32, 1.6),
        (40, 10, 2.0),
        (100, 100, 1.0),
        (300, 300, 1.0),
        (1000, 1000, 0.5),
        (1000, 1000, 1.0),
        (1000, 1000, 1.5),
        (10, 100_000, 1.0),
        (10_000, 100, 1.2),
        (100_000, 10, 1.2),
    ] {
        let states = f64::from(fetchers) * f64::from(buffer);
        if states > largest {
            continue;
        }
        let setting = Setting::new(load / f64::from(fetchers), 1.0, buffer, 1.2).expect("valid");
        let dynamic = solve(&setting, Some(fetchers)).expect("small enough");
        let runs = if states < 1e5 { 5 } else { 2 };
        let time = seconds(runs, || solve(&setting, Some(fetchers)));
        let mut plain = Plain::new(setting, fetchers);
        let sweep = seconds(5, || plain.sweep());
        let iterations = if states > 1e5 {
            "–".to_owned()
        } else {
            match (1..=PATIENCE).find(|_| plain.sweep() < CLOSE) {
                Some(sweeps) => sweeps.to_string(),
                None => format!("over {PATIENCE}"),
            }
        };
        println!(
            "{fetchers:>9} {buffer:>8} {:>9.1e} {:>7} {:>9.1e} {:>7.0e} {:>8.2} {:>10.0} {iterations:>16}",
            setting.fetch_rate(),
            dynamic.iterations,
            dynamic.measures.cost,
            dynamic.gap,
            time * 1e3,
            time / sweep,
        );
    }
    let large = Setting::new(0.01, 1.0, 1_000_000, 1.2).expect("valid");
    let time = seconds(5, || best_fixed(&large, None));
    println!("best fixed number for a queue of a million: {:.1} µs", time * 1e6);
}
