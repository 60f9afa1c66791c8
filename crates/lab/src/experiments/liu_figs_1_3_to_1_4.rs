//! The best load over the size of the buffer.

use freshet_chart::{Axis, Figure, Mark, Panel};
use freshet_crew::{Setting, best_load};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-figs-1-3-to-1-4",
    paper: Paper::LiuNain,
    item: "Figures 1.3 and 1.4",
    section: "§1.2.1.3, Lemma 1, Props 3 and 4",
    about: "the best load over the buffer for γ = 0.5 and γ = 2: rising to 1, or past it and back",
    run,
};

const LARGEST: u32 = 300;

fn loads(weight: f64) -> Result<Vec<f64>, LabError> {
    (2..=LARGEST).map(|buffer| load(buffer, weight)).collect()
}

fn load(buffer: u32, weight: f64) -> Result<f64, LabError> {
    Ok(best_load(&Setting::new(1.0, 1.0, buffer, weight)?))
}

/// Returns the buffer with the largest load, if loads rise up to it and fall after it.
fn top(loads: &[f64]) -> Option<usize> {
    let top = (0..loads.len()).max_by(|&a, &b| loads[a].total_cmp(&loads[b]))?;
    let one_top = loads[..=top].is_sorted() && loads[top..].is_sorted_by(|a, b| a >= b);
    one_top.then_some(top + 2)
}

/// (1.7), as a share of its largest term.
fn residual(buffer: u32, weight: f64, load: f64) -> f64 {
    let (k, power) = (f64::from(buffer), load.powi(buffer as i32));
    let terms = [
        (power * load).powi(2),
        -(weight * k + k + 2.0) * power * load,
        (k + 1.0) * (1.0 + weight) * power,
        -weight,
    ];
    let size = terms.iter().fold(0.0_f64, |size, term| size.max(term.abs()));
    terms.iter().sum::<f64>().abs() / size
}

fn run() -> Result<Outcome, LabError> {
    let (below, above) = (loads(0.5)?, loads(2.0)?);
    let mut table = Table::list("Lemma 1 and Props 3 and 4").with(
        "γ = 0.5: the load over the buffer",
        Comparison::property(
            "never falls, and stays below 1",
            &format!("from {:.4} to {:.4}", below[0], below[below.len() - 1]),
            below.is_sorted() && below.iter().all(|&load| load < 1.0),
        ),
    );
    let top_of_two = top(&above);
    table = table.with(
        "γ = 2: the load over the buffer",
        Comparison::property(
            "rises, then falls",
            &top_of_two.map_or_else(
                || "it has no single top".to_owned(),
                |top| format!("highest at K = {top}"),
            ),
            top_of_two.is_some(),
        ),
    );
    // Prop. 3 (b) bounds the place of the top. The load does not depend on λ, so that no bound with λ
    // in it can hold for all λ below γ.
    let mut beyond = 0.0_f64;
    for weight in [1.1, 1.5, 2.0, 8.0] {
        let own = top(&loads(weight)?).unwrap_or(0);
        beyond = beyond.max((2.0_f64 / (weight - 1.0)).floor() - own as f64);
    }
    let own = top_of_two.unwrap_or(0) as f64;
    let fetch_rate = 1.9;
    let printed = (2.0 / (2.0_f64 - fetch_rate)).floor();
    let excess = (printed - own).max(0.0);
    table = table.with(
        "Prop. 3 (b): the top is not before",
        Comparison::formula("⌊2μ/(γ − λ)⌋", excess).or_formula(
            "⌊2μ/(γ − μ)⌋",
            beyond,
            &format!(
                "the top for γ = 1.1, 1.5, 2 and 8; with λ = {fetch_rate} and γ = 2 the printed bound \
                 is {printed}, and the top is at {own}"
            ),
        ),
    );
    let mut worst = 0.0_f64;
    let mut sides = true;
    for buffer in [2_u32, 3, 5, 10, 30] {
        let critical = f64::from(buffer + 2) / f64::from(buffer);
        worst = worst.max((load(buffer, critical)? - 1.0).abs());
        for weight in [0.05, 0.5, 0.9 * critical, 1.1 * critical, 5.0, 100.0] {
            let load = load(buffer, weight)?;
            sides &= (load < 1.0) == (weight < critical);
            worst = worst.max(residual(buffer, weight, load));
        }
    }
    table = table
        .with(
            "(1.7): what the best load solves",
            Comparison::formula("(1.7), and ρ = 1 at γ(K)", worst),
        )
        .with(
            "Lemma 1: which side of 1 the load is on",
            Comparison::property(
                "below 1 if and only if γ < μ(K + 2)/K",
                if sides { "in all 30 cases" } else { "not in all cases" },
                sides,
            ),
        )
        .with(
            "Prop. 4: the load at K = 1,000,000, γ = 2",
            Comparison::shape("1 in the limit", load(1_000_000, 2.0)?, (1.0 - 1e-4)..=(1.0 + 1e-4)),
        );
    let buffers: Vec<f64> = (2..=LARGEST).map(f64::from).collect();
    let mut figure = Figure::new("The best load over the size of the buffer")
        .columns(2)
        .plot_height(240)
        .width(980);
    let mut curves = Vec::new();
    for (title, name, loads) in [("Figure 1.3", "γ = 0.5", below), ("Figure 1.4", "γ = 2", above)]
    {
        let curve = Curve::new(title, name, buffers[..99].to_vec(), loads[..99].to_vec());
        figure = figure.panel(
            Panel::new()
                .title(&format!("{title}: {name}"))
                .x(Axis::linear("buffer K", "pages"))
                .y(Axis::linear("best load ρ", ""))
                .series(curve.line())
                .mark(Mark::horizontal(1.0, "1")),
        );
        curves.push(curve);
    }
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)))
}
