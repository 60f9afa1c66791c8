//! The command line as it is typed.

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

/// Keeps local copies of remote sources fresh under a request budget.
#[derive(Debug, Parser)]
#[command(name = "freshet", version, about, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Threads that calculate [default: one for each core]. The results do not depend on it
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

  id           a URL or any text                    [default: the row number]
  importance   how much the source matters          [default: 1]
  change_rate  changes per day                      (required)
  complete     1 if every change is observed        [default: 0]
  host         for --host-limit
  cost         what one fetch takes of the budget   [default: 1]
  min_rate     fetches a day, at least              [default: 0]
  max_rate     fetches a day, at most               [default: inf]";

/// Plan how often to fetch each source, so that a budget buys the most
///
/// The summary goes to standard error, rows to --out, and with --json one object to standard
/// output. Exit code 0: there is a plan; 2: there is none, and the message says why.
#[derive(Debug, Args)]
#[command(after_help = SOURCE_HELP, after_long_help = format!("{SOURCE_HELP}

Rows (--out) have these columns:

  id, rate     fetches a day
  interval     days between fetches (1/rate)
  probability  observed sources: chance of a fetch when `threshold` changes are pending (with
               --observed random: at each change); otherwise wait for the next change
  threshold    observed sources: number of pending changes at which to fetch (for age: 1, and
               fetch when that change is interval − 1/change_rate days old)
  value        what one more fetch a day of this source is worth

Examples:
  freshet plan sources.csv --budget 5000/day --out plan.csv
  freshet plan sources.parquet --budget 20%/day --objective freshness --json
  freshet plan sources.csv --target freshness=0.8
  freshet plan sources.csv --budget 10/s --host-limit 1/s"))]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// What may be spent: 5000/day, 10/s, 0.2/source/day, 20%/day (or give a --target)
    #[arg(long, value_name = "B", allow_hyphen_values = true, required_unless_present = "target")]
    pub(crate) budget: Option<Budget>,

    /// Find the smallest budget that reaches this: freshness=0.8, age=2 (days), harmonic_cost=100,
    /// binary_cost=50
    #[arg(long, value_name = "MEASURE=VALUE", conflicts_with = "budget")]
    pub(crate) target: Option<Target>,

    #[command(flatten)]
    pub(crate) options: OptionArguments,

    /// How rates are chosen: optimal, or one of the baselines uniform, change-rate (proportional
    /// to it), importance (proportional to it), floor:EPS (best freshness with at least the share
    /// EPS of the uniform rate for each)
    #[arg(long, value_name = "POLICY", default_value = "optimal")]
    pub(crate) policy: Policy,

    /// Write the rates to this file (.csv, .tsv, .jsonl, .parquet; `-` is CSV on standard output)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Show what each budget would buy: freshness, age and costs over budgets
///
/// The table goes to standard output, or as one object with --json.
#[derive(Debug, Args)]
#[command(after_help = SOURCE_HELP, after_long_help = format!("{SOURCE_HELP}

Examples:
  freshet curve sources.csv --budget 5000/day --svg curve.svg
  freshet curve sources.csv --from 100/day --to 1/s --points 9 --json"))]
pub(crate) struct CurveArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Mark this budget, and by default draw from a hundredth to a hundred times of it
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) budget: Option<Budget>,

    /// The smallest budget
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) from: Option<Budget>,

    /// The largest budget
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) to: Option<Budget>,

    /// How many budgets, evenly spaced on a log scale
    #[arg(long, value_name = "N", default_value = "41", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) points: u32,

    #[command(flatten)]
    pub(crate) options: OptionArguments,

    /// The policies to compare, separated by commas (see `freshet plan --help`)
    #[arg(long, value_name = "POLICY,…", value_delimiter = ',', default_value = "optimal,uniform")]
    pub(crate) policies: Vec<Policy>,

    /// Write the picture to this file (`-` is standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write the table to this file (.csv, .tsv, .jsonl, .parquet; `-` is CSV on standard output)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make traces: records of when sources changed
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    Git(GitArguments),
}

/// Make a trace of a git repository: when each of its files changed
///
/// A trace is two files: FILE has a row `page_id,unix_time` for each change, and beside it
/// NAME_pages.csv has a row `page_id,birth_unix,end_unix,n_changes,path` for each file of the
/// repository. The summary goes to standard error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The trace is what someone polling the branch would have seen: along first parents, each merge one
step, at the time of the committer. Creating a file is its birth, deleting it its end. A file that
comes back goes on, and its return is a change. A renamed file is another one.

Examples:
  freshet trace git . -o trace.csv.gz
  freshet trace git ~/src/content -o docs.csv --revision main -- 'files/en-us/*.md'")]
pub(crate) struct GitArguments {
    /// The repository, bare or not, or a directory in one for the files below it
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,

    /// Only files that match one of these pathspecs, relative to PATH
    #[arg(value_name = "PATHSPEC")]
    pub(crate) pathspecs: Vec<OsString>,

    /// The file to write (.csv or .csv.gz)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// The branch, tag or commit whose history it is
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    pub(crate) revision: String,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// The table of sources, `-` for standard input
    #[arg(value_name = "SOURCES")]
    pub(crate) path: PathBuf,

    /// Skip columns that freshet does not know, instead of refusing the table
    #[arg(long)]
    pub(crate) ignore_extra: bool,

    /// What each host allows, as a rate for all (1/s) or a CSV file `host,limit`; given twice, the
    /// file names the exceptions. Counted like the budget; needs a column `host`
    #[arg(long, alias = "host-limits", allow_hyphen_values = true, value_name = "RATE|FILE")]
    pub(crate) host_limit: Vec<HostLimit>,
}

#[derive(Debug, Args)]
pub(crate) struct OptionArguments {
    /// What the budget is to buy. harmonic: the n-th missed change costs 1/n, no source is given
    /// up; freshness: share of time up to date, sources may be given up; age: time out of date
    #[arg(long, value_name = "OBJECTIVE", default_value = "harmonic", value_parser = names::<Objective>(Objective::ALL.iter().map(|it| it.name())))]
    pub(crate) objective: Objective,

    #[command(flatten)]
    pub(crate) rhythm: RhythmArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RhythmArguments {
    /// When fetches happen. periodic: at fixed intervals; poisson: at random times; slots: each
    /// day with a fixed chance, `change_rate` being the chance of a change in a day
    #[arg(long, value_name = "TIMING", default_value = "periodic", value_parser = names::<Timing>(Timing::ALL.iter().map(|it| it.name())))]
    pub(crate) timing: Timing,

    /// What to do about sources with `complete` = 1. threshold: fetch when enough changes are
    /// pending; random: fetch at each change with a fixed chance
    #[arg(long, value_name = "HOW", default_value = "threshold", value_parser = names::<Observed>(Observed::ALL.iter().map(|it| it.name())))]
    pub(crate) observed: Observed,
}

impl OptionArguments {
    pub(crate) fn with_policy(&self, policy: Policy) -> Options {
        let Self { objective, rhythm: RhythmArguments { timing, observed } } = *self;
        Options { objective, timing, observed, policy }
    }
}

/// A limit for every host, or a file with one for each.
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

/// Parses one of a list of names, and lists them in the help and in errors.
fn names<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = freshet_plan::UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}
