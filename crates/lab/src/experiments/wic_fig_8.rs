//! How late changes are captured.

use freshet_capture::Life;
use freshet_chart::{Axis, Figure, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::{ABOUT, Day, page};
use crate::experiments::wic_fig_7::DECAYS;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-fig-8",
    paper: Paper::Wic,
    item: "Figure 8",
    section: "§5.3",
    about: "the delays of the changes captured at C = 8, for five urgencies r^t",
    run,
};

const LONG: usize = 10;

fn run() -> Result<Outcome, LabError> {
    let day = Day::new(2.0, 0.1)?;
    let mut shares = Vec::new();
    for r in DECAYS {
        let own = day.captured(page(Life::Append, r)?, 8)?;
        let all = own.captured() as f64;
        let at = |delay: usize| own.delays.get(delay).map_or(0.0, |&count| count as f64 / all);
        let late = own.delays.iter().skip(LONG).sum::<u64>() as f64 / all;
        shares.push((0..LONG).map(at).chain([late]).collect::<Vec<f64>>());
    }
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut others = Vec::new();
    for tail in [2.0, 3.0, 6.0] {
        let own = Day::with_tail(tail, 2.0, 0.1)?.captured(page(Life::Append, 0.0)?, 8)?;
        let share = own.at_once() as f64 / own.captured() as f64;
        others.push(format!("{} with n^−{tail}", percent(share)));
    }
    let (first, last) = (&shares[0], &shares[4]);
    let table = Table::list("Of the changes captured")
        .with(
            "r = 0: at once",
            Comparison::shape("over 90 %", first[0], 0.9..=1.0).found_as(&percent(first[0])).note(
                &format!(
                    "it depends on how many bids follow each other on a page: {}",
                    others.join(", ")
                ),
            ),
        )
        .with(
            "r = 1: at once",
            Comparison::shape("below 25 %", last[0], 0.0..=0.25).found_as(&percent(last[0])),
        )
        .with(
            "r = 1: ten minutes late or later",
            Comparison::shape("roughly 50 %", last[LONG], 0.4..=0.6).found_as(&percent(last[LONG])),
        );
    let names: Vec<String> =
        (0..LONG).map(|delay| delay.to_string()).chain(["10+".to_owned()]).collect();
    let mut panel = Panel::new().x(Axis::categories("delay (minutes)", &names)).y(Axis::linear(
        "share of the changes captured",
        "",
    )
    .range(0.0, 1.0));
    let x: Vec<f64> = (0..=LONG).map(|delay| delay as f64).collect();
    let mut curves = Vec::new();
    for (r, row) in DECAYS.iter().zip(shares) {
        let curve = Curve::new("", &format!("r = {r}"), x.clone(), row);
        panel = panel.series(curve.line_points());
        curves.push(curve);
    }
    let figure = Figure::new("How late changes are captured")
        .subtitle("7,550 made-up auctions of one day, 8 fetches a minute, σ = 2, FPN = 0.1")
        .plot_height(280)
        .panel(panel);
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(ABOUT))
}
