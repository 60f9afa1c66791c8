//! A table in pieces: as many rows at a time as are read quickly, however long it is.

use std::ops::ControlFlow;

use freshet_model::SourceTable;

use crate::columns::Columns;
use crate::error::TableError;

/// Rows of a piece at most.
const ROWS: usize = 4096;

/// A part of a table.
#[derive(Debug)]
pub enum Piece {
    /// Rows, and how many came before them. Their ids may be empty, and their change rates NaN: nothing
    /// was said.
    Rows(SourceTable, u64),
    /// A row that cannot be one.
    Bad(TableError),
}

/// Gathers rows, and gives them on.
pub(crate) struct Pieces<'a> {
    pub(crate) each: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    pub(crate) before: u64,
}

impl Pieces<'_> {
    /// After each row, or what is wrong with it.
    #[inline]
    pub(crate) fn row(
        &mut self,
        columns: &mut Columns,
        row: Result<(), TableError>,
    ) -> ControlFlow<()> {
        match row {
            Ok(()) if columns.rows() < ROWS => ControlFlow::Continue(()),
            Ok(()) => self.rows(columns),
            Err(error) => {
                self.rows(columns)?;
                self.before += 1;
                (self.each)(Piece::Bad(error))
            }
        }
    }

    /// After some rows.
    pub(crate) fn rows(&mut self, columns: &mut Columns) -> ControlFlow<()> {
        let table = columns.take();
        if table.is_empty() {
            return ControlFlow::Continue(());
        }
        let before = self.before;
        self.before += table.len() as u64;
        (self.each)(Piece::Rows(table, before))
    }

    /// After the last row.
    pub(crate) fn end(&mut self, columns: &mut Columns) {
        // Nobody is to be stopped any more.
        let _ = self.rows(columns);
    }
}
