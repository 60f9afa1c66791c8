//! Import of source tables as read by `freshet plan`.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_model::SourceTable;
use freshet_tables::{Piece, TableError, stream};

use super::entry::{EntryLocation, ImportedSource, InvalidEntry};
use super::{EntrySink, Notes};
use crate::failure::Failure;

pub(crate) fn read(path: &Path, sink: EntrySink<'_>) -> Result<Notes, Failure> {
    let mut result = Ok(());
    let mut send = |entry: Result<ImportedSource, InvalidEntry>| {
        result = sink(entry);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let read = stream(path, &mut |piece| match piece {
        Piece::Bad(error) => {
            send(Err(InvalidEntry { location: EntryLocation::InReason, reason: error.into() }))
        }
        Piece::Rows(table, before) => {
            (0..table.len()).try_for_each(|row| send(Ok(to_source(&table, row, before))))
        }
    });
    result?;
    read.map_err(|error| match error {
        TableError::MissingColumn { file, name: "id" } => {
            Failure::new(format!("{file}: there is no column `id` with the URLs"))
                .with_hint("add the column, or import a list of URLs with --format urls")
        }
        other => other.into(),
    })?;
    Ok(Notes::new())
}

fn to_source(table: &SourceTable, row: usize, before: u64) -> ImportedSource {
    let id = table.ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or_default();
    let mut source = ImportedSource::new(id, EntryLocation::Row(before + row as u64 + 1));
    let settings = &mut source.request.settings;
    settings.importance = Some(table.importance[row]);
    settings.cost = table.cost.as_ref().map(|cost| cost[row]);
    settings.change_rate = Some(table.change_rate[row]).filter(|rate| !rate.is_nan());
    settings.observed = table.observed.as_ref().map(|complete| complete[row]);
    let min_rate = table.min_rate.as_ref().map_or(0.0, |rates| rates[row]);
    let max_rate = table.max_rate.as_ref().map_or(f64::INFINITY, |rates| rates[row]);
    settings.max_interval = (min_rate > 0.0).then(|| 1.0 / min_rate);
    settings.min_interval = (max_rate > 0.0 && max_rate.is_finite()).then(|| 1.0 / max_rate);
    // A source that may never be fetched is paused.
    settings.paused = (max_rate == 0.0).then_some(true);
    source
}
