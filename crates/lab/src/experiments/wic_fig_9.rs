//! Timely or complete.

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
    name: "wic-fig-9",
    paper: Paper::Wic,
    item: "Figure 9",
    section: "§5.3",
    about: "changes captured, and captured at once, as urgency goes from r = 0 to r = 1 at C = 8",
    run,
};

const DECAYS: [f64; 9] = [0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0];

/// The greedy schedule of one made-up day scatters by so much.
const SLACK: f64 = 0.03;

fn run() -> Result<Outcome, LabError> {
    let day = Day::new(2.0, 0.1)?;
    let (mut captured, mut at_once) = (Vec::new(), Vec::new());
    for r in DECAYS {
        let own = day.captured(page(Life::Append, r)?, 8)?;
        captured.push(own.captured() as f64 / own.changes as f64);
        at_once.push(own.at_once() as f64 / own.changes as f64);
    }
    let ends = |row: &[f64]| format!("from {:.3} to {:.3}", row[0], row[row.len() - 1]);
    let dip = captured.windows(2).map(|pair| 1.0 - pair[1] / pair[0]).fold(0.0, f64::max);
    let rise = at_once.windows(2).map(|pair| pair[1] / pair[0] - 1.0).fold(0.0, f64::max);
    let claim = |claim: &str, row: &[f64], against: f64, way: &str| {
        let holds = against < SLACK;
        Comparison::property(claim, &ends(row), holds)
            .note(&format!("from one r to the next up to {:.1} % {way}", 100.0 * against))
    };
    let table = Table::list("At all nine values of r that are drawn")
        .with(
            "changes captured",
            claim("more and more, except for dips below 3 %", &captured, dip, "fewer"),
        )
        .with(
            "changes captured at once",
            claim("fewer and fewer, except for rises below 3 %", &at_once, rise, "more"),
        );
    let curves = vec![
        Curve::new("", "captured", DECAYS.to_vec(), captured),
        Curve::new("", "captured at once", DECAYS.to_vec(), at_once),
    ];
    let figure = Figure::new("Timely or complete")
        .subtitle("7,550 made-up auctions of one day, 8 fetches a minute, σ = 2, FPN = 0.1")
        .plot_height(260)
        .panel(
            Panel::new()
                .x(Axis::linear("what is left of a change's worth after a minute, r", ""))
                .y(Axis::linear("changes", "share of all").range(0.0, 1.0))
                .series(curves[0].line_points())
                .series(curves[1].line_points()),
        );
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(ABOUT))
}
