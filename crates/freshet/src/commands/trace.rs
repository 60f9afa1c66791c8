//! `freshet trace`.

use std::fmt::Write;
use std::path::Path;

use freshet_model::History;
use freshet_tables::{GitError, GitHistory, GitOptions, pages_path, read_git, write_trace};
use serde::Serialize;

use crate::arguments::{GitArguments, TraceCommand};
use crate::commands::plan::finite;
use crate::failure::Failure;
use crate::number::{count, days, plural, significant};
use crate::output::{check_file, note, print_json};
use crate::progress::Progress;

const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.25 * DAY;

pub(crate) fn run(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Git(arguments) => git(arguments),
    }
}

fn git(arguments: &GitArguments) -> Result<(), Failure> {
    let out = &arguments.out;
    let pages = pages_path(out)?;
    check_file(out)?;
    check_file(&pages)?;
    let options =
        GitOptions { revision: arguments.revision.clone(), pathspecs: arguments.pathspecs.clone() };
    let found = from_git(&arguments.path, &options)?;
    write_trace(out, &found.history)?;
    let measures = Measures::of(&found.history);
    if arguments.json {
        print_json(&Report {
            trace: out.display().to_string(),
            pages: pages.display().to_string(),
            commits: found.commits,
            out_of_order: found.out_of_order,
            shallow: found.shallow,
            measures: &measures,
        })?;
    }
    if !arguments.quiet {
        note(&measures.text(out, &pages, found.commits));
    }
    Ok(())
}

