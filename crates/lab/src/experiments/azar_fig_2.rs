//! Which pages are fetched: a line through the origin.

use freshet_chart::{Axis, Figure, Panel};
use freshet_plan::{Objective, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::best;
use crate::random::{random, uniform};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "azar-fig-2",
    paper: Paper::Azar,
    item: "Figure 2",
    section: "Claim 2",
    about: "which pages the best randomised policy gives up: those on one side of the line μ = λΔ",
    run,
};

const PAGES: usize = 600;

fn run() -> Result<Outcome, LabError> {
    let mut generator = random(2);
    let weights = uniform(PAGES, &mut generator);
    let changes: Vec<f64> = uniform(PAGES, &mut generator);
    let plan = best(&weights, &changes, 1.0, Objective::Freshness, Timing::Slots)?;
    let mut exceptions = 0;
    let (mut fetched, mut given_up) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for ((&weight, &change), &rate) in weights.iter().zip(&changes).zip(&plan.rates) {
        exceptions += usize::from((rate > 0.0) != (weight / change > plan.price));
        let side = if rate > 0.0 { &mut fetched } else { &mut given_up };
        side.0.push(change);
        side.1.push(weight);
    }
    let table = Table::list("")
        .with(
            "p = 0 if and only if μ/Δ ≤ λ",
            Comparison::property(
                "for every page",
                &format!("{exceptions} exceptions among {PAGES} pages"),
                exceptions == 0,
            ),
        )
        .with(
            "both sides have pages",
            Comparison::property(
                "as drawn",
                &format!("{} fetched, {} not", fetched.0.len(), given_up.0.len()),
                !fetched.0.is_empty() && !given_up.0.is_empty(),
            ),
        );
    let top = (1.0 / plan.price).min(1.0);
    let curves = vec![
        Curve::new("", "fetched", fetched.0, fetched.1),
        Curve::new("", "given up", given_up.0, given_up.1),
        Curve::new("", "μ = λΔ", vec![0.0, top], vec![0.0, plan.price * top]),
    ];
    let panel = Panel::new()
        .x(Axis::linear("chance of a change, Δ", "per slot").range(0.0, 1.0))
        .y(Axis::linear("utility, μ", "").range(0.0, 1.0))
        .series(curves[0].points())
        .series(curves[1].points())
        .series(curves[2].line().solid());
    let figure = Figure::new("Which pages are fetched")
        .subtitle(&format!(
            "{PAGES} made-up pages, one fetch per slot (Problem 1); λ = {:.3}",
            plan.price
        ))
        .plot_height(360)
        .panel(panel);
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(
        "The figure's own data are not given; utilities and chances are drawn evenly from 0 to 1.",
    ))
}
