//! Captured share by urgency.

use freshet_capture::Life;
use freshet_chart::{Axis, Figure, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::{ABOUT, Day, MISSING, OTHER_TAILS, by_tail, page};
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-fig-7",
    paper: Paper::Wic,
    item: "Figure 7",
    section: "§5.3",
    about: "the share of changes captured over C for five urgencies r^t, append, σ = 2, FPN = 0.1",
    run,
};

pub(super) const DECAYS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const CAPACITIES: [usize; 8] = [2, 4, 6, 8, 10, 12, 16, 20];
/// Up to this many fetches a minute not everything is captured anyway.
const SCARCE: usize = 12;

/// Returns the share of changes captured with the urgency r, for each capacity up to `most`.
fn captured(day: &Day, r: f64, most: usize) -> Result<Vec<f64>, LabError> {
    let page = page(Life::Append, r)?;
    let mut row = Vec::new();
    for capacity in CAPACITIES.into_iter().filter(|&capacity| capacity <= most) {
        let own = day.captured(page, capacity)?;
        row.push(own.captured() as f64 / own.changes as f64);
    }
    Ok(row)
}

fn run() -> Result<Outcome, LabError> {
    let day = Day::new(2.0, 0.1)?;
    let captured_by = |r: f64| captured(&day, r, usize::MAX);
    let captured_all = DECAYS.map(captured_by).into_iter().collect::<Result<Vec<_>, _>>()?;
    // With the most and with the least patience, for each tail.
    let mut ends = vec![(captured_all[4].clone(), captured_all[0].clone())];
    for tail in OTHER_TAILS {
        let day = Day::with_tail(tail, 2.0, 0.1)?;
        ends.push((captured(&day, DECAYS[4], SCARCE)?, captured(&day, DECAYS[0], SCARCE)?));
    }
    let captured = captured_all;
    let dips = captured.iter().flat_map(|row| row.windows(2).map(|pair| 1.0 - pair[1] / pair[0]));
    let dip = dips.fold(0.0, f64::max);
    let patient = (0..CAPACITIES.len())
        .all(|at| captured.windows(2).all(|pair| pair[0][at] <= pair[1][at] * (1.0 + 2e-3)));
    let mut table = Table::list("Changes captured")
        .with(
            "with every urgency, as C grows",
            Comparison::property(
                "more, except for dips below 1 %",
                &format!("more, or less by at most {:.2} %", 100.0 * dip),
                dip < 0.01,
            )
            .note("with r = 1 nearly all is captured from C = 6 on"),
        )
        .with(
            "at every C, as r grows",
            Comparison::property(
                "more, except for dips of at most 0.2 %",
                if patient { "it holds" } else { "it fails" },
                patient,
            ),
        );
    for (at, capacity) in CAPACITIES.into_iter().enumerate().filter(|(_, c)| *c <= SCARCE) {
        let more: Vec<f64> =
            ends.iter().map(|(patient, not)| 100.0 * (patient[at] / not[at] - 1.0)).collect();
        let claim = "by around 20 % to 80 % (15 % to 85 %)";
        table = table.with(
            &format!("C = {capacity}: r = 1 captures more than r = 0"),
            Comparison::open_shape(claim, &more, &(15.0..=85.0), MISSING).found_as(&by_tail(&more)),
        );
    }
    let x: Vec<f64> = CAPACITIES.iter().map(|&capacity| capacity as f64).collect();
    let mut panel = Panel::new().x(Axis::linear("C", "fetches a minute")).y(Axis::linear(
        "changes captured",
        "share of all",
    )
    .range(0.0, 1.0));
    let mut curves = Vec::new();
    for (r, row) in DECAYS.iter().zip(captured) {
        let curve = Curve::new("", &format!("r = {r}"), x.clone(), row);
        panel = panel.series(curve.line_points());
        curves.push(curve);
    }
    let figure = Figure::new("Changes captured by urgency")
        .subtitle("7,550 made-up auctions of one day, life append, σ = 2, FPN = 0.1")
        .plot_height(280)
        .panel(panel);
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(ABOUT))
}
