//! Tables of sources as Apache Parquet.

mod decoder;

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use freshet_model::SourceTable;

use crate::column::Column;
use crate::columns::{Columns, Refused};
use crate::error::{Place, Position, TableError};
use crate::input::Progress;
use crate::pieces::Pieces;
use decoder::Decoder;

pub(crate) fn read(
    path: &Path,
    ignore_extra: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<SourceTable, TableError> {
    let file = path.display().to_string();
    let decoder = Decoder::open(path, ignore_extra, Column::ChangeRate)?;
    let columns = Columns::with(decoder.columns.iter().copied());
    let mut rows = Rows { file: &file, columns, before: 0 };
    let filled = rows.fill(decoder, progress);
    rows.columns.settle().map_err(|refused| rows.at(refused, 0))?;
    filled?;
    Ok(rows.columns.into_table())
}

pub(crate) fn stream(path: &Path, pieces: &mut Pieces<'_>) -> Result<(), TableError> {
    let file = path.display().to_string();
    let mut decoder = Decoder::open(path, true, Column::Id)?;
    let columns = Columns::loose(decoder.columns.iter().copied());
    let mut rows = Rows { file: &file, columns, before: 0 };
    while let Some(batch) = decoder.next()? {
        let (before, kept) = (rows.before, rows.columns.rows());
        if rows.add(&batch, &decoder.columns).is_ok() {
            if pieces.rows(&mut rows.columns).is_break() {
                return Ok(());
            }
            continue;
        }
        // Row by row, to separate valid rows from invalid ones.
        rows.columns.undo_to(kept);
        for at in 0..batch.num_rows() {
            rows.before = before + at;
            let row = rows.add(&batch.slice(at, 1), &decoder.columns);
            if pieces.row(&mut rows.columns, row).is_break() {
                return Ok(());
            }
        }
        rows.before = before + batch.num_rows();
    }
    pieces.end(&mut rows.columns);
    Ok(())
}

struct Rows<'a> {
    file: &'a str,
    columns: Columns,
    before: usize,
}

/// Reads a column of integers or floats.
macro_rules! numbers {
    ($rows:expr, $column:expr, $array:expr, $type:ty) => {
        $rows.each($column, $array.as_primitive::<$type>().iter(), |columns, value| {
            columns.push_number($column, value as f64)
        })
    };
}

/// Reads a column of integers as names.
macro_rules! labels {
    ($rows:expr, $column:expr, $array:expr, $type:ty) => {
        $rows.each($column, $array.as_primitive::<$type>().iter(), |columns, value| {
            columns.push_name($column, &value.to_string())
        })
    };
}

/// Reads a column of decimals.
macro_rules! decimals {
    ($rows:expr, $column:expr, $array:expr, $type:ty, $scale:expr) => {{
        let unit = 10f64.powi(i32::from($scale));
        $rows.each($column, $array.as_primitive::<$type>().iter(), |columns, value| {
            columns.push_number($column, value as f64 / unit)
        })
    }};
}

