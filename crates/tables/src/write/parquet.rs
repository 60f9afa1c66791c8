//! Tables as Apache Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{Float64Builder, LargeStringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::write::table::{Cell, Cells, Table};

/// Number of rows per array.
const BATCH: usize = 1 << 14;

pub(super) fn write(out: &mut (dyn Write + Send), table: &Table<'_>) -> io::Result<()> {
    let fields: Vec<Field> = table
        .columns()
        .iter()
        .map(|(name, cells)| {
            let kind = if cells.are_names() { DataType::LargeUtf8 } else { DataType::Float64 };
            Field::new(*name, kind, !cells.are_names())
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(failed)?))
        // Ids and rates are nearly unique, so a dictionary would be built and discarded.
        .set_dictionary_enabled(false)
        .build();
    // Large text arrays are an in-memory type, not part of the file.
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer =
        ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options).map_err(failed)?;
    for start in (0..table.rows()).step_by(BATCH) {
        let end = table.rows().min(start + BATCH);
        let arrays = table.columns().iter().map(|(_, cells)| array(*cells, start, end)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(io::Error::other)?;
        writer.write(&batch).map_err(failed)?;
    }
    writer.close().map_err(failed).map(drop)
}

fn array(cells: Cells<'_>, start: usize, end: usize) -> ArrayRef {
    if cells.are_names() {
        let mut texts = LargeStringBuilder::new();
        for row in start..end {
            match cells.at(row) {
                Cell::Text(text) => texts.append_value(text),
                Cell::Row(number) => texts.append_value(number.to_string()),
                Cell::Number(_) | Cell::Nothing => texts.append_null(),
            }
        }
        return Arc::new(texts.finish());
    }
    let mut numbers = Float64Builder::with_capacity(end - start);
    for row in start..end {
        match cells.at(row) {
            Cell::Number(value) => numbers.append_value(value),
            _ => numbers.append_null(),
        }
    }
    Arc::new(numbers.finish())
}

/// Returns the underlying I/O error, if any.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
