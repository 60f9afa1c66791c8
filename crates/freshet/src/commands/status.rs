//! `freshet status`.

mod told;

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{Answer, Call, Status};
use freshet_notify::DestinationHealth;
use freshet_store::{LedgerEntry, Reader, SourceQuery, SourceState};
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Home, ask, odd};
use crate::failure::Failure;
use crate::number::{count, days, plural, significant};
use crate::output::{print_json, print_text};
use crate::time_format::{from_now, length, rfc3339};

/// Show how it goes: sources, budget, freshness, and what the daemon does
///
/// Exit code 0: the daemon runs; 1: it does not, and what is shown is what the store knows.
#[derive(Debug, Args)]
#[command(after_long_help = "\
What the lines mean:
  sources  how many there are, and how many of them are in a state of their own
  budget   fetches a day by the configuration, and what was spent
  fresh    the share of copies that are believed to be up to date, by importance
  price    what a fetch must be worth to be made: the smaller the budget, the higher
  crew     fetches under way, and how many there may be
  next     when the daemon looks for something to do, or why it does not
  trouble  why nothing can be written; fetching rests until it can be
  told     destinations of `freshet notify`, and which of them are not told, why and since when

Examples:
  freshet status
  freshet status --json")]
pub(crate) struct StatusArguments {
    /// Print it as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// How it goes, as programs read it.
#[derive(Serialize)]
struct Report {
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
    /// How it goes with those who are told of changes.
    destinations: DestinationHealth,
    /// What only the daemon knows.
    daemon: Option<Daemon>,
}

#[derive(Serialize)]
struct Daemon {
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

const DAY: i64 = 86_400_000;

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let status = match home.daemon()? {
        None => None,
        Some(mut client) => match ask(&mut client, Call::Status)? {
            Answer::Status(status) => Some(*status),
            _ => return Err(odd()),
        },
    };
    let now = clock::millis();
    let report = Report::of(&home, home.reader_if_any()?.as_ref(), status.as_ref(), now)?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print_text(&report.text(&home, status.as_ref(), now))?;
    }
    Ok(if report.running { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Report {
    fn of(
        home: &Home,
        reader: Option<&Reader>,
        status: Option<&Status>,
        now: i64,
    ) -> Result<Self, Failure> {
        let counted =
            |query: SourceQuery| reader.map_or(Ok(0), |reader| reader.count_sources(&query));
        let state = |state| counted(SourceQuery { state: Some(state), ..SourceQuery::default() });
        let sources = counted(SourceQuery::default())?;
        let spent = reader.map_or(Ok(Vec::new()), |reader| reader.ledger(now - DAY))?;
        let budget = match reader {
            Some(reader) => home.config.budget_in_force(reader)?,
            None => home.config.budget,
        };
        let budget = budget.for_sources(sources as usize).get();
        Ok(Self {
            running: status.is_some(),
            at: rfc3339(now),
            store: home.config.store.display().to_string(),
            sources,
            paused: counted(SourceQuery { paused: Some(true), ..SourceQuery::default() })?,
            new: state(SourceState::New)?,
            failing: state(SourceState::Failing)?,
            gone: state(SourceState::Gone)?,
            disallowed: state(SourceState::Disallowed)?,
            budget_a_day: status.map_or(budget, |status| status.budget),
            spent_last_day: spent_of(&spent, status),
            bytes_last_day: spent.iter().map(|it| it.bytes).sum(),
            cursor: reader.map_or(Ok(0), Reader::last_cursor)?,
            destinations: reader
                .map_or(Ok(DestinationHealth::default()), DestinationHealth::read)?,
            daemon: status.map(Daemon::of),
        })
    }

    fn text(&self, home: &Home, status: Option<&Status>, now: i64) -> String {
        let mut out = String::new();
        let mut line = |name: &str, words: String| {
            let _ = writeln!(out, "{name:<10}{words}");
        };
        match status {
            Some(status) => line("daemon", format!("runs for {}", length(now - status.since))),
            None => line("daemon", "does not run; start it with `freshet run`".to_owned()),
        }
        line("sources", self.sources_in_words());
        line("budget", self.budget_in_words(home));
        if let Some(status) = status {
            line("fresh", format!("{:.1} % of copies, by importance", 100.0 * status.freshness));
            line("price", price(status, &home.config.objective.to_string()));
            line("fetches", self.fetches_in_words(status));
            let crew = status.crew;
            let waiting = plural(crew.waiting as usize, "fetch waits", "fetches wait");
            let words = format!("{} of {} fetchers busy; {waiting}", crew.active, crew.target);
            line("crew", format!("{words} to be written"));
            if let Some(words) = self.next_in_words(home, status, now) {
                line("next", words);
            }
            if let Some(trouble) = &status.trouble {
                line("trouble", format!("cannot write: {trouble}; fetching rests"));
            }
        }
        line("changes", format!("cursor {}; see `freshet changes`", self.cursor));
        if self.destinations.all > 0 {
            line("told", told::summary(&self.destinations));
            for words in told::troubles(&self.destinations, now) {
                line("", words);
            }
        }
        line("store", self.store.clone());
        out
    }

    fn sources_in_words(&self) -> String {
        let mut words = count(self.sources as usize);
        let kinds = [
            (self.new, "never fetched"),
            (self.failing, "failing"),
            (self.gone, "gone"),
            (self.disallowed, "disallowed"),
            (self.paused, "paused"),
        ];
        for (some, kind) in kinds.into_iter().filter(|(some, _)| *some > 0) {
            let _ = write!(words, ", {} {kind}", count(some as usize));
        }
        words
    }

    fn budget_in_words(&self, home: &Home) -> String {
        let mut words = format!(
            "{} fetch{} a day, {} spent in the last 24 h",
            significant(self.budget_a_day),
            if self.budget_a_day == 1.0 { "" } else { "es" },
            significant(self.spent_last_day)
        );
        if let Some(bytes) = home.config.bytes {
            let spent = megabytes(self.bytes_last_day as f64);
            let _ = write!(words, "; {} a day, {spent} came", megabytes(bytes));
        }
        words
    }

    /// When something will be done, or why nothing will.
    fn next_in_words(&self, home: &Home, status: &Status, now: i64) -> Option<String> {
        let spent = home.config.bytes.is_some_and(|most| self.bytes_last_day as f64 >= most);
        match status.wake {
            _ if self.budget_a_day == 0.0 => {
                Some("no fetch: the budget is 0; `freshet check URL` makes one".to_owned())
            }
            _ if spent => Some("no fetch until the cap on bytes allows more".to_owned()),
            wake => wake.map(|wake| format!("a look {}", from_now(wake.max(now), now))),
        }
    }

    fn fetches_in_words(&self, status: &Status) -> String {
        format!(
            "{} since the start, {} changed, {} failed; {}",
            count(status.fetches as usize),
            count(status.changes as usize),
            count(status.failures as usize),
            megabytes(status.bytes as f64)
        )
    }
}

impl Daemon {
    fn of(status: &Status) -> Self {
        Self {
            since: rfc3339(status.since),
            fetches: status.fetches,
            requests: status.requests,
            bytes: status.bytes,
            changes: status.changes,
            failures: status.failures,
            freshness: status.freshness,
            price: status.price,
            outlook: status.outlook,
            saturated_hosts: status.saturated_hosts,
            next_wake: status.wake.map(rfc3339),
            crew_active: status.crew.active,
            crew_target: status.crew.target,
            crew_fixed: status.crew.fixed,
            waiting_to_be_written: status.crew.waiting,
            trouble: status.trouble.clone(),
        }
    }
}

/// What was spent: all that was paid for, without what the daemon has not asked for yet.
fn spent_of(ledger: &[LedgerEntry], status: Option<&Status>) -> f64 {
    let paid: f64 = ledger.iter().map(|it| it.fetches).sum();
    let spent = (paid - status.map_or(0.0, |status| status.ahead)).max(0.0);
    // Sums of shares of a fetch have no more digits.
    (1e6 * spent).round() / 1e6
}

/// The price in words, if copies are to be good for this.
pub(crate) fn price(status: &Status, objective: &str) -> String {
    let mut words = match status.price {
        _ if status.budget <= 0.0 => return "no fetch can be paid for".to_owned(),
        price if price <= 0.0 => "every fetch is worth it".to_owned(),
        price if price > 1e90 => "no fetch is worth it".to_owned(),
        // By the harmonic objective a fetch is worth the time that the copy has been stale.
        price if objective == "harmonic" => {
            format!("a fetch must end {} of being stale", days(price))
        }
        price => format!("a fetch must be worth {}", significant(price)),
    };
    if status.saturated_hosts > 0 {
        let hosts = plural(status.saturated_hosts as usize, "host", "hosts");
        let _ = write!(words, "; {hosts} cannot take all that is");
    }
    words
}

pub(crate) fn megabytes(bytes: f64) -> String {
    match bytes {
        _ if bytes >= 1e9 => format!("{} GB", significant(bytes / 1e9)),
        _ if bytes >= 1e6 => format!("{} MB", significant(bytes / 1e6)),
        _ if bytes >= 1e3 => format!("{} kB", significant(bytes / 1e3)),
        _ => format!("{bytes} bytes"),
    }
}
