//! Read access, from any process.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::StoreError;
use crate::open;

/// A store open for reading, from any process, also while a daemon writes to it. Each call sees all transactions that
/// were committed when it began.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Reader {
    /// Opens an existing store without locking it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = open::real_path(path);
        Ok(Self { connection: open::open_reader(&path)?, path })
    }

    /// Opens another reader of the same store.
    pub fn open_another(&self) -> Result<Self, StoreError> {
        Self::open(&self.path)
    }

    /// Path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a function on the connection and converts SQLite errors.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    /// Returns all rows of a cached statement.
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

    /// Returns the first row of a cached statement, if there is one.
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
