//! `freshet signals`: signal sources, and how reliable they are.

mod change;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_daemon::{
    ControlRequest, ControlResponse, SignalSourceError, SignalSourceState, parse_source_url,
    signal_source_reports_offline,
};
use freshet_store::{Reader, SignalSource, SignalSourceKind, SignalSourceQuery};

use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance, call_daemon, unexpected_reply};
use crate::failure::Failure;

/// Manage signal sources, such as sitemaps and feeds
///
/// A signal source reports that pages have changed: a sitemap or a feed, which is polled as often as it is
/// worth, or a WebSub hub, a site owner or a program, which pushes signals. How reliable each one is, is
/// learned from fetches. Without a subcommand, all signal sources are listed. See docs/guides/signals.md.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Columns of the list:
  precision   share of its signals that stand for a change
  recall      share of the changes that it reports
  delay       time from a change to its signal
  read every  current interval between reads
  budget      share of the budget that the reads take
  gain        value of the fetches that it caused, above their price
  last        time of the last read or signal
  outcome     outcome of the last read

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

/// One signal source.
#[derive(Debug, Args)]
struct SignalSourceArgument {
    /// URL, name or number of the signal source
    #[arg(value_name = "URL|NUMBER")]
    name: String,

    #[command(flatten)]
    config: ConfigArguments,
}

/// Returns the signal source with a URL, name or number.
fn find(reader: &Reader, text: &str) -> Result<SignalSource, Failure> {
    if let Ok(number) = text.parse::<u32>()
        && let Some(signal_source) = reader.signal_source(number)?
    {
        return Ok(signal_source);
    }
    let name = parse_source_url(text).map_or_else(|_| text.to_owned(), |(url, _)| url);
    for kind in SignalSourceKind::ALL {
        for name in [name.as_str(), text] {
            if let Some(signal_source) = reader.find_signal_source(kind, name)? {
                return Ok(signal_source);
            }
        }
    }
    Err(Failure::new(format!("there is no signal source {text}"))
        .with_hint("`freshet signals` lists them; `freshet signals add URL` adds one"))
}

/// Fills in the statistics of signal sources, from the daemon if one is running, or else from the store.
fn fill_in_reports(
    instance: &Instance,
    reader: &Reader,
    all: &mut [SignalSourceState],
) -> Result<(), Failure> {
    let reports = match instance.daemon()? {
        Some(mut client) => {
            let numbers = all.iter().map(|it| it.signal_source.id).collect();
            match call_daemon(&mut client, ControlRequest::SignalSourceReports(numbers))? {
                ControlResponse::SignalSourceReports(reports) => reports,
                _ => return Err(unexpected_reply()),
            }
        }
        None => {
            let signal_sources: Vec<SignalSource> =
                all.iter().map(|it| it.signal_source.clone()).collect();
            signal_source_reports_offline(
                &instance.config,
                reader,
                clock::now_millis(),
                &signal_sources,
            )?
        }
    };
    for (it, report) in all.iter_mut().zip(reports) {
        it.report = report;
    }
    Ok(())
}

/// Returns the budget in fetches per day.
fn budget(instance: &Instance, reader: &Reader) -> Result<f64, Failure> {
    let sources = reader.count_sources(&freshet_store::SourceQuery::default())? as usize;
    Ok(instance.config.effective_budget(reader)?.for_sources(sources).get())
}

/// Reads the state of a signal source by its number.
fn read_state(reader: &Reader, number: u32) -> Result<Vec<SignalSourceState>, Failure> {
    let after = number.checked_sub(1);
    let query = SignalSourceQuery { after, limit: 1, ..SignalSourceQuery::default() };
    let mut found = SignalSourceState::load(reader, &query)?;
    found.retain(|it| it.signal_source.id == number);
    Ok(found)
}

impl From<SignalSourceError> for Failure {
    fn from(error: SignalSourceError) -> Self {
        match error.hint() {
            Some(hint) => Self::new(error).with_hint(hint),
            None => Self::new(error),
        }
    }
}
