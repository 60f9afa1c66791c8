//! Experiments and what came of them, for programs.

use std::collections::BTreeMap;

use freshet_lab::{CATALOGUE, Comparison, Experiment, Report, Table, Verdict};
use serde::Serialize;

/// A line of the catalogue.
#[derive(Serialize)]
pub(crate) struct Entry {
    name: &'static str,
    paper: &'static str,
    item: &'static str,
    section: &'static str,
    about: &'static str,
}

/// An experiment with its results.
#[derive(Serialize)]
pub(crate) struct Result<'a> {
    #[serde(flatten)]
    entry: Entry,
    verdict: &'static str,
    verdicts: BTreeMap<&'static str, usize>,
    note: &'a str,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
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

pub(crate) fn catalogue() -> Vec<Entry> {
    CATALOGUE.iter().map(entry).collect()
}

pub(crate) fn reports(reports: &[Report]) -> Vec<Result<'_>> {
    reports.iter().map(result).collect()
}

fn entry(experiment: &Experiment) -> Entry {
    let Experiment { name, paper, item, section, about, .. } = *experiment;
    Entry { name, paper: paper.name(), item, section, about }
}

fn result(report: &Report) -> Result<'_> {
    let outcome = &report.outcome;
    let counts = outcome.counts();
    let some = Verdict::ALL.into_iter().filter(|&verdict| counts.of(verdict) > 0);
    Result {
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

/// `printed` says whether the paper has it.
fn row<'a>(table: &'a Table, label: String, comparison: &'a Comparison, printed: bool) -> Row<'a> {
    // JSON has no word for an infinite number.
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    Row {
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
