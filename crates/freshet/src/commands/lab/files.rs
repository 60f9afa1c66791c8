//! Files written by `--out`.

use std::fs;
use std::path::Path;

use freshet_lab::{CATALOGUE, Comparison, Picture, Report, page};
use freshet_model::PackedStrings;
use freshet_tables::{Table, write_csv, write_files};

use crate::failure::Failure;

/// Writes all files or none. The page is written last, when the files that it links to exist.
pub(crate) fn write_all(directory: &Path, reports: &[Report]) -> Result<(), Failure> {
    let mut files = Vec::new();
    for report in reports {
        let name = report.experiment.name;
        files.push((directory.join(format!("{name}.csv")), comparisons(report)?));
        if let Some(picture) = &report.outcome.picture {
            files.push((directory.join(format!("{name}.svg")), picture.svg.clone().into_bytes()));
            files.push((directory.join(format!("{name}-picture.csv")), curves(picture)?));
        }
    }
    files.push((directory.join("index.html"), page(reports).into_bytes()));
    let path = directory.display();
    fs::create_dir_all(directory)
        .map_err(|error| Failure::new(format!("cannot create the directory {path}: {error}")))?;
    Ok(write_files(&files)?)
}

/// Returns files of an earlier run in the directory, for experiments that are not part of this run.
pub(crate) fn stale_files(directory: &Path, reports: &[Report]) -> Vec<String> {
    let is_current = |name: &str| reports.iter().any(|report| report.experiment.name == name);
    CATALOGUE
        .iter()
        .filter(|experiment| !is_current(experiment.name))
        .flat_map(|experiment| {
            [".csv", ".svg", "-picture.csv"].map(|end| experiment.name.to_owned() + end)
        })
        .filter(|file| directory.join(file).is_file())
        .collect()
}

fn csv(table: &Table<'_>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    write_csv(&mut bytes, table).map_err(Failure::new)?;
    Ok(bytes)
}

/// Formats the comparisons as CSV, one row each.
fn comparisons(report: &Report) -> Result<Vec<u8>, Failure> {
    let all: Vec<_> = report.outcome.comparisons().collect();
    let texts = |value: &dyn Fn(&Comparison) -> &str| -> PackedStrings {
        all.iter().map(|(_, _, comparison)| value(comparison)).collect()
    };
    let numbers = |value: &dyn Fn(&Comparison) -> Option<f64>| -> Vec<f64> {
        all.iter().map(|(_, _, comparison)| value(comparison).unwrap_or(f64::NAN)).collect()
    };
    let tables: PackedStrings = all.iter().map(|(table, _, _)| table.title.as_str()).collect();
    let labels: PackedStrings = all.iter().map(|(_, label, _)| label.as_str()).collect();
    let (paper, ours) = (numbers(&Comparison::printed), numbers(&Comparison::ours));
    let found = texts(&Comparison::found);
    // Numbers printed in the paper and claims from elsewhere are in separate columns.
    let side = |paper: bool| -> PackedStrings {
        let own = |table: &freshet_lab::Table| {
            (table.claimant(report.experiment.paper) == "paper") == paper
        };
        all.iter().map(|(table, _, it)| if own(table) { it.paper() } else { "" }).collect()
    };
    let (printed, claims) = (side(true), side(false));
    // An infinite end of a range is left empty.
    let end = |select: &dyn Fn((f64, f64)) -> f64| {
        numbers(&|comparison| comparison.range().map(select).filter(|end| end.is_finite()))
    };
    let (unit, low, high) = (numbers(&Comparison::unit), end(&|it| it.0), end(&|it| it.1));
    let deviation = numbers(&Comparison::printed_deviation);
    let verdicts = texts(&|comparison| comparison.verdict().name());
    let notes = texts(&Comparison::remark);
    let table = Table::new(all.len())
        .names("table", Some(&tables))
        .names("label", Some(&labels))
        .numbers("paper", &paper)
        .numbers("ours", &ours)
        .names("printed", Some(&printed))
        .names("claim", Some(&claims))
        .names("found", Some(&found))
        .numbers("unit", &unit)
        .numbers("range_low", &low)
        .numbers("range_high", &high)
        .numbers("printed_deviation", &deviation)
        .names("verdict", Some(&verdicts))
        .names("note", Some(&notes));
    csv(&table)
}

/// Formats the points of the chart as CSV, one row each.
fn curves(picture: &Picture) -> Result<Vec<u8>, Failure> {
    let each = || picture.curves.iter().flat_map(|curve| curve.x.iter().map(move |_| curve));
    let panels: PackedStrings = each().map(|curve| curve.panel.as_str()).collect();
    let names: PackedStrings = each().map(|curve| curve.name.as_str()).collect();
    let x: Vec<f64> = picture.curves.iter().flat_map(|curve| curve.x.clone()).collect();
    let y: Vec<f64> = picture.curves.iter().flat_map(|curve| curve.y.clone()).collect();
    let table = Table::new(x.len())
        .names("panel", Some(&panels))
        .names("series", Some(&names))
        .numbers("x", &x)
        .numbers("y", &y);
    csv(&table)
}