impl Rows<'_> {
    fn fill(
        &mut self,
        mut decoder: Decoder,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TableError> {
        while let Some(batch) = decoder.next()? {
            self.add(&batch, &decoder.columns)?;
            let fraction = (self.before as f64 / decoder.rows.max(1) as f64).min(1.0);
            progress(Progress { rows: self.before as u64, fraction: Some(fraction) });
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch, columns: &[Column]) -> Result<(), TableError> {
        for (column, array) in columns.iter().zip(batch.columns()) {
            match column {
                Column::Id | Column::Host => self.add_names(*column, array)?,
                _ => self.add_numbers(*column, array)?,
            }
        }
        for row in 0..batch.num_rows() {
            self.columns.end_row().map_err(|refused| self.at(refused, row))?;
        }
        self.before += batch.num_rows();
        Ok(())
    }

    fn add_numbers(&mut self, column: Column, array: &dyn Array) -> Result<(), TableError> {
        match array.data_type() {
            DataType::Float64 => numbers!(self, column, array, Float64Type),
            DataType::Float32 => numbers!(self, column, array, Float32Type),
            DataType::Float16 => {
                let values = array.as_primitive::<Float16Type>().iter();
                self.each(column, values, |columns, value| {
                    columns.push_number(column, value.to_f64())
                })
            }
            DataType::Int8 => numbers!(self, column, array, Int8Type),
            DataType::Int16 => numbers!(self, column, array, Int16Type),
            DataType::Int32 => numbers!(self, column, array, Int32Type),
            DataType::Int64 => numbers!(self, column, array, Int64Type),
            DataType::UInt8 => numbers!(self, column, array, UInt8Type),
            DataType::UInt16 => numbers!(self, column, array, UInt16Type),
            DataType::UInt32 => numbers!(self, column, array, UInt32Type),
            DataType::UInt64 => numbers!(self, column, array, UInt64Type),
            DataType::Decimal32(_, scale) => {
                decimals!(self, column, array, Decimal32Type, *scale)
            }
            DataType::Decimal64(_, scale) => {
                decimals!(self, column, array, Decimal64Type, *scale)
            }
            DataType::Decimal128(_, scale) => {
                decimals!(self, column, array, Decimal128Type, *scale)
            }
            DataType::Boolean if column == Column::Complete => {
                self.each(column, array.as_boolean().iter(), |columns, value| {
                    columns.push_bool(value);
                    Ok(())
                })
            }
            DataType::Null => self.each(column, nothing(array), |_, ()| Ok(())),
            other => {
                let expected = if column == Column::Complete { "booleans" } else { "numbers" };
                Err(self.wrong_type(column, other, expected))
            }
        }
    }

    fn add_names(&mut self, column: Column, array: &dyn Array) -> Result<(), TableError> {
        match array.data_type() {
            DataType::Utf8 => {
                self.each(column, array.as_string::<i32>().iter(), |columns, text| {
                    columns.push_name(column, text)
                })
            }
            // Some writers do not annotate text columns.
            DataType::Binary => {
                let values = array.as_binary::<i32>();
                if let Some(row) = values
                    .iter()
                    .position(|bytes| bytes.is_some_and(|b| std::str::from_utf8(b).is_err()))
                {
                    return Err(TableError::NotUtf8 { at: self.place(row) });
                }
                let texts =
                    values.iter().map(|b| b.map(|b| std::str::from_utf8(b).unwrap_or_default()));
                self.each(column, texts, |columns, text| columns.push_name(column, text))
            }
            DataType::Int8 => labels!(self, column, array, Int8Type),
            DataType::Int16 => labels!(self, column, array, Int16Type),
            DataType::Int32 => labels!(self, column, array, Int32Type),
            DataType::Int64 => labels!(self, column, array, Int64Type),
            DataType::UInt8 => labels!(self, column, array, UInt8Type),
            DataType::UInt16 => labels!(self, column, array, UInt16Type),
            DataType::UInt32 => labels!(self, column, array, UInt32Type),
            DataType::UInt64 => labels!(self, column, array, UInt64Type),
            DataType::Null => self.each(column, nothing(array), |_, ()| Ok(())),
            other => Err(self.wrong_type(column, other, "text or integers")),
        }
    }

    fn each<T>(
        &mut self,
        column: Column,
        cells: impl Iterator<Item = Option<T>>,
        push: impl Fn(&mut Columns, T) -> Result<(), Refused>,
    ) -> Result<(), TableError> {
        for (row, cell) in cells.enumerate() {
            match cell {
                Some(value) => push(&mut self.columns, value),
                None => self.columns.push_missing(column),
            }
            .map_err(|refused| self.at(refused, row))?;
        }
        Ok(())
    }

    fn position(&self, row: usize) -> Position {
        Position::Row((self.before + row + 1) as u64)
    }

    fn place(&self, row: usize) -> Place {
        Place { file: self.file.to_owned(), position: self.position(row) }
    }

    fn at(&self, refused: Refused, row: usize) -> TableError {
        refused.at(self.file, self.position(row), |first| Position::Row(first as u64 + 1))
    }

    fn wrong_type(&self, column: Column, found: &DataType, expected: &'static str) -> TableError {
        let found = found.to_string();
        TableError::ColumnType { file: self.file.to_owned(), column, found, expected }
    }
}

fn nothing(array: &dyn Array) -> impl Iterator<Item = Option<()>> {
    std::iter::repeat_n(None, array.len())
}
