//! Files written by `--out`.

use std::fs;
use std::path::Path;

use freshet_model::PackedStrings;
use freshet_sim::{MeanWithInterval, Measured, PolicyReport, Series};
use freshet_tables::{Table, write_atomic};

use crate::commands::simulate::{FinishedSimulation, picture};
use crate::failure::Failure;
use crate::output::write_table;

/// Names of the files.
pub(crate) const NAMES: [&str; 4] = ["policies.csv", "series.csv", "policies.svg", "over_time.svg"];

pub(crate) fn write_all(
    directory: &Path,
    simulated: &FinishedSimulation<'_>,
) -> Result<(), Failure> {
    let path = directory.display();
    fs::create_dir_all(directory)
        .map_err(|error| Failure::new(format!("cannot create the directory {path}: {error}")))?;
    policies(&directory.join("policies.csv"), simulated)?;
    series(&directory.join("series.csv"), simulated)?;
    let pictures = [
        ("policies.svg", picture::policies(simulated)),
        ("over_time.svg", picture::over_time(simulated)),
    ];
    for (name, svg) in pictures {
        write_atomic(&directory.join(name), |out| out.write_all(svg.as_bytes()))?;
    }
    Ok(())
}

/// Name of a column, and the function that returns its values.
type MeasureColumn = (&'static str, fn(&Measured) -> MeanWithInterval);
type SeriesColumn = (&'static str, fn(&Series) -> &[f64]);

const MEASURES: &[MeasureColumn] = &[
    ("requests", |it| it.requests),
    ("freshness", |it| it.freshness),
    ("age", |it| it.age),
    ("harmonic_cost", |it| it.harmonic_cost),
    ("captured", |it| it.captured),
    ("delay", |it| it.delay),
    ("utility", |it| it.utility),
    ("found", |it| it.found),
    ("host_load", |it| it.host_load),
];

/// Writes one row for each policy, with means and confidence intervals.
fn policies(path: &Path, simulated: &FinishedSimulation<'_>) -> Result<(), Failure> {
    let all = &simulated.report.policies;
    let column = |value: &dyn Fn(&PolicyReport) -> f64| all.iter().map(value).collect::<Vec<f64>>();
    let mut columns = vec![("scale".to_owned(), column(&|it| it.scale.unwrap_or(f64::NAN)))];
    for (name, of) in MEASURES {
        let ends = |it: &PolicyReport| of(&it.measured).interval.unwrap_or((f64::NAN, f64::NAN));
        columns.push(((*name).to_owned(), column(&|it| of(&it.measured).mean)));
        columns.push((format!("{name}_low"), column(&|it| ends(it).0)));
        columns.push((format!("{name}_high"), column(&|it| ends(it).1)));
    }
    let names = names(all.iter());
    let mut table = Table::new(all.len()).names("policy", Some(&names));
    for (name, values) in &columns {
        table = table.numbers(name, values);
    }
    write_table(path, &table)
}

/// Writes one row for each policy and time interval.
fn series(path: &Path, simulated: &FinishedSimulation<'_>) -> Result<(), Failure> {
    const COLUMNS: &[SeriesColumn] = &[
        ("freshness", |it| &it.freshness),
        ("age", |it| &it.age),
        ("harmonic_cost", |it| &it.harmonic_cost),
        ("utility", |it| &it.utility),
        ("requests", |it| &it.requests),
        ("regret", |it| &it.regret),
    ];
    let all = &simulated.report.policies;
    let pieces = simulated.series_days();
    let rows = all.len() * pieces.len();
    let days: Vec<f64> = all.iter().flat_map(|_| pieces.iter().copied()).collect();
    let names = names(all.iter().flat_map(|it| std::iter::repeat_n(it, pieces.len())));
    let columns: Vec<(&str, Vec<f64>)> = COLUMNS
        .iter()
        .map(|(name, of)| {
            // There is no regret without a bound, and no utility with other objectives.
            let value = |it: &PolicyReport, at| of(&it.series).get(at).copied().unwrap_or(f64::NAN);
            let values = all.iter().flat_map(|it| (0..pieces.len()).map(move |at| value(it, at)));
            (*name, values.collect())
        })
        .collect();
    let mut table = Table::new(rows).numbers("day", &days).names("policy", Some(&names));
    for (name, values) in &columns {
        table = table.numbers(name, values);
    }
    write_table(path, &table)
}

fn names<'a>(policies: impl Iterator<Item = &'a PolicyReport>) -> PackedStrings {
    let names: Vec<String> = policies.map(|it| it.policy.to_string()).collect();
    names.iter().map(String::as_str).collect()
}
