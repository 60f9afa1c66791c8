//! The best rate over the change rate for two weights.

use freshet_chart::{Axis, Figure, Panel};
use freshet_plan::{Objective, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::cho_fig_11::{off_curve, optimum};
use crate::experiments::cho_table_5::{CHANGES, WEIGHTS};
use crate::grid::linear;
use crate::index::Index;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::best;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-13",
    paper: Paper::Cho,
    item: "Figure 13",
    section: "§6.1, Theorems 6.3 and 6.4",
    about: "the best rate by the change rate for two weights: how the curve of the heavier one is \
            that of the lighter one, larger",
    run,
};

/// Returns the distance between the curve of weight 2 and the scaled curve of weight 1.
fn off_scale(index: Index, price: f64, factor: f64) -> f64 {
    let off = linear(0.05, 3.0, 60).into_iter().filter_map(|change| {
        let light = index.rate(1.0, change, price);
        let heavy = index.rate(2.0, factor * change, price);
        (light > 0.0).then(|| (heavy / (factor * light) - 1.0).abs())
    });
    off.fold(0.0, f64::max)
}

fn run() -> Result<Outcome, LabError> {
    let mut table = Table::list("");
    let mut figure = Figure::new("The best rate by the change rate, for weights 1 and 2")
        .subtitle("six pages, six fetches a day in all; the dots are those of Table V")
        .columns(2)
        .plot_height(260)
        .width(980);
    let mut curves = Vec::new();
    for (title, objective, index, factor, claim) in [
        ("(a) for freshness", Objective::Freshness, Index::Freshness, 2.0, "2 times as large"),
        ("(b) for age", Objective::Age, Index::Age, 2.0_f64.sqrt(), "√2 times as large"),
    ] {
        let plan = best(&WEIGHTS, &CHANGES, 6.0, objective, Timing::Periodic)?;
        table = table
            .with(
                &format!("{title}: the curve of weight 2"),
                Comparison::formula(claim, off_scale(index, plan.price, factor)),
            )
            .with(
                &format!("{title}: the six pages lie on the curves"),
                Comparison::formula(
                    "∂/∂f = μ/w",
                    off_curve(index, &WEIGHTS, &CHANGES, &plan.rates, plan.price),
                ),
            );
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::linear("change rate", "a day").range(0.0, 4.0))
            .y(Axis::linear("best rate", "fetches a day").from_zero());
        for (weight, at) in [(1.0, 0), (2.0, 3)] {
            let name = format!("weight {weight}");
            let (x, y) = optimum(index, weight, plan.price);
            let kept = x.iter().filter(|&&x| x <= 4.0).count();
            let curve = Curve::new(title, &name, x[..kept].to_vec(), y[..kept].to_vec());
            let own = at..at + 3;
            let pages =
                Curve::new(title, &name, CHANGES[own.clone()].to_vec(), plan.rates[own].to_vec());
            panel = panel.series(curve.line()).series(pages.points());
            curves.extend([curve, pages]);
        }
        figure = figure.panel(panel);
    }
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)))
}
