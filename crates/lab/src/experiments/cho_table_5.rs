//! Six pages of two weights: rate of each.

use freshet_plan::{Objective, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::error::LabError;
use crate::experiments::cho_table_4::compared;
use crate::index::Index;
use crate::outcome::Outcome;
use crate::planned::best;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-table-5",
    paper: Paper::Cho,
    item: "Table V",
    section: "§6.1, Example 6.2",
    about: "best fetches a day of six pages of weight 1 or 2, six fetches in all",
    run,
};

/// Weights and change rates of Example 6.2.
pub(super) const WEIGHTS: [f64; 6] = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
pub(super) const CHANGES: [f64; 6] = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];

fn run() -> Result<Outcome, LabError> {
    let mut table = Table::new("Fetches a day", "page", &["(c) for freshness", "(d) for age"]);
    let columns = [
        (["0.78", "0.76", "0.00", "1.28", "1.56", "1.62"], Objective::Freshness, Index::Freshness),
        (["0.76", "0.88", "0.94", "0.99", "1.17", "1.26"], Objective::Age, Index::Age),
    ];
    let mut cells = Vec::new();
    for (printed, objective, index) in columns {
        let ours = best(&WEIGHTS, &CHANGES, 6.0, objective, Timing::Periodic)?.rates;
        cells.push(compared(&printed, &ours, &index.bracket(&WEIGHTS, &CHANGES, 6.0)));
    }
    for (page, (weight, change)) in WEIGHTS.iter().zip(CHANGES).enumerate() {
        let label = format!("weight {weight}, {change} changes a day");
        table.push(&label, cells.iter().map(|column| Some(column[page].clone())));
    }
    Ok(Outcome::new([table]))
}
