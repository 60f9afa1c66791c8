//! `freshet check`.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::{Alone, Answer, Call, Clock, Looked, host_of};
use freshet_store::{Observation, Reader, StoredOutcome};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use crate::clock;
use crate::commands::detect::remarks;
use crate::commands::fetch;
use crate::commands::instance::{ConfigArguments, Editor, Home, ask, odd};
use crate::commands::show::outcome_name;
use crate::commands::status::megabytes;
use crate::failure::Failure;
use crate::output::{note, print_json, print_text};
use crate::terminal;
use crate::time_format::{from_now, length, rfc3339};

/// Fetch a URL now and show what came
///
/// A source is fetched as the daemon does it, by the daemon if one runs: what came is recorded, learnt
/// from and paid for. What is no source is fetched and shown only. Exit code 0: there is a copy; 1:
/// there is none; 2: it could not be tried.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet check https://example.com/
  freshet check https://example.com/ --json")]
pub(crate) struct CheckArguments {
    /// What to fetch
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Fetch it even if its host wants to be left alone for now
    #[arg(long)]
    pub(crate) force: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// A host that rests for longer than this is not asked without --force.
const WORTH_WAITING: i64 = 10_000;

/// What came, as programs read it.
#[derive(Serialize)]
struct Report {
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
    /// What counts of it, for what is no source.
    text: Option<String>,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let (url, _) = host_of(&arguments.url).map_err(|error| {
        Failure::new(error).hint("give the whole URL, such as `https://example.com/`")
    })?;
    let known = home.reader_if_any()?.map(|reader| reader.find_source(&url)).transpose()?;
    match known.flatten() {
        Some(id) => source(arguments, &home, &url, id),
        None => stranger(arguments, &home, &url),
    }
}

fn runtime() -> Result<Runtime, Failure> {
    // Long documents are read beside the others, which takes several threads.
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start: {error}")))
}

fn source(
    arguments: &CheckArguments,
    home: &Home,
    url: &str,
    id: u32,
) -> Result<ExitCode, Failure> {
    let reader = home.reader()?;
    if !arguments.force {
        rest(&reader, id)?;
    }
    let before = reader.last_cursor()?;
    match home.editor()? {
        Editor::Daemon(mut client) => match ask(&mut client, Call::Check(url.to_owned()))? {
            Answer::Done => {}
            _ => return Err(odd()),
        },
        Editor::Alone(mut store) => {
            home.config.fetch_secrets()?;
            let clock = Clock::new(Box::new(clock::millis), 1.0);
            let alone = Alone::new(home.config.clone(), clock);
            if let Some(rests) = runtime()?.block_on(alone.check(&mut store, id))? {
                return Err(left_alone(&rests.0, rests.1));
            }
        }
    }
    let latest = reader.history(id, 1)?;
    let Some(latest) = latest.first() else {
        return Err(Failure::new(format!("nothing came of {url}, and nothing was recorded")));
    };
    let filter = freshet_store::ChangeFilter { source: Some(id), ..Default::default() };
    let change = reader.changes(before, 1, &filter)?.pop();
    let summary = change.map(|it| it.change.summary);
    let version = reader.source(id)?.map(|source| source.version);
    if arguments.json {
        let report = Report {
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
        print_text(&words(latest, summary.as_deref()))?;
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

/// Waits for a host that is asked too soon after another fetch; one that said for how long it wants to be
/// left alone is.
fn rest(reader: &Reader, id: u32) -> Result<(), Failure> {
    let Some(source) = reader.source(id)? else { return Ok(()) };
    let Some(host) = reader.host(source.host)? else { return Ok(()) };
    let now = clock::millis();
    let wait = host.cooldown_until.map_or(0, |until| until - now);
    if wait > WORTH_WAITING {
        return Err(left_alone(&host.name, wait).hint("fetch it all the same with --force"));
    }
    sleep(Duration::from_millis(wait.max(0).unsigned_abs()));
    Ok(())
}

fn left_alone(host: &str, wait: i64) -> Failure {
    let now = clock::millis();
    Failure::new(format!("{host} is to be left alone until {}", from_now(now + wait, now)))
        .hint("try it again then")
}

fn words(it: &Observation, summary: Option<&str>) -> String {
    let outcome = match it.outcome {
        StoredOutcome::First => "the first copy",
        StoredOutcome::Changed => "changed",
        StoredOutcome::Unchanged => "unchanged",
        StoredOutcome::Failed => "failed",
        StoredOutcome::Gone => "gone",
        StoredOutcome::Disallowed => "not allowed",
    };
    let mut words = outcome.to_owned();
    for more in summary.into_iter().chain([it.note.as_str()]).filter(|text| !text.is_empty()) {
        words = format!("{words}: {}", terminal::line(more));
    }
    let status = if it.status > 0 { format!("status {}, ", it.status) } else { String::new() };
    let (bytes, time) = (megabytes(it.bytes as f64), length(i64::from(it.duration_ms)));
    format!("{words}\n{status}{bytes}, {time}; recorded\n")
}

/// What is no source is shown, and not recorded.
fn stranger(arguments: &CheckArguments, home: &Home, url: &str) -> Result<ExitCode, Failure> {
    home.config.fetch_secrets()?;
    let clock = Clock::new(Box::new(clock::millis), 1.0);
    // Hosts have one line for all that is asked of them, with a daemon and without one.
    let alone = match home.daemon()? {
        Some(daemon) => Alone::beside(home.config.clone(), clock, daemon),
        None => Alone::new(home.config.clone(), clock),
    };
    let looked = runtime()?.block_on(alone.look(url, arguments.force)).map_err(Failure::new)?;
    if home.reader_if_any()?.is_some()
        && let Editor::Alone(mut store) = home.editor()?
    {
        alone.remember(&mut store)?;
    }
    let Looked { answer, reading, rests } = looked;
    if let Some((host, wait)) = rests {
        return Err(left_alone(&host, wait).hint("fetch it all the same with --force"));
    }
    let copy = reading.is_some();
    if arguments.json {
        let status = answer.trace.status();
        print_json(&Report {
            url: url.to_owned(),
            recorded: false,
            outcome: answer.outcome.name(),
            at: rfc3339(clock::millis()),
            status,
            bytes: answer.trace.sizes.wire,
            milliseconds: u64::try_from(answer.trace.total.as_millis()).unwrap_or(u64::MAX),
            note: reading.as_ref().and_then(|reading| remarks(url, reading)),
            summary: None,
            version: None,
            text: reading.map(|reading| reading.text),
        })?;
    } else {
        note(fetch::summary_of(&answer).trim_end());
        if let Some(remarks) = reading.as_ref().and_then(|reading| remarks(url, reading)) {
            note(&remarks);
        }
        if let Some(reading) = &reading {
            let share = format!("{} words", reading.sketch().words);
            note(&format!("counts        {}, {share}\n", reading.basis.name()));
            print_text(&reading.text)?;
        }
        note(&format!("\nnot recorded: it is no source; add it with `freshet add {url}`"));
        if let Some(hint) = fetch::hint(&answer) {
            note(&format!("\nhint: {hint}"));
        }
    }
    Ok(if copy { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
