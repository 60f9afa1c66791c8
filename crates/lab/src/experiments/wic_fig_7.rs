//! The more patient, the more is captured.

use freshet_capture::Life;
use freshet_chart::{Axis, Figure, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::{ABOUT, Day, page};
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

fn run() -> Result<Outcome, LabError> {
    let day = Day::new(2.0, 0.1)?;
    let mut captured = Vec::new();
    for r in DECAYS {
        let page = page(Life::Append, r)?;
        let mut row = Vec::new();
        for capacity in CAPACITIES {
            let own = day.captured(page, capacity)?;
            row.push(own.captured() as f64 / own.changes as f64);
        }
        captured.push(row);
    }
    let dips = captured.iter().flat_map(|row| row.windows(2).map(|pair| 1.0 - pair[1] / pair[0]));
    let dip = dips.fold(0.0, f64::max);
    let patient = (0..CAPACITIES.len())
        .all(|at| captured.windows(2).all(|pair| pair[0][at] <= pair[1][at] * (1.0 + 2e-3)));
    let mut table = Table::list("Changes captured")
        .with(
            "with every urgency, as C grows",
            Comparison::property(
                "more",
                &format!("more, or less by at most {:.2} %", 100.0 * dip),
                dip < 0.01,
            )
            .note("with r = 1 nearly all is captured from C = 6 on"),
        )
        .with(
            "at every C, as r grows",
            Comparison::property("more", if patient { "more" } else { "not always more" }, patient),
        );
    for (at, capacity) in CAPACITIES.into_iter().enumerate().filter(|(_, c)| *c <= 12) {
        let more = 100.0 * (captured[4][at] / captured[0][at] - 1.0);
        table = table.with(
            &format!("C = {capacity}: r = 1 captures more than r = 0"),
            Comparison::shape("by around 20 % to 80 %", more, 15.0..=85.0)
                .found_as(&format!("by {more:.1} %")),
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
