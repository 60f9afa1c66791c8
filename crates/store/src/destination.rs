//! Who is told of changes, how far they are told, and what could not be delivered.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// Deliveries of one destination that were given up and are kept: the oldest go first.
const BURIED: i64 = 1_000;

/// Somebody who is told of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Its number: none is used twice.
    pub id: u32,
    /// What its owner calls it.
    pub name: String,
    /// Where, what and how, as a text that the store does not look into.
    pub settings: String,
    /// Whether nothing is delivered for the time being.
    pub paused: bool,
    /// All up to this cursor is delivered, given up, or not wanted.
    pub cursor: i64,
    /// The last cursor of the delivery that is under way, if one is.
    pub until: Option<i64>,
    /// When it was made.
    pub created_at: i64,
    /// Deliveries that failed since the last one that did not.
    pub attempts: u32,
    /// When it is tried again, if the last delivery failed.
    pub retry_at: Option<i64>,
    /// When something was last delivered.
    pub delivered_at: Option<i64>,
    /// Why the last delivery failed, if it did.
    pub error: Option<String>,
    /// Since when all deliveries failed, if the last one did.
    pub failing_since: Option<i64>,
    /// Since when nothing is delivered, if it is paused.
    pub paused_since: Option<i64>,
}

/// How far a delivery is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// It begins, and goes up to a cursor: whatever comes meanwhile, it is the same one until it is
    /// delivered or given up.
    Started {
        /// To whom.
        id: u32,
        /// Up to where.
        until: i64,
    },
    /// All up to a cursor is delivered, or not wanted.
    Completed {
        /// To whom.
        id: u32,
        /// Up to where.
        cursor: i64,
        /// When, if something was delivered.
        at: Option<i64>,
    },
    /// It failed, for so many times in a row, and is tried again later.
    Postponed {
        /// To whom.
        id: u32,
        /// What its settings were: if they are others now, nothing is put off.
        settings: String,
        /// How often it failed.
        attempts: u32,
        /// When it failed.
        now: i64,
        /// When it is tried again.
        next: i64,
        /// Why it failed.
        error: String,
    },
}

/// A delivery that is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDeadLetter {
    /// To whom.
    pub destination: u32,
    /// The cursor of the first entry in it.
    pub first_cursor: i64,
    /// The cursor of the last one.
    pub last_cursor: i64,
    /// When it was given up.
    pub at: i64,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it failed the last time.
    pub error: String,
    /// What would have been sent.
    pub body: Vec<u8>,
}

/// A delivery that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its number: later ones are larger.
    pub id: i64,
    /// What it was.
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
        until: row.get(10)?,
        failing_since: row.get(11)?,
        paused_since: row.get(12)?,
    })
}

const DEAD: &str = "SELECT id, destination, first, last, at, attempts, error, body FROM dead";

