//! Azar's algorithms line by line, against ours.

use freshet_plan::{Objective, Timing};
use freshet_schedule::{EarliestDeadline, Rates, SequenceStats};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::planned::best;
use crate::random::{random, uniform};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "azar-algorithms",
    paper: Paper::Azar,
    item: "Algorithms 1–3",
    section: "Theorem 1, Eqs 3–12",
    about: "the algorithms as printed against our planner and our sequences, and the formulas \
            behind them",
    run,
};

/// Algorithms 1 (slots) and 2, line by line.
fn algorithm(weights: &[f64], changes: &[f64], budget: f64, slots: bool) -> Vec<f64> {
    let n = weights.len();
    let scale = |c: f64| if slots { 1.0 / (1.0 - c) } else { 1.0 };
    let root = |i: usize| (weights[i] * changes[i]).sqrt();
    let mut order: Vec<usize> = (0..n).collect();
    let ratio = |i: usize| weights[i] / changes[i];
    order.sort_by(|&i, &j| ratio(i).total_cmp(&ratio(j)));
    let mut r: f64 = (0..n).map(|i| root(i) * scale(changes[i])).sum();
    let mut s: f64 = (0..n).map(|i| changes[i] * scale(changes[i])).sum();
    let mut rates = vec![0.0; n];
    for i in order {
        if ratio(i) <= (r / (budget + s)).powi(2) {
            r -= root(i) * scale(changes[i]);
            s -= changes[i] * scale(changes[i]);
        } else {
            rates[i] = ((budget + s) * root(i) / r - changes[i]) * scale(changes[i]);
        }
    }
    rates
}

/// Algorithm 3, line by line: the largest |tρ − N| of any page at any time.
fn algorithm_3(rates: &[f64], slots: usize) -> f64 {
    let mut owed = vec![0.0; rates.len()];
    let mut worst = 0.0_f64;
    for _ in 0..slots {
        owed.iter_mut().zip(rates).for_each(|(owed, rate)| *owed += rate);
        let deadline = |k: usize| ((1.0 - owed[k]) / rates[k]).ceil();
        let waiting = (0..rates.len()).filter(|&k| owed[k] > 0.0);
        let next = waiting.min_by(|&a, &b| deadline(a).total_cmp(&deadline(b)));
        if let Some(next) = next {
            owed[next] -= 1.0;
        }
        worst = owed.iter().fold(worst, |worst, owed| worst.max(owed.abs()));
    }
    worst
}

/// Returns the largest difference of two plans, relative to the largest rate.
fn distance(ours: &[f64], theirs: &[f64]) -> f64 {
    let largest = theirs.iter().copied().fold(0.0, f64::max);
    let off = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / largest);
    off.fold(0.0, f64::max)
}

fn run() -> Result<Outcome, LabError> {
    let mut plans = Table::new(
        "The printed algorithm and our planner: largest distance of a rate",
        "pages",
        &["Algorithm 1, slots", "Algorithm 2, R = 0.5", "Algorithm 2, R = 50"],
    );
    let mut generator = random(1);
    for count in [6, 100, 5000] {
        let weights = uniform(count, &mut generator);
        let changes: Vec<f64> =
            uniform(count, &mut generator).into_iter().map(|c| 0.001 + 0.99 * c).collect();
        let mut cells = Vec::new();
        for (budget, timing) in
            [(1.0, Timing::Slots), (0.5, Timing::Poisson), (50.0, Timing::Poisson)]
        {
            let ours = best(&weights, &changes, budget, Objective::Freshness, timing)?.rates;
            let theirs = algorithm(&weights, &changes, budget, timing == Timing::Slots);
            let name = if timing == Timing::Slots { "Algorithm 1" } else { "Algorithm 2" };
            cells.push(Some(Comparison::formula(name, distance(&ours, &theirs))));
        }
        plans.push(&count.to_string(), cells);
    }

    let rates = algorithm(&uniform(80, &mut generator), &vec![0.3; 80], 1.0, true);
    let rates: Vec<f64> = rates.into_iter().filter(|&rate| rate > 0.0).collect();
    let slots = 40_000;
    let mut tally = SequenceStats::new(Rates::new(&rates)?);
    for decision in EarliestDeadline::new(Rates::new(&rates)?).take(slots) {
        tally.record(decision);
    }
    let share = tally
        .spacings()
        .zip(&rates)
        .map(|(spread, rate)| (spread.fetches as f64 / slots as f64 - rate).abs());
    let share = share.fold(0.0, f64::max);
    let sequences = Table::list("Algorithm 3, earliest deadline first, 40,000 slots")
        .with(
            "as printed: the largest |tρ − N| of any page at any time",
            Comparison::shape("at most 1", algorithm_3(&rates, slots), 0.0..=1.0),
        )
        .with("ours: the same", Comparison::shape("at most 1", tally.discrepancy(), 0.0..=1.0))
        .with(
            "ours: the largest |ρ − N/T|",
            Comparison::shape("at most ε = 1/T", share, 0.0..=1.0 / slots as f64),
        );
    Ok(Outcome::new([plans, sequences, formulas()?]).note(
        "In Eq. 12 the Δ of the requested page is meant, Δ_{I_j}; nothing can be calculated with the \
         printed index.",
    ))
}

/// Checks Eqs 9 and 10 where all pages are fetched, and the inequality of Eqs 5 and 6.
fn formulas() -> Result<Table, LabError> {
    let (weights, changes) = ([3.0, 2.5, 2.0, 1.0], [0.2, 0.55, 0.31, 0.07]);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        weights.iter().zip(changes).map(|(&w, c)| of(w, c)).sum()
    };
    let price =
        (sum(&|w, c| (w * c).sqrt() / (1.0 - c)) / (1.0 + sum(&|_, c| c / (1.0 - c)))).powi(2);
    let plan = best(&weights, &changes, 1.0, Objective::Freshness, Timing::Slots)?;
    let off = |formula: &dyn Fn(f64, f64) -> f64| {
        let own: Vec<f64> = weights.iter().zip(changes).map(|(&w, c)| formula(w, c)).collect();
        distance(&own, &plan.rates)
    };
    let printed = off(&|w, c| ((w * c / price - c).max(0.0)).sqrt() / (1.0 - c));
    let meant = off(&|w, c| ((w * c / price).sqrt() - c) / (1.0 - c));
    let larger = (1..4000).all(|step| {
        let x = f64::from(step) * 0.01;
        -(-x).exp_m1() / x >= 1.0 / (1.0 + x)
    });
    Ok(Table::list("Formulas")
        .with(
            "Eq. 10, the price where every page is fetched",
            Comparison::formula(
                "λ = (Σ√(μΔ)/(1−Δ) / (1 + ΣΔ/(1−Δ)))²",
                (price / plan.price - 1.0).abs(),
            ),
        )
        .with(
            "Eq. 9, the rates at that price",
            Comparison::formula("√(μΔ/λ − Δ)/(1 − Δ)", printed).or_formula(
                "(√(μΔ/λ) − Δ)/(1 − Δ)",
                meant,
                "the solved plan",
            ),
        )
        .with(
            "Eqs 5 and 6: fixed intervals against random times",
            Comparison::property(
                "(1 − e^−x)/x ≥ 1/(1 + x)",
                if larger { "at 3,999 places up to 40" } else { "it fails somewhere" },
                larger,
            ),
        ))
}
