//! The tab-separated files of the data set.

use std::path::{Path, PathBuf};

use crate::error::{Fault, Place, TableError};
use crate::input::{Progress, REPORT_EVERY, Source};
use crate::text::lines::Lines;

/// Files of a directory, with reading progress.
pub(crate) struct Files<'a> {
    directory: PathBuf,
    progress: &'a mut dyn FnMut(Progress),
    bytes: u64,
    bytes_done: u64,
    rows_done: usize,
}

/// Error of a cell, with the name of its column.
pub(super) type CellFault = (&'static str, Fault);

impl<'a> Files<'a> {
    pub(super) fn open(
        directory: &Path,
        names: &[&str],
        progress: &'a mut dyn FnMut(Progress),
    ) -> Self {
        let size = |name: &&str| directory.join(name).metadata().map_or(0, |about| about.len());
        let bytes = names.iter().map(size).sum();
        Self { directory: directory.to_owned(), progress, bytes, bytes_done: 0, rows_done: 0 }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.directory.join(name).is_file()
    }

    /// Passes every row of a file with `N` columns to `take`. A first line that is not a row is skipped, because
    /// copies of the data set may have headers.
    pub(super) fn each<const N: usize>(
        &mut self,
        name: &str,
        is_row: impl Fn(&[&str; N]) -> bool,
        mut take: impl FnMut(u64, [&str; N]) -> Result<(), CellFault>,
    ) -> Result<(), TableError> {
        let path = self.directory.join(name);
        let file = path.display().to_string();
        let source = Source::open(&path, false)?;
        let gauge = source.gauge();
        let mut lines = Lines::new(source, &file)?;
        let mut first = true;
        let mut rows = 0;
        while let Some((line, text)) = lines.next()? {
            let mut cells = [""; N];
            let mut found = 0;
            for cell in text.split('\t') {
                if let Some(place) = cells.get_mut(found) {
                    *place = cell.trim();
                }
                found += 1;
            }
            let at = || Place::line(&file, line);
            if found != N {
                return Err(TableError::Ragged { at: at(), found, expected: N });
            }
            if std::mem::take(&mut first) && !is_row(&cells) {
                continue;
            }
            take(line, cells).map_err(|(column, fault)| TableError::Value {
                at: at(),
                column,
                fault,
            })?;
            rows += 1;
            if rows == u32::MAX {
                return Err(TableError::TooManySources { file });
            }
            self.rows_done += 1;
            if self.rows_done.is_multiple_of(REPORT_EVERY) {
                let done = self.bytes_done + gauge.bytes();
                let fraction = Some((done as f64 / self.bytes.max(1) as f64).min(1.0));
                (self.progress)(Progress { rows: self.rows_done as u64, fraction });
            }
        }
        self.bytes_done += gauge.bytes();
        Ok(())
    }
}
