//! JSON reports of `freshet lab`.

use std::collections::BTreeMap;

use freshet_lab::{CATALOGUE, Comparison, Experiment, Report, Table, Verdict};
use serde::Serialize;

/// Entry of the catalogue.
#[derive(Serialize)]
pub(crate) struct CatalogueEntry {
    name: &'static str,
    paper: &'static str,
    item: &'static str,
    section: &'static str,
    about: &'static str,
}

/// Experiment with its results.
#[derive(Serialize)]
pub(crate) struct ExperimentReport<'a> {
    #[serde(flatten)]
    entry: CatalogueEntry,
    verdict: &'static str,
    verdicts: BTreeMap<&'static str, usize>,
    note: &'a str,
    rows: Vec<ComparisonRow<'a>>,
}

#[derive(Serialize)]
struct ComparisonRow<'a> {
    table: &'a str,
    label: String,
    paper: Option<f64>,
    ours: Option<f64>,
    printed: Option<&'a str>,
    claim: Option<&'a str>,
    found: &'a str,
    unit: Option<f64>,
    range: Option<[Option<f64>; 2]>,
    printed_deviation: Option<f64>,
    verdict: &'static str,
    note: &'a str,
}

pub(crate) fn catalogue() -> Vec<CatalogueEntry> {
    CATALOGUE.iter().map(entry).collect()
}

pub(crate) fn reports(reports: &[Report]) -> Vec<ExperimentReport<'_>> {
    reports.iter().map(result).collect()
}

fn entry(experiment: &Experiment) -> CatalogueEntry {
    let Experiment { name, paper, item, section, about, .. } = *experiment;
    CatalogueEntry { name, paper: paper.name(), item, section, about }
}

fn result(report: &Report) -> ExperimentReport<'_> {
    let outcome = &report.outcome;
    let counts = outcome.counts();
    let some = Verdict::ALL.into_iter().filter(|&verdict| counts.of(verdict) > 0);
    ExperimentReport {
        entry: entry(report.experiment),
        verdict: counts.worst().name(),
        verdicts: some.map(|verdict| (verdict.name(), counts.of(verdict))).collect(),
        note: &outcome.note,
        rows: outcome
            .comparisons()
            .map(|(table, label, it)| {
                let printed = table.claimant(report.experiment.paper) == "paper";
                row(table, label, it, printed)
            })
            .collect(),
    }
}

/// Converts a comparison; `printed` is true if the number is printed in the paper.
fn row<'a>(
    table: &'a Table,
    label: String,
    comparison: &'a Comparison,
    printed: bool,
) -> ComparisonRow<'a> {
    // JSON cannot represent infinite numbers.
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    ComparisonRow {
        table: &table.title,
        label,
        paper: finite(comparison.printed()),
        ours: finite(comparison.ours()),
        printed: printed.then_some(comparison.paper()),
        claim: (!printed).then_some(comparison.paper()),
        found: comparison.found(),
        unit: comparison.unit(),
        range: comparison.range().map(|(low, high)| [finite(Some(low)), finite(Some(high))]),
        printed_deviation: finite(comparison.printed_deviation()),
        verdict: comparison.verdict().name(),
        note: comparison.remark(),
    }
}
