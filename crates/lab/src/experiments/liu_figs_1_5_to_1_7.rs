//! Switching curves.

use freshet_chart::{Axis, Figure, Legend, Panel};
use freshet_crew::{Event, Iteration, Policy, Setting, solve, value_iteration};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-figs-1-5-to-1-7",
    paper: Paper::LiuNain,
    item: "Figures 1.5–1.7",
    section: "§1.2.2",
    about: "the best switching curves for 16 fetchers, a buffer of 5, λ = 0.1, μ = 1 and three \
            weights: cost, iterations and shape",
    run,
};

const FETCHERS: u32 = 16;
const BUFFER: u32 = 5;

fn run() -> Result<Outcome, LabError> {
    let columns = ["cost", "cost, optimum", "iterations", "curve", "two algorithms"];
    let mut table = Table::new("", "figure", &columns);
    let mut figure = Figure::new("When to start one more fetcher")
        .subtitle("16 fetchers that bring 0.1 pages each, one page processed per unit of time, room for 5")
        .columns(3)
        .legend(Legend::Top)
        .plot_height(220)
        .width(1100);
    let mut curves = Vec::new();
    for (name, weight, cost, iterations) in [
        ("1.5", 1.0, "0.20907", "254"),
        ("1.6", 1.4, "0.25924", "255"),
        ("1.7", 2.0, "0.32211", "256"),
    ] {
        let setting = Setting::new(0.1, 1.0, BUFFER, weight)?;
        let iterated = value_iteration(&setting, FETCHERS, &Iteration::default())?;
        let dynamic = solve(&setting, Some(FETCHERS))?;
        let cost = Printed::new(cost);
        let (mut monotone, mut same) = (true, true);
        for event in [Event::Arrival, Event::Departure] {
            monotone &= dynamic.policy.curve(event).is_sorted_by(|a, b| a >= b);
            for queue in 0..=BUFFER {
                for active in 0..=FETCHERS {
                    let (one, other) = (
                        dynamic.policy.starts_on(event, queue, active),
                        iterated.starts_on(event, queue, active),
                    );
                    same &= one == other;
                }
            }
        }
        let title = format!("Figure {name}: γ = {weight}");
        table.push(
            &title,
            [
                Some(Comparison::number(&cost, iterated.cost)),
                Some(Comparison::number(&cost, dynamic.measures.cost)),
                Some(Comparison::number(&Printed::new(iterations), f64::from(iterated.iterations))),
                Some(Comparison::property(
                    "falls",
                    if monotone { "falls" } else { "does not fall everywhere" },
                    monotone,
                )),
                Some(Comparison::property(
                    "same policy",
                    if same { "in every state" } else { "not in every state" },
                    same,
                )),
            ],
        );
        let (panel, drawn) = panel(&title, &dynamic.policy);
        figure = figure.panel(panel);
        curves.extend(drawn);
    }
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(
        "Cost and iterations by value iteration as in the paper, stopped where it stops; the optimum \
         by policy iteration, proved.",
    ))
}

fn panel(title: &str, policy: &Policy) -> (Panel, Vec<Curve>) {
    let mut panel = Panel::new()
        .title(title)
        .x(Axis::linear("active fetchers", "").range(-0.5, f64::from(FETCHERS) + 0.5))
        .y(Axis::linear("queue", "pages").range(-0.5, f64::from(BUFFER) + 0.5));
    let mut curves = Vec::new();
    for (event, name) in [
        (Event::Departure, "page done: start one more up to here"),
        (Event::Arrival, "page in: send its fetcher out again up to here"),
    ] {
        let first = usize::from(event == Event::Arrival);
        let (x, y) = (0..)
            .zip(policy.curve(event))
            .skip(first)
            .filter_map(|(active, longest)| Some((f64::from(active), f64::from(longest?))))
            .unzip();
        let curve = Curve::new(title, name, x, y);
        panel = panel.series(curve.steps()).series(curve.points());
        curves.push(curve);
    }
    (panel, curves)
}
