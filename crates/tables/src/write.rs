//! Writing tables atomically.

mod atomic;
mod parquet;
mod plan;
mod table;
mod text;

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::TableError;
use crate::format::Format;
pub(crate) use atomic::Staged;
pub use atomic::{write_atomic, write_files};
pub use plan::PlanRows;
pub use table::Table;

/// Writes a table to a file atomically, in the format of its extension.
///
/// # Errors
/// Returns [`TableError::UnknownFormat`] before anything is written, or [`TableError::Write`] if
/// writing fails.
pub fn write(path: &Path, table: &Table<'_>) -> Result<(), TableError> {
    let format = Format::of(path)?;
    write_atomic(path, |out| write_to(out, format, table))
}

/// Writes a table to `out` as CSV, as for standard output.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_csv(out: &mut dyn Write, table: &Table<'_>) -> io::Result<()> {
    text::separated(out, b',', table)
}

/// Writes a table to `out`.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_to(out: &mut (dyn Write + Send), format: Format, table: &Table<'_>) -> io::Result<()> {
    if format.gzip() {
        let mut packed = GzEncoder::new(out, Compression::default());
        write_plain(&mut packed, format, table)?;
        return packed.finish().map(drop);
    }
    write_plain(out, format, table)
}

fn write_plain(out: &mut (dyn Write + Send), format: Format, table: &Table<'_>) -> io::Result<()> {
    match format {
        Format::Separated { separator, .. } => text::separated(out, separator, table),
        Format::JsonLines { .. } => text::json_lines(out, table),
        Format::Parquet => parquet::write(out, table),
    }
}
