//! Command-line arguments of `freshet simulate`.

use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use freshet_model::Budget;
use freshet_sim::{Choice, Distribution, Fault, PolicyKind, Signals, Synthetic, WebKind};

use crate::arguments::{RhythmArguments, SOURCE_HELP};
use crate::commands::simulate::objective::ObjectiveArguments;

/// Compare policies in simulation
///
/// The simulated web is synthetic, comes from a table of sources, or replays a trace of recorded changes.
/// All policies run on the same changes with the same number of requests; the first half of the time is
/// for learning, the rest is measured. Prints a summary on standard error, and one JSON object on standard
/// output with --json.
#[derive(Debug, Args)]
#[command(after_help = SHORT_HELP, after_long_help = long_help())]
pub(crate) struct SimulateArguments {
    /// Table of sources as in `freshet plan`, or `-` [default: a synthetic web]
    #[arg(value_name = "SOURCES")]
    pub(crate) table: Option<PathBuf>,

    /// Replay a trace: a file `page_id,unix_time` (.csv, .csv.gz), or git:PATH for a repository
    #[arg(long, value_name = "FILE|git:PATH", help_heading = "Simulated web")]
    pub(crate) trace: Option<TraceSource>,

    /// Lifetimes of the pages of the trace [default: NAME_pages.csv beside NAME.csv]
    #[arg(long, value_name = "FILE", help_heading = "Simulated web")]
    pub(crate) pages: Option<PathBuf>,

    /// Change process of the sources [default: poisson]
    #[arg(long, value_name = "WEB", value_parser = parse_web(), help_heading = "Simulated web")]
    pub(crate) web: Option<WebKind>,

    /// Preset of the synthetic web; other options override it [default: default; azar for slots]
    #[arg(long, value_name = "SHAPE", value_parser = parse_preset(), help_heading = "Simulated web")]
    pub(crate) shape: Option<WebPreset>,

    /// Number of synthetic sources
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000), help_heading = "Simulated web")]
    pub(crate) sources: Option<u32>,

    /// Distribution of changes per day
    ///
    /// `lognormal[:MEDIAN,SIGMA]`, `gamma[:SHAPE,MEAN]`, `uniform[:LOW,HIGH]`, `equal[:VALUE]`,
    /// `zipf[:S]` or `zipf-draws[:S,RANGE]`.
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "Simulated web")]
    pub(crate) rates: Option<Distribution>,

    /// Distribution of importance, as for --rates; for a trace the default is equal
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "Simulated web")]
    pub(crate) importance: Option<Distribution>,

    /// Share of sources whose changes are all observed, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Simulated web")]
    pub(crate) observed_share: Option<f64>,

    /// Mean number of sources per host
    #[arg(long, value_name = "N", value_parser = parse_at_least_one, help_heading = "Simulated web")]
    pub(crate) per_host: Option<f64>,

    /// Fault and share of hosts, such as timeout:0.3, slow:0.1 or gone:0.05; may be repeated
    ///
    /// timeout: no response for one day every two weeks; slow: responses take an hour on such days;
    /// gone: the host disappears for good.
    #[arg(long, value_name = "FAULT:SHARE", help_heading = "Simulated web")]
    pub(crate) fault: Vec<Fault>,

    /// Events on given days from a TOML file: budgets, outages, arrivals, change rates
    ///
    /// An example is at the end of this help.
    #[arg(long, value_name = "FILE", help_heading = "Simulated web")]
    pub(crate) scenario: Option<PathBuf>,

    /// Simulate signals: recall=0.8,precision=0.5,delay=2h or liar:every=1d
    ///
    /// recall: the share of changes that have a signal; precision: the share of signals that stand for
    /// a change; delay: their mean delay; the defaults are 1, 1 and 0. liar: signals for all sources at
    /// once, changed or not.
    #[arg(long, value_name = "SIGNALS", help_heading = "Simulated web")]
    pub(crate) signals: Option<Signals>,

    /// With --trace, replay recorded signals from a second trace
    ///
    /// Its rows are signals about pages with the same names. The time that both traces cover is simulated.
    #[arg(long, value_name = "FILE", help_heading = "Simulated web")]
    pub(crate) signal_trace: Option<PathBuf>,

    /// Simulated time in days [default: the whole trace, or 180]
    #[arg(long, value_name = "DAYS", allow_hyphen_values = true, value_parser = parse_days)]
    pub(crate) days: Option<f64>,

    /// Time for learning before measuring starts: days, or a share such as 25%
    #[arg(long, value_name = "DAYS|SHARE", default_value = "50%", allow_hyphen_values = true)]
    pub(crate) burn_in: BurnIn,

    /// Budget of fetches: 5000/day, 10/s, 0.2/source/day or 20%/day
    ///
    /// A budget per source is multiplied by the mean number of live sources.
    #[arg(long, value_name = "B", default_value = "0.2/source/day", allow_hyphen_values = true)]
    pub(crate) budget: Budget,

    /// Policies to compare, separated by commas [default: all for the objective but greedy]
    ///
    /// With signals, the default also includes engine:ignoring, engine:blind and lambda:ignoring. The
    /// policies are listed below.
    #[arg(long, value_name = "POLICY,…", value_delimiter = ',')]
    pub(crate) policies: Vec<Choice>,

    #[command(flatten)]
    pub(crate) objective: ObjectiveArguments,

    #[command(flatten)]
    pub(crate) options: RhythmArguments,

    /// Number of runs with different seeds, for the confidence intervals
    #[arg(long, value_name = "K", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: u32,

    /// First seed; the same seed gives identical output
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,

    /// Show the engine's estimates of one source over time, beside the truth
    ///
    /// The source is given by id, or by number in a synthetic web. Uses the first seed and runs no other
    /// policy.
    #[arg(long, value_name = "SOURCE", conflicts_with = "out")]
    pub(crate) explain: Option<String>,

    /// Write tables and charts to this directory
    ///
    /// The files are policies.csv, series.csv, policies.svg and over_time.svg.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Skip unknown columns instead of rejecting the table or trace
    #[arg(long)]
    pub(crate) ignore_extra: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Do not print the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const SHORT_HELP: &str = "Use `freshet simulate --help` for the policies and webs.";

