//! Number of fetchers by starvation weight.

use freshet_chart::{Axis, Figure, Panel};
use freshet_crew::{Setting, best_fixed};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::grid::linear;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-fig-1-2",
    paper: Paper::LiuNain,
    item: "Figure 1.2",
    section: "§1.2.1.2, Prop. 2",
    about: "the best fixed number of fetchers over the weight of starvation, at 1/λ = 0.6 and μ = 1",
    run,
};

const BUFFERS: [u32; 3] = [2, 5, 10];

fn run() -> Result<Outcome, LabError> {
    let weights = linear(0.05, 40.0, 400);
    let mut table =
        Table::new("N(γ, K) as γ goes from 0.05 to 40", "buffer", &["1/λ = 0.6", "λ = 0.6"]);
    let mut panels = [("1/λ = 0.6", 1.0 / 0.6), ("λ = 0.6", 0.6)].map(|(title, _)| {
        Panel::new().title(title).x(Axis::linear("weight of starvation, γ", "")).y(Axis::linear(
            "best number of fetchers",
            "",
        )
        .from_zero())
    });
    let mut curves = Vec::new();
    for buffer in BUFFERS {
        let mut cells = Vec::new();
        for (panel, (title, rate)) in
            panels.iter_mut().zip([("1/λ = 0.6", 1.0 / 0.6), ("λ = 0.6", 0.6)])
        {
            let mut fetchers = Vec::new();
            for &weight in &weights {
                let setting = Setting::new(rate, 1.0, buffer, weight)?;
                fetchers.push(best_fixed(&setting, None)?.fetchers as f64);
            }
            let (first, last) = (fetchers[0], fetchers[fetchers.len() - 1]);
            cells.push(Some(Comparison::property(
                "never falls",
                &format!("from {first} to {last}"),
                fetchers.is_sorted(),
            )));
            let curve = Curve::new(title, &format!("K = {buffer}"), weights.clone(), fetchers);
            *panel = std::mem::take(panel).series(curve.steps());
            curves.push(curve);
        }
        table.push(&format!("K = {buffer}"), cells);
    }
    let mut figure = Figure::new("The best fixed number of fetchers")
        .subtitle("one page is processed per unit of time")
        .columns(2)
        .plot_height(240)
        .width(980);
    for panel in panels {
        figure = figure.panel(panel);
    }
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(
        "The text at hand does not say which two buffers the figure shows. Its caption has 1/λ = 0.6, \
         a fetcher that alone is faster than the processor; both readings are drawn.",
    ))
}
