//! Cases in which importance alone is sufficient.

use freshet_chart::{Axis, Figure, Panel};
use freshet_plan::{Objective, Policy, Timing};
use rand_distr::{Distribution as _, StandardNormal};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::grid::linear;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::{best, measured, rule};
use crate::random::random;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "kolobov-prop-9",
    paper: Paper::Kolobov,
    item: "Proposition 9",
    section: "§5",
    about: "rates in proportion to importance are best where importance over change rate is constant; \
            what they cost elsewhere",
    run,
};

const PAGES: usize = 5000;

/// Importance, and change rates whose ratio to it is log-normal with this spread.
fn pages(spread: f64) -> (Vec<f64>, Vec<f64>) {
    let mut generator = random(9);
    let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
    (0..PAGES)
        .map(|_| {
            let weight = (1.6 * normal()).exp();
            (weight, 0.25 * weight * (spread * normal()).exp())
        })
        .unzip()
}

/// Ratio of the cost of rates proportional to importance to the lowest cost.
fn excess(spread: f64, timing: Timing) -> Result<f64, LabError> {
    let (weights, changes) = pages(spread);
    let budget = 0.2 * PAGES as f64;
    let cost = |rates: &[f64]| -> Result<f64, LabError> {
        Ok(measured(&weights, &changes, rates, timing)?.cost(Objective::Harmonic))
    };
    let optimum = best(&weights, &changes, budget, Objective::Harmonic, timing)?.rates;
    Ok(cost(&rule(&weights, &changes, budget, Policy::Importance)?)? / cost(&optimum)?)
}

fn run() -> Result<Outcome, LabError> {
    let (weights, changes) = pages(0.0);
    let plan = best(&weights, &changes, 0.2 * PAGES as f64, Objective::Harmonic, Timing::Poisson)?;
    let total: f64 = weights.iter().sum();
    let off = weights
        .iter()
        .zip(&plan.rates)
        .map(|(weight, rate)| (rate / (0.2 * PAGES as f64 * weight / total) - 1.0).abs());
    let spreads = linear(0.0, 3.0, 31);
    let mut ratios = Vec::new();
    let mut fixed = Vec::new();
    for &spread in &spreads {
        ratios.push(excess(spread, Timing::Poisson)?);
        fixed.push(excess(spread, Timing::Periodic)?);
    }
    let table = Table::list("")
        .with(
            "importance over change rate constant: the best rates",
            Comparison::formula("ρ = μR/Σμ", off.fold(0.0, f64::max)),
        )
        .with(
            "the wider the ratios are spread, the more it costs",
            Comparison::property(
                "some loss of quality",
                &format!("{:.4} times the least at σ = 1, {:.4} at σ = 3", ratios[10], ratios[30]),
                ratios.is_sorted() && ratios[10] > 1.0,
            ),
        );
    let curves = vec![
        Curve::new("", "at random times, as in the paper", spreads.clone(), ratios),
        Curve::new("", "at fixed intervals", spreads, fixed),
    ];
    let figure = Figure::new("What rates in proportion to importance cost")
        .subtitle("harmonic cost over the least; 5,000 made-up sources, 0.2 fetches a day each")
        .plot_height(260)
        .panel(
            Panel::new()
                .x(Axis::linear("spread of ln(importance/change rate), σ", ""))
                .y(Axis::linear("cost over the least", "times"))
                .series(curves[0].line())
                .series(curves[1].line()),
        );
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)))
}
