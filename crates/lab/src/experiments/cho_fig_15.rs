//! Simulated crawls of pages that change every two weeks, on the lines of the theory.

use std::sync::Arc;

use freshet_chart::{Axis, Figure, Panel};
use freshet_model::{Budget, PerDay, SourceTable};
use freshet_sim::{Experiment as Simulation, MeanWithInterval, Origin, WebKind};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::cho_table_2::FORMULAS;
use crate::grid::logarithmic;
use crate::index::bisect;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-15",
    paper: Paper::Cho,
    item: "Figure 15",
    section: "§7.3",
    about: "simulated crawls of pages that change every two weeks, fetched daily to every two \
            months in three orders: whether they lie on the lines of Fig. 9",
    run,
};

/// Days between changes.
const CHANGE: f64 = 14.0;
/// Days between fetches.
const FETCH: [f64; 4] = [1.0, 7.0, 30.0, 60.0];
/// Orders by the names of the simulator.
const POLICIES: [&str; 3] = ["uniform:periodic", "uniform:random-order", "uniform:poisson"];
const PAGES: usize = 300;

struct Dot {
    freshness: MeanWithInterval,
    age: MeanWithInterval,
}

fn simulate(interval: f64) -> Result<Vec<Dot>, LabError> {
    let table = SourceTable {
        importance: vec![1.0; PAGES],
        change_rate: vec![1.0 / CHANGE; PAGES],
        ..SourceTable::default()
    };
    let origin = Origin::Table(Arc::new(table), WebKind::Poisson);
    let mut simulation = Simulation::new(origin);
    simulation.policies = POLICIES.map(str::parse).into_iter().collect::<Result<_, _>>()?;
    simulation.budget = Budget::PerSource(PerDay::new(1.0 / interval)?);
    // Long enough for thousands of intervals over all pages.
    let days = 20.0 * interval.max(CHANGE) + 200.0;
    (simulation.days, simulation.burn_in) = (Some(2.0 * days), Some(days));
    (simulation.seeds, simulation.seed) = (6, 1999);
    let report = simulation.run(&|_| {})?;
    let dot = |it: &freshet_sim::PolicyReport| Dot {
        freshness: it.measured.freshness,
        age: it.measured.age,
    };
    Ok(report.policies.iter().map(dot).collect())
}

/// Compares a simulated mean with the theory, within three times its confidence interval.
fn on_the_line(theory: f64, got: MeanWithInterval) -> Comparison {
    let half = got.interval.map_or(f64::NAN, |(low, high)| 0.5 * (high - low));
    let slack = 3.0 * half + 2e-3 * theory;
    Comparison::shape(&format!("{theory:.4}"), got.mean, (theory - slack)..=(theory + slack))
        .found_as(&format!("{:.4} ± {half:.4}", got.mean))
}

fn run() -> Result<Outcome, LabError> {
    let columns: Vec<String> = FORMULAS
        .iter()
        .flat_map(|it| ["freshness", "age"].map(|measure| format!("{}, {measure}", it.name)))
        .collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Theory, and the mean of simulated crawls (age in days)",
        "fetched every",
        &columns,
    )
    .of_theory();
    let mut dots = vec![(Vec::new(), Vec::new()); FORMULAS.len()];
    for interval in FETCH {
        let all = simulate(interval)?;
        let r = interval / CHANGE;
        let cells = FORMULAS.iter().zip(&all).flat_map(|(formulas, dot)| {
            [
                Some(on_the_line((formulas.freshness)(r), dot.freshness)),
                Some(on_the_line(interval * (formulas.age)(r), dot.age)),
            ]
        });
        let unit = if interval == 1.0 { "day" } else { "days" };
        table.push(&format!("{interval} {unit}, r = {r:.2}"), cells);
        for (dots, dot) in dots.iter_mut().zip(&all) {
            dots.0.push(dot.freshness.mean);
            dots.1.push(dot.age.mean);
        }
    }
    let fixed = &FORMULAS[0];
    let (needed, _) = bisect(0.01, 5.0, |r| (fixed.freshness)(r) > 0.8);
    let read = Table::list("What the text reads from the figure, fixed order")
        .with(
            "freshness at r = 1",
            Comparison::number(&Printed::new("0.63"), (fixed.freshness)(1.0)),
        )
        .with(
            "largest r for a freshness of 0.8",
            Comparison::number(&Printed::new("0.46"), needed),
        );
    Ok(Outcome::new([table, read]).picture(picture(&dots)).note(&format!(
        "The pages of the paper are not at hand; {PAGES} pages that change at random every two weeks \
         on average are simulated with six seeds. The interval is one of 95 % confidence; a dot is \
         on the line within three times its half."
    )))
}

fn picture(dots: &[(Vec<f64>, Vec<f64>)]) -> Picture {
    let ratios = logarithmic(0.05, 6.0, 120);
    let at: Vec<f64> = FETCH.iter().map(|interval| interval / CHANGE).collect();
    let x = || Axis::log("changes per fetch, r", "");
    let mut freshness =
        Panel::new().title("(a) freshness").x(x()).y(Axis::linear("freshness", "").range(0.0, 1.0));
    let mut age = Panel::new().title("(b) age").x(x()).y(Axis::linear("age", "days").from_zero());
    let mut curves = Vec::new();
    for (formulas, (fresh, old)) in FORMULAS.iter().zip(dots) {
        let name = formulas.name;
        let line = Curve::of("freshness", name, &ratios, formulas.freshness);
        let simulated = Curve::new("freshness, simulated", name, at.clone(), fresh.clone());
        freshness = freshness.series(line.line()).series(simulated.points());
        curves.extend([line, simulated]);
        let line = Curve::of("age", name, &ratios, |r| r * CHANGE * (formulas.age)(r));
        let simulated = Curve::new("age, simulated", name, at.clone(), old.clone());
        age = age.series(line.line()).series(simulated.points());
        curves.extend([line, simulated]);
    }
    let figure = Figure::new("Simulated crawls on the lines of the theory")
        .subtitle("pages that change every two weeks; lines: theory, dots: simulated")
        .columns(2)
        .plot_height(260)
        .width(980)
        .panel(freshness)
        .panel(age);
    Picture::new(&figure, curves)
}
