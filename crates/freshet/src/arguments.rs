//! Command-line arguments of `freshet`, and the help of the top level.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use freshet_model::{Budget, PerDay};
use freshet_plan::{Objective, Observed, Options, Policy, Target, Timing};

use crate::commands::InstanceCommand;
use crate::commands::crew::CrewArguments;
use crate::commands::demo::DemoArguments;
use crate::commands::detect::DetectArguments;
use crate::commands::fetch::FetchArguments;
use crate::commands::lab::LabArguments;
use crate::commands::simulate::SimulateArguments;

/// Keep local copies of remote sources fresh under a request budget
#[derive(Debug, Parser)]
#[command(name = "freshet", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Number of computing threads; results do not depend on it [default: number of cores]
    #[arg(long, visible_alias = "jobs", global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    #[command(flatten)]
    Instance(InstanceCommand),
    Plan(PlanArguments),
    Curve(CurveArguments),
    Simulate(Box<SimulateArguments>),
    Crew(CrewArguments),
    Detect(Box<DetectArguments>),
    Lab(LabArguments),
    Fetch(Box<FetchArguments>),
    #[command(subcommand)]
    Trace(TraceCommand),
}

pub(crate) const SOURCE_HELP: &str = "\
SOURCES is a table with a header: CSV, TSV, JSON lines or Parquet by its extension (.csv, .tsv,
.jsonl, .ndjson, .parquet; text also with .gz), `-` for CSV on standard input, or a directory with
the TSV files of the PoliteCrawling data set. Columns:

  id           URL or any other text                [default: row number]
  importance   relative importance                  [default: 1]
  change_rate  changes per day                      (required)
  complete     1 if every change is observed        [default: 0]
  host         host, for --host-limit
  cost         budget taken by one fetch            [default: 1]
  min_rate     minimum fetches per day              [default: 0]
  max_rate     maximum fetches per day              [default: inf]";

/// Plan fetch rates for a table of sources
///
/// Computes how often to fetch each source so that the budget buys as much as possible. Prints a
/// summary on standard error, and one JSON object on standard output with --json. Exit code 0: a
/// plan was found; 2: there is no plan, and the message says why.
#[derive(Debug, Args)]
#[command(after_help = SOURCE_HELP, after_long_help = format!("{SOURCE_HELP}

Columns of the rows that --out writes:

  id           source
  rate         fetches per day
  interval     days between fetches (1/rate)
  probability  observed sources: probability of a fetch when `threshold` changes are pending
               (with --observed random: at each change); otherwise wait for the next change
  threshold    observed sources: number of pending changes at which to fetch (for age: 1, and
               fetch when that change is interval − 1/change_rate days old)
  value        marginal value of one more fetch per day of this source

Examples:
  freshet plan sources.csv --budget 5000/day --out plan.csv
  freshet plan sources.parquet --budget 20%/day --objective freshness --json
  freshet plan sources.csv --target freshness=0.8
  freshet plan sources.csv --budget 10/s --host-limit 1/s"))]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Budget of fetches: 5000/day, 10/s, 0.2/source/day or 20%/day
    #[arg(long, value_name = "B", allow_hyphen_values = true, required_unless_present = "target")]
    pub(crate) budget: Option<Budget>,

    /// Find the smallest budget that reaches a target, such as freshness=0.8
    ///
    /// Measures: freshness=0.8, age=2 (days), harmonic_cost=100, binary_cost=50.
    #[arg(long, value_name = "MEASURE=VALUE", conflicts_with = "budget")]
    pub(crate) target: Option<Target>,

    #[command(flatten)]
    pub(crate) options: OptionArguments,

    /// Policy: optimal, uniform, change-rate, importance or floor:EPS
    ///
    /// The baselines: uniform gives every source the same rate; change-rate and importance give
    /// rates in proportion to that column; floor:EPS maximizes freshness with at least the share
    /// EPS of the uniform rate for every source.
    #[arg(long, value_name = "POLICY", default_value = "optimal")]
    pub(crate) policy: Policy,

    /// Write the rates to this file: .csv, .tsv, .jsonl or .parquet; `-` for CSV on stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Do not print the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Show freshness, age and cost over a range of budgets
#[derive(Debug, Args)]
#[command(after_help = SOURCE_HELP, after_long_help = format!("{SOURCE_HELP}

Examples:
  freshet curve sources.csv --budget 5000/day --svg curve.svg
  freshet curve sources.csv --from 100/day --to 1/s --points 9 --json"))]
