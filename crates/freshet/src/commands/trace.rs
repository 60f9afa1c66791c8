//! `freshet trace`.

use std::fmt::Write;
use std::path::Path;

use freshet_model::ChangeTrace;
use freshet_tables::{GitError, GitHistory, GitOptions, pages_path, read_git, write_trace};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::arguments::{GitArguments, TraceCommand};
use crate::commands::plan::finite;
use crate::failure::Failure;
use crate::number::{format_count, format_days, format_significant, pluralize};
use crate::output::{check_file, print_json, print_note};
use crate::progress::Progress;

const DAY_SECONDS: f64 = 86_400.0;
const YEAR_SECONDS: f64 = 365.25 * DAY_SECONDS;

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
    let git_history = from_git(&arguments.path, &options)?;
    write_trace(out, &git_history.history)?;
    let statistics = TraceStatistics::new(&git_history.history);
    if arguments.json {
        print_json(&TraceReport {
            trace: out.display().to_string(),
            pages: pages.display().to_string(),
            commits: git_history.commits,
            out_of_order: git_history.out_of_order,
            shallow: git_history.shallow,
            statistics: &statistics,
        })?;
    }
    if !arguments.quiet {
        print_note(&statistics.text(out, &pages, git_history.commits));
    }
    Ok(())
}

/// Reads the history of a repository, with progress and with warnings about it.
pub(crate) fn from_git(path: &Path, options: &GitOptions) -> Result<GitHistory, Failure> {
    let mut progress = Progress::new("reading");
    let found = read_git(path, options, &mut |commits| {
        progress.report(None, &format!("{} commits", format_count(commits as usize)));
    })?;
    drop(progress);
    if found.shallow {
        print_note(&format!(
            "{}: shallow clone: files seem to be created at its first commit (`git fetch \
             --unshallow` downloads the rest)",
            path.display()
        ));
    }
    if found.out_of_order > 0 {
        let number = found.out_of_order as usize;
        print_note(&format!(
            "{}: {}, treated as being as late as the parent",
            path.display(),
            pluralize(
                number,
                "commit is dated before its parent",
                "commits are dated before their parent"
            )
        ));
    }
    Ok(found)
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let failure = Self::new(&error);
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

/// JSON report of `freshet trace git`.
#[derive(Serialize)]
struct TraceReport<'a> {
    trace: String,
    pages: String,
    commits: u64,
    out_of_order: u64,
    shallow: bool,
    #[serde(flatten)]
    statistics: &'a TraceStatistics,
}

/// Statistics of a trace. Times are in seconds since 1970.
#[derive(Debug, PartialEq, Serialize)]
struct TraceStatistics {
    sources: usize,
    changes: usize,
    start: f64,
    end: f64,
    /// Sources that ended before the trace did.
    ended: usize,
    never_changed: usize,
    /// Median over the sources with a lifetime above 0.
    median_changes_per_year: Option<f64>,
    /// Number of changes divided by the total lifetime of the sources.
    mean_changes_per_year: Option<f64>,
    most_changed: String,
    most_changes: usize,
}

impl TraceStatistics {
    fn new(history: &ChangeTrace) -> Self {
        let (start, end) = history.time_range().map_or((0.0, 0.0), |span| (span.start, span.end));
        let counts: Vec<usize> =
            (0..history.len()).map(|at| history.change_times(at).len()).collect();
        let years: Vec<f64> =
            history.lifetimes.iter().map(|life| (life.end - life.start) / YEAR_SECONDS).collect();
        let lived = counts.iter().zip(&years).filter(|(_, years)| **years > 0.0);
        let mut rates: Vec<f64> = lived.map(|(&count, years)| count as f64 / years).collect();
        // Of several sources with the most changes, the first.
        let most = counts.iter().copied().enumerate().rev().max_by_key(|&(_, count)| count);
        let (most, most_changes) = most.unwrap_or_default();
        Self {
            sources: history.len(),
            changes: history.change_count(),
            start,
            end,
            ended: history.lifetimes.iter().filter(|life| life.end < end).count(),
            never_changed: counts.iter().filter(|&&count| count == 0).count(),
            median_changes_per_year: median(&mut rates),
            mean_changes_per_year: finite(
                history.change_count() as f64 / years.iter().sum::<f64>(),
            ),
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
        let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), format_significant);
        writeln!(
            text,
            "{}, {} in {}, {} to {} ({})",
            pluralize(self.sources, "source", "sources"),
            pluralize(self.changes, "change", "changes"),
            pluralize(commits as usize, "commit", "commits"),
            format_date(self.start),
            format_date(self.end),
            format_days((self.end - self.start) / DAY_SECONDS),
        )?;
        writeln!(text)?;
        writeln!(text, "never changed      {}", self.format_share_of_sources(self.never_changed))?;
        writeln!(text, "gone by the end    {}", self.format_share_of_sources(self.ended))?;
        writeln!(
            text,
            "changes a year     median {}, mean {}",
            rate(self.median_changes_per_year),
            rate(self.mean_changes_per_year)
        )?;
        if self.most_changes > 0 {
            let times = pluralize(self.most_changes, "change", "changes");
            let name = self.most_changed.escape_debug();
            writeln!(text, "most changes       {name}: {times}")?;
        }
        writeln!(text, "wrote              {}, {}", out.display(), pages.display())?;
        write!(text, "\nnext: freshet simulate --trace {}", out.display())
    }

    fn format_share_of_sources(&self, sources: usize) -> String {
        let share = 100.0 * sources as f64 / self.sources as f64;
        format!(
            "{} of {} sources ({} %)",
            format_count(sources),
            format_count(self.sources),
            format_significant(share)
        )
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

/// Formats the UTC date of a time in seconds since 1970, or the number where there is no such date.
fn format_date(seconds: f64) -> String {
    match Timestamp::from_second(seconds.floor() as i64) {
        Ok(time) => time.to_zoned(TimeZone::UTC).date().to_string(),
        Err(_) => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use freshet_model::TimeRange;

    use super::*;

    #[test]
    fn dates_are_gregorian_and_in_utc() {
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
            assert_eq!(format_date(time), expect);
        }
    }

    #[test]
    fn statistics_of_a_trace() {
        let life = |birth: f64, end: f64| TimeRange {
            start: birth * YEAR_SECONDS,
            end: end * YEAR_SECONDS,
        };
        let lives = vec![life(0.0, 2.0), life(0.0, 1.0), life(1.0, 2.0), life(2.0, 2.0)];
        let changes = [
            (0, YEAR_SECONDS),
            (2, 1.5 * YEAR_SECONDS),
            (2, 1.7 * YEAR_SECONDS),
            (0, 1.1 * YEAR_SECONDS),
        ];
        let ids = ["a", "b", "c", "d"].into_iter().collect();
        let statistics = TraceStatistics::new(&ChangeTrace::new(ids, lives, &changes));
        assert_eq!(statistics.sources, 4);
        assert_eq!((statistics.never_changed, statistics.ended), (2, 1));
        // 1, 0 and 2 a year; the last source has no lifetime.
        assert_eq!(statistics.median_changes_per_year, Some(1.0));
        assert_eq!(statistics.mean_changes_per_year, Some(1.0));
        assert_eq!((statistics.most_changed.as_str(), statistics.most_changes), ("a", 2));
        assert_eq!(median(&mut [3.0, 1.0]), Some(2.0));
        assert_eq!(median(&mut []), None);
    }
}
