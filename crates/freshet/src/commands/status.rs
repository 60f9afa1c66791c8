//! `freshet status`.

mod destinations;

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{ControlRequest, ControlResponse, DaemonStatus};
use freshet_notify::DestinationHealth;
use freshet_store::{LedgerEntry, Reader, SourceQuery, SourceState};
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance, call_daemon, unexpected_reply};
use crate::failure::Failure;
use crate::number::{format_count, format_days, format_significant, pluralize};
use crate::output::{print_json, print_text};
use crate::time_format::{format_duration, format_relative, rfc3339};

/// Show daemon status
///
/// Exit code 0: the daemon is running; 1: it is not, and only the information in the store is shown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Lines of the output:
  sources          number of sources, and how many of them are new, failing, gone or paused
  budget           fetches per day, and how many were spent in the last 24 hours
  fresh            estimated share of up-to-date copies, weighted by importance
  price            staleness that a fetch must end to be made; it rises as the budget shrinks
  fetchers         fetches in flight, and the current limit
  next fetch       time at which the next source is due, or why nothing is fetched
  needs attention  why the store cannot be written; fetching is suspended until it can be
  notifications    destinations of `freshet notify`, and which of them fail, why and since when

Examples:
  freshet status
  freshet status --json")]
pub(crate) struct StatusArguments {
    /// Print the status as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// JSON object of the status.
#[derive(Serialize)]
struct StatusReport {
    running: bool,
    at: String,
    store: String,
    sources: u64,
    paused: u64,
    new: u64,
    failing: u64,
    gone: u64,
    disallowed: u64,
    budget_a_day: f64,
    spent_last_day: f64,
    bytes_last_day: u64,
    cursor: i64,
    /// State of the destinations of notifications.
    destinations: DestinationHealth,
    /// State of the daemon, if it is running.
    daemon: Option<DaemonReport>,
}

#[derive(Serialize)]
struct DaemonReport {
    since: String,
    fetches: u64,
    requests: u64,
    bytes: u64,
    changes: u64,
    failures: u64,
    freshness: f64,
    price: f64,
    outlook: f64,
    saturated_hosts: u64,
    next_wake: Option<String>,
    crew_active: u32,
    crew_target: u32,
    crew_fixed: u32,
    waiting_to_be_written: u32,
    trouble: Option<String>,
}

const DAY_MILLIS: i64 = 86_400_000;

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let status = match instance.daemon()? {
        None => None,
        Some(mut client) => match call_daemon(&mut client, ControlRequest::Status)? {
            ControlResponse::Status(status) => Some(*status),
            _ => return Err(unexpected_reply()),
        },
    };
    let now = clock::now_millis();
    let report =
        StatusReport::new(&instance, instance.reader_if_any()?.as_ref(), status.as_ref(), now)?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print_text(&report.text(&instance, status.as_ref(), now))?;
    }
    Ok(if report.running { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl StatusReport {
    fn new(
        instance: &Instance,
        reader: Option<&Reader>,
        status: Option<&DaemonStatus>,
        now: i64,
    ) -> Result<Self, Failure> {
        let count_sources =
            |query: SourceQuery| reader.map_or(Ok(0), |reader| reader.count_sources(&query));
        let state =
            |state| count_sources(SourceQuery { state: Some(state), ..SourceQuery::default() });
        let sources = count_sources(SourceQuery::default())?;
        let spent = reader.map_or(Ok(Vec::new()), |reader| reader.ledger(now - DAY_MILLIS))?;
        let budget = match reader {
            Some(reader) => instance.config.effective_budget(reader)?,
            None => instance.config.budget,
        };
        let budget = budget.for_sources(sources as usize).get();
        Ok(Self {
            running: status.is_some(),
            at: rfc3339(now),
            store: instance.config.store.display().to_string(),
            sources,
            paused: count_sources(SourceQuery { paused: Some(true), ..SourceQuery::default() })?,
            new: state(SourceState::New)?,
            failing: state(SourceState::Failing)?,
            gone: state(SourceState::Gone)?,
            disallowed: state(SourceState::Disallowed)?,
            budget_a_day: status.map_or(budget, |status| status.budget),
            spent_last_day: fetches_spent(&spent, status),
            bytes_last_day: spent.iter().map(|it| it.bytes).sum(),
            cursor: reader.map_or(Ok(0), Reader::last_cursor)?,
            destinations: reader
                .map_or(Ok(DestinationHealth::default()), DestinationHealth::read)?,
            daemon: status.map(DaemonReport::new),
        })
    }

    fn text(&self, instance: &Instance, status: Option<&DaemonStatus>, now: i64) -> String {
        let mut out = String::new();
        let mut line = |name: &str, words: String| {
            let _ = writeln!(out, "{name:<17}{words}");
        };
        match status {
            Some(status) => {
                line("daemon", format!("running for {}", format_duration(now - status.started_at)))
            }
            None => line("daemon", "not running; start it with `freshet run`".to_owned()),
        }
        line("sources", self.sources_text());
        line("budget", self.budget_text(instance));
        if let Some(status) = status {
            line("fresh", format!("{:.1} % of copies, by importance", 100.0 * status.freshness));
            if let Some(words) = price(status, &instance.config.objective.to_string()) {
                line("price", words);
            }
            line("fetches", self.fetches_text(status));
            let crew = status.concurrency;
            let waiting = pluralize(crew.waiting as usize, "fetch waits", "fetches wait");
            let words = format!("{} of {} busy; {waiting}", crew.active, crew.target);
            line("fetchers", format!("{words} to be written"));
            if let Some(words) = self.next_fetch_text(instance, status, now) {
                line("next fetch", words);
            }
            if let Some(error) = &status.write_error {
                line("needs attention", format!("cannot write: {error}; fetching is suspended"));
            }
        }
        line("changes", format!("cursor {}; see `freshet changes`", self.cursor));
        if self.destinations.all > 0 {
            line("notifications", destinations::summary(&self.destinations));
            for words in destinations::unhealthy(&self.destinations, now) {
                line("", words);
            }
        }
        line("store", self.store.clone());
        out
    }

    fn sources_text(&self) -> String {
        let mut words = format_count(self.sources as usize);
        let kinds = [
            (self.new, "never fetched"),
            (self.failing, "failing"),
            (self.gone, "gone"),
            (self.disallowed, "disallowed"),
            (self.paused, "paused"),
        ];
        for (number, kind) in kinds.into_iter().filter(|(number, _)| *number > 0) {
            let _ = write!(words, ", {} {kind}", format_count(number as usize));
        }
        words
    }

    fn budget_text(&self, instance: &Instance) -> String {
        let mut words = format!(
            "{} fetch{} a day, {} spent in the last 24 h",
            format_significant(self.budget_a_day),
            if self.budget_a_day == 1.0 { "" } else { "es" },
            format_significant(self.spent_last_day)
        );
        if let Some(bytes) = instance.config.bytes_per_day {
            let spent = format_bytes(self.bytes_last_day as f64);
            let _ = write!(words, "; {spent} of {} a day received", format_bytes(bytes));
        }
        words
    }

    /// Describes the time of the next fetch, or why nothing is fetched.
    fn next_fetch_text(
        &self,
        instance: &Instance,
        status: &DaemonStatus,
        now: i64,
    ) -> Option<String> {
        let spent =
            instance.config.bytes_per_day.is_some_and(|cap| self.bytes_last_day as f64 >= cap);
        match status.next_wake_at {
            _ if self.budget_a_day == 0.0 => {
                Some("none: the budget is 0; `freshet check URL` fetches a source".to_owned())
            }
            _ if spent => Some("none until the limit of bytes per day allows more".to_owned()),
            wake => wake.map(|wake| format_relative(wake.max(now), now)),
        }
    }

    fn fetches_text(&self, status: &DaemonStatus) -> String {
        format!(
            "{} since the start, {} changed, {} failed; {}",
            format_count(status.fetches as usize),
            format_count(status.changes as usize),
            format_count(status.failures as usize),
            format_bytes(status.bytes as f64)
        )
    }
}

impl DaemonReport {
    fn new(status: &DaemonStatus) -> Self {
        Self {
            since: rfc3339(status.started_at),
            fetches: status.fetches,
            requests: status.requests,
            bytes: status.bytes,
            changes: status.changes,
            failures: status.failures,
            freshness: status.freshness,
            price: status.price,
            outlook: status.long_run_price,
            saturated_hosts: status.saturated_hosts,
            next_wake: status.next_wake_at.map(rfc3339),
            crew_active: status.concurrency.active,
            crew_target: status.concurrency.target,
            crew_fixed: status.concurrency.fixed,
            waiting_to_be_written: status.concurrency.waiting,
            trouble: status.write_error.clone(),
        }
    }
}

/// Returns the number of fetches that were made: all that were paid for, without those that the daemon
/// has not started yet.
fn fetches_spent(ledger: &[LedgerEntry], status: Option<&DaemonStatus>) -> f64 {
    let paid: f64 = ledger.iter().map(|it| it.fetches).sum();
    let spent = (paid - status.map_or(0.0, |status| status.prepaid)).max(0.0);
    // Rounds off the errors of adding fractions of a fetch.
    (1e6 * spent).round() / 1e6
}

/// Describes the price of a fetch, where it has a meaning without its unit, and the saturated hosts.
fn price(status: &DaemonStatus, objective: &str) -> Option<String> {
    let words = match status.price {
        _ if status.budget <= 0.0 => return Some("none: the budget is 0".to_owned()),
        price if price <= 0.0 => Some("0: the budget allows every useful fetch".to_owned()),
        price if price > MAX_PRICE => Some("infinite: the budget allows no fetch".to_owned()),
        // With the harmonic objective the value of a fetch is importance × expected stale time.
        price if objective == "harmonic" => {
            Some(format!("a fetch must end {} of staleness, at importance 1", format_days(price)))
        }
        _ => None,
    };
    if status.saturated_hosts == 0 {
        return words;
    }
    let hosts = pluralize(status.saturated_hosts as usize, "host is", "hosts are");
    let saturated = format!("{hosts} at the rate limit");
    Some(words.map_or_else(|| saturated.clone(), |words| format!("{words}; {saturated}")))
}

/// Prices above this stand for an infinite price.
const MAX_PRICE: f64 = 1e90;

pub(crate) fn format_bytes(bytes: f64) -> String {
    match bytes {
        _ if bytes >= 1e9 => format!("{} GB", format_significant(bytes / 1e9)),
        _ if bytes >= 1e6 => format!("{} MB", format_significant(bytes / 1e6)),
        _ if bytes >= 1e3 => format!("{} kB", format_significant(bytes / 1e3)),
        _ => format!("{bytes} bytes"),
    }
}
