//! Reading a table of sources from wherever it is.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_model::SourceTable;

use crate::error::TableError;
use crate::format::Format;
use crate::input::{Input, Progress, Source};
use crate::pieces::{Piece, Pieces};
use crate::polite::{self, PoliteNotes};
use crate::{json_lines, parquet, separated};

/// Changes per day from a history of intervals in days, each with whether there was a change
/// in it.
pub type Estimate<'a> = &'a dyn Fn(&[(f64, bool)]) -> f64;

/// How to read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Skip columns of no known meaning instead of refusing the table.
    pub ignore_extra: bool,
    /// What turns histories into change rates; only a [`Input::Directory`] has histories.
    pub estimate: Estimate<'a>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// The sources: one at least.
    pub table: SourceTable,
    /// What was found and left out in a PoliteCrawling directory.
    pub polite: Option<PoliteNotes>,
}

/// Reads a table of sources.
///
/// `progress` is called now and then, on this thread.
///
/// # Errors
/// The first thing that is wrong with the table, in the order in which it is read. A table
/// without rows is an error too.
pub fn read(
    input: &Input,
    options: &ReadOptions<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Sources, TableError> {
    let (file, sources) = match input {
        Input::Stdin => {
            let file = "standard input";
            let table = read_text(Source::stdin(), file, Format::CSV, options, progress)?;
            (file.to_owned(), Sources { table, polite: None })
        }
        Input::File(path) => {
            let table = read_file(path, options, progress)?;
            (path.display().to_string(), Sources { table, polite: None })
        }
        Input::Directory(path) => {
            (path.display().to_string(), polite::read(path, options.estimate, progress)?)
        }
    };
    if sources.table.is_empty() {
        return Err(TableError::NoSources { file });
    }
    Ok(sources)
}

/// Reads a table of sources in a file, some rows at a time, in memory of a fixed size. Ids must be
/// there and may come twice; change rates need not be there; columns of no known meaning are left out.
/// `each` may end it early.
///
/// # Errors
/// What is wrong with the table as a whole. What is wrong with a row is a [`Piece::Bad`].
pub fn stream(
    path: &Path,
    each: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), TableError> {
    let format = Format::of(path)?;
    let file = path.display().to_string();
    let mut pieces = Pieces { each, before: 0 };
    match format {
        Format::Parquet => parquet::stream(path, &mut pieces),
        Format::Separated { separator, .. } => {
            separated::stream(Source::open(path, format.gzip())?, &file, separator, &mut pieces)
        }
        Format::JsonLines { .. } => {
            json_lines::stream(Source::open(path, format.gzip())?, &file, &mut pieces)
        }
    }
}

fn read_file(
    path: &Path,
    options: &ReadOptions<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<SourceTable, TableError> {
    let format = Format::of(path)?;
    if format == Format::Parquet {
        return parquet::read(path, options.ignore_extra, progress);
    }
    let source = Source::open(path, format.gzip())?;
    read_text(source, &path.display().to_string(), format, options, progress)
}

fn read_text(
    source: Source,
    file: &str,
    format: Format,
    options: &ReadOptions<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<SourceTable, TableError> {
    let gauge = source.gauge();
    let extra = options.ignore_extra;
    match format {
        Format::Separated { separator, .. } => {
            separated::read(source, &gauge, file, separator, extra, progress)
        }
        Format::JsonLines { .. } | Format::Parquet => {
            json_lines::read(source, &gauge, file, extra, progress)
        }
    }
}