/// Complete example of a scenario, the same as in docs/reference/simulation.md.
const EXAMPLE: &str = include_str!("scenario/example.toml");

fn indent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n").replace("\n  \n", "\n\n")
}

fn long_help() -> String {
    let mut text = String::from("Policies (--policies):\n\n");
    for kind in PolicyKind::ALL {
        let _ = writeln!(text, "  {:14} {}", kind.name(), kind.about());
        if !kind.variants().is_empty() {
            let _ = writeln!(text, "  {:14} also {}", "", list_variants(*kind));
        }
    }
    text.push_str(
        "
optimum, greedy, wic and change-rate know the true rates (of a trace, those in hindsight). The other
policies are compared with optimum, the bound; with --objective capture, which optimum does not
support, with wic, which supports nothing else. Rules without a budget keep the proportions of
their intervals, which are all multiplied by one factor, `scale`, to meet the budget:
",
    );
    let scaled: Vec<&str> =
        PolicyKind::ALL.iter().filter(|kind| kind.is_scaled()).map(|kind| kind.name()).collect();
    let _ = write!(
        text,
        "{}.

Signals (--signals, --signal-trace): engine learns how reliable they are, engine:ignoring ignores
them, and engine:blind treats each signal as a change and fetches on signals only, as do lambda and
lambda-approx with some probability. The other policies receive no signals.

{SOURCE_HELP}

Here `host` is used for the load of the busiest host and for --fault; `cost`, `min_rate` and
`max_rate` are not simulated.

Examples:
  freshet simulate
  freshet simulate --web bursty --importance zipf --objective freshness --out results
  freshet simulate sources.csv --budget 500/day --policies optimum,uniform,nutch --json
  freshet simulate --trace git:. --budget 1%/day
  freshet simulate --objective capture --life changes:3 --urgency decay:6h
  freshet simulate --signals recall=0.8,precision=0.5,delay=2h --policies engine,lambda
  freshet simulate --explain 7
  freshet simulate --sources 3000 --scenario s.toml --out results

Example of a scenario, where each section may be repeated:

{}",
        scaled.join(", "),
        indent(EXAMPLE)
    );
    text
}

fn list_variants(kind: PolicyKind) -> String {
    let all: Vec<String> =
        kind.variants().iter().map(|variant| format!("{}:{variant}", kind.name())).collect();
    let mut lines = vec![String::new()];
    for name in all {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&name),
            Some(line) if line.len() + name.len() < 75 => {
                line.push_str(", ");
                line.push_str(&name);
            }
            _ => lines.push(name),
        }
    }
    lines.join(&format!(",\n  {:14}      ", ""))
}

