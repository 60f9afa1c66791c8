//! Destinations of notifications: settings, delivery progress and dead letters.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// Limit on the dead letters of one destination: the oldest are removed first.
const MAX_DEAD_LETTERS: i64 = 1_000;

/// Stored destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Id: never reused.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Channel, filter and format, opaque to the store.
    pub settings: String,
    /// True if deliveries are paused.
    pub paused: bool,
    /// All entries up to this cursor are delivered, given up or filtered out.
    pub cursor: i64,
    /// Last cursor of the delivery in flight, if there is one.
    pub in_flight_cursor: Option<i64>,
    /// Time of its creation.
    pub created_at: i64,
    /// Number of failed attempts since the last success.
    pub attempts: u32,
    /// Time of the next retry, if the last attempt failed.
    pub retry_at: Option<i64>,
    /// Time of the last successful delivery.
    pub delivered_at: Option<i64>,
    /// Error of the last attempt, if it failed.
    pub error: Option<String>,
    /// Time of the first of the failed attempts, if the last one failed.
    pub failing_since: Option<i64>,
    /// Time at which it was paused, if it is.
    pub paused_since: Option<i64>,
}

/// Progress of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// It started, with the entries up to a cursor: retries deliver the same entries, even if more are logged meanwhile.
    Started {
        /// Destination id.
        id: u32,
        /// Cursor of the last entry.
        last_cursor: i64,
    },
    /// All entries up to a cursor are delivered or filtered out.
    Completed {
        /// Destination id.
        id: u32,
        /// Cursor of the last entry.
        cursor: i64,
        /// Time of the delivery; `None` if all entries were filtered out.
        delivered_at: Option<i64>,
    },
    /// It failed and is retried later.
    Postponed {
        /// Destination id.
        id: u32,
        /// Settings used for the attempt: if they have changed since, the delivery is not postponed.
        settings: String,
        /// Number of failed attempts in a row.
        attempts: u32,
        /// Time of the failure.
        failed_at: i64,
        /// Time of the retry.
        retry_at: i64,
        /// Error message.
        error: String,
    },
}

/// Delivery that is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDeadLetter {
    /// Destination id.
    pub destination: u32,
    /// Cursor of its first entry.
    pub first_cursor: i64,
    /// Cursor of its last entry.
    pub last_cursor: i64,
    /// Time at which it was given up.
    pub at: i64,
    /// Number of attempts.
    pub attempts: u32,
    /// Error of the last attempt.
    pub error: String,
    /// Body that would have been sent.
    pub body: Vec<u8>,
}

/// Stored dead letter: a delivery that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Id, increasing.
    pub id: i64,
    /// Delivery.
    pub delivery: NewDeadLetter,
}

const COLUMNS: &str = "SELECT id, name, settings, paused, cursor, made, attempts, next, delivered,
    error, until, failed, rested FROM destination";

fn read(row: &Row<'_>) -> rusqlite::Result<Destination> {
    Ok(Destination {
        id: row.get(0)?,
        name: row.get(1)?,
        settings: row.get(2)?,
        paused: row.get(3)?,
        cursor: row.get(4)?,
        created_at: row.get(5)?,
        attempts: row.get(6)?,
        retry_at: row.get(7)?,
        delivered_at: row.get(8)?,
        error: row.get(9)?,
        in_flight_cursor: row.get(10)?,
        failing_since: row.get(11)?,
        paused_since: row.get(12)?,
    })
}

const SELECT_DEAD_LETTER: &str =
    "SELECT id, destination, first, last, at, attempts, error, body FROM dead";

fn read_dead_letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get(0)?,
        delivery: NewDeadLetter {
            destination: row.get(1)?,
            first_cursor: row.get(2)?,
            last_cursor: row.get(3)?,
            at: row.get(4)?,
            attempts: row.get(5)?,
            error: row.get(6)?,
            body: row.get(7)?,
        },
    })
}