/// Reads the history of a repository, with progress and with notes on what is odd about it.
pub(crate) fn from_git(path: &Path, options: &GitOptions) -> Result<GitHistory, Failure> {
    let mut progress = Progress::new("reading");
    let found = read_git(path, options, &mut |commits| {
        progress.report(None, &format!("{} commits", count(commits as usize)));
    })?;
    drop(progress);
    if found.shallow {
        note(&format!(
            "{}: a shallow clone: files seem to come up where it begins (`git fetch --unshallow` \
             gets the rest)",
            path.display()
        ));
    }
    if found.out_of_order > 0 {
        let number = found.out_of_order as usize;
        note(&format!(
            "{}: {}, taken to be as late as that",
            path.display(),
            plural(number, "commit dated before its parent", "commits dated before their parent")
        ));
    }
    Ok(found)
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let failure = Self::new(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// The result, for programs.
#[derive(Serialize)]
struct Report<'a> {
    trace: String,
    pages: String,
    commits: u64,
    out_of_order: u64,
    shallow: bool,
    #[serde(flatten)]
    measures: &'a Measures,
}

/// What a trace comes to. Times are in seconds since 1970.
#[derive(Debug, PartialEq, Serialize)]
struct Measures {
    sources: usize,
    changes: usize,
    start: f64,
    end: f64,
    /// Sources that ended before the trace did.
    ended: usize,
    never_changed: usize,
    /// Over all sources that lived for some time.
    median_changes_per_year: Option<f64>,
    /// All changes over all the years that sources lived.
    mean_changes_per_year: Option<f64>,
    most_changed: String,
    most_changes: usize,
}

impl Measures {
    fn of(history: &History) -> Self {
        let (start, end) = history.span().map_or((0.0, 0.0), |span| (span.birth, span.end));
        let counts: Vec<usize> = (0..history.len()).map(|at| history.changes(at).len()).collect();
        let years: Vec<f64> =
            history.lives.iter().map(|life| (life.end - life.birth) / YEAR).collect();
        let lived = counts.iter().zip(&years).filter(|(_, years)| **years > 0.0);
        let mut rates: Vec<f64> = lived.map(|(&count, years)| count as f64 / years).collect();
        // The first of those that changed most.
        let most = counts.iter().copied().enumerate().rev().max_by_key(|&(_, count)| count);
        let (most, most_changes) = most.unwrap_or_default();
        Self {
            sources: history.len(),
            changes: history.total(),
            start,
            end,
            ended: history.lives.iter().filter(|life| life.end < end).count(),
            never_changed: counts.iter().filter(|&&count| count == 0).count(),
            median_changes_per_year: median(&mut rates),
            mean_changes_per_year: finite(history.total() as f64 / years.iter().sum::<f64>()),
            most_changed: history.ids.get(most).unwrap_or_default().to_owned(),
            most_changes,
        }
    }

    fn text(&self, out: &Path, pages: &Path, commits: u64) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, out, pages, commits);
        text
    }

    fn write(&self, text: &mut String, out: &Path, pages: &Path, commits: u64) -> std::fmt::Result {
        let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), significant);
        writeln!(
            text,
            "{}, {} in {}, {} to {} ({})",
            plural(self.sources, "source", "sources"),
            plural(self.changes, "change", "changes"),
            plural(commits as usize, "commit", "commits"),
            date(self.start),
            date(self.end),
            days((self.end - self.start) / DAY),
        )?;
        writeln!(text)?;
        writeln!(text, "never changed      {}", self.part(self.never_changed))?;
        writeln!(text, "gone by the end    {}", self.part(self.ended))?;
        writeln!(
            text,
            "changes a year     median {}, mean {}",
            rate(self.median_changes_per_year),
            rate(self.mean_changes_per_year)
        )?;
        if self.most_changes > 0 {
            let times = plural(self.most_changes, "change", "changes");
            let name = self.most_changed.escape_debug();
            writeln!(text, "changed most       {name}: {times}")?;
        }
        writeln!(text, "written            {}, {}", out.display(), pages.display())?;
        write!(text, "\nnext: freshet simulate --trace {}", out.display())
    }

    fn part(&self, sources: usize) -> String {
        let share = 100.0 * sources as f64 / self.sources as f64;
        format!("{} of {} sources ({} %)", count(sources), count(self.sources), significant(share))
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

/// The day of a time in seconds since 1970, in the Gregorian calendar and UTC.
fn date(time: f64) -> String {
    // Years begin in March, so that the odd day is the last of a year; eras have 400 of them.
    let days = (time / DAY).floor() as i64 + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + 400 * era, month + 3);
    if month > 12 {
        format!("{}-{:02}-{day:02}", year + 1, month - 12)
    } else {
        format!("{year}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use freshet_model::Life;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date --utc --date=@SECONDS +%F`.
        let cases = [
            (0.0, "1970-01-01"),
            (951_782_400.0, "2000-02-29"),
            (1_600_184_931.0, "2020-09-15"),
            (1_709_251_199.0, "2024-02-29"),
            (1_709_251_200.0, "2024-03-01"),
            (4_107_542_399.0, "2100-02-28"),
            (4_107_542_400.0, "2100-03-01"),
        ];
        for (time, expect) in cases {
            assert_eq!(date(time), expect);
        }
    }

    #[test]
    fn a_trace_is_measured() {
        let life = |birth: f64, end: f64| Life { birth: birth * YEAR, end: end * YEAR };
        let lives = vec![life(0.0, 2.0), life(0.0, 1.0), life(1.0, 2.0), life(2.0, 2.0)];
        let changes = [(0, YEAR), (2, 1.5 * YEAR), (2, 1.7 * YEAR), (0, 1.1 * YEAR)];
        let ids = ["a", "b", "c", "d"].into_iter().collect();
        let measures = Measures::of(&History::new(ids, lives, &changes));
        assert_eq!(measures.sources, 4);
        assert_eq!((measures.never_changed, measures.ended), (2, 1));
        // 1, 0 and 2 a year; the last was there for a moment only.
        assert_eq!(measures.median_changes_per_year, Some(1.0));
        assert_eq!(measures.mean_changes_per_year, Some(1.0));
        assert_eq!((measures.most_changed.as_str(), measures.most_changes), ("a", 2));
        assert_eq!(median(&mut [3.0, 1.0]), Some(2.0));
        assert_eq!(median(&mut []), None);
    }
}
