//! What signals are worth to those who learn it, ignore them, or believe them, over recall and precision.
//!
//! `cargo bench -p freshet-sim --bench signals [-- SEEDS [DELAY]]`, with a delay such as `6h`

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use freshet_plan::Objective;
use freshet_sim::{
    Distribution, Experiment, MeanWithInterval, Origin, Report, Signals, Synthetic, WebKind,
};

const RECALLS: [f64; 5] = [0.2, 0.5, 0.8, 0.95, 1.0];
const PRECISIONS: [f64; 7] = [0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0];
/// First is what all are compared with.
const POLICIES: [&str; 5] =
    ["engine:ignoring", "engine", "engine:blind", "lambda:ignoring", "lambda"];

/// Changes every few days, some ten times as often as others, and some ten times as important.
const WEB: Synthetic = Synthetic {
    sources: 100,
    rates: Distribution::LogNormal { median: 0.3, sigma: 1.0 },
    importance: Distribution::LogNormal { median: 1.0, sigma: 1.0 },
    observed: 0.0,
    per_host: 10.0,
};

fn main() {
    // Cargo adds `--bench` of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let seeds = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(6);
    let delay = arguments.get(1).map_or("0", String::as_str);
    println!(
        "{} sources, 0.2 requests a day each, 120 days of which the last 60 count, {seeds} seeds, delay \
         {delay}",
        WEB.sources
    );
    println!(
        "cost against engine:ignoring on the same changes, in %, with 95 % intervals; less is better"
    );
    for objective in [Objective::Harmonic, Objective::Freshness] {
        println!("\n{objective}");
        let head = POLICIES[1..].iter().map(|name| format!(" {name:>16}")).collect::<String>();
        println!("{:>7} {:>9}{head} {:>20}", "recall", "precision", "engine over lambda");
        for recall in RECALLS {
            for precision in PRECISIONS {
                let signals = format!("recall={recall},precision={precision},delay={delay}");
                row(objective, &signals, seeds, &format!("{recall:>7} {precision:>9}"));
            }
        }
        for every in ["1h", "1d", "7d"] {
            let signals = format!("liar:every={every}");
            row(objective, &signals, seeds, &signals);
        }
    }
}

fn row(objective: Objective, signals: &str, seeds: usize, place: &str) {
    let mut experiment = Experiment::new(Origin::Synthetic(WEB, WebKind::Poisson));
    experiment.policies = POLICIES.map(|name| name.parse().unwrap()).to_vec();
    experiment.objective = objective.into();
    experiment.signals = Some(signals.parse::<Signals>().unwrap());
    experiment.seeds = seeds;
    experiment.days = Some(120.0);
    let report = experiment.run(&|_| {}).unwrap();
    let cells: String = (1..POLICIES.len())
        .map(|at| format!(" {:>16}", percent(&difference(&report, at, 0))))
        .collect();
    let over = percent(&difference(&report, 1, 4));
    println!("{place:>17}{cells} {over:>20}");
}

/// Returns how much more one costs than another, as a share, seed by seed.
fn difference(report: &Report, one: usize, other: usize) -> MeanWithInterval {
    let costs = |at: usize| {
        let runs = report.policies[at].runs.iter();
        runs.map(|run| run.ledger.measured().cost(report.objective)).collect::<Vec<f64>>()
    };
    let (one, other) = (costs(one), costs(other));
    let base = other.iter().sum::<f64>() / other.len() as f64;
    let shares: Vec<f64> = one.iter().zip(&other).map(|(a, b)| (a - b) / base).collect();
    MeanWithInterval::of(&shares)
}

fn percent(spread: &MeanWithInterval) -> String {
    let half = spread.interval.map_or(f64::NAN, |(low, high)| 50.0 * (high - low));
    format!("{:+.1} ± {half:.1}", 100.0 * spread.mean)
}
