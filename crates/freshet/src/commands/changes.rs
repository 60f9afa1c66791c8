//! `freshet changes`.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::parse_host_filter;
use freshet_notify::{Entry, EntryKind};
use freshet_store::{Change, ChangeFilter, Reader};

use crate::clock;
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::output::{print_json_line, print_line, print_note};
use crate::terminal;
use crate::time_format::{format_duration, format_relative};

/// Show changes
///
/// Prints the latest entries of the change log, the newest last, or all entries after a cursor. A cursor is
/// the number of an entry; cursors increase and are never reused. If entries after the cursor have been
/// pruned, the exit code is 2.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet changes
  freshet changes --follow --tag news
  freshet changes --after 1234 --json

Kinds of entries:
  changed    the compared content of a source has changed
  failing    a source could not be fetched several times in a row (`failures` under `[watch]`)
  recovered  a source that was failing or gone can be fetched again
  quiet      a source has not changed for a long time (`quiet` under `[watch]`)
  gone       the host reports that the source no longer exists")]
pub(crate) struct ChangesArguments {
    /// Print new changes as they are found, until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Print all entries after this cursor; 0 for all entries
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<i64>,

    /// Maximum number of entries [default: the latest 20; with --after, all]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Print only changes of sources with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Option<String>,

    /// Print only changes of this host, at all ports unless one is given
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Print only changes of this source
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Kind of entries: changed, failing, recovered, quiet or gone; may be repeated [default: all]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<EntryKind>,

    /// Print the entries as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Default number of entries.
const DEFAULT_LIMIT: usize = 20;
/// Number of entries that are read at once.
const PAGE_SIZE: usize = 1000;
/// Interval at which the log is polled for new entries.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(arguments: &ChangesArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let kinds = match arguments.kind.as_slice() {
        [] => &EntryKind::ALL[..],
        some => some,
    };
    let mut filter = ChangeFilter {
        kinds: kinds.iter().map(|&kind| kind.into()).collect(),
        tag: arguments.tag.clone(),
        host: arguments
            .host
            .as_deref()
            .map(parse_host_filter)
            .transpose()
            .map_err(|why| Failure::new(why).with_location("--host"))?,
        ..ChangeFilter::default()
    };
    if let Some(url) = &arguments.url {
        filter.source = Some(find(&reader, url)?);
    }
    let mut out =
        EntryPrinter { arguments, remaining: arguments.limit.unwrap_or(usize::MAX), shown: 0 };
    let mut cursor = match arguments.after {
        Some(after) => {
            check_not_pruned(&reader, after)?;
            after
        }
        None => {
            let last = reader.last_cursor()?;
            let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
            let mut latest = reader.latest_changes(Some(last + 1), limit, &filter)?;
            latest.reverse();
            if !out.print(&latest)? {
                return Ok(ExitCode::SUCCESS);
            }
            out.remaining = usize::MAX;
            last
        }
    };
    if arguments.after.is_some() || arguments.follow {
        loop {
            // Entries that do not match the filter are not read again.
            let last = reader.last_cursor()?;
            if arguments.after.is_some() {
                check_not_pruned(&reader, cursor)?;
            }
            let page = reader.changes(cursor, PAGE_SIZE.min(out.remaining), &filter)?;
            if !out.print(&page)? || out.remaining == 0 {
                return Ok(ExitCode::SUCCESS);
            }
            match page.last() {
                Some(last) => cursor = last.cursor,
                None if arguments.follow => {
                    cursor = cursor.max(last);
                    sleep(POLL_INTERVAL);
                }
                None => break,
            }
        }
    }
    if out.shown == 0 && !arguments.json {
        print_note(empty_message(&reader)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if entries after a cursor have been pruned. Cursor 0 stands for all entries that exist.
fn check_not_pruned(reader: &Reader, after: i64) -> Result<(), Failure> {
    let pruned = reader.pruned_cursor()?;
    if after == 0 || after >= pruned {
        return Ok(());
    }
    let first = after + 1;
    Err(Failure::new(format!("changes {first} to {pruned} have been pruned")).with_hint(format!(
        "continue with --after {pruned}; keep changes longer with `changes` under `[keep]`"
    )))
}

fn empty_message(reader: &Reader) -> Result<&'static str, Failure> {
    Ok(match reader.last_cursor()? {
        0 => "nothing has changed yet",
        _ => "no matching changes",
    })
}

struct EntryPrinter<'a> {
    arguments: &'a ChangesArguments,
    remaining: usize,
    shown: usize,
}

impl EntryPrinter<'_> {
    /// Prints entries. Returns false if the reader has closed the output.
    fn print(&mut self, changes: &[Change]) -> Result<bool, Failure> {
        let now = clock::now_millis();
        for change in changes {
            let open = match self.arguments.json {
                true => print_json_line(&Entry::from_change(change))?,
                false => print_line(&format_line(change, now))?,
            };
            if !open {
                return Ok(false);
            }
            self.shown += 1;
            self.remaining = self.remaining.saturating_sub(1);
        }
        Ok(true)
    }
}

/// Formats a change: cursor, time, uncertainty of the time, similarity, URL and summary.
fn format_line(it: &Change, now: i64) -> String {
    let change = &it.change;
    let kind = EntryKind::from(it.kind);
    let is_change = kind == EntryKind::Changed;
    let within = match change.last_unchanged_at {
        Some(unchanged) if is_change => {
            format!("within {}", format_duration(change.first_changed_at - unchanged))
        }
        _ => String::new(),
    };
    let same = match is_change {
        // Rounded down, so that changed content is never 100 % the same.
        true => format!("{} % same", (100.0 * change.similarity).floor()),
        false => kind.name().to_owned(),
    };
    let summary = if change.summary.is_empty() { kind.name() } else { &change.summary };
    format!(
        "{:>5}  {:>10}  {within:>13}  {same:>9}  {}  {}",
        it.cursor,
        format_relative(change.first_changed_at, now),
        terminal::sanitize_line(&it.url),
        terminal::sanitize_line(summary),
    )
}
