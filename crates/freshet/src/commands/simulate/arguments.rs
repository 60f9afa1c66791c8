//! The command line of `freshet simulate` as it is typed.

use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use freshet_model::Budget;
use freshet_sim::{Choice, Distribution, Fault, PolicyKind, Signals, Synthetic, WebKind};

use crate::arguments::{RhythmArguments, SOURCE_HELP};
use crate::commands::simulate::aim::AimArguments;

/// Run policies side by side on a web that changes, at an equal number of requests
///
/// The web is made up, that of a table of sources, or a record of what really happened. Each policy
/// runs on the same changes with the same budget; the first half of the time is for learning, the
/// rest is measured. The results go to standard error, to --out, and with --json as one object to
/// standard output.
#[derive(Debug, Args)]
#[command(after_help = SHORT_HELP, after_long_help = long_help())]
pub(crate) struct SimulateArguments {
    /// A table of sources as in `freshet plan`, or `-`; without it, a web is made up
    #[arg(value_name = "SOURCES")]
    pub(crate) table: Option<PathBuf>,

    /// A record of changes instead: a file `page_id,unix_time` (.csv, .csv.gz), or git:PATH for the
    /// files of a repository
    #[arg(long, value_name = "FILE|git:PATH", help_heading = "The web")]
    pub(crate) trace: Option<Trace>,

    /// When the pages of the trace were there [default: NAME_pages.csv beside NAME.csv]
    #[arg(long, value_name = "FILE", help_heading = "The web")]
    pub(crate) pages: Option<PathBuf>,

    /// How sources change [default: poisson]
    #[arg(long, value_name = "WEB", value_parser = webs(), help_heading = "The web")]
    pub(crate) web: Option<WebKind>,

    /// What a made-up web is like, as far as the options below do not say [default: default, with
    /// --web slots: azar]
    #[arg(long, value_name = "SHAPE", value_parser = shapes(), help_heading = "The web")]
    pub(crate) shape: Option<Shape>,

    /// How many sources to make up
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000), help_heading = "The web")]
    pub(crate) sources: Option<u32>,

    /// Their changes per day: `lognormal[:MEDIAN,SIGMA]`, `gamma[:SHAPE,MEAN]`,
    /// `uniform[:LOW,HIGH]`, `equal[:VALUE]`, `zipf[:S]` or `zipf-draws[:S,RANGE]`
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "The web")]
    pub(crate) rates: Option<Distribution>,

    /// How much they matter, also those of a trace [default there: equal]: `equal`, `zipf[:S]`, or any
    /// of the above
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "The web")]
    pub(crate) importance: Option<Distribution>,

    /// The share of them whose changes are all observed, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "The web")]
    pub(crate) observed_share: Option<f64>,

    /// How many of them share a host, on average
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "The web")]
    pub(crate) per_host: Option<f64>,

    /// What goes wrong, and with which share of the hosts: timeout:0.3 (no answer for a day, every two
    /// weeks), slow:0.1 (answers take an hour on such days), gone:0.05 (for good). Can be repeated
    #[arg(long, value_name = "FAULT:SHARE", help_heading = "The web")]
    pub(crate) fault: Vec<Fault>,

    /// What happens on known days, from a TOML file: other budgets, outages of hosts, sources that
    /// come, rates that change. --help shows one
    #[arg(long, value_name = "FILE", help_heading = "The web")]
    pub(crate) scenario: Option<PathBuf>,

    /// Who says that sources have changed, truly or not: recall=0.8,precision=0.5,delay=2h (a change
    /// has a signal with this chance, this share of the signals is true, they come so late on average;
    /// left out: 1, 1 and 0), or liar:every=1d (all sources at once, changed or not)
    #[arg(long, value_name = "SIGNALS", help_heading = "The web")]
    pub(crate) signals: Option<Signals>,

    /// With --trace, what was really said: a second trace whose rows are signals about pages of the same
    /// names. The time that both cover is simulated
    #[arg(long, value_name = "FILE", help_heading = "The web")]
    pub(crate) signal_trace: Option<PathBuf>,

    /// How long [default: the whole trace, or 180 days]
    #[arg(long, value_name = "DAYS", allow_hyphen_values = true, value_parser = days)]
    pub(crate) days: Option<f64>,

    /// The time for learning, before measuring starts: days, or a share of all such as 25%
    #[arg(long, value_name = "DAYS|SHARE", default_value = "50%", allow_hyphen_values = true)]
    pub(crate) burn_in: BurnIn,

    /// What may be spent: 5000/day, 10/s, 0.2/source/day, 20%/day. For each source counts those that
    /// are there, on average
    #[arg(long, value_name = "B", default_value = "0.2/source/day", allow_hyphen_values = true)]
    pub(crate) budget: Budget,

    /// The policies to compare, separated by commas; --help lists them [default: all that are for the
    /// objective but greedy; with signals also engine:ignoring, engine:blind and lambda:ignoring]
    #[arg(long, value_name = "POLICY,…", value_delimiter = ',')]
    pub(crate) policies: Vec<Choice>,

    #[command(flatten)]
    pub(crate) aim: AimArguments,

    #[command(flatten)]
    pub(crate) options: RhythmArguments,

    /// How often to run each, on webs with other dice: for the intervals of confidence
    #[arg(long, value_name = "K", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: u32,

    /// The first seed. The same seed gives the same output, to the byte
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,

    /// Print what the engine thinks of one source over time, beside what is true, on the first seed:
    /// its id, or its number for sources that are made up. No other policy is run
    #[arg(long, value_name = "SOURCE", conflicts_with = "out")]
    pub(crate) explain: Option<String>,

    /// Write tables and pictures to this directory: policies.csv, series.csv, policies.svg,
    /// over_time.svg
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Skip columns that freshet does not know, instead of refusing the table or trace
    #[arg(long)]
    pub(crate) ignore_extra: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const SHORT_HELP: &str = "--help says more, and lists the policies and webs";

