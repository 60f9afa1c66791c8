//! `freshet show`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{
    ControlRequest, ControlResponse, SignalExplanation, SourceExplanation, explain_offline,
};
use freshet_store::{Observation, Source, StoredOutcome, VersionMeta};
use serde::Serialize;

use crate::clock;
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Instance, call_daemon, unexpected_reply};
use crate::commands::ls::{SourceHost, SourceRow, state_name};
use crate::commands::status::format_bytes;
use crate::failure::Failure;
use crate::number::{format_days, format_significant, pluralize};
use crate::output::{print_json, print_text};
use crate::terminal;
use crate::time_format::{format_duration, format_last, format_relative, rfc3339};

/// Show a source, its next fetch and its history
#[derive(Debug, Args)]
#[command(after_long_help = "\
Lines of the output:
  changes every  estimated time between changes
  fresh          probability that the copy is up to date
  value          value of a fetch now; the source is fetched when it reaches the price
  signals        signals since the last fetch, and by how much they moved the next fetch
  next fetch     time of the next fetch, and the reason

Examples:
  freshet show https://example.com/
  freshet show https://example.com/ --limit 100 --json")]
pub(crate) struct ShowArguments {
    /// URL of the source
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Maximum number of fetches to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,

    /// Print the source as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// JSON object of a source with its estimates and its history.
#[derive(Serialize)]
struct ShowReport {
    #[serde(flatten)]
    source: SourceRow,
    running: bool,
    believed: Option<EstimateReport>,
    history: Vec<FetchReport>,
    kept: Vec<VersionReport>,
}

#[derive(Serialize)]
struct EstimateReport {
    standing: String,
    because: String,
    due: Option<String>,
    host_rests_until: Option<String>,
    changes_a_day: f64,
    changes_a_day_low: f64,
    changes_a_day_high: f64,
    worth: Option<f64>,
    price: f64,
    fresh: Option<f64>,
    signals: Option<SignalsReport>,
}

/// Signals since the last fetch, and their effect on the next fetch.
#[derive(Serialize)]
struct SignalsReport {
    signal_source: u32,
    url: String,
    signals: u32,
    first: Option<String>,
    last: Option<String>,
    precision: f64,
    recall: f64,
    due_without: Option<String>,
    moved_seconds: Option<f64>,
}

#[derive(Serialize)]
struct FetchReport {
    at: String,
    outcome: &'static str,
    status: Option<u16>,
    bytes: u64,
    milliseconds: u32,
    note: Option<String>,
}

#[derive(Serialize)]
struct VersionReport {
    version: u32,
    first_seen: String,
    digest: String,
    kind: String,
    bytes: u64,
}

pub(crate) fn run(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let id = find(&reader, &arguments.url)?;
    let source = reader
        .source(id)?
        .ok_or_else(|| Failure::new(format!("there is no source {}", arguments.url)))?;
    let now = clock::now_millis();
    let daemon = instance.daemon()?;
    let running = daemon.is_some();
    let explained = match daemon {
        None => explain_offline(&instance.config, &reader, now, id)?,
        Some(mut client) => {
            match call_daemon(&mut client, ControlRequest::Explain(source.url.clone()))? {
                ControlResponse::Explanation(explained) => Some(*explained),
                _ => return Err(unexpected_reply()),
            }
        }
    };
    let history = reader.history(id, arguments.limit)?;
    let versions = reader.versions(id)?;
    let host = SourceHost {
        idle: instance.has_zero_budget(&reader)?,
        ..SourceHost::find(&reader, source.host)?
    };
    if arguments.json {
        let rate = explained.as_ref().filter(|_| source.fetched_at.is_some());
        print_json(&ShowReport {
            source: SourceRow::new(&source, &host, rate.map(|it| it.changes_a_day), now),
            running,
            believed: explained.as_ref().map(EstimateReport::new),
            history: history.iter().map(FetchReport::new).collect(),
            kept: versions.iter().map(VersionReport::new).collect(),
        })?;
    } else {
        let mut out = describe_source(&source, &host.name, now);
        if let Some(explained) = &explained {
            let state = InstanceState { running, zero_budget: host.idle };
            write_estimates(&mut out, &source, explained, state, now);
        }
        write_history(&mut out, &history, &versions, now);
        print_text(&out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_row(out: &mut String, name: &str, words: &str) {
    let _ = writeln!(out, "{name:<15}{}", terminal::sanitize_line(words));
}

/// Describes the state and the settings of a source.
fn describe_source(source: &Source, host: &str, now: i64) -> String {
    let mut out = format!("{}\n\n", terminal::sanitize_line(&source.url));
    let failures = match source.failures {
        0 => String::new(),
        number => format!(", {} in a row", pluralize(number as usize, "failure", "failures")),
    };
    write_row(&mut out, "state", &format!("{}{failures}", state_name(source)));
    write_row(&mut out, "host", host);
    let cost = match source.cost {
        1.0 => String::new(),
        cost => format!(", cost of a fetch {}", format_significant(cost)),
    };
    write_row(&mut out, "importance", &format!("{}{cost}", format_significant(source.importance)));
    let (min, max) = (source.min_interval, source.max_interval);
    match (min > 0.0, max.is_finite()) {
        (true, true) => write_row(
            &mut out,
            "interval",
            &format!("{} to {}", format_days(min), format_days(max)),
        ),
        (true, false) => write_row(&mut out, "interval", &format!("{} or more", format_days(min))),
        (false, true) => write_row(&mut out, "interval", &format!("{} or less", format_days(max))),
        (false, false) => {}
    }
    let settings = [("objective", &source.goal), ("compares", &source.settings)];
    for (name, text) in settings.into_iter().filter(|(_, text)| !text.is_empty()) {
        write_row(&mut out, name, text);
    }
    if !source.tags.is_empty() {
        write_row(&mut out, "tags", &source.tags.join(", "));
    }
    let fetches = match source.fetches {
        0 => String::new(),
        number => format!(", {}", pluralize(number as usize, "fetch", "fetches")),
    };
    write_row(&mut out, "added", &format!("{}{fetches}", format_relative(source.added_at, now)));
    write_row(&mut out, "fetched", &format_last(source.fetched_at, now));
    write_row(&mut out, "changed", &format_last(source.changed_at, now));
    out
}

/// Conditions of the instance that prevent fetches.
#[derive(Clone, Copy)]
struct InstanceState {
    running: bool,
    zero_budget: bool,
}

/// Describes the estimates of a source and its next fetch.
fn write_estimates(
    out: &mut String,
    source: &Source,
    it: &SourceExplanation,
    state: InstanceState,
    now: i64,
) {
    if source.fetched_at.is_some() {
        let (low, high) = it.rate_interval;
        let words = format!(
            "{} on average; 95 % interval {} to {}",
            format_days(1.0 / it.changes_a_day),
            format_days(1.0 / high),
            format_days(1.0 / low)
        );
        write_row(out, "changes every", &words);
    }
    if let Some(fresh) = it.fresh_probability {
        write_row(out, "fresh", &format!("with a probability of {:.0} %", 100.0 * fresh));
    }
    if state.zero_budget && !matches!(it.standing.as_str(), "fetching" | "paused" | "gone") {
        write_row(out, "next fetch", "none: the budget is 0; `freshet check URL` fetches it");
        return;
    }
    match it.value {
        Some(worth) if it.price > 0.0 && !it.is_unpaid => {
            let share = 100.0 * worth / it.price;
            write_row(out, "value", &format!("{share:.0} % of the price of a fetch"));
        }
        _ if it.is_unpaid => {}
        _ if it.price <= 0.0 => {
            write_row(out, "value", "above the price: the budget allows every useful fetch");
        }
        _ => write_row(out, "value", "not known: there is no copy"),
    }
    if let Some(signals) = &it.signals {
        write_row(
            out,
            "signals",
            &signals.describe(it.due_without_host.filter(|_| !it.is_unpaid), now),
        );
    }
    let due =
        it.due_at.map_or(String::new(), |due| format!(" ({})", format_relative(due.max(now), now)));
    let stopped = if state.running { "" } else { "; the daemon is not running" };
    match it.host_cooldown_until {
        None => write_row(out, "next fetch", &format!("{}{due}{stopped}", it.headline)),
        Some(_) => {
            let words = format!("{}, but its host is in cooldown until then", it.headline);
            write_row(out, "next fetch", &format!("{words}{due}{stopped}"));
        }
    }
}

fn write_history(out: &mut String, history: &[Observation], versions: &[VersionMeta], now: i64) {
    if !history.is_empty() {
        out.push_str("\nfetches\n");
    }
    for it in history {
        let status = if it.status > 0 { it.status.to_string() } else { String::new() };
        let line = format!(
            "  {:>10}  {:<10}  {status:>3}  {:>10}  {:>7}  {}",
            format_relative(it.at, now),
            outcome_name(it.outcome),
            format_bytes(it.bytes as f64),
            format_duration(i64::from(it.duration_ms)),
            terminal::sanitize_line(&it.note),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if !versions.is_empty() {
        out.push_str("\nversions\n");
    }
    for it in versions {
        let _ = writeln!(
            out,
            "  {:>4}  {:>10}  {:>10}  {}",
            it.number,
            format_relative(it.first_seen_at, now),
            format_bytes(it.size as f64),
            terminal::sanitize_line(&it.content_kind),
        );
    }
}

/// Returns the name of the outcome of a fetch.
pub(crate) fn outcome_name(outcome: StoredOutcome) -> &'static str {
    match outcome {
        StoredOutcome::First => "first",
        StoredOutcome::Changed => "changed",
        StoredOutcome::Unchanged => "unchanged",
        StoredOutcome::Failed => "failed",
        StoredOutcome::Gone => "gone",
        StoredOutcome::Disallowed => "disallowed",
    }
}

impl EstimateReport {
    fn new(it: &SourceExplanation) -> Self {
        Self {
            standing: it.standing.clone(),
            because: it.headline.clone(),
            due: it.due_at.map(rfc3339),
            host_rests_until: it.host_cooldown_until.map(rfc3339),
            changes_a_day: it.changes_a_day,
            changes_a_day_low: it.rate_interval.0,
            changes_a_day_high: it.rate_interval.1,
            worth: it.value,
            price: it.price,
            fresh: it.fresh_probability,
            signals: it.signals.as_ref().map(SignalsReport::new),
        }
    }
}

impl SignalsReport {
    fn new(it: &SignalExplanation) -> Self {
        Self {
            signal_source: it.id,
            url: it.name.clone(),
            signals: it.pending,
            first: it.first_at.map(rfc3339),
            last: it.last_at.map(rfc3339),
            precision: it.precision,
            recall: it.recall,
            due_without: it.due_without.map(rfc3339),
            moved_seconds: it.seconds_moved,
        }
    }
}

impl FetchReport {
    fn new(it: &Observation) -> Self {
        Self {
            at: rfc3339(it.at),
            outcome: outcome_name(it.outcome),
            status: Some(it.status).filter(|status| *status > 0),
            bytes: it.bytes,
            milliseconds: it.duration_ms,
            note: Some(it.note.clone()).filter(|note| !note.is_empty()),
        }
    }
}

impl VersionReport {
    fn new(it: &VersionMeta) -> Self {
        Self {
            version: it.number,
            first_seen: rfc3339(it.first_seen_at),
            digest: format!("{:032x}", u128::from_be_bytes(it.digest)),
            kind: it.content_kind.clone(),
            bytes: it.size,
        }
    }
}
