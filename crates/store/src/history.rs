//! Observations: outcomes of the fetches of a source.

use rusqlite::{OptionalExtension, Row, Transaction};

use crate::error::StoreError;
use crate::outcome::{StoredOutcome, StoredReason};
use crate::reader::Reader;

/// Reason of a fetch, and its effect on the estimated change rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Reason.
    pub reason: StoredReason,
    /// Value per unit of cost at the time of scheduling; `None` if it is undefined, as for a source without a copy.
    pub value: Option<f64>,
    /// Price at the time of scheduling.
    pub price: Option<f64>,
    /// Estimated changes per day before the fetch.
    pub rate_before: Option<f64>,
    /// Estimated changes per day after the fetch.
    pub rate_after: Option<f64>,
}

/// Outcome of a fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Number of the fetch, counted from 1 for each source.
    pub fetch_number: u64,
    /// Time of the fetch.
    pub at: i64,
    /// Outcome.
    pub outcome: StoredOutcome,
    /// HTTP status; 0 if there was none.
    pub status: u16,
    /// Bytes received.
    pub bytes: u64,
    /// Duration in milliseconds.
    pub duration_ms: u32,
    /// Explanation, such as an error message; empty if there is none.
    pub note: String,
    /// Reason of the fetch; `None` if unknown.
    pub decision: Option<Decision>,
}

const SELECT_BY_ID: &str = "SELECT n, at, outcome, status, bytes, duration, note, previous,
    reason, worth, price, believed, learnt
    FROM observation WHERE id = ?1 AND source = ?2";

fn read_decision(row: &Row<'_>) -> rusqlite::Result<Option<Decision>> {
    let Some(reason) = row.get(8)? else { return Ok(None) };
    let (value, price) = (row.get(9)?, row.get(10)?);
    Ok(Some(Decision { reason, value, price, rate_before: row.get(11)?, rate_after: row.get(12)? }))
}

impl Reader {
    /// Returns up to `limit` latest fetches of a source, newest first. Includes observations older than
    /// [`Retention`](crate::Retention) demands that are not pruned yet.
    pub fn history(&self, id: u32, limit: usize) -> Result<Vec<Observation>, StoreError> {
        let last = self.row("SELECT last FROM schedule WHERE id = ?1", [id], |row| row.get(0))?;
        let mut next_row: Option<i64> = last.flatten();
        let mut history = Vec::new();
        self.run(|connection| {
            let mut statement = connection.prepare_cached(SELECT_BY_ID)?;
            while let Some(row_id) = next_row.filter(|_| history.len() < limit) {
                let row = statement.query_row([row_id, i64::from(id)], |row| {
                    let note: Option<String> = row.get(6)?;
                    let observation = Observation {
                        fetch_number: row.get::<_, i64>(0)? as u64,
                        at: row.get(1)?,
                        outcome: row.get(2)?,
                        status: row.get(3)?,
                        bytes: row.get::<_, i64>(4)? as u64,
                        duration_ms: row.get(5)?,
                        note: note.unwrap_or_default(),
                        decision: read_decision(row)?,
                    };
                    Ok((observation, row.get(7)?))
                });
                let Some((observation, previous)) = row.optional()? else { break };
                history.push(observation);
                next_row = previous;
            }
            Ok(history)
        })
    }
}

/// Removes all observations of a source.
pub(crate) fn remove_observations(
    transaction: &Transaction<'_>,
    source: u32,
    last: Option<i64>,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM observation WHERE id = ?1 AND source = ?2 RETURNING previous";
    let mut statement = transaction.prepare_cached(sql)?;
    let (mut next_row, mut removed) = (last, 0);
    while let Some(row_id) = next_row {
        let row = statement.query_row([row_id, i64::from(source)], |row| row.get(0)).optional()?;
        removed += i64::from(row.is_some());
        next_row = row.flatten();
    }
    let sql = "UPDATE counter SET value = value - ?1 WHERE name = 'observations'";
    transaction.prepare_cached(sql)?.execute([removed]).map(|_| ())
}
