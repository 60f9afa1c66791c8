//! Figures 5 and 6 have one form: utility over C for growing noise, in the best and the worst case.

use freshet_capture::{Life, Page};
use freshet_chart::{Axis, Figure, Panel};

use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::{ABOUT, Day, page};
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

const CAPACITIES: [usize; 6] = [1, 2, 4, 8, 12, 16];
/// Points at which losses are compared.
const MIDDLE: usize = 2;
/// A rise by less is none: near the top the greedy schedule is as good by chance as by knowledge.
const SLACK: f64 = 0.01;
const KINDS: [(&str, Life, f64); 4] = [
    ("append, uniform", Life::Append, 1.0),
    ("overwrite, uniform", Life::Overwrite, 1.0),
    ("append, at once only", Life::Append, 0.0),
    ("overwrite, at once only", Life::Overwrite, 0.0),
];

/// Which noise is varied.
pub(super) struct Noise {
    /// Its name.
    pub(super) name: &'static str,
    /// Its values, from none.
    pub(super) values: [f64; 5],
    /// The spread and the share of changes missed that a value stands for.
    pub(super) of: fn(f64) -> (f64, f64),
    pub(super) title: &'static str,
}

/// Returns the utility, for each kind, noise and capacity.
fn utilities(noise: &Noise) -> Result<Vec<Vec<Vec<f64>>>, LabError> {
    let mut all = vec![Vec::new(); KINDS.len()];
    for value in noise.values {
        let (spread, missed) = (noise.of)(value);
        let day = Day::new(spread, missed)?;
        for (own, (_, life, r)) in all.iter_mut().zip(KINDS) {
            let page: Page = page(life, r)?;
            let mut row = Vec::new();
            for capacity in CAPACITIES {
                row.push(day.captured(page, capacity)?.ratio().unwrap_or(f64::NAN));
            }
            own.push(row);
        }
    }
    Ok(all)
}

pub(super) fn run(noise: &Noise, more: Vec<Table>) -> Result<Outcome, LabError> {
    let all = utilities(noise)?;
    let loss = |kind: usize| 1.0 - all[kind][4][MIDDLE] / all[kind][0][MIDDLE];
    let order = |a: &usize, b: &usize| loss(*a).total_cmp(&loss(*b));
    let best = (0..KINDS.len()).min_by(order).unwrap_or(0);
    let worst = (0..KINDS.len()).max_by(order).unwrap_or(0);
    let largest = noise.values[4];
    let mut table =
        Table::list(&format!("Utility as the noise grows to {} = {largest}", noise.name));
    for (kind, (name, _, _)) in KINDS.iter().enumerate() {
        let rise = all[kind].windows(2).flat_map(|pair| {
            pair[1].iter().zip(&pair[0]).map(|(noisier, before)| noisier / before - 1.0)
        });
        let rise = rise.fold(0.0, f64::max);
        table = table.with(
            name,
            Comparison::property(
                "falls as the noise grows, at every C, except for rises below 1 %",
                &format!("{:.1} % less at C = {}", 100.0 * loss(kind), CAPACITIES[MIDDLE]),
                rise < SLACK && loss(kind) > 0.0,
            )
            .note(&if rise > 0.0 {
                format!("rises by up to {:.2} % from one noise to the next", 100.0 * rise)
            } else {
                String::new()
            }),
        );
    }
    table = table.with(
        "how much the loss depends on life and urgency",
        Comparison::property(
            "highly (1.5 times)",
            &format!("{:.1} % to {:.1} %", 100.0 * loss(best), 100.0 * loss(worst)),
            loss(worst) > 1.5 * loss(best),
        ),
    );
    let mut figure = Figure::new(noise.title)
        .subtitle("7,550 made-up auctions of one day; C fetches a minute")
        .columns(2)
        .plot_height(240)
        .width(980);
    let x: Vec<f64> = CAPACITIES.iter().map(|&capacity| capacity as f64).collect();
    let mut curves = Vec::new();
    for (kind, title) in [(best, "least loss"), (worst, "most loss")] {
        let title = format!("{title}: {}", KINDS[kind].0);
        let mut panel = Panel::new()
            .title(&title)
            .x(Axis::linear("C", "fetches a minute"))
            .y(Axis::linear("utility", "share of all").range(0.0, 1.0));
        for (value, row) in noise.values.iter().zip(&all[kind]) {
            let name = format!("{} = {value}", noise.name);
            let curve = Curve::new(&title, &name, x.clone(), row.clone());
            panel = panel.series(curve.line_points());
            curves.push(curve);
        }
        figure = figure.panel(panel);
    }
    let tables = std::iter::once(table).chain(more);
    Ok(Outcome::new(tables).picture(Picture::new(&figure, curves)).note(&format!(
        "{ABOUT} The text at hand does not name the two settings that the figure shows; the four \
         extremes are calculated, and those with the least and the most loss drawn. A rise by less \
         than a percent counts as none."
    )))
}
