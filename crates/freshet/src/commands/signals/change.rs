//! `freshet signals add` and `rm`.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{
    ControlRequest, ControlResponse, DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch,
    add_signal_source_offline, remove_signal_source_offline,
};

use super::{SignalSourceArgument, find};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Editor, Instance, call_daemon, unexpected_reply};
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::print_note;

/// Add a sitemap or feed to read
///
/// Its signals are trusted as far as fetches confirm them. An existing signal source is updated. The
/// document is read whatever its type; a sitemap index is read with all its sitemaps.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet signals add https://example.com/sitemap.xml
  freshet signals add https://example.com/feed.xml --feed --max-interval 1h
  freshet signals add https://example.com/sitemap.xml --discover --most 500 \\
      --include example.com/blog/")]
pub(super) struct AddArguments {
    /// URL of the sitemap or feed
    #[arg(value_name = "URL")]
    url: String,

    /// Treat it as a sitemap or sitemap index; this is the default
    #[arg(long, conflicts_with = "feed")]
    sitemap: bool,

    /// Treat it as a feed
    #[arg(long)]
    feed: bool,

    /// Add the pages that it lists as sources
    #[arg(long)]
    discover: bool,

    /// Add only pages that match this pattern, such as example.com/blog/*; may be repeated
    ///
    /// A pattern is `[SCHEME://]HOST[:PORT][/PATH]`, where `*` matches any characters.
    #[arg(long, value_name = "PATTERN", requires = "discover")]
    include: Vec<String>,

    /// Do not add pages that match this pattern; may be repeated
    #[arg(long, value_name = "PATTERN", requires = "discover")]
    exclude: Vec<String>,

    /// Maximum number of pages to add in total
    #[arg(long, value_name = "N", default_value_t = DiscoveryRule::DEFAULT_MAX_PAGES, requires = "discover")]
    most: u64,

    /// Tag of the added pages; may be repeated
    #[arg(long, value_name = "NAME", requires = "discover")]
    tag: Vec<String>,

    /// Importance of the added pages [default: 1]
    #[arg(long, value_name = "X", requires = "discover")]
    importance: Option<f64>,

    /// Also add pages on other hosts
    #[arg(long, requires = "discover")]
    other_hosts: bool,

    /// Minimum time between reads: 30s, 10min, 1h, 2d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    min_interval: Option<f64>,

    /// Maximum time between reads; 0s for no limit
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    max_interval: Option<f64>,

    #[command(flatten)]
    config: ConfigArguments,
}

/// Remove a signal source and its statistics
///
/// The sitemaps of an index are removed with it. Pages that were added as sources stay.
#[derive(Debug, Args)]
pub(super) struct RmArguments {
    #[command(flatten)]
    one: SignalSourceArgument,
}

fn parse_time(text: &str) -> Result<f64, String> {
    let days = freshet_daemon::parse_days(text);
    days.ok_or_else(|| format!("`{text}` is not a time such as 30s, 10min, 1h or 2d"))
}

pub(super) fn add(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let rule = DiscoveryRule {
        discover: arguments.discover,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        max_pages: arguments.most,
        tags: arguments.tag.clone(),
        importance: arguments.importance,
        other_hosts: arguments.other_hosts,
        only_host: None,
    };
    let (min_interval, max_interval) = (arguments.min_interval, arguments.max_interval);
    let given = SignalSourcePatch { min_interval, max_interval, ..SignalSourcePatch::default() };
    let (url, feed) = (arguments.url.clone(), arguments.feed && !arguments.sitemap);
    let request = NewSignalSourceRequest { url, is_feed: feed, rule, patch: given };
    let (number, new, runs) = match instance.editor()? {
        Editor::Daemon(mut client) => {
            match call_daemon(&mut client, ControlRequest::AddSignalSource(Box::new(request)))? {
                ControlResponse::SignalSourceAdded { id, is_new } => (id, is_new, true),
                _ => return Err(unexpected_reply()),
            }
        }
        Editor::Store(mut store) => {
            let added = add_signal_source_offline(&mut store, &request, clock::now_millis())?;
            (added.id, added.is_new, false)
        }
    };
    let action = if new { "added" } else { "updated" };
    let when = if runs { "" } else { "; it is read when the daemon runs" };
    print_note(&format!("{action} signal source {number}{when}"));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.one.config)?;
    let number = find(&instance.reader()?, &arguments.one.name)?.id;
    let gone = match instance.editor()? {
        Editor::Daemon(mut client) => {
            match call_daemon(&mut client, ControlRequest::RemoveSignalSource(number))? {
                ControlResponse::SignalSourcesRemoved(gone) => gone,
                _ => return Err(unexpected_reply()),
            }
        }
        Editor::Store(mut store) => remove_signal_source_offline(&mut store, number)?,
    };
    print_note(&format!("removed {}", pluralize(gone as usize, "signal source", "signal sources")));
    Ok(ExitCode::SUCCESS)
}
