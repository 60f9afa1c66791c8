//! Delay of captured changes.

use std::ops::RangeInclusive;

use freshet_capture::Life;
use freshet_chart::{Axis, Figure, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::{ABOUT, Day, MISSING, OTHER_TAILS, by_tail, page};
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

/// Of the changes captured with the urgency r, the shares by delay; the last are late.
fn delays(day: &Day, r: f64) -> Result<Vec<f64>, LabError> {
    let own = day.captured(page(Life::Append, r)?, 8)?;
    let all = own.captured() as f64;
    let at = |delay: usize| own.delays.get(delay).map_or(0.0, |&count| count as f64 / all);
    let late = own.delays.iter().skip(LONG).sum::<u64>() as f64 / all;
    Ok((0..LONG).map(at).chain([late]).collect())
}

fn run() -> Result<Outcome, LabError> {
    let day = Day::new(2.0, 0.1)?;
    let shares = DECAYS.map(|r| delays(&day, r)).into_iter().collect::<Result<Vec<_>, _>>()?;
    let (mut first, mut last) = (vec![shares[0].clone()], vec![shares[4].clone()]);
    for tail in OTHER_TAILS {
        let day = Day::with_tail(tail, 2.0, 0.1)?;
        first.push(delays(&day, DECAYS[0])?);
        last.push(delays(&day, DECAYS[4])?);
    }
    let claim = |claim: &str, all: &[Vec<f64>], at: usize, range: RangeInclusive<f64>| {
        let percents: Vec<f64> = all.iter().map(|shares| 100.0 * shares[at]).collect();
        Comparison::open_shape(claim, &percents, &range, MISSING).found_as(&by_tail(&percents))
    };
    let table = Table::list("Of the changes captured")
        .with("r = 0: at once", claim("over 90 %", &first, 0, 90.0..=100.0))
        .with("r = 1: at once", claim("below 25 %", &last, 0, 0.0..=25.0))
        .with(
            "r = 1: ten minutes late or later",
            claim("roughly 50 % (40 % to 60 %)", &last, LONG, 40.0..=60.0),
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
