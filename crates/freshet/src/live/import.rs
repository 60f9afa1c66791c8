//! `freshet import`.

mod changedetection;
mod format;
mod opml;
mod sitemap;
mod table;
mod urls;
mod xml;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use freshet_live::{Applied, Edit, Wanted};
use freshet_store::Reader;

use crate::failure::Failure;
use crate::live::add::{self, add, said};
use crate::live::given::joined;
use crate::live::home::{ConfigArguments, Editor, Home};
use crate::live::import::format::Format;
use crate::number::{count, plural};
use crate::output::note;
use crate::progress::Progress;

/// Add sources from a file: URLs, a table, OPML, a sitemap, or changedetection.io's export
///
/// The name and the content tell the format. If something in the file cannot be a source, nothing is
/// added, unless you say --skip-bad.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Formats:
  urls             one on each line; lines that begin with # say nothing
  table            the source table of `freshet plan`: id is the URL; importance and cost hold as
                   they are, min_rate and max_rate as intervals
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

/// Something in a file that cannot be a source.
pub(crate) struct Bad {
    /// Where it is, behind the name of the file: `:12`, `, row 3`.
    pub(crate) place: String,
    pub(crate) why: Failure,
}

/// What is found in a file, one after another.
pub(crate) type Each<'a> = &'a mut dyn FnMut(Result<Wanted, Bad>) -> Result<(), Failure>;

/// What there is to say of a file beside its sources.
pub(crate) type Notes = Vec<String>;

/// Sources that are gathered before they are added.
const GATHERED: usize = 100_000;

pub(crate) fn run(arguments: &ImportArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let file = arguments.file.as_path();
    let format = match arguments.format {
        Some(format) => format,
        None => format::detect(file)?,
    };
    // A look at all of it first: it is added as a whole or not at all.
    let (mut good, mut bad, mut first) = (0_usize, 0_usize, None);
    let notes = {
        let mut progress = Progress::new("reading");
        read(arguments, format, &mut |found| {
            match found {
                Ok(_) => good += 1,
                Err(it) => {
                    bad += 1;
                    first.get_or_insert(it);
                }
            }
            if good.is_multiple_of(10_000) {
                progress.report(None, &format!("{} sources", count(good)));
            }
            Ok(())
        })?
    };
    for note_of_it in &notes {
        note(note_of_it);
    }
    match first {
        Some(it) if !arguments.skip_bad => return Err(refusal(file, it, bad)),
        Some(_) => note(&format!("left out {} that cannot be sources", count(bad))),
        None => {}
    }
    if arguments.dry_run {
        let sources = plural(good, "source", "sources");
        note(&format!("{} as {}: {sources}; nothing was added", file.display(), format.name()));
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Applied::default();
    let known = home.reader_if_any()?;
    let mut editor = home.editor()?;
    let mut progress = Progress::new("adding");
    let mut gathered = Vec::new();
    let mut done = 0;
    read(arguments, format, &mut |found| {
        let Ok(wanted) = found else { return Ok(()) };
        gathered.push(wanted);
        if gathered.len() == GATHERED {
            done += GATHERED;
            put(&mut editor, known.as_ref(), std::mem::take(&mut gathered), &mut all)?;
            let fraction = done as f64 / good.max(1) as f64;
            progress.report(Some(fraction), &format!("{} sources", count(done)));
        }
        Ok(())
    })?;
    put(&mut editor, known.as_ref(), gathered, &mut all)?;
    drop(progress);
    note(&said(&all));
    Ok(ExitCode::SUCCESS)
}

/// Alone, as many at a time as there are; the daemon gets them in pieces.
fn put(
    editor: &mut Editor,
    known: Option<&Reader>,
    mut wanted: Vec<Wanted>,
    all: &mut Applied,
) -> Result<(), Failure> {
    for one in &mut wanted {
        let (Some(reader), Some(tags)) = (known, &mut one.given.tags) else { continue };
        // Those that are known keep their tags.
        let (url, _) = add::canonical(&one.url)?;
        if let Some(id) = reader.find(&url)?
            && let Some(source) = reader.source(id)?
        {
            *tags = joined(&source.tags, tags);
        }
    }
    if !matches!(editor, Editor::Alone(_)) {
        return add(editor, wanted, all);
    }
    let applied = editor.apply(Edit::Add(wanted))?;
    all.new += applied.new;
    all.known += applied.known;
    Ok(())
}

/// Tells of everything in the file, with the tags that all of it gets.
fn read(arguments: &ImportArguments, format: Format, each: Each<'_>) -> Result<Notes, Failure> {
    let file = arguments.file.as_path();
    let tags = &arguments.tag;
    let mut tagged = |found: Result<Wanted, Bad>| {
        each(found.map(|mut wanted| {
            if !tags.is_empty() {
                wanted.given.tags.get_or_insert_default().extend_from_slice(tags);
            }
            wanted
        }))
    };
    match format {
        Format::Urls => urls::read(file, &mut tagged),
        Format::Table => table::read(file, &mut tagged),
        Format::Opml => opml::read(file, arguments.folder_tags, &mut tagged),
        Format::Sitemap => sitemap::read(file, &mut tagged),
        Format::Changedetection => changedetection::read(file, &mut tagged),
    }
}

/// A source, if the URL can be one.
pub(crate) fn wanted(url: &str, place: impl FnOnce() -> String) -> Result<Wanted, Bad> {
    match add::canonical(url) {
        Ok(_) => Ok(Wanted::new(url)),
        Err(why) => Err(Bad { place: place(), why }),
    }
}

fn refusal(file: &Path, first: Bad, bad: usize) -> Failure {
    let place = format!("{}{}", file.display(), first.place);
    let more = match bad {
        1 => String::new(),
        _ => format!(" (and {} more)", count(bad - 1)),
    };
    let fact = format!("{place}: {}{more}", first.why.fact());
    Failure::new(fact).hint("nothing was added; leave out what cannot be a source with --skip-bad")
}
