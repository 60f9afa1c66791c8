//! A faster changing web.

use freshet_chart::{Axis, Figure, Panel};
use freshet_plan::{Objective, Policy};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::cho_table_7::{DAYS, OVERALL, policy};
use crate::grid::logarithmic;
use crate::number::significant;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-18",
    paper: Paper::Cho,
    item: "Figure 18",
    section: "§7.5",
    about: "freshness by three policies if all pages changed x times as often, each fetched once a \
            month on average",
    run,
};

const POLICIES: [(&str, Policy); 3] = [
    ("optimal", Policy::Optimal),
    ("uniform", Policy::Uniform),
    ("proportional", Policy::ChangeRate),
];

/// Returns the freshness by each policy.
fn freshness(factor: f64) -> Result<[f64; 3], LabError> {
    let changes = DAYS.map(|days| factor / days);
    let mut all = [0.0; 3];
    for (own, (_, rule)) in all.iter_mut().zip(POLICIES) {
        *own = policy(&OVERALL, &changes, 30.0, rule, Objective::Freshness)?.freshness();
    }
    Ok(all)
}

fn run() -> Result<Outcome, LabError> {
    let four = freshness(4.0)?;
    let many = freshness(64.0)?;
    let table = Table::list("What the text reads from the figure")
        .with(
            "x = 4, proportional",
            Comparison::shape("almost 0 (0.05 or less)", four[2], 0.0..=0.05),
        )
        .with("x = 4, uniform", Comparison::shape("higher than 0.4", four[1], 0.4..=1.0))
        .with("x = 4, optimal", Comparison::shape("higher than 0.4", four[0], 0.4..=1.0))
        .with(
            "x = 64, optimal over uniform: times",
            Comparison::number(&Printed::to("2", 1.0), many[0] / many[1]),
        );
    let factors = logarithmic(1.0 / 16.0, 64.0, 81);
    let mut all = Vec::new();
    for &factor in &factors {
        all.push(freshness(factor)?);
    }
    let gains: Vec<f64> = all.iter().map(|it| it[0] / it[1]).collect();
    let faster = &gains[32..];
    let dip = faster.windows(2).map(|pair| 1.0 - pair[1] / pair[0]).fold(0.0, f64::max);
    let least = (0..gains.len()).min_by(|&a, &b| gains[a].total_cmp(&gains[b])).unwrap_or(0);
    let ordered = all.iter().all(|it| it[0] >= it[1] && it[1] >= it[2]);
    let claims = Table::list("At all 81 factors from 1/16 to 64")
        .with(
            "optimal, uniform, proportional",
            Comparison::property(
                "never worse than the next",
                if ordered { "it holds" } else { "it fails" },
                ordered,
            ),
        )
        .with(
            "optimal over uniform at all x from 1 to 64",
            Comparison::property(
                "the more, the faster pages change, except for dips below 0.01 %",
                &format!("from {:.3} to {:.3} times", faster[0], faster[faster.len() - 1]),
                dip < 1e-4,
            )
            .note(&format!(
                "it dips by up to {} %; for slower webs it is not so: least at x = {:.2}, \
                 {:.3} times, and more again below",
                significant(100.0 * dip),
                factors[least],
                gains[least]
            )),
        );
    let mut panel = Panel::new()
        .x(Axis::log("how many times as often pages change, x", ""))
        .y(Axis::linear("freshness", "").range(0.0, 1.0));
    let mut curves = Vec::new();
    for (at, (name, _)) in POLICIES.into_iter().enumerate() {
        let curve = Curve::new("", name, factors.clone(), all.iter().map(|it| it[at]).collect());
        panel = panel.series(curve.line());
        curves.push(curve);
    }
    let figure = Figure::new("Freshness of a web that changes faster")
        .subtitle("each page fetched once a month on average; x = 1 is Table VII")
        .plot_height(300)
        .panel(panel);
    Ok(Outcome::new([table, claims]).picture(Picture::new(&figure, curves)).note(
        "With the shares of pages as in Table VII. “Twice” is read to the digit: 1.5 to 2.5 times.",
    ))
}
