//! `freshet import`.

mod belt;
mod changedetection;
mod exported;
mod format;
mod list;
mod location;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Args;
use freshet_daemon::{Applied, Edit, NewSourceRequest};
use freshet_store::{NewSource, Store};
use freshet_tables::ListFormat;

use crate::clock;
use crate::commands::add::{self, checked, said};
use crate::commands::import::belt::Make;
use crate::commands::import::format::Format;
use crate::commands::import::location::{Bad, Found};
use crate::commands::instance::{ConfigArguments, Editor, Home};
use crate::commands::settings_arguments::joined;
use crate::failure::Failure;
use crate::number::{count, plural};
use crate::output::note;
use crate::progress::Progress;

/// Add sources from a file: URLs, a table, OPML, a sitemap, an export of freshet or changedetection.io
///
/// The name and the content tell the format. If something in the file cannot be a source, nothing is
/// added, unless you say --skip-bad.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Formats:
  urls             one on each line; lines that begin with # say nothing
  table            the source table of `freshet plan`: id is the URL; importance and cost hold as
                   they are, min_rate and max_rate as intervals, change_rate until more is learnt,
                   complete for sources whose changes are all announced; max_rate 0 pauses
  json             what `freshet export --format json` wrote: all that was said of the sources
  opml             feeds, as readers export them; --folder-tags makes the folders tags
  sitemap          sitemap.xml; of an index of sitemaps, import the parts
  changedetection  url-watches.json from changedetection.io's backup: URLs, tags, intervals, CSS
                   and JSON filters, ignored texts, and whether they are paused
Text may be compressed with gzip.

Examples:
  freshet import urls.txt --tag crawl
  freshet import feeds.opml --folder-tags
  freshet import sitemap.xml.gz --dry-run
  freshet import url-watches.json --format changedetection")]
pub(crate) struct ImportArguments {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// What it is [default: as it seems]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<Format>,

    /// A name to find the sources by; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Vec<String>,

    /// Of OPML: the folders that a feed is in are its tags
    #[arg(long)]
    pub(crate) folder_tags: bool,

    /// Leave out what cannot be a source, and say how much that was
    #[arg(long)]
    pub(crate) skip_bad: bool,

    /// Only say what would be added
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// What is found in a file, one after another.
pub(crate) type Each<'a> = &'a mut dyn FnMut(Result<Found, Bad>) -> Result<(), Failure>;

/// What there is to say of a file beside its sources.
pub(crate) type Notes = Vec<String>;

/// Sources that are added at once while no daemon runs, and bytes of them: the more, the less often each
/// page of the store is written.
const GATHERED: usize = 1_000_000;
const GATHERED_BYTES: usize = 64 << 20;

pub(crate) fn run(arguments: &ImportArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let file = arguments.file.as_path();
    let format = match arguments.format {
        Some(format) => format,
        None => format::detect(file)?,
    };
    // A look at all of it first: it is added as a whole or not at all.
    let Looked { good, bad, first, notes } = look(arguments, format)?;
    for note_of_it in &notes {
        note(note_of_it);
    }
    match first {
        Some(it) if !arguments.skip_bad => return Err(refusal(file, it, bad)),
        Some(it) => {
            let why = format!("{}{}", file_place(file, &it), it.why.fact());
            note(&format!("left out {} that cannot be sources; the first: {why}", count(bad)));
        }
        None => {}
    }
    if arguments.dry_run {
        let sources = plural(good, "source", "sources");
        note(&format!("{} as {}: {sources}; nothing was added", file.display(), format.name()));
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::millis();
    let all = match home.editor()? {
        Editor::Alone(mut store) => {
            let make = tagged(&home, |wanted| checked(&wanted, now));
            let size = |it: &NewSource| it.url.len() + it.host.len();
            fill(arguments, format, good, &make, (GATHERED, GATHERED_BYTES, size), |some| {
                put(&mut store, &some)
            })?
        }
        mut editor @ Editor::Daemon(_) => {
            let make = tagged(&home, |wanted| checked(&wanted, now).map(|_| wanted));
            let door = (add::BATCH, add::BATCH_BYTES, add::size as fn(&NewSourceRequest) -> usize);
            fill(arguments, format, good, &make, door, |some| editor.apply(Edit::Add(some)))?
        }
    };
    note(&said(&all));
    Ok(ExitCode::SUCCESS)
}

/// What a first look at a file brought.
struct Looked {
    good: usize,
    bad: usize,
    first: Option<Bad>,
    notes: Notes,
}

fn look(arguments: &ImportArguments, format: Format) -> Result<Looked, Failure> {
    let (mut good, mut bad, mut first) = (0, 0, None);
    let mut progress = Progress::new("reading");
    let make = || -> Result<Make<'_, ()>, Failure> {
        Ok(Box::new(|wanted| checked(&wanted, 0).map(drop)))
    };
    let notes = belt::run(
        |each| read(arguments, format, each),
        &make,
        |some| {
            for it in some {
                match it {
                    Ok(()) => good += 1,
                    Err(it) => {
                        bad += 1;
                        first.get_or_insert(it);
                    }
                }
            }
            progress.report(None, &format!("{} sources", count(good)));
            Ok(())
        },
    )?;
    Ok(Looked { good, bad, first, notes })
}

/// What makes something of sources that keep the tags that they have.
fn tagged<'a, T>(
    home: &'a Home,
    make: impl Fn(NewSourceRequest) -> Result<T, Failure> + Copy + Sync + 'a,
) -> impl Fn() -> Result<Make<'a, T>, Failure> + Sync + 'a {
    move || {
        let known = home.reader_if_any()?;
        Ok(Box::new(move |mut wanted: NewSourceRequest| {
            if let (Some(reader), Some(tags)) = (&known, &mut wanted.settings.tags) {
                let (url, _) = add::canonical(&wanted.url)?;
                if let Some(id) = reader.find_source(&url)?
                    && let Some(source) = reader.source(id)?
                {
                    *tags = joined(&source.tags, tags);
                }
            }
            make(wanted)
        }))
    }
}

