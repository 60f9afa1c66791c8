//! Freshness and age of three orders, in closed form.

use freshet_plan::{Objective, Order, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::grid::logarithmic;
use crate::outcome::Outcome;
use crate::planned::measured;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-table-2",
    paper: Paper::Cho,
    item: "Table II",
    section: "§4.4",
    about: "the six formulas for freshness and age against what our planner evaluates, and against \
            integrals of their definition",
    run,
};

/// An order of fetches, with formulas by the ratio r of changes to fetches; age is in
/// intervals.
pub(super) struct Formulas {
    pub(super) name: &'static str,
    pub(super) order: Order,
    pub(super) freshness: fn(f64) -> f64,
    pub(super) age: fn(f64) -> f64,
    texts: [&'static str; 2],
    /// Distribution of the time between two fetches, if it is random.
    interval: Option<Interval>,
}

/// Random time between two fetches with mean 1: the probability that it exceeds t, and its
/// effective maximum.
struct Interval {
    survival: fn(f64) -> f64,
    longest: f64,
}

fn once(r: f64) -> f64 {
    -(-r).exp_m1() / r
}

pub(super) const FORMULAS: [Formulas; 3] = [
    Formulas {
        name: "fixed order",
        order: Order::Timed(Timing::Periodic),
        freshness: once,
        age: |r| 0.5 - 1.0 / r + once(r) / r,
        texts: ["(1 − e^−r)/r", "(1/f)(1/2 − 1/r + (1 − e^−r)/r²)"],
        interval: None,
    },
    Formulas {
        name: "random order",
        order: Order::RandomOrder,
        freshness: |r| (1.0 - once(r).powi(2)) / r,
        age: |r| 1.0 / 3.0 + (0.5 - 1.0 / r).powi(2) - (once(r) / r).powi(2),
        texts: ["(1/r)(1 − ((1 − e^−r)/r)²)", "(1/f)(1/3 + (1/2 − 1/r)² − ((1 − e^−r)/r²)²)"],
        // A triangular density, between two random places in neighbouring rounds.
        interval: Some(Interval {
            survival: |t| if t < 1.0 { 1.0 - 0.5 * t * t } else { 0.5 * (2.0 - t).powi(2) },
            longest: 2.0,
        }),
    },
    Formulas {
        name: "purely random",
        order: Order::Timed(Timing::Poisson),
        freshness: |r| 1.0 / (1.0 + r),
        age: |r| r / (1.0 + r),
        texts: ["1/(1 + r)", "(1/f)(r/(1 + r))"],
        interval: Some(Interval { survival: |t| (-t).exp(), longest: 60.0 }),
    },
];

fn run() -> Result<Outcome, LabError> {
    let ratios = logarithmic(0.05, 50.0, 61);
    let mut planner = Table::new(
        "The printed formula, and its largest relative distance from what the planner evaluates",
        "order",
        &["freshness", "age"],
    );
    let mut integrals = Table::new(
        "The same from the integral over the time between fetches (their equations 4 and 5)",
        "order",
        &["freshness", "age"],
    );
    for formulas in &FORMULAS {
        let mut worst = [[0.0_f64; 2]; 2];
        for &r in &ratios {
            let own = measured(&[1.0], &[r], &[1.0], formulas.order)?;
            let own = [own.freshness(), own.cost(Objective::Age)];
            let integral = [|t: f64, r: f64| (-r * t).exp(), |t: f64, r: f64| t - t * once(r * t)]
                .map(|at| renewal(formulas.interval.as_ref(), |t| at(t, r)));
            let printed = [(formulas.freshness)(r), (formulas.age)(r)];
            for measure in 0..2 {
                let off = |other: f64| (printed[measure] / other - 1.0).abs();
                worst[0][measure] = worst[0][measure].max(off(own[measure]));
                worst[1][measure] = worst[1][measure].max(off(integral[measure]));
            }
        }
        for (table, worst) in [&mut planner, &mut integrals].into_iter().zip(worst) {
            let cells = formulas.texts.iter().zip(worst);
            let cells = cells.map(|(text, worst)| Some(Comparison::formula(text, worst)));
            table.push(formulas.name, cells);
        }
    }
    Ok(Outcome::new([planner, integrals]).note(
        "Compared at 61 ratios r of changes to fetches from 0.05 to 50; f is the number of fetches \
         per unit of time.",
    ))
}

/// Returns the mean over time of a function of the time since the last fetch, ∫ f(w) ∫₀ʷ k / ∫ f(w) w. Each
/// moment t counts if the interval lasts beyond it, so that one integral is enough; by Gauss's rule
/// with three points on each of many pieces.
fn renewal(interval: Option<&Interval>, k: impl Fn(f64) -> f64) -> f64 {
    const PIECES: usize = 12_000;
    match interval {
        None => pieces(1.0, PIECES, &k),
        Some(&Interval { survival, longest }) => {
            pieces(longest, PIECES, |t| survival(t) * k(t)) / pieces(longest, PIECES, survival)
        }
    }
}

fn pieces(longest: f64, count: usize, f: impl Fn(f64) -> f64) -> f64 {
    let width = longest / count as f64;
    let offset = 0.6_f64.sqrt();
    let each = (0..count).map(|at| {
        let middle = (at as f64 + 0.5) * width;
        let side = 0.5 * width * offset;
        (5.0 * (f(middle - side) + f(middle + side)) + 8.0 * f(middle)) / 18.0
    });
    each.sum::<f64>() * width
}
