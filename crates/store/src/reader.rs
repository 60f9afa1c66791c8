//! Looking, from any process.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::StoreError;
use crate::open;

/// A store to be read: from any process, also while a daemon writes. Each call sees all that was
/// durable when it began, and nothing half.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Reader {
    /// Opens a store that exists, without taking it from anybody.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = open::real_path(path);
        Ok(Self { connection: open::reading(&path)?, path })
    }

    /// One more reader of the same store.
    pub fn open_another(&self) -> Result<Self, StoreError> {
        Self::open(&self.path)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs SQL and says what its failure means.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// All rows of a statement that is kept ready.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.run(|connection| {
            connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
        })
    }

    /// The row of a statement that is kept ready, if there is one.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.run(|connection| {
            connection.prepare_cached(sql)?.query_row(parameters, read).optional()
        })
    }
}
