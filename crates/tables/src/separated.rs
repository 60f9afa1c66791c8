//! Tables of sources as delimiter-separated values.

use std::io::Read;

use freshet_model::SourceTable;

use crate::column::Column;
use crate::columns::{Columns, Refused};
use crate::error::{Place, Position, TableError};
use crate::header;
use crate::input::{Gauge, Progress, REPORT_EVERY};
use crate::pieces::Pieces;
use crate::text::line_map::LineMap;
use crate::text::records::{Record, Records};

pub(crate) fn read(
    source: impl Read,
    gauge: &Gauge,
    file: &str,
    separator: u8,
    ignore_extra: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<SourceTable, TableError> {
    let mut records = Records::new(source, file, separator)?;
    let Some(names) = records.next()? else {
        return Err(TableError::Empty { file: file.to_owned() });
    };
    let layout = header::columns(file, names.cells(), ignore_extra)?;
    header::require(file, &layout, Column::ChangeRate)?;
    let mut rows = Rows {
        file,
        columns: Columns::with(layout.iter().flatten().copied()),
        lines: LineMap::default(),
    };
    let filled = rows.fill(&mut records, &layout, &mut |rows| progress(gauge.progress(rows)));
    rows.columns.settle().map_err(|refused| rows.at(refused, 0))?;
    filled?;
    Ok(rows.columns.into_table())
}

pub(crate) fn stream(
    source: impl Read,
    file: &str,
    separator: u8,
    pieces: &mut Pieces<'_>,
) -> Result<(), TableError> {
    let mut records = Records::new(source, file, separator)?;
    let Some(names) = records.next()? else {
        return Err(TableError::Empty { file: file.to_owned() });
    };
    let layout = header::columns(file, names.cells(), true)?;
    header::require(file, &layout, Column::Id)?;
    let columns = Columns::loose(layout.iter().flatten().copied());
    let mut rows = Rows { file, columns, lines: LineMap::default() };
    while let Some(record) = records.next()? {
        let row = rows.add(&record, &layout);
        if pieces.row(&mut rows.columns, row).is_break() {
            return Ok(());
        }
    }
    pieces.end(&mut rows.columns);
    Ok(())
}

struct Rows<'a> {
    file: &'a str,
    columns: Columns,
    lines: LineMap,
}

impl Rows<'_> {
    fn fill(
        &mut self,
        records: &mut Records<impl Read>,
        layout: &[Option<Column>],
        report: &mut dyn FnMut(usize),
    ) -> Result<(), TableError> {
        while let Some(record) = records.next()? {
            self.lines.note(self.columns.rows(), record.line);
            self.add(&record, layout)?;
            if self.columns.rows().is_multiple_of(REPORT_EVERY) {
                report(self.columns.rows());
            }
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, record: &Record<'_>, layout: &[Option<Column>]) -> Result<(), TableError> {
        let line = record.line;
        if record.len() != layout.len() {
            let at = Place::line(self.file, line);
            return Err(TableError::Ragged { at, found: record.len(), expected: layout.len() });
        }
        for (column, cell) in layout.iter().zip(record.cells()) {
            if let Some(column) = *column {
                self.columns.push_text(column, cell).map_err(|refused| self.at(refused, line))?;
            }
        }
        self.columns.end_row().map_err(|refused| self.at(refused, line))
    }

    fn at(&self, refused: Refused, line: u64) -> TableError {
        let position = |row| Position::Line(self.lines.line(row));
        refused.at(self.file, Position::Line(line), position)
    }
}
