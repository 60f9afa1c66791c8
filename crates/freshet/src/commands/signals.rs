//! `freshet signals`: who says that sources have changed, and how far that is true.

mod change;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_daemon::{Answer, Call, SignalSourceError, SignalSourceState, herald_reports, host_of};
use freshet_store::{Reader, SignalSource, SignalSourceKind, SignalSourceQuery};

use crate::clock;
use crate::commands::instance::{ConfigArguments, Home, ask, odd};
use crate::failure::Failure;

/// List sources of signals, and say which sitemaps and feeds are read
///
/// A signal source says that pages have changed: a sitemap or a feed, which is read as often as that is
/// worth, or a hub, an owner or a program, which speaks by itself. How far each is true is learnt from what
/// fetches find. docs/signals.md tells more.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
What the columns mean:
  true       the share of its signals that stand for a change
  tells      the share of the changes that it tells of
  later      how long after a change its signal comes
  read every how often it is read of late
  budget     the share of the budget that takes
  brought    by how much the fetches that it led to were worth more than the price

Examples:
  freshet signals
  freshet signals add https://example.com/sitemap.xml
  freshet signals add https://example.com/feed.xml --feed --discover --include example.com/blog/
  freshet signals show https://example.com/sitemap.xml
  freshet signals rm https://example.com/sitemap.xml"
)]
pub(crate) struct SignalsArguments {
    #[command(subcommand)]
    command: Option<SignalsCommand>,

    #[command(flatten)]
    list: show::ListArguments,
}

#[derive(Debug, Subcommand)]
enum SignalsCommand {
    Add(change::AddArguments),
    Show(show::ShowArguments),
    Rm(change::RmArguments),
}

pub(crate) fn run(arguments: &SignalsArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None => show::list(&arguments.list),
        Some(SignalsCommand::Add(arguments)) => change::add(arguments),
        Some(SignalsCommand::Show(arguments)) => show::show(arguments),
        Some(SignalsCommand::Rm(arguments)) => change::rm(arguments),
    }
}

/// Which signal source.
#[derive(Debug, Args)]
struct OneArguments {
    /// Its URL or name, or its number
    #[arg(value_name = "URL|NUMBER")]
    which: String,

    #[command(flatten)]
    config: ConfigArguments,
}

/// The signal source that is meant.
fn find(reader: &Reader, which: &str) -> Result<SignalSource, Failure> {
    if let Ok(number) = which.parse::<u32>()
        && let Some(herald) = reader.signal_source(number)?
    {
        return Ok(herald);
    }
    let name = host_of(which).map_or_else(|_| which.to_owned(), |(url, _)| url);
    for kind in SignalSourceKind::ALL {
        for name in [name.as_str(), which] {
            if let Some(herald) = reader.find_signal_source(kind, name)? {
                return Ok(herald);
            }
        }
    }
    Err(Failure::new(format!("there is no signal source {which}"))
        .hint("`freshet signals` lists them; `freshet signals add URL` adds one"))
}

/// Fills in what was learnt of signal sources: by the daemon if one runs, by the store otherwise.
fn learn(home: &Home, reader: &Reader, all: &mut [SignalSourceState]) -> Result<(), Failure> {
    let reports = match home.daemon()? {
        Some(mut client) => {
            let numbers = all.iter().map(|it| it.herald.id).collect();
            match ask(&mut client, Call::Heralds(numbers))? {
                Answer::Heralds(reports) => reports,
                _ => return Err(odd()),
            }
        }
        None => {
            let heralds: Vec<SignalSource> = all.iter().map(|it| it.herald.clone()).collect();
            herald_reports(&home.config, reader, clock::millis(), &heralds)?
        }
    };
    for (it, report) in all.iter_mut().zip(reports) {
        it.report = report;
    }
    Ok(())
}

/// What may be spent in a day.
fn budget(home: &Home, reader: &Reader) -> Result<f64, Failure> {
    let sources = reader.count_sources(&freshet_store::SourceQuery::default())? as usize;
    Ok(home.config.budget_in_force(reader)?.for_sources(sources).get())
}

/// One by its number.
fn now_of(reader: &Reader, number: u32) -> Result<Vec<SignalSourceState>, Failure> {
    let after = number.checked_sub(1);
    let query = SignalSourceQuery { after, limit: 1, ..SignalSourceQuery::default() };
    let mut found = SignalSourceState::all(reader, &query)?;
    found.retain(|it| it.herald.id == number);
    Ok(found)
}

impl From<SignalSourceError> for Failure {
    fn from(error: SignalSourceError) -> Self {
        match error.hint() {
            Some(hint) => Self::new(error).hint(hint),
            None => Self::new(error),
        }
    }
}
