//! `freshet import`.

mod changedetection;
mod entry;
mod exported;
mod format;
mod list;
mod pipeline;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Args;
use freshet_daemon::{EditResult, NewSourceRequest, SourceEdit};
use freshet_store::{NewSource, Store};
use freshet_tables::ListFormat;

use crate::clock;
use crate::commands::add::{self, summary, to_new_source};
use crate::commands::import::entry::{EntryLocation, ImportedSource, InvalidEntry};
use crate::commands::import::format::ImportFormat;
use crate::commands::import::pipeline::Converter;
use crate::commands::instance::{ConfigArguments, Editor, Instance};
use crate::commands::settings_arguments::merge_tags;
use crate::failure::Failure;
use crate::number::{format_count, pluralize};
use crate::output::print_note;
use crate::progress::Progress;

/// Import sources from a file
///
/// Reads lists of URLs, source tables, OPML, sitemaps, and exports of freshet and changedetection.io. The
/// format is detected from the name and the content of the file. If any entry is invalid, nothing is
/// imported unless --skip-bad is given.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Formats:
  urls             one URL per line; lines that begin with # are ignored
  table            source table of `freshet plan`: `id` is the URL; importance and cost are kept;
                   min_rate and max_rate become intervals; change_rate is the initial estimate;
                   complete marks sources whose changes are all announced; max_rate 0 pauses
  json             export of `freshet export --format json`: all settings of the sources
  opml             feeds exported by a feed reader; --folder-tags turns folders into tags
  sitemap          sitemap.xml; of a sitemap index, import the sitemaps that it lists
  changedetection  url-watches.json from a changedetection.io backup: URLs, tags, intervals, CSS
                   and JSON filters, ignored texts, paused watches
Text files may be compressed with gzip.

Examples:
  freshet import urls.txt --tag crawl
  freshet import feeds.opml --folder-tags
  freshet import sitemap.xml.gz --dry-run
  freshet import url-watches.json --format changedetection")]
pub(crate) struct ImportArguments {
    /// File to import
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Format of the file [default: detected]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<ImportFormat>,

    /// Tag to add to every source; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Vec<String>,

    /// Use the folders of an OPML file as tags
    #[arg(long)]
    pub(crate) folder_tags: bool,

    /// Skip invalid entries and report their number
    #[arg(long)]
    pub(crate) skip_bad: bool,

    /// Show what would be imported, without importing it
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Receiver of the entries of a file.
pub(crate) type EntrySink<'a> =
    &'a mut dyn FnMut(Result<ImportedSource, InvalidEntry>) -> Result<(), Failure>;

/// Notes about a file for the user.
pub(crate) type Notes = Vec<String>;

/// Maximum number of sources, and their maximum size in bytes, that are added in one transaction while no
/// daemon runs. Larger transactions write each page of the store less often.
const TRANSACTION_SOURCES: usize = 1_000_000;
const TRANSACTION_BYTES: usize = 64 << 20;

pub(crate) fn run(arguments: &ImportArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let file = arguments.file.as_path();
    let format = match arguments.format {
        Some(format) => format,
        None => format::detect(file)?,
    };
    // The whole file is validated first, so that all of it is imported or nothing.
    let ScanResult { valid, invalid, first_invalid, notes } = scan(arguments, format)?;
    for note in &notes {
        print_note(note);
    }
    match first_invalid {
        Some(it) if !arguments.skip_bad => return Err(invalid_file_failure(file, it, invalid)),
        Some(it) => {
            let reason = format!("{}{}", location_prefix(file, &it), it.reason.fact());
            print_note(&format!(
                "skipped {} invalid entries; the first: {reason}",
                format_count(invalid)
            ));
        }
        None => {}
    }
    if arguments.dry_run {
        let sources = pluralize(valid, "source", "sources");
        let file = file.display();
        print_note(&format!("{file} as {}: {sources}; nothing was imported", format.name()));
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::now_millis();
    let total = match instance.editor()? {
        Editor::Store(mut store) => {
            let converter = keep_tags(&instance, |request| to_new_source(&request, now));
            let size = |it: &NewSource| it.url.len() + it.host.len();
            let limits = (TRANSACTION_SOURCES, TRANSACTION_BYTES, size);
            import(arguments, format, valid, &converter, limits, |batch| {
                add_to_store(&mut store, &batch)
            })?
        }
        mut editor @ Editor::Daemon(_) => {
            let converter =
                keep_tags(&instance, |request| to_new_source(&request, now).map(|_| request));
            let size = add::encoded_size as fn(&NewSourceRequest) -> usize;
            let limits = (add::BATCH, add::BATCH_BYTES, size);
            import(arguments, format, valid, &converter, limits, |batch| {
                editor.apply(SourceEdit::Add(batch))
            })?
        }
    };
    print_note(&summary(&total));
    Ok(ExitCode::SUCCESS)
}

/// Result of validating a file.
struct ScanResult {
    valid: usize,
    invalid: usize,
    first_invalid: Option<InvalidEntry>,
    notes: Notes,
}

/// Reads and validates a file without importing it.
fn scan(arguments: &ImportArguments, format: ImportFormat) -> Result<ScanResult, Failure> {
    let (mut valid, mut invalid, mut first_invalid) = (0, 0, None);
    let mut progress = Progress::new("reading");
    let new_converter = || -> Result<Converter<'_, ()>, Failure> {
        Ok(Box::new(|request| to_new_source(&request, 0).map(drop)))
    };
    let notes = pipeline::run(
        |sink| read(arguments, format, sink),
        &new_converter,
        |batch| {
            for entry in batch {
                match entry {
                    Ok(()) => valid += 1,
                    Err(entry) => {
                        invalid += 1;
                        first_invalid.get_or_insert(entry);
                    }
                }
            }
            progress.report(None, &format!("{} sources", format_count(valid)));
            Ok(())
        },
    )?;
    Ok(ScanResult { valid, invalid, first_invalid, notes })
}

/// Returns a factory of converters that merge the tags with those of existing sources.
fn keep_tags<'a, T>(
    instance: &'a Instance,
    convert: impl Fn(NewSourceRequest) -> Result<T, Failure> + Copy + Sync + 'a,
) -> impl Fn() -> Result<Converter<'a, T>, Failure> + Sync + 'a {
    move || {
        let known = instance.reader_if_any()?;
        Ok(Box::new(move |mut request: NewSourceRequest| {
            if let (Some(reader), Some(tags)) = (&known, &mut request.settings.tags) {
                let (url, _) = add::canonical_url(&request.url)?;
                if let Some(id) = reader.find_source(&url)?
                    && let Some(source) = reader.source(id)?
                {
                    *tags = merge_tags(&source.tags, tags);
                }
            }
            convert(request)
        }))
    }
}

