//! Key-value settings, the checkpoint of the engine, and the budget ledger.

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// Budget entries at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedgerEntry {
    /// Time of the spending.
    pub at: i64,
    /// Sum of the costs of the fetches.
    pub fetches: f64,
    /// Bytes received.
    pub bytes: u64,
}

impl Reader {
    /// Returns the value of a key.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
    }

    /// Returns the random identity of this store, which its copies share. Empty if no version of freshet that knows
    /// identities has opened the file for writing.
    pub fn identity(&self) -> Result<String, StoreError> {
        Ok(self.meta("identity")?.unwrap_or_default())
    }

    /// Returns the state of the engine that belongs to no source or host.
    pub fn engine_checkpoint(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.row("SELECT bytes FROM rest", [], |row| row.get(0))
    }

    /// Returns the spending at `since` and later, in order of time.
    pub fn ledger(&self, since: i64) -> Result<Vec<LedgerEntry>, StoreError> {
        let sql = "SELECT at, fetches, bytes FROM ledger WHERE at >= ?1 ORDER BY at";
        self.rows(sql, [since], |row| {
            Ok(LedgerEntry {
                at: row.get(0)?,
                fetches: row.get(1)?,
                bytes: row.get::<_, i64>(2)? as u64,
            })
        })
    }
}

impl Store {
    /// Sets the value of a key.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "INSERT INTO meta VALUES (?1, ?2)
                ON CONFLICT DO UPDATE SET value = excluded.value";
            transaction.prepare_cached(sql)?.execute([key, value]).map(|_| ())
        })
    }
}

/// Gives a store without an identity a random one.
pub(crate) fn ensure_identity(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))))
        ON CONFLICT DO NOTHING";
    transaction.execute(sql, []).map(|_| ())
}

pub(crate) fn save_engine_checkpoint(
    transaction: &Transaction<'_>,
    bytes: &[u8],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO rest VALUES (0, ?1) ON CONFLICT DO UPDATE SET bytes = excluded.bytes";
    transaction.prepare_cached(sql)?.execute([bytes]).map(|_| ())
}

pub(crate) fn add_to_ledger(
    transaction: &Transaction<'_>,
    entries: &[LedgerEntry],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO ledger VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE
        SET fetches = fetches + excluded.fetches, bytes = bytes + excluded.bytes";
    let mut statement = transaction.prepare_cached(sql)?;
    for entry in entries {
        statement.execute(params![entry.at, entry.fetches, entry.bytes as i64])?;
    }
    Ok(())
}

/// Returns the value of a counter.
pub(crate) fn counter(connection: &rusqlite::Connection, name: &str) -> rusqlite::Result<i64> {
    let sql = "SELECT value FROM counter WHERE name = ?1";
    connection.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}

pub(crate) fn set_counter(
    connection: &rusqlite::Connection,
    name: &str,
    value: i64,
) -> rusqlite::Result<()> {
    let sql = "UPDATE counter SET value = ?2 WHERE name = ?1";
    connection.prepare_cached(sql)?.execute(params![name, value]).map(|_| ())
}
