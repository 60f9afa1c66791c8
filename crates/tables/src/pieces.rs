//! Reading a table in pieces of limited size.

use std::ops::ControlFlow;

use freshet_model::SourceTable;

use crate::columns::Columns;
use crate::error::TableError;

/// Largest number of rows in a piece.
const ROWS: usize = 4096;

/// Piece of a table.
#[derive(Debug)]
pub enum Piece {
    /// Rows, and the number of rows before them. Missing ids are empty, and missing change rates are
    /// NaN.
    Rows(SourceTable, u64),
    /// An invalid row.
    Bad(TableError),
}

/// Collects rows and passes them on in pieces.
pub(crate) struct Pieces<'a> {
    pub(crate) each: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    pub(crate) before: u64,
}

impl Pieces<'_> {
    /// Called after each row, valid or not.
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

    /// Called after some rows.
    pub(crate) fn rows(&mut self, columns: &mut Columns) -> ControlFlow<()> {
        let table = columns.take();
        if table.is_empty() {
            return ControlFlow::Continue(());
        }
        let before = self.before;
        self.before += table.len() as u64;
        (self.each)(Piece::Rows(table, before))
    }

    /// Called after the last row.
    pub(crate) fn end(&mut self, columns: &mut Columns) {
        // Nothing is left to stop.
        let _ = self.rows(columns);
    }
}
