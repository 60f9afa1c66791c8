//! The table of sources that `freshet plan` reads.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_model::SourceTable;
use freshet_tables::{Piece, TableError, stream};

use super::location::{Bad, Found, Place};
use super::{Each, Notes};
use crate::failure::Failure;

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let mut told = Ok(());
    let mut tell = |found: Result<Found, Bad>| {
        told = each(found);
        if told.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let read = stream(path, &mut |piece| match piece {
        Piece::Bad(error) => tell(Err(Bad { place: Place::Named, why: error.into() })),
        Piece::Rows(table, before) => {
            (0..table.len()).try_for_each(|row| tell(Ok(found(&table, row, before))))
        }
    });
    told?;
    read.map_err(|error| match error {
        TableError::MissingColumn { file, name: "id" } => {
            Failure::new(format!("{file}: there is no column `id` with the URLs"))
                .hint("add it, or import a list of URLs with --format urls")
        }
        other => other.into(),
    })?;
    Ok(Notes::new())
}

fn found(table: &SourceTable, row: usize, before: u64) -> Found {
    let id = table.ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or_default();
    let mut found = Found::new(id, Place::Row(before + row as u64 + 1));
    let given = &mut found.wanted.settings;
    given.importance = Some(table.importance[row]);
    given.cost = table.cost.as_ref().map(|cost| cost[row]);
    given.change_rate = Some(table.change_rate[row]).filter(|rate| !rate.is_nan());
    given.observed = table.complete.as_ref().map(|complete| complete[row]);
    let least = table.min_rate.as_ref().map_or(0.0, |rates| rates[row]);
    let most = table.max_rate.as_ref().map_or(f64::INFINITY, |rates| rates[row]);
    given.max_interval = (least > 0.0).then(|| 1.0 / least);
    given.min_interval = (most > 0.0 && most.is_finite()).then(|| 1.0 / most);
    // What may never be fetched is left alone.
    given.paused = (most == 0.0).then_some(true);
    found
}
