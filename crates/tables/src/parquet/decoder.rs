//! Parquet decoder that turns panics into errors.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::file::metadata::ColumnChunkMetaData;
use arrow_array::RecordBatch;

use crate::column::Column;
use crate::error::TableError;
use crate::header;

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// Batches of the known columns of a file.
pub(super) struct Decoder {
    file: String,
    reader: ParquetRecordBatchReader,
    /// The columns of each batch.
    pub(super) columns: Vec<Column>,
    /// Number of rows according to the file.
    pub(super) rows: u64,
}

impl Decoder {
    pub(super) fn open(
        path: &Path,
        ignore_extra: bool,
        required: Column,
    ) -> Result<Self, TableError> {
        let file = path.display().to_string();
        let handle = File::open(path).map_err(|source| TableError::read(&file, source))?;
        // Ignores the embedded Arrow schema (views, dictionaries, large texts); without
        // it, there is one type for each kind of value.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = guard(&file, || {
            ParquetRecordBatchReaderBuilder::try_new_with_options(handle, options)
        })?;
        let metadata = builder.metadata();
        let mut chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
        if !chunks.all(lies_in_a_file) {
            return Err(damaged(&file, "a column lies outside the file"));
        }
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or_default();
        let names = builder.schema().fields().iter().map(|field| field.name().as_str());
        let layout = header::columns(&file, names, ignore_extra)?;
        header::require(&file, &layout, required)?;
        let wanted = (0..layout.len()).filter(|&place| layout[place].is_some());
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let reader = guard(&file, || builder.build())?;
        Ok(Self { file, reader, columns: layout.into_iter().flatten().collect(), rows })
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let batch = guard(&self.file, || self.reader.next().transpose())?;
        if batch.as_ref().is_some_and(|batch| batch.num_columns() != self.columns.len()) {
            return Err(damaged(&self.file, "columns are missing"));
        }
        Ok(batch)
    }
}

/// Runs the decoder, which panics on some damaged files.
fn guard<T, E: std::fmt::Display>(
    file: &str,
    run: impl FnOnce() -> Result<T, E>,
) -> Result<T, TableError> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|error| damaged(file, &error.to_string())),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(damaged(file, message.unwrap_or("damaged")))
        }
    }
}

fn damaged(file: &str, message: &str) -> TableError {
    TableError::Parquet { file: file.to_owned(), message: message.to_owned() }
}

/// Detects the most common of these faults without a panic, which would write to standard error.
fn lies_in_a_file(chunk: &ColumnChunkMetaData) -> bool {
    chunk.dictionary_page_offset().unwrap_or_default() >= 0
        && chunk.data_page_offset() >= 0
        && chunk.compressed_size() >= 0
        && chunk.num_values() >= 0
}