fn read_dead(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
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
    /// All destinations, by number.
    pub fn destinations(&self) -> Result<Vec<Destination>, StoreError> {
        self.rows(&format!("{COLUMNS} ORDER BY id"), [], read)
    }

    /// Those that are paused, cannot be told, or have deliveries that were given up, by number, at most
    /// `limit`.
    pub fn unhealthy_destinations(&self, limit: usize) -> Result<Vec<Destination>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "{COLUMNS} WHERE paused OR attempts > 0
            OR id IN (SELECT destination FROM dead) ORDER BY id LIMIT ?1"
        );
        self.rows(&sql, [limit], read)
    }

    /// How many destinations there are, how many of them are paused, and how many of the others cannot
    /// be told.
    pub fn count_destinations(&self) -> Result<(u64, u64, u64), StoreError> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE paused),
            count(*) FILTER (WHERE NOT paused AND attempts > 0) FROM destination";
        let number = |row: &Row<'_>, at| row.get::<_, i64>(at).map(|it| it as u64);
        let counts =
            self.row(sql, [], |row| Ok((number(row, 0)?, number(row, 1)?, number(row, 2)?)))?;
        Ok(counts.unwrap_or_default())
    }

    /// How many deliveries were given up, and are kept, for each destination with some.
    pub fn count_dead_letters_by_destination(&self) -> Result<Vec<(u32, u64)>, StoreError> {
        let sql = "SELECT destination, count(*) FROM dead GROUP BY destination";
        self.rows(sql, [], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))
    }

    /// A destination by its number.
    pub fn destination(&self, id: u32) -> Result<Option<Destination>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE id = ?1"), [id], read)
    }

    /// A destination by its name.
    pub fn find_destination(&self, name: &str) -> Result<Option<Destination>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE name = ?1"), [name], read)
    }

    /// Deliveries to a destination that were given up: those with a larger number than `after`, the
    /// oldest first, at most `limit`.
    pub fn dead_letters(
        &self,
        destination: u32,
        after: i64,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!("{DEAD} WHERE destination = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
        self.rows(&sql, params![destination, after, limit], read_dead)
    }

    /// How many deliveries to a destination were given up, and are kept.
    pub fn count_dead_letters(&self, destination: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM dead WHERE destination = ?1";
        let count = self.row(sql, [destination], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }
}

impl Store {
    /// Describes the destination of a name, or makes one that is told of what comes after `cursor`.
    /// Whether it is told at once: what failed is tried anew.
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

    /// Gives a destination settings that do not matter to what it is told. What is under way goes on as
    /// it is. Says whether there is such a one.
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

    /// Leaves a destination alone for the time being, or not: then what failed is tried at once. Says
    /// whether there is such a one.
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

    /// Has a delivery that failed tried at another time than it was put off to.
    pub fn bring_retry_forward(&mut self, id: u32, next: i64) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET next = ?2 WHERE id = ?1 AND next > ?2";
            transaction.prepare_cached(sql)?.execute(params![id, next]).map(|_| ())
        })
    }

    /// Forgets a destination and what could not be delivered to it. Says whether there was one.
    pub fn remove_destination(&mut self, id: u32) -> Result<bool, StoreError> {
        self.write(|transaction| {
            transaction.prepare_cached("DELETE FROM dead WHERE destination = ?1")?.execute([id])?;
            let sql = "DELETE FROM destination WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([id])? > 0)
        })
    }

    /// Writes down how far deliveries are, all at once.
    pub fn record_delivery_steps(&mut self, steps: &[DeliveryStep]) -> Result<(), StoreError> {
        self.write(|transaction| {
            steps.iter().try_for_each(|step| match step {
                DeliveryStep::Started { id, until } => {
                    let sql = "UPDATE destination SET until = ?2 WHERE id = ?1";
                    transaction.prepare_cached(sql)?.execute(params![id, until]).map(|_| ())
                }
                DeliveryStep::Completed { id, cursor, at } => {
                    advance(transaction, *id, *cursor, *at)
                }
                DeliveryStep::Postponed { id, settings, attempts, now, next, error } => {
                    let sql = "UPDATE destination SET attempts = ?3,
                        failed = coalesce(failed, ?4), next = ?5, error = ?6
                        WHERE id = ?1 AND settings = ?2";
                    let row = params![id, settings, attempts, now, next, error];
                    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
                }
            })
        })
    }

    /// Gives a delivery up, and goes on after it.
    pub fn add_dead_letter(&mut self, dead: &NewDeadLetter) -> Result<(), StoreError> {
        self.write(|transaction| {
            let NewDeadLetter {
                destination,
                first_cursor: first,
                last_cursor: last,
                at,
                attempts,
                error,
                body,
            } = dead;
            let sql = "INSERT INTO dead (destination, first, last, at, attempts, error, body)
                SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM destination WHERE id = ?1";
            let row = params![destination, first, last, at, attempts, error, body];
            transaction.prepare_cached(sql)?.execute(row)?;
            let sql = "DELETE FROM dead WHERE destination = ?1 AND id <=
                (SELECT id FROM dead WHERE destination = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
            transaction.prepare_cached(sql)?.execute(params![destination, BURIED])?;
            advance(transaction, *destination, *last, None)
        })
    }

    /// A delivery that was given up has arrived all the same: it is forgotten. Says whether there was one.
    pub fn complete_redelivery(&mut self, dead: i64, at: i64) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE destination SET delivered = max(coalesce(delivered, ?2), ?2)
                WHERE id = (SELECT destination FROM dead WHERE id = ?1)";
            transaction.prepare_cached(sql)?.execute(params![dead, at])?;
            let sql = "DELETE FROM dead WHERE id = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([dead])? > 0)
        })
    }

    /// Forgets deliveries that were given up, by number. Gives how many there were.
    pub fn remove_dead_letters(&mut self, ids: &[i64]) -> Result<usize, StoreError> {
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM dead WHERE id = ?1")?;
            let mut gone = 0;
            for id in ids {
                gone += statement.execute([id])?;
            }
            Ok(gone)
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
