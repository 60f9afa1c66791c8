//! Changes that are missed, and others that never were.

use crate::catalogue::{Experiment, Paper};
use crate::error::LabError;
use crate::experiments::wic_noise::{self, Noise};
use crate::outcome::Outcome;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-fig-6",
    paper: Paper::Wic,
    item: "Figure 6",
    section: "§5.2",
    about: "what the greedy schedule captures if a share FPN of changes is missed and put elsewhere",
    run,
};

fn run() -> Result<Outcome, LabError> {
    let noise = Noise {
        name: "FPN",
        values: [0.0, 0.1, 0.2, 0.3, 0.4],
        of: |share| (0.0, share),
        title: "Utility if changes are missed and put elsewhere",
    };
    wic_noise::run(&noise, Vec::new())
}
