//! Tables through files, as the product reads and writes them.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod columnar;
mod git;
mod hostile;
mod json_lines;
mod limits;
mod pieces;
mod polite;
mod round_trip;
mod separated;
mod trace;
mod traces;
#[cfg(unix)]
mod writing;

use std::path::Path;

use freshet_model::SourceTable;
use freshet_tables::{Input, ReadOptions, Sources, TableError, read};

fn read_path(path: &Path, ignore_extra: bool) -> Result<Sources, TableError> {
    let options = ReadOptions { ignore_extra, estimate: &|history| history.len() as f64 };
    read(&Input::from_argument(path), &options, &mut |_| {})
}

/// Writes `bytes` to a file of this name and reads it back: the table, or the message without
/// the directory.
fn read_bytes(name: &str, bytes: &[u8], ignore_extra: bool) -> Result<SourceTable, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let prefix = format!("{}/", directory.path().display());
    read_path(&path, ignore_extra)
        .map(|sources| sources.table)
        .map_err(|error| error.to_string().replace(&prefix, ""))
}