fn parse_web() -> impl TypedValueParser<Value = WebKind> {
    let one = |kind: &WebKind| PossibleValue::new(kind.name()).help(kind.about());
    PossibleValuesParser::new(WebKind::ALL.iter().map(one)).try_map(|name| name.parse::<WebKind>())
}

/// Preset of a synthetic web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebPreset {
    Default,
    Azar,
    Kolobov,
}

impl WebPreset {
    const ALL: [Self; 3] = [Self::Default, Self::Azar, Self::Kolobov];

    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Azar => "azar",
            Self::Kolobov => "kolobov",
        }
    }

    pub(crate) fn synthetic(self) -> Synthetic {
        match self {
            Self::Default => Synthetic {
                sources: 1000,
                rates: Distribution::LogNormal { median: 0.2, sigma: 1.5 },
                importance: Distribution::LogNormal { median: 1.0, sigma: 1.5 },
                observed: 0.0,
                per_host: 10.0,
            },
            Self::Azar => Synthetic::AZAR,
            Self::Kolobov => Synthetic::KOLOBOV,
        }
    }

    fn about(self) -> String {
        let Synthetic { sources, rates, importance, observed, per_host } = self.synthetic();
        let of = match self {
            Self::Default => "",
            Self::Azar => " (Azar et al. 2018, Fig. 1)",
            Self::Kolobov => " (like Kolobov et al. 2019)",
        };
        let observed = match observed {
            0.0 => String::new(),
            share => format!(", {} % observed", share * 100.0),
        };
        format!(
            "{sources} sources, rates {rates}, importance {importance}{observed}, {per_host} to a host{of}"
        )
    }
}

fn parse_preset() -> impl TypedValueParser<Value = WebPreset> {
    let one = |shape: WebPreset| PossibleValue::new(shape.name()).help(shape.about());
    PossibleValuesParser::new(WebPreset::ALL.map(one)).map(|name| {
        WebPreset::ALL.into_iter().find(|shape| shape.name() == name).unwrap_or(WebPreset::Default)
    })
}

/// Origin of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TraceSource {
    File(PathBuf),
    Git(PathBuf),
}

impl FromStr for TraceSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("git:") {
            Some("") => Err("`git:` has no path, such as `git:.`".to_owned()),
            Some(path) => Ok(Self::Git(PathBuf::from(path))),
            None if text.is_empty() => Err("the path of the trace is empty".to_owned()),
            None => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

impl std::fmt::Display for TraceSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Git(path) => write!(f, "git:{}", path.display()),
        }
    }
}

/// Time before measuring starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BurnIn {
    Days(f64),
    /// Share of all days.
    Share(f64),
}

impl FromStr for BurnIn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
        match number {
            Ok(percent) if text.ends_with('%') && (0.0..100.0).contains(&percent) => {
                Ok(Self::Share(percent / 100.0))
            }
            Ok(days) if !text.ends_with('%') && days >= 0.0 && days.is_finite() => {
                Ok(Self::Days(days))
            }
            _ => Err(format!("`{text}` is not a time such as `30` (days) or `25%` (of all days)")),
        }
    }
}

fn parse_days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days: &f64| days.is_finite());
    days.ok_or_else(|| format!("`{text}` is not a number of days"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a share between 0 and 1"))
}

fn parse_at_least_one(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (1.0..=1e9).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number of sources, 1 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_in_is_a_time_or_a_share() {
        let check = |text: &str, expect: Option<BurnIn>| {
            assert_eq!(text.parse::<BurnIn>().ok(), expect, "{text}");
        };
        check("30", Some(BurnIn::Days(30.0)));
        check("0", Some(BurnIn::Days(0.0)));
        check("25%", Some(BurnIn::Share(0.25)));
        check("12.5 %", Some(BurnIn::Share(0.125)));
        for text in ["", "%", "100%", "-1", "-5%", "inf", "NaN", "half", "30d"] {
            check(text, None);
        }
    }

    #[test]
    fn a_trace_is_a_file_or_a_repository() {
        let check = |text: &str, expect: Option<TraceSource>| {
            assert_eq!(text.parse::<TraceSource>().ok(), expect, "{text}");
        };
        check("a.csv", Some(TraceSource::File("a.csv".into())));
        check("git:.", Some(TraceSource::Git(".".into())));
        check("git:", None);
        check("", None);
    }
}