/// Imports a file in batches: one batch is added while the next is read.
///
/// The limits are the maximum number of sources of a batch, its maximum size in bytes, and the size of a
/// source.
fn import<'a, T: Send>(
    arguments: &ImportArguments,
    format: ImportFormat,
    total: usize,
    new_converter: &(dyn Fn() -> Result<Converter<'a, T>, Failure> + Sync),
    (max_sources, max_bytes, size): (usize, usize, impl Fn(&T) -> usize),
    mut add: impl FnMut(Vec<T>) -> Result<EditResult, Failure> + Send,
) -> Result<EditResult, Failure> {
    let mut progress = Progress::new("adding");
    thread::scope(|scope| {
        let (sender, batches) = sync_channel::<Vec<T>>(0);
        let adding = scope.spawn(move || {
            let mut all = EditResult::default();
            for batch in batches {
                let applied = add(batch)?;
                all.created += applied.created;
                all.updated += applied.updated;
            }
            Ok(all)
        });
        let (mut batch, mut bytes, mut done) = (Vec::new(), 0, 0_usize);
        let stopped = || Failure::new("the import has stopped");
        let read = pipeline::run(
            |sink| read(arguments, format, sink),
            new_converter,
            |converted| {
                for source in converted.into_iter().flatten() {
                    bytes += size(&source);
                    batch.push(source);
                    if batch.len() >= max_sources || bytes >= max_bytes {
                        sender.send(std::mem::take(&mut batch)).map_err(|_| stopped())?;
                        bytes = 0;
                    }
                    done += 1;
                }
                let fraction = done as f64 / total.max(1) as f64;
                progress.report(Some(fraction), &format!("{} sources", format_count(done)));
                Ok(())
            },
        );
        let read = read.and_then(|_| sender.send(batch).map_err(|_| stopped()));
        drop(sender);
        // A failure to add is reported first: it is the cause of a closed channel.
        let panicked = || Err(Failure::new("cannot continue to add: a thread panicked"));
        let all = adding.join().unwrap_or_else(|_| panicked())?;
        read.map(|()| all)
    })
}

fn add_to_store(store: &mut Store, sources: &[NewSource]) -> Result<EditResult, Failure> {
    let added = store.add_sources(sources)?;
    let new = added.iter().filter(|added| added.is_new).count() as u64;
    let mut applied = EditResult::default();
    (applied.created, applied.updated) = (new, added.len() as u64 - new);
    Ok(applied)
}

/// Reads all entries of the file, and adds the tags of the command line to them.
fn read(
    arguments: &ImportArguments,
    format: ImportFormat,
    sink: EntrySink<'_>,
) -> Result<Notes, Failure> {
    let file = arguments.file.as_path();
    let tags = &arguments.tag;
    let mut tagged = |entry: Result<ImportedSource, InvalidEntry>| {
        sink(entry.map(|mut source| {
            if !tags.is_empty() {
                source.request.settings.tags.get_or_insert_default().extend_from_slice(tags);
            }
            source
        }))
    };
    match format {
        ImportFormat::Urls => list::read(file, ListFormat::Urls, false, &mut tagged),
        ImportFormat::Table => table::read(file, &mut tagged),
        ImportFormat::Json => exported::read(file, &mut tagged),
        ImportFormat::Opml => {
            list::read(file, ListFormat::Opml, arguments.folder_tags, &mut tagged)
        }
        ImportFormat::Sitemap => list::read(file, ListFormat::Sitemap, false, &mut tagged),
        ImportFormat::Changedetection => changedetection::read(file, &mut tagged),
    }
}

/// Formats the location of an entry as a prefix of its reason.
fn location_prefix(file: &Path, entry: &InvalidEntry) -> String {
    match entry.location {
        EntryLocation::InReason => String::new(),
        ref location => format!("{}{location}: ", file.display()),
    }
}

fn invalid_file_failure(file: &Path, first: InvalidEntry, invalid: usize) -> Failure {
    let more = match invalid {
        1 => String::new(),
        _ => format!(" (and {} more)", format_count(invalid - 1)),
    };
    let fact = format!("{}{}{more}", location_prefix(file, &first), first.reason.fact());
    Failure::new(fact).with_hint("nothing was imported; skip invalid entries with --skip-bad")
}
