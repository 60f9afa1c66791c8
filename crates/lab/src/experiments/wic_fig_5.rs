//! Change probabilities that are spread out.

use freshet_capture::{Changes, Noise as Estimate, Share};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_noise::{self, Noise};
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::random::random;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-fig-5",
    paper: Paper::Wic,
    item: "Figure 5",
    section: "§5.2",
    about: "what the greedy schedule captures if the chances of change are spread over time by σ \
            minutes",
    run,
};

/// Returns the chance that an estimate with this spread gives to the minute in which a change did happen.
fn peak(spread: f64) -> Result<f64, LabError> {
    let changes = Changes::new(1000, vec![vec![500]])?;
    let chances = Estimate::new(spread, Share::NONE)?.chances(&changes, &mut random(1));
    Ok(chances.at(500)[0])
}

fn run() -> Result<Outcome, LabError> {
    let said = Table::list("The chance given to the minute of the change")
        .with("σ = 4", Comparison::number(&Printed::new("0.1"), peak(4.0)?))
        .with("σ = 5", Comparison::shape("well below 0.1 (0.09 or less)", peak(5.0)?, 0.0..=0.09));
    let noise = Noise {
        name: "σ",
        values: [0.0, 1.0, 2.0, 4.0, 5.0],
        of: |spread| (spread, 0.0),
        title: "Utility if chances of change are spread over time",
    };
    wic_noise::run(&noise, vec![said])
}
