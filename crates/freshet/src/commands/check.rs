//! `freshet check`.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::{
    Clock, ControlRequest, ControlResponse, FetchPreview, OfflineFetcher, parse_source_url,
};
use freshet_store::{Observation, Reader, StoredOutcome};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use crate::clock;
use crate::commands::detect::remarks;
use crate::commands::fetch;
use crate::commands::instance::{ConfigArguments, Editor, Instance, call_daemon, unexpected_reply};
use crate::commands::show::outcome_name;
use crate::commands::status::format_bytes;
use crate::failure::Failure;
use crate::output::{print_json, print_note, print_text};
use crate::terminal;
use crate::time_format::{format_duration, format_relative, rfc3339};

/// Fetch a URL now and show the result
///
/// A source is fetched as by the daemon, and by the daemon itself if it is running: the result is recorded
/// and counted against the budget. Any other URL is only fetched and shown. Exit code 0: a copy was
/// returned or confirmed; 1: it was not; 2: the fetch could not be attempted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet check https://example.com/
  freshet check https://example.com/ --json")]
pub(crate) struct CheckArguments {
    /// URL to fetch
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Fetch even if the host is in cooldown
    #[arg(long)]
    pub(crate) force: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Maximum cooldown of a host that the command waits for without --force, in milliseconds.
const MAX_COOLDOWN_WAIT: i64 = 10_000;

/// Result of a check, as printed by `--json`.
#[derive(Serialize)]
struct CheckReport {
    url: String,
    recorded: bool,
    outcome: &'static str,
    at: String,
    status: Option<u16>,
    bytes: u64,
    milliseconds: u64,
    note: Option<String>,
    summary: Option<String>,
    version: Option<u32>,
    /// Compared content, for a URL that is not a source.
    text: Option<String>,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let (url, _) = parse_source_url(&arguments.url).map_err(|error| {
        Failure::new(error).with_hint("give the full URL, such as `https://example.com/`")
    })?;
    let known = instance.reader_if_any()?.map(|reader| reader.find_source(&url)).transpose()?;
    match known.flatten() {
        Some(id) => check_source(arguments, &instance, &url, id),
        None => check_url(arguments, &instance, &url),
    }
}

fn new_runtime() -> Result<Runtime, Failure> {
    // Long documents are parsed on a thread of their own.
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start: {error}")))
}

fn check_source(
    arguments: &CheckArguments,
    instance: &Instance,
    url: &str,
    id: u32,
) -> Result<ExitCode, Failure> {
    let reader = instance.reader()?;
    if !arguments.force {
        wait_for_host(&reader, id)?;
    }
    let before = reader.last_cursor()?;
    match instance.editor()? {
        Editor::Daemon(mut client) => {
            match call_daemon(&mut client, ControlRequest::Check(url.to_owned()))? {
                ControlResponse::Done => {}
                _ => return Err(unexpected_reply()),
            }
        }
        Editor::Store(mut store) => {
            instance.config.check_fetch_secrets()?;
            let clock = Clock::new(Box::new(clock::now_millis), 1.0);
            let alone = OfflineFetcher::new(instance.config.clone(), clock);
            if let Some(rests) = new_runtime()?.block_on(alone.check_source(&mut store, id))? {
                return Err(cooldown_failure(&rests.0, rests.1));
            }
        }
    }
    let latest = reader.history(id, 1)?;
    let Some(latest) = latest.first() else {
        return Err(Failure::new(format!("{url} was not fetched, and nothing was recorded")));
    };
    let filter = freshet_store::ChangeFilter { source: Some(id), ..Default::default() };
    let change = reader.changes(before, 1, &filter)?.pop();
    let summary = change.map(|it| it.change.summary);
    let version = reader.source(id)?.map(|source| source.version);
    if arguments.json {
        let report = CheckReport {
            url: url.to_owned(),
            recorded: true,
            outcome: outcome_name(latest.outcome),
            at: rfc3339(latest.at),
            status: Some(latest.status).filter(|status| *status > 0),
            bytes: latest.bytes,
            milliseconds: latest.duration_ms.into(),
            note: Some(latest.note.clone()).filter(|note| !note.is_empty()),
            summary,
            version,
            text: None,
        };
        print_json(&report)?;
    } else {
        print_text(&describe(latest, summary.as_deref()))?;
    }
    Ok(match latest.outcome {
        StoredOutcome::First | StoredOutcome::Changed | StoredOutcome::Unchanged => {
            ExitCode::SUCCESS
        }
        StoredOutcome::Failed | StoredOutcome::Gone | StoredOutcome::Disallowed => {
            ExitCode::from(1)
        }
    })
}

/// Waits for the gap between two fetches of a host, and fails if the host is in a longer cooldown.
fn wait_for_host(reader: &Reader, id: u32) -> Result<(), Failure> {
    let Some(source) = reader.source(id)? else { return Ok(()) };
    let Some(host) = reader.host(source.host)? else { return Ok(()) };
    let now = clock::now_millis();
    let wait = host.cooldown_until.map_or(0, |until| until - now);
    if wait > MAX_COOLDOWN_WAIT {
        return Err(cooldown_failure(&host.name, wait).with_hint("fetch it anyway with --force"));
    }
    sleep(Duration::from_millis(wait.max(0).unsigned_abs()));
    Ok(())
}

fn cooldown_failure(host: &str, wait: i64) -> Failure {
    let now = clock::now_millis();
    Failure::new(format!("{host} is in cooldown, which ends {}", format_relative(now + wait, now)))
        .with_hint("try again then")
}

fn describe(it: &Observation, summary: Option<&str>) -> String {
    let outcome = match it.outcome {
        StoredOutcome::First => "first copy",
        StoredOutcome::Changed => "changed",
        StoredOutcome::Unchanged => "unchanged",
        StoredOutcome::Failed => "failed",
        StoredOutcome::Gone => "gone",
        StoredOutcome::Disallowed => "disallowed",
    };
    let mut result = outcome.to_owned();
    for detail in summary.into_iter().chain([it.note.as_str()]).filter(|text| !text.is_empty()) {
        result = format!("{result}: {}", terminal::sanitize_line(detail));
    }
    let status = if it.status > 0 { format!("status {}, ", it.status) } else { String::new() };
    let (bytes, time) = (format_bytes(it.bytes as f64), format_duration(i64::from(it.duration_ms)));
    format!("{result}\n{status}{bytes}, {time}; recorded\n")
}

/// Fetches a URL that is not a source, and shows the result without recording it.
fn check_url(
    arguments: &CheckArguments,
    instance: &Instance,
    url: &str,
) -> Result<ExitCode, Failure> {
    instance.config.check_fetch_secrets()?;
    let clock = Clock::new(Box::new(clock::now_millis), 1.0);
    // Requests to a host share its permits with the daemon, if one is running.
    let alone = match instance.daemon()? {
        Some(daemon) => OfflineFetcher::with_daemon(instance.config.clone(), clock, daemon),
        None => OfflineFetcher::new(instance.config.clone(), clock),
    };
    let looked =
        new_runtime()?.block_on(alone.preview(url, arguments.force)).map_err(Failure::new)?;
    if instance.reader_if_any()?.is_some()
        && let Editor::Store(mut store) = instance.editor()?
    {
        alone.save_hosts(&mut store)?;
    }
    let FetchPreview { answer, reading, postponed: rests } = looked;
    if let Some((host, wait)) = rests {
        return Err(cooldown_failure(&host, wait).with_hint("fetch it anyway with --force"));
    }
    let copy = reading.is_some();
    if arguments.json {
        let status = answer.trace.status();
        print_json(&CheckReport {
            url: url.to_owned(),
            recorded: false,
            outcome: answer.outcome.name(),
            at: rfc3339(clock::now_millis()),
            status,
            bytes: answer.trace.body_sizes.encoded,
            milliseconds: u64::try_from(answer.trace.duration.as_millis()).unwrap_or(u64::MAX),
            note: reading.as_ref().and_then(|reading| remarks(url, reading)),
            summary: None,
            version: None,
            text: reading.map(|reading| reading.text),
        })?;
    } else {
        print_note(fetch::summary_of(&answer).trim_end());
        if let Some(remarks) = reading.as_ref().and_then(|reading| remarks(url, reading)) {
            print_note(&remarks);
        }
        if let Some(reading) = &reading {
            let words = reading.sketch().words;
            print_note(&format!("compared      {}, {words} words\n", reading.scope.name()));
            print_text(&reading.text)?;
        }
        print_note(&format!("\nnot recorded: not a source; add it with `freshet add {url}`"));
        if let Some(hint) = fetch::hint(&answer) {
            print_note(&format!("\nhint: {hint}"));
        }
    }
    Ok(if copy { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
