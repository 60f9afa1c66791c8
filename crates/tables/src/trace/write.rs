//! Writing a trace.

use std::path::Path;

use freshet_model::ChangeTrace;

use crate::error::TableError;
use crate::format::Format;
use crate::trace::name::{is_gzip, pages_path};
use crate::trace::{BIRTH, COUNT, END, PAGE, PATH, TIME};
use crate::write::{Staged, Table, write_to};

/// Writes a trace to `path`, sorted by time, and its pages to
/// [`pages_path`]. Pages are numbered from 0.
///
/// Both files are complete and on disk before either is renamed. [`crate::read_trace`] returns
/// the same history if its names are distinct and not empty.
///
/// # Errors
/// Returns [`TableError::NotATrace`] before anything is written, or [`TableError::Write`] if writing
/// fails.
pub fn write_trace(path: &Path, history: &ChangeTrace) -> Result<(), TableError> {
    let pages = pages_path(path)?;
    let format = Format::Separated { separator: b',', gzip: is_gzip(path)? };
    let staged_pages = {
        let numbers: Vec<f64> = (0..history.len()).map(|page| page as f64).collect();
        let births: Vec<f64> = history.lifetimes.iter().map(|life| life.start).collect();
        let ends: Vec<f64> = history.lifetimes.iter().map(|life| life.end).collect();
        let counts: Vec<f64> =
            (0..history.len()).map(|page| history.change_times(page).len() as f64).collect();
        let table = Table::new(history.len())
            .numbers(PAGE, &numbers)
            .numbers(BIRTH, &births)
            .numbers(END, &ends)
            .numbers(COUNT, &counts)
            .names(PATH, Some(&history.ids));
        Staged::new(&pages, |out| write_to(out, format, &table))?
    };
    let (numbers, times) = by_time(history);
    let table = Table::new(times.len()).numbers(PAGE, &numbers).numbers(TIME, &times);
    let staged = Staged::new(path, |out| write_to(out, format, &table))?;
    staged_pages.put()?;
    staged.put()
}

/// Returns the page and the time of every change, in the order of time.
fn by_time(history: &ChangeTrace) -> (Vec<f64>, Vec<f64>) {
    let mut changes: Vec<(f64, f64)> = Vec::with_capacity(history.change_count());
    for page in 0..history.len() {
        changes.extend(history.change_times(page).iter().map(|&time| (page as f64, time)));
    }
    // Stable: pages that changed at the same time stay in their order.
    changes.sort_by(|a, b| a.1.total_cmp(&b.1));
    changes.into_iter().unzip()
}