impl Reader {
    /// Returns all destinations, in order of ids.
    pub fn destinations(&self) -> Result<Vec<Destination>, StoreError> {
        self.rows(&format!("{COLUMNS} ORDER BY id"), [], read)
    }

    /// Returns up to `limit` destinations that are paused, failing or have dead letters, in order of ids.
    pub fn unhealthy_destinations(&self, limit: usize) -> Result<Vec<Destination>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "{COLUMNS} WHERE paused OR attempts > 0
            OR id IN (SELECT destination FROM dead) ORDER BY id LIMIT ?1"
        );
        self.rows(&sql, [limit], read)
    }

    /// Returns the numbers of all destinations, of paused ones, and of failing ones that are not paused.
    pub fn count_destinations(&self) -> Result<(u64, u64, u64), StoreError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE paused),
            count(*) FILTER (WHERE NOT paused AND attempts > 0) FROM destination";
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(|it| it as u64);
        let counts =
            self.row(sql, [], |row| Ok((count(row, 0)?, count(row, 1)?, count(row, 2)?)))?;
        Ok(counts.unwrap_or_default())
    }

    /// Returns the number of dead letters of each destination that has some.
    pub fn count_dead_letters_by_destination(&self) -> Result<Vec<(u32, u64)>, StoreError> {
        let sql = "SELECT destination, count(*) FROM dead GROUP BY destination";
        self.rows(sql, [], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))
    }

    /// Returns a destination by its id.
    pub fn destination(&self, id: u32) -> Result<Option<Destination>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE id = ?1"), [id], read)
    }

    /// Returns a destination by its name.
    pub fn find_destination(&self, name: &str) -> Result<Option<Destination>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE name = ?1"), [name], read)
    }

    /// Returns up to `limit` dead letters of a destination with ids larger than `after`, oldest first.
    pub fn dead_letters(
        &self,
        destination: u32,
        after: i64,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql =
            format!("{SELECT_DEAD_LETTER} WHERE destination = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
        self.rows(&sql, params![destination, after, limit], read_dead_letter)
    }

    /// Returns the number of dead letters of a destination.
    pub fn count_dead_letters(&self, destination: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM dead WHERE destination = ?1";
        let count = self.row(sql, [destination], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }
}

impl Store {
    /// Updates the destination of a name, or creates one that gets the entries after `cursor`. A failed delivery is
    /// retried at once.
    pub fn upsert_destination(
        &mut self,
        name: &str,
        settings: &str,
        cursor: i64,
        now: i64,
    ) -> Result<u32, StoreError> {
        self.write(|transaction| {
            let sql = "INSERT INTO destination (name, settings, cursor, made)
                VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET
                settings = excluded.settings, attempts = 0, next = NULL, error = NULL,
                until = NULL, failed = NULL
                RETURNING id";
            let row = params![name, settings, cursor, now];
            transaction.prepare_cached(sql)?.query_row(row, |row| row.get(0))
        })
    }

    /// Replaces settings that do not affect which entries are delivered. A delivery in flight continues. Returns whether
    /// the destination exists.
    pub fn set_destination_settings(
        &mut self,
        id: u32,
        settings: &str,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET settings = ?2 WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute(params![id, settings])? > 0)
        })
    }

    /// Pauses or resumes a destination. When it resumes, a failed delivery is retried at once. Returns whether the
    /// destination exists.
    pub fn set_destination_paused(
        &mut self,
        id: u32,
        paused: bool,
        now: i64,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET paused = ?2,
                rested = CASE WHEN ?2 THEN coalesce(rested, ?3) END,
                attempts = CASE WHEN ?2 THEN attempts ELSE 0 END,
                next = CASE WHEN ?2 THEN next END,
                error = CASE WHEN ?2 THEN error END,
                failed = CASE WHEN ?2 THEN failed END WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute(params![id, paused, now])? > 0)
        })
    }

    /// Moves the retry of a failed delivery to an earlier time.
    pub fn bring_retry_forward(&mut self, id: u32, retry_at: i64) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET next = ?2 WHERE id = ?1 AND next > ?2";
            transaction.prepare_cached(sql)?.execute(params![id, retry_at]).map(|_| ())
        })
    }

    /// Removes a destination and its dead letters. Returns whether it existed.
    pub fn remove_destination(&mut self, id: u32) -> Result<bool, StoreError> {
        self.write(|transaction| {
            transaction.prepare_cached("DELETE FROM dead WHERE destination = ?1")?.execute([id])?;
            let sql = "DELETE FROM destination WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([id])? > 0)
        })
    }

    /// Records the progress of deliveries, in one transaction.
    pub fn record_delivery_steps(&mut self, steps: &[DeliveryStep]) -> Result<(), StoreError> {
        self.write(|transaction| {
            steps.iter().try_for_each(|step| match step {
                DeliveryStep::Started { id, last_cursor: until } => {
                    let sql = "UPDATE destination SET until = ?2 WHERE id = ?1";
                    transaction.prepare_cached(sql)?.execute(params![id, until]).map(|_| ())
                }
                DeliveryStep::Completed { id, cursor, delivered_at: at } => {
                    advance(transaction, *id, *cursor, *at)
                }
                DeliveryStep::Postponed {
                    id,
                    settings,
                    attempts,
                    failed_at: now,
                    retry_at: next,
                    error,
                } => {
                    let sql = "UPDATE destination SET attempts = ?3,
                        failed = coalesce(failed, ?4), next = ?5, error = ?6
                        WHERE id = ?1 AND settings = ?2";
                    let row = params![id, settings, attempts, now, next, error];
                    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
                }
            })
        })
    }

    /// Stores a delivery that is given up, and advances the destination past it.
    pub fn add_dead_letter(&mut self, dead_letter: &NewDeadLetter) -> Result<(), StoreError> {
        self.write(|transaction| {
            let NewDeadLetter {
                destination,
                first_cursor,
                last_cursor,
                at,
                attempts,
                error,
                body,
            } = dead_letter;
            let sql = "INSERT INTO dead (destination, first, last, at, attempts, error, body)
                SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM destination WHERE id = ?1";
            let row = params![destination, first_cursor, last_cursor, at, attempts, error, body];
            transaction.prepare_cached(sql)?.execute(row)?;
            let sql = "DELETE FROM dead WHERE destination = ?1 AND id <=
                (SELECT id FROM dead WHERE destination = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
            transaction.prepare_cached(sql)?.execute(params![destination, MAX_DEAD_LETTERS])?;
            advance(transaction, *destination, *last_cursor, None)
        })
    }

    /// Removes a dead letter that has finally been delivered. Returns whether it existed.
    pub fn complete_redelivery(&mut self, dead_letter: i64, at: i64) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET delivered = max(coalesce(delivered, ?2), ?2)
                WHERE id = (SELECT destination FROM dead WHERE id = ?1)";
            transaction.prepare_cached(sql)?.execute(params![dead_letter, at])?;
            let sql = "DELETE FROM dead WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([dead_letter])? > 0)
        })
    }

    /// Removes dead letters. Returns how many there were.
    pub fn remove_dead_letters(&mut self, ids: &[i64]) -> Result<usize, StoreError> {
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM dead WHERE id = ?1")?;
            let mut removed = 0;
            for id in ids {
                removed += statement.execute([id])?;
            }
            Ok(removed)
        })
    }
}

fn advance(
    transaction: &Transaction<'_>,
    id: u32,
    cursor: i64,
    at: Option<i64>,
) -> rusqlite::Result<()> {
    let sql = "UPDATE destination SET cursor = max(cursor, ?2), attempts = 0, next = NULL,
        error = NULL, failed = NULL, until = NULL, delivered = coalesce(?3, delivered) WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![id, cursor, at]).map(|_| ())
}