/// Adds all of the file with `put`, some at a time, while the next are read.
fn fill<'a, T: Send>(
    arguments: &ImportArguments,
    format: Format,
    good: usize,
    make: &(dyn Fn() -> Result<Make<'a, T>, Failure> + Sync),
    (most, most_bytes, size): (usize, usize, impl Fn(&T) -> usize),
    mut put: impl FnMut(Vec<T>) -> Result<Applied, Failure> + Send,
) -> Result<Applied, Failure> {
    let mut progress = Progress::new("adding");
    thread::scope(|scope| {
        // One is put while the next is gathered.
        let (hand, taken) = sync_channel::<Vec<T>>(0);
        let putting = scope.spawn(move || {
            let mut all = Applied::default();
            for some in taken {
                let applied = put(some)?;
                all.new += applied.new;
                all.known += applied.known;
            }
            Ok(all)
        });
        let (mut gathered, mut bytes, mut done) = (Vec::new(), 0, 0_usize);
        let stopped = || Failure::new("nobody takes what is read");
        let filled = belt::run(
            |each| read(arguments, format, each),
            make,
            |some| {
                for it in some.into_iter().flatten() {
                    bytes += size(&it);
                    gathered.push(it);
                    if gathered.len() >= most || bytes >= most_bytes {
                        hand.send(std::mem::take(&mut gathered)).map_err(|_| stopped())?;
                        bytes = 0;
                    }
                    done += 1;
                }
                let fraction = done as f64 / good.max(1) as f64;
                progress.report(Some(fraction), &format!("{} sources", count(done)));
                Ok(())
            },
        );
        let filled = filled.and_then(|_| hand.send(gathered).map_err(|_| stopped()));
        drop(hand);
        // Why it could not be put says more than that nobody took it.
        let broke = || Err(Failure::new("cannot add on: a thread broke off"));
        let all = putting.join().unwrap_or_else(|_| broke())?;
        filled.map(|()| all)
    })
}

fn put(store: &mut Store, sources: &[NewSource]) -> Result<Applied, Failure> {
    let added = store.add_sources(sources)?;
    let new = added.iter().filter(|added| added.is_new).count() as u64;
    let mut applied = Applied::default();
    (applied.new, applied.known) = (new, added.len() as u64 - new);
    Ok(applied)
}

/// Tells of everything in the file, with the tags that all of it gets.
fn read(arguments: &ImportArguments, format: Format, each: Each<'_>) -> Result<Notes, Failure> {
    let file = arguments.file.as_path();
    let tags = &arguments.tag;
    let mut tagged = |found: Result<Found, Bad>| {
        each(found.map(|mut found| {
            if !tags.is_empty() {
                found.wanted.settings.tags.get_or_insert_default().extend_from_slice(tags);
            }
            found
        }))
    };
    match format {
        Format::Urls => list::read(file, ListFormat::Urls, false, &mut tagged),
        Format::Table => table::read(file, &mut tagged),
        Format::Json => exported::read(file, &mut tagged),
        Format::Opml => list::read(file, ListFormat::Opml, arguments.folder_tags, &mut tagged),
        Format::Sitemap => list::read(file, ListFormat::Sitemap, false, &mut tagged),
        Format::Changedetection => changedetection::read(file, &mut tagged),
    }
}

/// Where something is, in front of what is said of it.
fn file_place(file: &Path, bad: &Bad) -> String {
    match bad.place {
        location::Place::Named => String::new(),
        ref place => format!("{}{place}: ", file.display()),
    }
}

fn refusal(file: &Path, first: Bad, bad: usize) -> Failure {
    let more = match bad {
        1 => String::new(),
        _ => format!(" (and {} more)", count(bad - 1)),
    };
    let fact = format!("{}{}{more}", file_place(file, &first), first.why.fact());
    Failure::new(fact).hint("nothing was added; leave out what cannot be a source with --skip-bad")
}
