//! The best rate over the change rate, through the five pages of Table IV.

use freshet_chart::{Axis, Figure, Mark, Panel};
use freshet_plan::{Objective, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::cho_table_4::CHANGES;
use crate::grid::logarithmic;
use crate::index::Index;
use crate::number::significant;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::best;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-11",
    paper: Paper::Cho,
    item: "Figure 11",
    section: "§5.3, Example 5.4",
    about: "the best rate as a function of the change rate, for freshness and for age",
    run,
};

/// Returns the curve of best rates at a price, for weight w: change rates and rates, by the number of
/// changes between fetches.
pub(super) fn optimum(index: Index, weight: f64, price: f64) -> (Vec<f64>, Vec<f64>) {
    let spans = match index {
        Index::Freshness => logarithmic(2e-3, 60.0, 500),
        Index::Age => logarithmic(2e-3, 200.0, 500),
    };
    let (mut changes, mut rates): (Vec<f64>, Vec<f64>) =
        spans.iter().map(|&x| point(index, weight, price, x)).unzip();
    if index == Index::Freshness {
        // Change rate above which pages are given up.
        changes.push(weight / price);
        rates.push(0.0);
    }
    (changes, rates)
}

pub(super) fn point(index: Index, weight: f64, price: f64, x: f64) -> (f64, f64) {
    let level = index.value(x) * weight / price;
    let change = match index {
        Index::Freshness => level,
        Index::Age => level.sqrt(),
    };
    (change, change / x)
}

/// Maximum of the freshness curve, in changes between fetches: its slope is zero where
/// e^x = 1 + x + x².
pub(super) fn top() -> (f64, f64) {
    crate::index::bisect(1.0, 3.0, |x| x.exp() < 1.0 + x + x * x)
}

/// Returns the largest relative distance of rates from the curve.
pub(super) fn off_curve(
    index: Index,
    weights: &[f64],
    changes: &[f64],
    rates: &[f64],
    price: f64,
) -> f64 {
    let each = weights.iter().zip(changes).zip(rates);
    let off = each.map(|((&weight, &change), &rate)| {
        let expect = index.rate(weight, change, price);
        if expect == rate { 0.0 } else { (rate / expect - 1.0).abs() }
    });
    off.fold(0.0, f64::max)
}

fn run() -> Result<Outcome, LabError> {
    let freshness = best(&[1.0; 5], &CHANGES, 5.0, Objective::Freshness, Timing::Periodic)?;
    let age = best(&[1.0; 5], &CHANGES, 5.0, Objective::Age, Timing::Periodic)?;
    let off = |index, plan: &freshet_plan::Solution| {
        off_curve(index, &[1.0; 5], &CHANGES, &plan.rates, plan.price)
    };
    let (highest, _) = point(Index::Freshness, 1.0, freshness.price, top().0);
    let (_, rising) = optimum(Index::Age, 1.0, age.price);
    let table = Table::list("")
        .with(
            "for freshness, the change rate from which the best rate falls",
            Comparison::number(&Printed::new("2.5"), highest),
        )
        .with(
            "pages that change from so often on are never fetched",
            Comparison::shape("the curve ends before 5 a day", 1.0 / freshness.price, 0.0..=5.0),
        )
        .with(
            "for age, the best rate over the change rate",
            Comparison::property(
                "rises, and stays close to 1",
                &format!(
                    "rises from {} to {}",
                    significant(age.rates[0]),
                    significant(age.rates[4])
                ),
                rising.is_sorted() && age.rates.is_sorted(),
            ),
        )
        .with(
            "the five pages lie on the curve (freshness)",
            Comparison::formula("∂F/∂f = μ", off(Index::Freshness, &freshness)),
        )
        .with(
            "the five pages lie on the curve (age)",
            Comparison::formula("∂A/∂f = μ", off(Index::Age, &age)),
        );
    let mut curves = Vec::new();
    let mut panel = |title: &str, index: Index, plan: &freshet_plan::Solution| {
        let (x, y) = optimum(index, 1.0, plan.price);
        let kept = x.iter().filter(|&&x| x <= 6.0).count();
        let curve = Curve::new(title, "best rate", x[..kept].to_vec(), y[..kept].to_vec());
        let pages = Curve::new(title, "Table IV", CHANGES.to_vec(), plan.rates.clone());
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::linear("change rate", "a day").range(0.0, 6.0))
            .y(Axis::linear("best rate", "fetches a day").from_zero())
            .series(curve.line())
            .series(pages.points());
        if index == Index::Freshness {
            panel = panel.mark(Mark::vertical(highest, &format!("highest at {highest:.2}")));
        }
        curves.extend([curve, pages]);
        panel
    };
    let figure = Figure::new("The best rate by the change rate")
        .subtitle("five pages that change 1 to 5 times a day, five fetches a day in all")
        .columns(2)
        .plot_height(260)
        .width(980)
        .panel(panel("(a) for freshness", Index::Freshness, &freshness))
        .panel(panel("(b) for age", Index::Age, &age));
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)))
}
