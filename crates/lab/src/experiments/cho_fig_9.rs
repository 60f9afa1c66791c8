//! Freshness and age of three orders, drawn.

use freshet_chart::{Axis, Figure, Mark, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::experiments::cho_table_2::FORMULAS;
use crate::grid::linear;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::measured;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-9",
    paper: Paper::Cho,
    item: "Figure 9",
    section: "§4.4",
    about: "freshness and age of three orders over the ratio of changes to fetches, and what the \
            text says of r = 1",
    run,
};

fn run() -> Result<Outcome, LabError> {
    let [fixed, rounds, random] = &FORMULAS;
    let freshness = |it: &crate::experiments::cho_table_2::Formulas| (it.freshness)(1.0);
    // The second calculation, by the planner.
    let age =
        |order| -> Result<f64, LabError> { Ok(measured(&[1.0], &[1.0], &[1.0], order)?.age()) };
    let ages = [age(fixed.order)?, age(rounds.order)?, age(random.order)?];

    let fourth = Printed::to("4", 1.0);
    let printed_ratio = (rounds.age)(1.0) / (fixed.age)(1.0);
    let meant_ratio = (random.age)(1.0) / (fixed.age)(1.0);
    let evidence = Evidence::second(
        ages[1] / ages[0],
        1e-9,
        &format!(
            "the planner's integrals give the same; over the purely random order it is {:.2} times",
            ages[2] / ages[0]
        ),
    );
    let table = Table::list("At r = 1, as many fetches as changes")
        .with("freshness, fixed order", Comparison::number(&Printed::new("0.63"), freshness(fixed)))
        .with(
            "more than purely random by %",
            Comparison::number(
                &Printed::to("30", 10.0),
                100.0 * (freshness(fixed) / freshness(random) - 1.0),
            )
            .note("to the first digit"),
        )
        .with(
            "age of the random order, over that of the fixed order: times",
            Comparison::number(&fourth, printed_ratio).or_misprint(
                &fourth,
                &evidence,
                "purely random is meant",
            ),
        )
        .with(
            "age of purely random, over that of the fixed order: times",
            Comparison::number(&fourth, meant_ratio),
        );
    let ratios = linear(0.02, 10.0, 250);
    let better = |a: fn(f64) -> f64, b: fn(f64) -> f64| ratios.iter().all(|&r| a(r) > b(r));
    let best = better(fixed.freshness, rounds.freshness)
        && better(rounds.freshness, random.freshness)
        && better(random.age, rounds.age)
        && better(rounds.age, fixed.age);
    let claims = Table::list("At every ratio").with(
        "fixed order, random order, purely random",
        Comparison::property(
            "the less the intervals vary, the better",
            if best { "at all 250 ratios, in both measures" } else { "not everywhere" },
            best,
        ),
    );
    Ok(Outcome::new([table, claims]).picture(picture(&ratios)))
}

fn picture(ratios: &[f64]) -> Picture {
    let mut curves = Vec::new();
    let mut freshness = Panel::new()
        .title("(a) freshness")
        .x(Axis::linear("changes per fetch, r", ""))
        .y(Axis::linear("freshness", "").range(0.0, 1.0));
    let mut age = Panel::new()
        .title("(b) age")
        .x(Axis::linear("changes per fetch, r", ""))
        .y(Axis::linear("age", "intervals").from_zero());
    for formulas in &FORMULAS {
        let curve = Curve::of("freshness", formulas.name, ratios, formulas.freshness);
        freshness = freshness.series(curve.line());
        curves.push(curve);
        let curve = Curve::of("age", formulas.name, ratios, formulas.age);
        age = age.series(curve.line());
        curves.push(curve);
    }
    freshness = freshness.mark(Mark::dot(1.0, (FORMULAS[0].freshness)(1.0), "0.63 at r = 1"));
    let figure = Figure::new("Freshness and age of three orders of fetches")
        .columns(2)
        .plot_height(260)
        .width(980)
        .panel(freshness)
        .panel(age);
    Picture::new(&figure, curves)
}
