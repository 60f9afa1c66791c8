//! Five pages, five fetches per day: rate of each.

use freshet_plan::{Objective, Timing};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::index::Index;
use crate::outcome::Outcome;
use crate::planned::best;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-table-4",
    paper: Paper::Cho,
    item: "Table IV",
    section: "§5.3, Example 5.4",
    about: "best fetches a day of five pages that change 1 to 5 times a day, five fetches in all",
    run,
};

/// The change rates of Example 5.4.
pub(super) const CHANGES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

fn run() -> Result<Outcome, LabError> {
    let mut table =
        Table::new("Fetches a day", "changes a day", &["(b) for freshness", "(c) for age"]);
    let columns = [
        (["1.15", "1.36", "1.35", "1.14", "0.00"], Objective::Freshness, Index::Freshness),
        (["0.84", "0.97", "1.03", "1.07", "1.09"], Objective::Age, Index::Age),
    ];
    let mut cells = Vec::new();
    for (printed, objective, index) in columns {
        let ours = best(&[1.0; 5], &CHANGES, 5.0, objective, Timing::Periodic)?.rates;
        cells.push(compared(&printed, &ours, &index.bracket(&[1.0; 5], &CHANGES, 5.0)));
    }
    for (page, change) in CHANGES.iter().enumerate() {
        table.push(&change.to_string(), cells.iter().map(|column| Some(column[page].clone())));
    }
    Ok(Outcome::new([table]))
}

/// Compares printed rates with computed ones; where they differ, the bracket of a second calculation decides.
pub(super) fn compared(printed: &[&str], ours: &[f64], brackets: &[(f64, f64)]) -> Vec<Comparison> {
    let each = printed.iter().zip(ours).zip(brackets);
    each.map(|((printed, &ours), &(low, high))| {
        let printed = Printed::new(printed);
        let evidence = Evidence::between(
            low,
            high,
            "a second calculation, by bisection on the price, leaves no room for it",
        );
        let why = format!("{ours:.4} rounds to {ours:.2}");
        Comparison::number(&printed, ours).or_misprint(&printed, &evidence, &why)
    })
    .collect()
}
