//! Import of URL lists, OPML and sitemaps.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_tables::{BadLine, ListError, ListFormat, Listed, read_list};

use super::entry::{EntryLocation, ImportedSource, InvalidEntry};
use super::format::{open, read_failure};
use super::{EntrySink, Notes};
use crate::failure::Failure;

pub(crate) fn read(
    path: &Path,
    format: ListFormat,
    folder_tags: bool,
    sink: EntrySink<'_>,
) -> Result<Notes, Failure> {
    let mut file = open(path)?;
    let (mut result, mut any) = (Ok(()), false);
    let read = read_list(&mut *file, format, &mut |listed| {
        any = true;
        result = sink(listed.map(|it| to_source(it, folder_tags)).map_err(to_invalid_entry));
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result?;
    read.map_err(|error| failure(path, error))?;
    let no_feeds = !any && format == ListFormat::Opml;
    Ok(if no_feeds { vec!["the file contains no feeds".to_owned()] } else { Notes::new() })
}

fn to_source(listed: Listed, folder_tags: bool) -> ImportedSource {
    let mut source = ImportedSource::new(&listed.url, EntryLocation::Line(listed.line));
    if folder_tags && !listed.folders.is_empty() {
        source.request.settings.tags = Some(listed.folders);
    }
    source
}

fn to_invalid_entry(it: BadLine) -> InvalidEntry {
    InvalidEntry { location: EntryLocation::Line(it.line), reason: Failure::new(it.fault) }
}

fn failure(path: &Path, error: ListError) -> Failure {
    let name = path.display();
    let other = "give the format with --format";
    match error {
        ListError::Read(error) => read_failure(path, &error),
        ListError::Xml { line, why } => {
            Failure::new(format!("{name}:{line}: not XML: {why}")).with_hint(other)
        }
        ListError::NotOpml | ListError::NotASitemap => {
            Failure::new(format!("{name}: {error}")).with_hint(other)
        }
        ListError::Index { ref parts, more } => {
            let more = if more { " …" } else { "" };
            Failure::new(format!("{name} is {error}"))
                .with_hint(format!("download and import its sitemaps: {}{more}", parts.join(" ")))
        }
    }
}
