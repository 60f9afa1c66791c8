//! `freshet lab`.

mod arguments;
mod files;
mod json;
mod text;

use std::process::ExitCode;
use std::sync::Mutex;

use freshet_lab::{CATALOGUE, Experiment, Paper, Report, Verdict, run_all};

pub(crate) use crate::commands::lab::arguments::LabArguments;

use crate::failure::Failure;
use crate::number::plural;
use crate::output::{check_directory, note, print_json, print_text};
use crate::progress::Progress;

pub(crate) fn run(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if arguments.names.is_empty() {
        return list(arguments);
    }
    let chosen = chosen(&arguments.names)?;
    if let Some(out) = &arguments.out {
        check_directory(out)?;
    }
    let reports = reports(&chosen)?;
    if let Some(out) = &arguments.out {
        files::write_all(out, &reports)?;
    }
    if arguments.json {
        print_json(&json::reports(&reports))?;
    } else {
        let everything = chosen.len() == CATALOGUE.len();
        print_text(&if everything { text::summary(&reports) } else { text::full(&reports) })?;
    }
    if let Some(out) = &arguments.out {
        note(&format!("written: {}", out.join("index.html").display()));
        let others = files::others(out, &reports);
        if !others.is_empty() {
            note(&format!("not of this run, and not on the page: {}", others.join(", ")));
        }
    }
    Ok(verdict(&reports))
}

fn list(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if let Some(out) = &arguments.out {
        return Err(Failure::new(format!(
            "nothing to write to {}: no experiment is named",
            out.display()
        ))
        .hint("name some, or all of them: `freshet lab all --out DIR`"));
    }
    if arguments.json {
        print_json(&json::catalogue())?;
    } else {
        print_text(&text::catalogue())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The experiments that names stand for, each once and in the order of the catalogue.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let stands_for = |name: &str, experiment: &Experiment| {
        name == "all" || name == experiment.name || name == experiment.paper.key()
    };
    let unknown = |name: &&String| !CATALOGUE.iter().any(|it| stands_for(name, it));
    if let Some(name) = names.iter().find(unknown) {
        let near = near(name);
        let papers: Vec<&str> = Paper::ALL.iter().map(|paper| paper.key()).collect();
        return Err(Failure::new(format!("there is no experiment `{name}`")).hint(
            if near.is_empty() {
                format!(
                    "`freshet lab` lists them; `all` and the papers' names ({}) stand for several",
                    papers.join(", ")
                )
            } else {
                format!("did you mean {}?", near.join(" or "))
            },
        ));
    }
    let asked = |experiment: &&Experiment| names.iter().any(|name| stands_for(name, experiment));
    Ok(CATALOGUE.iter().filter(asked).collect())
}

/// Names that may be meant: those that have the text in them, or else those closest to it, if they are
/// only a slip away. Capital letters make no difference.
fn near(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let names = || CATALOGUE.iter().map(|experiment| experiment.name);
    if name.is_empty() {
        return Vec::new();
    }
    let with: Vec<&str> = names().filter(|other| other.contains(&name)).collect();
    if !with.is_empty() {
        return with;
    }
    let keys = Paper::ALL.into_iter().map(Paper::key).chain(["all"]);
    let all: Vec<(usize, &str)> =
        names().chain(keys).map(|other| (distance(&name, other), other)).collect();
    // In a short name two slips leave nothing of it.
    let most = if name.chars().count() < 6 { 1 } else { SLIPS };
    let least = all.iter().map(|it| it.0).min().unwrap_or(usize::MAX);
    all.into_iter().filter(|it| it.0 == least && least <= most).map(|it| it.1).collect()
}

/// The most letters that a slip adds, drops or changes.
const SLIPS: usize = 2;

/// How many letters must be added, dropped or changed to get from one text to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, &wanted) in other.iter().enumerate() {
            let changed = row[j] + usize::from(letter != wanted);
            next.push(changed.min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[other.len()]
}

fn reports(chosen: &[&'static Experiment]) -> Result<Vec<Report>, Failure> {
    let work = Mutex::new((Progress::new("calculating"), 0));
    let all = chosen.len();
    let done = |name: &str| {
        let Ok(mut work) = work.lock() else { return };
        let (progress, done) = &mut *work;
        *done += 1;
        progress.report(
            Some(f64::from(*done) / all as f64),
            &format!("{done} of {all} experiments, {name} is done"),
        );
    };
    run_all(chosen, &done)
        .map_err(|(name, error)| Failure::new(format!("{name} could not be calculated: {error}")))
}

/// Exit code 1, and a word about it, if a number is not what is printed and nothing says why.
fn verdict(reports: &[Report]) -> ExitCode {
    let faults = faults(reports);
    for fault in &faults {
        note(fault);
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// What must not pass in silence.
fn faults(reports: &[Report]) -> Vec<String> {
    let fault = |report: &Report| {
        let (name, counts) = (report.experiment.name, report.outcome.counts());
        match counts.of(Verdict::Differs) {
            _ if counts.total() == 0 => Some(format!("{name}: nothing was compared")),
            0 => None,
            some => Some(format!(
                "{name}: {} from the paper, and nothing says why",
                plural(some, "number or claim differs", "numbers or claims differ")
            )),
        }
    };
    reports.iter().filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use freshet_lab::{Comparison, Outcome, Table, find};

    use super::*;

    fn report(printed: &[(u64, u64)]) -> Report {
        let table = printed.iter().fold(Table::list(""), |table, &(printed, ours)| {
            table.with("a number", Comparison::count(printed, ours))
        });
        Report { experiment: find("cho-table-4").unwrap(), outcome: Outcome::new([table]) }
    }

    #[test]
    fn a_wrong_number_is_told_and_so_is_silence() {
        assert!(faults(&[report(&[(1, 1), (2, 2)])]).is_empty());
        let faults = faults(&[report(&[(1, 1)]), report(&[(1, 2), (3, 3)]), report(&[])]);
        let expect = [
            "cho-table-4: 1 number or claim differs from the paper, and nothing says why",
            "cho-table-4: nothing was compared",
        ];
        assert_eq!(faults, expect);
    }
}
