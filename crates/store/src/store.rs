//! Read and write access for the one process that owns the store.

use std::ops::Deref;
use std::path::Path;

use rusqlite::{Transaction, TransactionBehavior};

use crate::alert::AlertThresholds;
use crate::checkpoint::Checkpointer;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::meta;
use crate::open;
use crate::reader::Reader;
use crate::retention::{PruneProgress, Retention};
use crate::schema::{self, FileHeader, MIGRATIONS};

/// A store open for reading and writing, locked against other writers. It dereferences to a [`Reader`].
///
/// A write is durable when the call returns: it survives a crash of the process or the machine. A call that fails
/// has written nothing.
#[derive(Debug)]
pub struct Store {
    // Fields are dropped in this order: the lock is released last.
    pub(crate) checkpointer: Checkpointer,
    pub(crate) reader: Reader,
    pub(crate) retention: Retention,
    pub(crate) prune_progress: PruneProgress,
    pub(crate) alert_thresholds: AlertThresholds,
    _lock: Lock,
}

impl Store {
    /// Opens a store, or creates one at the time `now`. Files of older formats are migrated.
    pub fn open(path: &Path, now: i64) -> Result<Self, StoreError> {
        let path = open::real_path(path);
        let lock = Lock::acquire(&path)?;
        let mut connection = open::open_writer(&path)?;
        let open_error = |error| open::cannot_open(&path, error);
        let header = FileHeader::from_connection(&connection).map_err(open_error)?;
        open::check_format(&path, &header)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(open_error)?;
        schema::migrate(&mut connection, header.format_version, MIGRATIONS).map_err(open_error)?;
        let checkpointer = Checkpointer::start(&path, &mut connection)?;
        let reader = Reader { connection, path };
        let retention = Retention::default();
        let prune_progress = PruneProgress::default();
        let alert_thresholds = AlertThresholds::default();
        let mut store =
            Self { checkpointer, reader, retention, prune_progress, alert_thresholds, _lock: lock };
        if store.meta("made")?.is_none() {
            store.set_meta("made", &now.to_string())?;
        }
        if store.meta("identity")?.is_none() {
            store.write(meta::ensure_identity)?;
        }
        Ok(store)
    }

    /// Returns the limits on stored history.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Sets the limits on stored history. Rows beyond them are removed step by step by [`Store::record_batch`] and
    /// [`Store::prune`].
    pub fn set_retention(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// Limits the size of the database file in bytes: a write that needs more fails as on a full disk. The write-ahead
    /// log is not counted.
    pub fn limit_size(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.run(|connection| {
            let page_size: i64 =
                connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page_size;
            let sql = format!("PRAGMA max_page_count = {}", pages.clamp(1, 0xffff_fffe));
            connection.query_row(&sql, [], |_| Ok(()))
        })
    }

    /// Runs a function in one transaction.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.checkpointer.before_write();
        let connection = &mut self.reader.connection;
        let run = || -> rusqlite::Result<T> {
            let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = run();
        self.checkpointer.after_write();
        result.map_err(|error| StoreError::from_sqlite(&self.reader.path, error))
    }
}

impl Deref for Store {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}
