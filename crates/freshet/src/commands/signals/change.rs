//! `freshet signals add` and `rm`.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{
    Answer, Call, DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch, add_herald,
    remove_herald,
};

use super::{OneArguments, find};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Editor, Home, ask, odd};
use crate::failure::Failure;
use crate::number::plural;
use crate::output::note;

/// Have a sitemap or feed read
///
/// What it says of pages that are sources counts as far as it proves true. One that is known is described
/// anew. What is at the URL is read whatever it is called: an index of sitemaps with all its parts.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet signals add https://example.com/sitemap.xml
  freshet signals add https://example.com/feed.xml --feed --max-interval 1h
  freshet signals add https://example.com/sitemap.xml --discover --include example.com/blog/ --most 500")]
pub(super) struct AddArguments {
    /// Where it is
    #[arg(value_name = "URL")]
    url: String,

    /// It is a sitemap, or an index of sitemaps; this is what it is taken for unless said
    #[arg(long, conflicts_with = "feed")]
    sitemap: bool,

    /// It is a feed
    #[arg(long)]
    feed: bool,

    /// Pages that it names and nobody knows become sources
    #[arg(long)]
    discover: bool,

    /// Only those that match this: `[SCHEME://]HOST[:PORT][/PATH]` with `*`; can be given again
    #[arg(long, value_name = "PATTERN", requires = "discover")]
    include: Vec<String>,

    /// None of those that match this; can be given again
    #[arg(long, value_name = "PATTERN", requires = "discover")]
    exclude: Vec<String>,

    /// How many become sources at most, in all
    #[arg(long, value_name = "N", default_value_t = DiscoveryRule::MOST, requires = "discover")]
    most: u64,

    /// A name that they get, to find them by; can be given again
    #[arg(long, value_name = "NAME", requires = "discover")]
    tag: Vec<String>,

    /// How much they matter [default: 1]
    #[arg(long, value_name = "X", requires = "discover")]
    importance: Option<f64>,

    /// Also those of other hosts than its own
    #[arg(long, requires = "discover")]
    other_hosts: bool,

    /// The shortest time between two reads: 30s, 10min, 1h, 2d
    #[arg(long, value_name = "TIME", value_parser = time)]
    min_interval: Option<f64>,

    /// The longest time between two reads; 0s for no limit
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_interval: Option<f64>,

    #[command(flatten)]
    config: ConfigArguments,
}

/// Forget a signal source, with its parts and what was learnt of it
///
/// Pages that were added because of it stay.
#[derive(Debug, Args)]
pub(super) struct RmArguments {
    #[command(flatten)]
    one: OneArguments,
}

fn time(text: &str) -> Result<f64, String> {
    let days = freshet_daemon::days_in(text);
    days.ok_or_else(|| format!("`{text}` is not a time such as 30s, 10min, 1h or 2d"))
}

pub(super) fn add(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let rule = DiscoveryRule {
        discover: arguments.discover,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        most: arguments.most,
        tags: arguments.tag.clone(),
        importance: arguments.importance,
        other_hosts: arguments.other_hosts,
        speaks_for: None,
    };
    let (min_interval, max_interval) = (arguments.min_interval, arguments.max_interval);
    let given = SignalSourcePatch { min_interval, max_interval, ..SignalSourcePatch::default() };
    let (url, feed) = (arguments.url.clone(), arguments.feed && !arguments.sitemap);
    let wanted = NewSignalSourceRequest { url, feed, rule, given };
    let (number, new, runs) = match home.editor()? {
        Editor::Daemon(mut client) => match ask(&mut client, Call::AddHerald(Box::new(wanted)))? {
            Answer::AddedHerald { number, new } => (number, new, true),
            _ => return Err(odd()),
        },
        Editor::Alone(mut store) => {
            let added = add_herald(&mut store, &wanted, clock::millis())?;
            (added.id, added.is_new, false)
        }
    };
    let what = if new { "added" } else { "described anew" };
    let when = if runs { "" } else { "; it is read when the daemon runs" };
    note(&format!("{what}: signal source {number}{when}"));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.one.config)?;
    let number = find(&home.reader()?, &arguments.one.which)?.id;
    let gone = match home.editor()? {
        Editor::Daemon(mut client) => match ask(&mut client, Call::RemoveHerald(number))? {
            Answer::RemovedHeralds(gone) => gone,
            _ => return Err(odd()),
        },
        Editor::Alone(mut store) => remove_herald(&mut store, number)?,
    };
    note(&format!("removed {}", plural(gone as usize, "signal source", "signal sources")));
    Ok(ExitCode::SUCCESS)
}
