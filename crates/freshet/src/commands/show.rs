//! `freshet show`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{Answer, Call, Explained, SignalsNow, explain};
use freshet_store::{Observation, Source, StoredOutcome, VersionMeta};
use serde::Serialize;

use crate::clock;
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Home, ask, odd};
use crate::commands::ls::{HostOf, Row, state_name};
use crate::commands::status::megabytes;
use crate::failure::Failure;
use crate::number::{days, significant};
use crate::output::{print_json, print_text};
use crate::terminal;
use crate::time_format::{from_now, last, length, rfc3339};

/// Show a source: what is believed of it, why and when it is fetched next, and its history
#[derive(Debug, Args)]
#[command(after_long_help = "\
What the lines mean:
  changes  how often it changes, as far as its fetches tell
  fresh    the chance that the copy is up to date
  worth    what a fetch would bring now; it is made when that reaches the price
  signals  what sitemaps, feeds and others said since the last fetch, and what that moved
  next     when it is fetched next, and why then

Examples:
  freshet show https://example.com/
  freshet show https://example.com/ --limit 100 --json")]
pub(crate) struct ShowArguments {
    /// The source
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// How many fetches are shown at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,

    /// Print it as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// A source with all that is known of it, as programs read it.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    source: Row,
    running: bool,
    believed: Option<Believed>,
    history: Vec<Fetch>,
    kept: Vec<Version>,
}

#[derive(Serialize)]
struct Believed {
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
    signals: Option<Signals>,
}

