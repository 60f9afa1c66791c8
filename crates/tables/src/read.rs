//! Reading a table of sources from any input.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_model::SourceTable;

use crate::error::TableError;
use crate::format::Format;
use crate::input::{Input, Progress, Source};
use crate::pieces::{Piece, Pieces};
use crate::polite::{self, PoliteNotes};
use crate::{json_lines, parquet, separated};

/// Estimator of changes per day from a history of intervals in days, each with a flag whether there was a
/// change.
pub type Estimate<'a> = &'a dyn Fn(&[(f64, bool)]) -> f64;

/// Options of reading.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Ignore unknown columns instead of returning an error.
    pub ignore_extra: bool,
    /// Estimator that turns histories into change rates; only [`Input::Directory`] has histories.
    pub estimate: Estimate<'a>,
}

/// Name of the input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// Sources, at least one.
    pub table: SourceTable,
    /// Counts of used and skipped rows of a PoliteCrawling directory.
    pub polite: Option<PoliteNotes>,
}

/// Reads a table of sources.
///
/// `progress` is called from time to time on this thread.
///
/// # Errors
/// Returns the first error in the table, in reading order. A table
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

/// Reads a table of sources from a file in pieces, in constant memory. Ids are required
/// and may be duplicates; change rates are optional; unknown columns are ignored.
/// `each` may stop it early.
///
/// # Errors
/// Returns an error of the table as a whole. An invalid row is a [`Piece::Bad`].
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