pub(crate) struct CurveArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Budget to mark; the default range is 0.01 to 100 times this budget
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) budget: Option<Budget>,

    /// Smallest budget
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) from: Option<Budget>,

    /// Largest budget
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) to: Option<Budget>,

    /// Number of budgets, evenly spaced on a log scale
    #[arg(long, value_name = "N", default_value = "41", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) points: u32,

    #[command(flatten)]
    pub(crate) options: OptionArguments,

    /// Policies to compare, separated by commas (see `freshet plan --help`)
    #[arg(long, value_name = "POLICY,…", value_delimiter = ',', default_value = "optimal,uniform")]
    pub(crate) policies: Vec<Policy>,

    /// Write an SVG chart to this file; `-` for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write the table to this file: .csv, .tsv, .jsonl or .parquet; `-` for CSV on stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Create traces of recorded changes
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    Git(GitArguments),
}

/// Create a trace from the history of a git repository
///
/// A trace consists of two files: FILE has a row `page_id,unix_time` for each change, and
/// NAME_pages.csv beside it has a row `page_id,birth_unix,end_unix,n_changes,path` for each file of
/// the repository. Prints a summary on standard error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The trace contains what a poller of the branch would have seen: the commits along first parents,
each merge as one step, at the committer's time. Creating a file is its birth, deleting it its
end. A file that reappears continues, and its return is a change. A renamed file is a new file.

Examples:
  freshet trace git . -o trace.csv.gz
  freshet trace git ~/src/content -o docs.csv --revision main -- 'files/en-us/*.md'")]
pub(crate) struct GitArguments {
    /// Repository, bare or not, or a directory in a repository for the files below it
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,

    /// Include only files that match one of these pathspecs, relative to PATH
    #[arg(value_name = "PATHSPEC")]
    pub(crate) pathspecs: Vec<OsString>,

    /// File to write: .csv or .csv.gz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Branch, tag or commit whose history is read
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    pub(crate) revision: String,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Do not print the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Table of sources; `-` for CSV on standard input
    #[arg(value_name = "SOURCES")]
    pub(crate) path: PathBuf,

    /// Skip unknown columns instead of rejecting the table
    #[arg(long)]
    pub(crate) ignore_extra: bool,

    /// Limit of each host: a rate such as 1/s, or a CSV file `host,limit`
    ///
    /// If both are given, the rate applies to all hosts and the file lists the exceptions. Limits are
    /// counted like the budget and require a column `host`.
    #[arg(long, alias = "host-limits", allow_hyphen_values = true, value_name = "RATE|FILE")]
    pub(crate) host_limit: Vec<HostLimit>,
}

#[derive(Debug, Args)]
pub(crate) struct OptionArguments {
    /// Objective to optimize
    ///
    /// harmonic: the n-th missed change costs 1/n, and no source is abandoned; freshness: the share
    /// of time for which copies are up to date, sources may be abandoned; age: the time for which
    /// copies are out of date.
    #[arg(long, value_name = "OBJECTIVE", default_value = "harmonic", value_parser = names::<Objective>(Objective::ALL.iter().map(|it| it.name())))]
    pub(crate) objective: Objective,

    #[command(flatten)]
    pub(crate) rhythm: RhythmArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RhythmArguments {
    /// Timing of fetches
    ///
    /// periodic: at fixed intervals; poisson: at random times; slots: each day with a fixed
    /// probability, where `change_rate` is the probability of a change in a day.
    #[arg(long, value_name = "TIMING", default_value = "periodic", value_parser = names::<Timing>(Timing::ALL.iter().map(|it| it.name())))]
    pub(crate) timing: Timing,

    /// Rule for sources whose changes are all observed (`complete` = 1)
    ///
    /// threshold: fetch when enough changes are pending; random: fetch at each change with a fixed
    /// probability.
    #[arg(long, value_name = "HOW", default_value = "threshold", value_parser = names::<Observed>(Observed::ALL.iter().map(|it| it.name())))]
    pub(crate) observed: Observed,
}

impl OptionArguments {
    pub(crate) fn with_policy(&self, policy: Policy) -> Options {
        let Self { objective, rhythm: RhythmArguments { timing, observed } } = *self;
        Options { objective, timing, observed, policy }
    }
}

/// One limit for every host, or a file with a limit for each host.
#[derive(Clone, Debug)]
pub(crate) enum HostLimit {
    Rate(PerDay),
    File(PathBuf),
}

impl FromStr for HostLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(rate) => Ok(Self::Rate(rate)),
            Err(_) if PathBuf::from(text).exists() => Ok(Self::File(PathBuf::from(text))),
            Err(error) => Err(format!("{error}, and there is no such file")),
        }
    }
}

/// Returns a parser that accepts the given names and lists them in the help and in errors.
fn names<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = freshet_plan::UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}
