//! The store of the one process that writes.

use std::ops::Deref;
use std::path::Path;

use rusqlite::{Transaction, TransactionBehavior};

use crate::checkpoint::Checkpointer;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::meta;
use crate::open;
use crate::reader::Reader;
use crate::retention::{Retention, Sweep};
use crate::schema::{self, Mark, STEPS};
use crate::watch::AlertThresholds;

/// A store that this process writes, and no other. It reads like a [`Reader`].
///
/// What a call has written is durable when it returns: it survives the end of the process and of the
/// machine at any moment. A call that fails has written nothing.
#[derive(Debug)]
pub struct Store {
    // In this order they are dropped: the lock goes last.
    pub(crate) checkpointer: Checkpointer,
    pub(crate) reader: Reader,
    pub(crate) retention: Retention,
    pub(crate) sweep: Sweep,
    pub(crate) watch: AlertThresholds,
    _lock: Lock,
}

impl Store {
    /// Opens the store, or makes one if there is none; `now` is when it is made. Files of older
    /// versions are brought up to date.
    pub fn open(path: &Path, now: i64) -> Result<Self, StoreError> {
        let path = open::real_path(path);
        let lock = Lock::take(&path)?;
        let mut connection = open::writing(&path)?;
        let fault = |error| open::cannot_open(&path, error);
        let mark = Mark::read(&connection).map_err(fault)?;
        open::judge(&path, &mark)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
        schema::migrate(&mut connection, mark.version, STEPS).map_err(fault)?;
        let checkpointer = Checkpointer::start(&path, &mut connection)?;
        let reader = Reader { connection, path };
        let retention = Retention::default();
        let sweep = Sweep::default();
        let watch = AlertThresholds::default();
        let mut store = Self { checkpointer, reader, retention, sweep, watch, _lock: lock };
        if store.meta("made")?.is_none() {
            store.set_meta("made", &now.to_string())?;
        }
        if store.meta("identity")?.is_none() {
            store.write(meta::identify)?;
        }
        Ok(store)
    }

    /// How much of the past is kept.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Says how much of the past is kept from now on. What is too much goes bit by bit, with
    /// [`Store::record_batch`] and [`Store::prune`].
    pub fn set_retention(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// Lets the file grow to so many bytes and no further: what would need more fails as on a full
    /// disk. The log beside it is not counted.
    pub fn limit_size(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.run(|connection| {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page;
            let sql = format!("PRAGMA max_page_count = {}", pages.clamp(1, 0xffff_fffe));
            connection.query_row(&sql, [], |_| Ok(()))
        })
    }

    /// Does something as a whole or not at all.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.checkpointer.before_write();
        let connection = &mut self.reader.connection;
        let all = || -> rusqlite::Result<T> {
            let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = all();
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