/// What signals have to do with the next fetch.
#[derive(Serialize)]
struct Signals {
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
struct Fetch {
    at: String,
    outcome: &'static str,
    status: Option<u16>,
    bytes: u64,
    milliseconds: u32,
    note: Option<String>,
}

#[derive(Serialize)]
struct Version {
    version: u32,
    first_seen: String,
    digest: String,
    kind: String,
    bytes: u64,
}

pub(crate) fn run(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let id = find(&reader, &arguments.url)?;
    let source = reader
        .source(id)?
        .ok_or_else(|| Failure::new(format!("there is no source {}", arguments.url)))?;
    let now = clock::millis();
    let daemon = home.daemon()?;
    let running = daemon.is_some();
    let explained = match daemon {
        None => explain(&home.config, &reader, now, id)?,
        Some(mut client) => match ask(&mut client, Call::Explain(source.url.clone()))? {
            Answer::Explained(explained) => Some(*explained),
            _ => return Err(odd()),
        },
    };
    let history = reader.history(id, arguments.limit)?;
    let versions = reader.versions(id)?;
    let host = HostOf { idle: home.rests(&reader)?, ..HostOf::find(&reader, source.host)? };
    if arguments.json {
        let rate = explained.as_ref().filter(|_| source.fetched_at.is_some());
        print_json(&Report {
            source: Row::of(&source, &host, rate.map(|it| it.changes_a_day), now),
            running,
            believed: explained.as_ref().map(Believed::of),
            history: history.iter().map(Fetch::of).collect(),
            kept: versions.iter().map(Version::of).collect(),
        })?;
    } else {
        let mut out = about(&source, &host.name, now);
        if let Some(explained) = &explained {
            let stands = Stands { running, rests: host.idle };
            believed(&mut out, &source, explained, stands, now);
        }
        past(&mut out, &history, &versions, now);
        print_text(&out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(out: &mut String, name: &str, words: &str) {
    let _ = writeln!(out, "{name:<12}{}", terminal::line(words));
}

/// What its owner said, and how it is.
fn about(source: &Source, host: &str, now: i64) -> String {
    let mut out = format!("{}\n\n", terminal::line(&source.url));
    let failures = match source.failures {
        0 => String::new(),
        some => format!(", {some} failures in a row"),
    };
    row(&mut out, "state", &format!("{}{failures}", state_name(source)));
    row(&mut out, "host", host);
    let cost = match source.cost {
        1.0 => String::new(),
        cost => format!(", a fetch costs {}", significant(cost)),
    };
    row(&mut out, "importance", &format!("{}{cost}", significant(source.importance)));
    let (least, most) = (source.min_interval, source.max_interval);
    match (least > 0.0, most.is_finite()) {
        (true, true) => row(&mut out, "interval", &format!("{} to {}", days(least), days(most))),
        (true, false) => row(&mut out, "interval", &format!("{} or more", days(least))),
        (false, true) => row(&mut out, "interval", &format!("{} or less", days(most))),
        (false, false) => {}
    }
    let said = [("objective", &source.goal), ("counts", &source.settings)];
    for (name, text) in said.into_iter().filter(|(_, text)| !text.is_empty()) {
        row(&mut out, name, text);
    }
    if !source.tags.is_empty() {
        row(&mut out, "tags", &source.tags.join(", "));
    }
    let fetches = match source.fetches {
        0 => String::new(),
        some => format!(", {some} fetches"),
    };
    row(&mut out, "added", &format!("{}{fetches}", from_now(source.added_at, now)));
    row(&mut out, "copy of", &last(source.fetched_at, now));
    row(&mut out, "changed", &last(source.changed_at, now));
    out
}

/// Why nothing may be fetched whatever it is worth.
#[derive(Clone, Copy)]
struct Stands {
    running: bool,
    /// The budget is 0.
    rests: bool,
}

fn believed(out: &mut String, source: &Source, it: &Explained, stands: Stands, now: i64) {
    if source.fetched_at.is_some() {
        let (low, high) = it.between;
        let words = format!(
            "every {} on average; with 95 % between {} and {}",
            days(1.0 / it.changes_a_day),
            days(1.0 / high),
            days(1.0 / low)
        );
        row(out, "changes", &words);
    }
    if let Some(fresh) = it.fresh {
        row(out, "fresh", &format!("with a chance of {:.0} %", 100.0 * fresh));
    }
    if stands.rests && !matches!(it.standing.as_str(), "fetching" | "paused" | "gone") {
        row(out, "next", "not by itself: the budget is 0; `freshet check URL` fetches it");
        return;
    }
    match it.worth {
        Some(worth) if it.price > 0.0 && !it.unpaid => {
            let share = 100.0 * worth / it.price;
            let (worth, price) = (significant(worth), significant(it.price));
            row(out, "worth", &format!("{worth} now, {share:.0} % of the price of {price}"));
        }
        _ if it.unpaid => {}
        _ if it.price <= 0.0 => row(out, "price", "0: every fetch is worth it"),
        _ => row(out, "price", &significant(it.price)),
    }
    if let Some(signals) = &it.signals {
        row(out, "signals", &signals.words(it.worth_it.filter(|_| !it.unpaid), now));
    }
    let due = it.due.map_or(String::new(), |due| format!(" ({})", from_now(due.max(now), now)));
    let stands = if stands.running { "" } else { "; no daemon runs" };
    match it.host_rests {
        None => row(out, "next", &format!("{}{due}{stands}", it.headline)),
        Some(_) => {
            let words = format!("{}, but its host is to be left alone until then", it.headline);
            row(out, "next", &format!("{words}{due}{stands}"));
        }
    }
}

fn past(out: &mut String, history: &[Observation], versions: &[VersionMeta], now: i64) {
    if !history.is_empty() {
        out.push_str("\nfetches\n");
    }
    for it in history {
        let status = if it.status > 0 { it.status.to_string() } else { String::new() };
        let line = format!(
            "  {:>10}  {:<10}  {status:>3}  {:>10}  {:>7}  {}",
            from_now(it.at, now),
            outcome_name(it.outcome),
            megabytes(it.bytes as f64),
            length(i64::from(it.duration_ms)),
            terminal::line(&it.note),
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
            from_now(it.first_seen_at, now),
            megabytes(it.size as f64),
            terminal::line(&it.content_kind),
        );
    }
}

/// What a fetch brought, in a word.
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

impl Believed {
    fn of(it: &Explained) -> Self {
        Self {
            standing: it.standing.clone(),
            because: it.headline.clone(),
            due: it.due.map(rfc3339),
            host_rests_until: it.host_rests.map(rfc3339),
            changes_a_day: it.changes_a_day,
            changes_a_day_low: it.between.0,
            changes_a_day_high: it.between.1,
            worth: it.worth,
            price: it.price,
            fresh: it.fresh,
            signals: it.signals.as_ref().map(Signals::of),
        }
    }
}

impl Signals {
    fn of(it: &SignalsNow) -> Self {
        Self {
            signal_source: it.number,
            url: it.name.clone(),
            signals: it.signals,
            first: it.first.map(rfc3339),
            last: it.last.map(rfc3339),
            precision: it.precision,
            recall: it.recall,
            due_without: it.due_without.map(rfc3339),
            moved_seconds: it.moved,
        }
    }
}

impl Fetch {
    fn of(it: &Observation) -> Self {
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

impl Version {
    fn of(it: &VersionMeta) -> Self {
        Self {
            version: it.number,
            first_seen: rfc3339(it.first_seen_at),
            digest: format!("{:032x}", u128::from_be_bytes(it.digest)),
            kind: it.content_kind.clone(),
            bytes: it.size,
        }
    }
}
