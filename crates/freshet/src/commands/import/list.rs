//! Lists: URLs on lines, OPML, sitemaps.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_tables::{BadLine, ListError, ListFormat, Listed, read_list};

use super::format::{open, unreadable};
use super::location::{Bad, Found, Place};
use super::{Each, Notes};
use crate::failure::Failure;

pub(crate) fn read(
    path: &Path,
    format: ListFormat,
    folder_tags: bool,
    each: Each<'_>,
) -> Result<Notes, Failure> {
    let mut file = open(path)?;
    let (mut told, mut any) = (Ok(()), false);
    let read = read_list(&mut *file, format, &mut |listed| {
        any = true;
        told = each(listed.map(|it| found(it, folder_tags)).map_err(bad));
        if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    told?;
    read.map_err(|error| failure(path, error))?;
    let nothing = !any && format == ListFormat::Opml;
    Ok(if nothing { vec!["there are no feeds in it".to_owned()] } else { Notes::new() })
}

fn found(listed: Listed, folder_tags: bool) -> Found {
    let mut found = Found::new(&listed.url, Place::Line(listed.line));
    if folder_tags && !listed.folders.is_empty() {
        found.wanted.settings.tags = Some(listed.folders);
    }
    found
}

fn bad(it: BadLine) -> Bad {
    Bad { place: Place::Line(it.line), why: Failure::new(it.fault) }
}

fn failure(path: &Path, error: ListError) -> Failure {
    let name = path.display();
    let other = "name what it is with --format";
    match error {
        ListError::Read(error) => unreadable(path, &error),
        ListError::Xml { line, why } => {
            Failure::new(format!("{name}:{line}: not XML: {why}")).hint(other)
        }
        ListError::NotOpml | ListError::NotASitemap => {
            Failure::new(format!("{name}: {error}")).hint(other)
        }
        ListError::Index { ref parts, more } => {
            let more = if more { " …" } else { "" };
            Failure::new(format!("{name} is {error}"))
                .hint(format!("fetch its parts and import them: {}{more}", parts.join(" ")))
        }
    }
}
