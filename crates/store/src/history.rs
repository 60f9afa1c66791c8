//! Observations: how the fetches of a source ended.

use rusqlite::{OptionalExtension, Row, Transaction};

use crate::error::StoreError;
use crate::outcome::{StoredOutcome, StoredReason};
use crate::reader::Reader;

/// Why a fetch was made, and what it taught.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Why.
    pub reason: StoredReason,
    /// What it was worth for each unit of cost when it was handed out; `None` if that has no number, as
    /// of a source without a copy.
    pub value: Option<f64>,
    /// What it had to be worth then.
    pub price: Option<f64>,
    /// Changes a day, as far as was believed before.
    pub rate_before: Option<f64>,
    /// The same after.
    pub rate_after: Option<f64>,
}

/// How a fetch ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Which fetch of the source it was, from 1.
    pub number: u64,
    /// When.
    pub at: i64,
    /// How it ended.
    pub outcome: StoredOutcome,
    /// The status of HTTP; 0 if there was none.
    pub status: u16,
    /// Bytes that came.
    pub bytes: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// What there is to say; empty if nothing.
    pub note: String,
    /// Why it was made; `None` if that is not known.
    pub decision: Option<Decision>,
}

const STEP: &str = "SELECT n, at, outcome, status, bytes, duration, note, previous,
    reason, worth, price, believed, learnt
    FROM observation WHERE id = ?1 AND source = ?2";

fn decision(row: &Row<'_>) -> rusqlite::Result<Option<Decision>> {
    let Some(reason) = row.get(8)? else { return Ok(None) };
    let (worth, price) = (row.get(9)?, row.get(10)?);
    Ok(Some(Decision {
        reason,
        value: worth,
        price,
        rate_before: row.get(11)?,
        rate_after: row.get(12)?,
    }))
}

impl Reader {
    /// The latest fetches of a source, the newest first, at most `limit`. Those that
    /// [`Retention`](crate::Retention) promises are there, and older ones until they are tidied away.
    pub fn history(&self, id: u32, limit: usize) -> Result<Vec<Observation>, StoreError> {
        let last = self.row("SELECT last FROM schedule WHERE id = ?1", [id], |row| row.get(0))?;
        let mut at: Option<i64> = last.flatten();
        let mut history = Vec::new();
        self.run(|connection| {
            let mut statement = connection.prepare_cached(STEP)?;
            while let Some(place) = at.filter(|_| history.len() < limit) {
                let found = statement.query_row([place, i64::from(id)], |row| {
                    let note: Option<String> = row.get(6)?;
                    let observation = Observation {
                        number: row.get::<_, i64>(0)? as u64,
                        at: row.get(1)?,
                        outcome: row.get(2)?,
                        status: row.get(3)?,
                        bytes: row.get::<_, i64>(4)? as u64,
                        duration_ms: row.get(5)?,
                        note: note.unwrap_or_default(),
                        decision: decision(row)?,
                    };
                    Ok((observation, row.get(7)?))
                });
                let Some((observation, previous)) = found.optional()? else { break };
                history.push(observation);
                at = previous;
            }
            Ok(history)
        })
    }
}

/// Removes the observations of a source.
pub(crate) fn forget(
    transaction: &Transaction<'_>,
    source: u32,
    last: Option<i64>,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM observation WHERE id = ?1 AND source = ?2 RETURNING previous";
    let mut statement = transaction.prepare_cached(sql)?;
    let (mut at, mut gone) = (last, 0);
    while let Some(place) = at {
        let row = statement.query_row([place, i64::from(source)], |row| row.get(0)).optional()?;
        gone += i64::from(row.is_some());
        at = row.flatten();
    }
    let sql = "UPDATE counter SET value = value - ?1 WHERE name = 'observations'";
    transaction.prepare_cached(sql)?.execute([gone]).map(|_| ())
}