/// A whole scenario, as in docs/simulate.md.
const EXAMPLE: &str = include_str!("scenario/example.toml");

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n").replace("\n  \n", "\n\n")
}

fn long_help() -> String {
    let mut text = String::from("Policies (--policies):\n\n");
    for kind in PolicyKind::ALL {
        let _ = writeln!(text, "  {:14} {}", kind.name(), kind.about());
        if !kind.variants().is_empty() {
            let _ = writeln!(text, "  {:14} also {}", "", variants(*kind));
        }
    }
    text.push_str(
        "
optimum, greedy, wic and change-rate are told the true rates (those of a trace in hindsight). Others
are compared with optimum, the bound; with --objective capture, for which it cannot plan, with wic,
which is for nothing else. Rules that know no budget keep their proportions, and all
their intervals are stretched by one factor, `scale`, until they meet it:
",
    );
    let scaled: Vec<&str> =
        PolicyKind::ALL.iter().filter(|kind| kind.is_scaled()).map(|kind| kind.name()).collect();
    let _ = write!(
        text,
        "{}.

Signals (--signals, --signal-trace): engine learns what they are worth, engine:ignoring does not hear
them, and engine:blind takes each for a change and waits for nothing else, as do lambda and
lambda-approx, but with a chance. The others hear none.

{SOURCE_HELP}

Here `host` is for the busiest host and for --fault; `cost`, `min_rate` and `max_rate` are not
simulated.

Examples:
  freshet simulate
  freshet simulate --web bursty --importance zipf --objective freshness --out results
  freshet simulate sources.csv --budget 500/day --policies optimum,uniform,nutch --json
  freshet simulate --trace git:. --budget 1%/day
  freshet simulate --objective capture --life changes:3 --urgency decay:6h
  freshet simulate --signals recall=0.8,precision=0.5,delay=2h --policies engine,engine:ignoring,lambda
  freshet simulate --explain 7
  freshet simulate --sources 3000 --scenario s.toml --out results

where s.toml may say, each as often as needed:

{}",
        scaled.join(", "),
        indented(EXAMPLE)
    );
    text
}

fn variants(kind: PolicyKind) -> String {
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

fn webs() -> impl TypedValueParser<Value = WebKind> {
    let one = |kind: &WebKind| PossibleValue::new(kind.name()).help(kind.about());
    PossibleValuesParser::new(WebKind::ALL.iter().map(one)).try_map(|name| name.parse::<WebKind>())
}

/// A kind of made-up web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Default,
    Azar,
    Kolobov,
}

impl Shape {
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

fn shapes() -> impl TypedValueParser<Value = Shape> {
    let one = |shape: Shape| PossibleValue::new(shape.name()).help(shape.about());
    PossibleValuesParser::new(Shape::ALL.map(one)).map(|name| {
        Shape::ALL.into_iter().find(|shape| shape.name() == name).unwrap_or(Shape::Default)
    })
}

/// Where a record comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    File(PathBuf),
    Git(PathBuf),
}

impl FromStr for Trace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("git:") {
            Some("") => Err("`git:` names no repository, such as `git:.`".to_owned()),
            Some(path) => Ok(Self::Git(PathBuf::from(path))),
            None if text.is_empty() => Err("a trace has a name".to_owned()),
            None => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

impl std::fmt::Display for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Git(path) => write!(f, "git:{}", path.display()),
        }
    }
}

/// The time before measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BurnIn {
    Days(f64),
    /// Of all days.
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

fn days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days: &f64| days.is_finite());
    days.ok_or_else(|| format!("`{text}` is not a number of days"))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a share between 0 and 1"))
}

fn at_least_one(text: &str) -> Result<f64, String> {
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
        for wrong in ["", "%", "100%", "-1", "-5%", "inf", "NaN", "half", "30d"] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_trace_is_a_file_or_a_repository() {
        let check = |text: &str, expect: Option<Trace>| {
            assert_eq!(text.parse::<Trace>().ok(), expect, "{text}");
        };
        check("a.csv", Some(Trace::File("a.csv".into())));
        check("git:.", Some(Trace::Git(".".into())));
        check("git:", None);
        check("", None);
    }
}
