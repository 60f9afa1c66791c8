//! `freshet changes`.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::host_filter;
use freshet_notify::{Entry, EntryKind};
use freshet_store::{Change, ChangeFilter, Reader};

use crate::clock;
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::output::{note, print_json_line, print_line};
use crate::terminal;
use crate::time_format::{from_now, length};

/// Show what changed
///
/// The latest entries of the log, the newest last; after a cursor, all that came after it. A cursor is the
/// number of an entry: later ones are larger, and none is used twice. If entries after the cursor are not
/// kept any more, it says so and ends with 2.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet changes
  freshet changes --follow --tag news
  freshet changes --after 1234 --json

What entries tell:
  changed    what counts of a source has changed
  failing    it could not be fetched so many times in a row: `failures` under `[watch]`
  recovered  one that was failing or gone can be fetched again
  quiet      it has not changed for so long: `quiet` under `[watch]`
  gone       the host says that it is no more")]
pub(crate) struct ChangesArguments {
    /// Go on with those that come, until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Only those after this cursor; 0 is before all
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<i64>,

    /// How many at most [default: the latest 20; with --after, all]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Only of sources with this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Option<String>,

    /// Only of this host: at all its ports, unless one is given
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Only of this source
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Only entries that tell this: changed, failing, recovered, quiet, gone; may be given more than once
    /// [default: all of them]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<EntryKind>,

    /// Print one object on a line for each
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Changes that are shown if nothing else is said.
const LATEST: usize = 20;
/// Changes that are read at once.
const PAGE: usize = 1000;
/// How often the log is looked at for more.
const PAUSE: Duration = Duration::from_millis(250);

pub(crate) fn run(arguments: &ChangesArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
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
            .map(host_filter)
            .transpose()
            .map_err(|why| Failure::new(why).at("--host"))?,
        ..ChangeFilter::default()
    };
    if let Some(url) = &arguments.url {
        filter.source = Some(find(&reader, url)?);
    }
    let mut out = Out { arguments, left: arguments.limit.unwrap_or(usize::MAX), shown: 0 };
    let mut cursor = match arguments.after {
        Some(after) => {
            all_there(&reader, after)?;
            after
        }
        None => {
            let last = reader.last_cursor()?;
            let limit = arguments.limit.unwrap_or(LATEST);
            let mut latest = reader.latest_changes(Some(last + 1), limit, &filter)?;
            latest.reverse();
            if !out.print(&latest)? {
                return Ok(ExitCode::SUCCESS);
            }
            out.left = usize::MAX;
            last
        }
    };
    if arguments.after.is_some() || arguments.follow {
        loop {
            // What does not match is not looked at again.
            let last = reader.last_cursor()?;
            if arguments.after.is_some() {
                all_there(&reader, cursor)?;
            }
            let page = reader.changes(cursor, PAGE.min(out.left), &filter)?;
            if !out.print(&page)? || out.left == 0 {
                return Ok(ExitCode::SUCCESS);
            }
            match page.last() {
                Some(last) => cursor = last.cursor,
                None if arguments.follow => {
                    cursor = cursor.max(last);
                    sleep(PAUSE);
                }
                None => break,
            }
        }
    }
    if out.shown == 0 && !arguments.json {
        note(nothing(&reader)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever asks for all after a cursor is told if some of them are not kept any more. 0 is before all that
/// there is.
fn all_there(reader: &Reader, after: i64) -> Result<(), Failure> {
    let forgotten = reader.pruned_cursor()?;
    if after == 0 || after >= forgotten {
        return Ok(());
    }
    let from = after + 1;
    Err(Failure::new(format!("changes {from} to {forgotten} are not kept any more"))
        .hint(format!("go on with --after {forgotten}; keep more with `changes` under [keep]")))
}

fn nothing(reader: &Reader) -> Result<&'static str, Failure> {
    Ok(match reader.last_cursor()? {
        0 => "nothing has changed yet",
        _ => "no such changes",
    })
}

struct Out<'a> {
    arguments: &'a ChangesArguments,
    left: usize,
    shown: usize,
}

impl Out<'_> {
    /// Says whether somebody still reads.
    fn print(&mut self, changes: &[Change]) -> Result<bool, Failure> {
        let now = clock::millis();
        for change in changes {
            let open = match self.arguments.json {
                true => print_json_line(&Entry::from_change(change))?,
                false => print_line(&line(change, now))?,
            };
            if !open {
                return Ok(false);
            }
            self.shown += 1;
            self.left = self.left.saturating_sub(1);
        }
        Ok(true)
    }
}

/// When, within which time, how much is the same, what, and where.
fn line(it: &Change, now: i64) -> String {
    let change = &it.change;
    let kind = EntryKind::from(it.kind);
    let is_change = kind == EntryKind::Changed;
    let within = match change.last_unchanged_at {
        Some(unchanged) if is_change => {
            format!("within {}", length(change.first_changed_at - unchanged))
        }
        _ => String::new(),
    };
    let same = match is_change {
        // Rounded down: what changed is never the same to 100 %.
        true => format!("{} % same", (100.0 * change.similarity).floor()),
        false => kind.name().to_owned(),
    };
    let summary = if change.summary.is_empty() { kind.name() } else { &change.summary };
    format!(
        "{:>5}  {:>10}  {within:>13}  {same:>9}  {}  {}",
        it.cursor,
        from_now(change.first_changed_at, now),
        terminal::line(&it.url),
        terminal::line(summary),
    )
}
