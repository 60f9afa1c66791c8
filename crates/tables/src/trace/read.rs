//! Reading a trace.

use freshet_model::{ChangeTrace, TimeRange};

use crate::error::TableError;
use crate::input::{Input, Progress, REPORT_EVERY};
use crate::names::Names;
use crate::trace::pages::{Misfit, Pages};
use crate::trace::sheet::Sheet;
use crate::trace::{PAGE, TIME};

const PAGE_AT: usize = 0;
const TIME_AT: usize = 1;

/// Reads a trace: its changes, in any order, and its page file, if there is one.
///
/// Every page of the page file is a source, even without changes, and is named by its
/// `path` if the file has that column. A change of an unknown page, or outside the life of its page,
/// is an error. Without a page file, every page with a change is a source and lives from the
/// first change of the trace to the last. Equal rows are separate changes.
///
/// `progress` is called from time to time on this thread.
///
/// # Errors
/// Returns the first error, in the page file before the changes. A trace without pages is
/// an error too, and so is a page whose number of changes differs from `n_changes`.
pub fn read_trace(
    trace: &Input,
    pages: Option<&Input>,
    ignore_extra: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<ChangeTrace, TableError> {
    let pages = pages.map(|pages| Pages::read(pages, ignore_extra)).transpose()?;
    let mut sheet = Sheet::open(trace, [PAGE, TIME], 2, ignore_extra)?;
    let mut seen = Names::new();
    let mut changes: Vec<(u32, f64)> = Vec::new();
    while let Some(row) = sheet.next()? {
        let (page, time) = (row.text(PAGE_AT)?, row.time(TIME_AT)?);
        let number = match &pages {
            Some(pages) => pages.changed(page, time).map_err(|misfit| match misfit {
                Misfit::Page(fault) => row.wrong(PAGE_AT, fault),
                Misfit::Time(fault) => row.wrong(TIME_AT, fault),
            })?,
            None if seen.len() == u32::MAX as usize => {
                return Err(TableError::TooManySources { file: sheet.file });
            }
            None => seen.insert(page).unwrap_or_else(|known| known),
        };
        changes.push((number, time));
        if changes.len().is_multiple_of(REPORT_EVERY) {
            progress(sheet.gauge.progress(changes.len()));
        }
    }
    match pages {
        Some(pages) => pages.with_changes(&changes),
        None if changes.is_empty() => Err(TableError::NoSources { file: sheet.file }),
        None => {
            let birth = changes.iter().map(|change| change.1).fold(f64::INFINITY, f64::min);
            let end = changes.iter().map(|change| change.1).fold(0.0, f64::max);
            let lives = vec![TimeRange { start: birth, end }; seen.len()];
            Ok(ChangeTrace::new(seen.into_strings(), lives, &changes))
        }
    }
}
