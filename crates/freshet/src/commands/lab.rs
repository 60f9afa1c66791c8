//! `freshet lab`.

mod arguments;
mod files;
mod json;
mod text;

use std::process::ExitCode;
use std::sync::Mutex;

use freshet_lab::{CATALOGUE, Experiment, Paper, Report, Verdict, run_all};
use strsim::osa_distance;

pub(crate) use crate::commands::lab::arguments::LabArguments;

use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::{check_directory, print_json, print_note, print_text};
use crate::progress::Progress;

pub(crate) fn run(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if arguments.names.is_empty() {
        return list(arguments);
    }
    let chosen = select_experiments(&arguments.names)?;
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
        print_note(&format!("wrote {}", out.join("index.html").display()));
        let stale = files::stale_files(out, &reports);
        if !stale.is_empty() {
            print_note(&format!("files of an earlier run, not on the page: {}", stale.join(", ")));
        }
    }
    Ok(exit_code(&reports))
}

fn list(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if let Some(out) = &arguments.out {
        return Err(Failure::new(format!(
            "nothing to write to {}: no experiment is given",
            out.display()
        ))
        .with_hint("give experiments, or all of them: `freshet lab all --out DIR`"));
    }
    if arguments.json {
        print_json(&json::catalogue())?;
    } else {
        print_text(&text::catalogue())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the experiments of the given names, each once and in the order of the catalogue.
fn select_experiments(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let matches = |name: &str, experiment: &Experiment| {
        name == "all" || name == experiment.name || name == experiment.paper.key()
    };
    let unknown = |name: &&String| !CATALOGUE.iter().any(|it| matches(name, it));
    if let Some(name) = names.iter().find(unknown) {
        let similar = similar_names(name);
        let papers: Vec<&str> = Paper::ALL.iter().map(|paper| paper.key()).collect();
        return Err(Failure::new(format!("unknown experiment `{name}`")).with_hint(
            if similar.is_empty() {
                format!(
                    "`freshet lab` lists the experiments; `all` and the papers ({}) select several",
                    papers.join(", ")
                )
            } else {
                format!("did you mean {}?", similar.join(" or "))
            },
        ));
    }
    let is_selected = |experiment: &&Experiment| names.iter().any(|name| matches(name, experiment));
    Ok(CATALOGUE.iter().filter(is_selected).collect())
}

/// Returns the names that contain the text, or else those within a small edit distance. Ignores case.
fn similar_names(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let names = || CATALOGUE.iter().map(|experiment| experiment.name);
    if name.is_empty() {
        return Vec::new();
    }
    let containing: Vec<&str> = names().filter(|other| other.contains(&name)).collect();
    if !containing.is_empty() {
        return containing;
    }
    let keys = Paper::ALL.into_iter().map(Paper::key).chain(["all"]);
    let all: Vec<(usize, &str)> =
        names().chain(keys).map(|other| (osa_distance(&name, other), other)).collect();
    let limit = if name.chars().count() < SHORT_NAME_LEN { 1 } else { MAX_EDITS };
    let best = all.iter().map(|it| it.0).min().unwrap_or(usize::MAX);
    all.into_iter().filter(|it| it.0 == best && best <= limit).map(|it| it.1).collect()
}

/// Maximum edit distance of a suggested name.
const MAX_EDITS: usize = 2;
/// Length below which a suggestion may differ by one edit only.
const SHORT_NAME_LEN: usize = 6;

fn reports(chosen: &[&'static Experiment]) -> Result<Vec<Report>, Failure> {
    let work = Mutex::new((Progress::new("computing"), 0));
    let all = chosen.len();
    let done = |name: &str| {
        let Ok(mut work) = work.lock() else { return };
        let (progress, done) = &mut *work;
        *done += 1;
        progress.report(
            Some(f64::from(*done) / all as f64),
            &format!("{done} of {all} experiments, finished {name}"),
        );
    };
    run_all(chosen, &done)
        .map_err(|(name, error)| Failure::new(format!("cannot compute {name}: {error}")))
}

/// Prints unexplained differences. Returns exit code 1 if there are any.
fn exit_code(reports: &[Report]) -> ExitCode {
    let differences = unexplained_differences(reports);
    for difference in &differences {
        print_note(difference);
    }
    if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Describes the reports with unexplained differences, or without any comparison.
fn unexplained_differences(reports: &[Report]) -> Vec<String> {
    let describe = |report: &Report| {
        let (name, counts) = (report.experiment.name, report.outcome.counts());
        match counts.of(Verdict::Differs) {
            _ if counts.total() == 0 => Some(format!("{name}: nothing was compared")),
            0 => None,
            some => Some(format!(
                "{name}: {} from the paper for no known reason",
                pluralize(some, "number or claim differs", "numbers or claims differ")
            )),
        }
    };
    reports.iter().filter_map(describe).collect()
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
    fn differences_and_empty_reports_are_listed() {
        assert!(unexplained_differences(&[report(&[(1, 1), (2, 2)])]).is_empty());
        let reports = [report(&[(1, 1)]), report(&[(1, 2), (3, 3)]), report(&[])];
        let expect = [
            "cho-table-4: 1 number or claim differs from the paper for no known reason",
            "cho-table-4: nothing was compared",
        ];
        assert_eq!(unexplained_differences(&reports), expect);
    }
}
