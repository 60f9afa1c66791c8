//! How it went, in quarters of an hour.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// What happened in a span of time, and how things stood at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatsBucket {
    /// When the span begins.
    pub at: i64,
    /// Fetches that were answered.
    pub fetches: u64,
    /// Of them, those that found a change.
    pub changed: u64,
    /// Fetches that failed.
    pub failed: u64,
    /// Bytes that came.
    pub bytes: u64,
    /// For how long the copies that were fetched anew had been held, in days times importance.
    pub held: f64,
    /// For how long of that they were like their sources.
    pub fresh: f64,
    /// For how long of that they had been expected to be.
    pub expected: f64,
    /// The expected freshness of all copies.
    pub freshness: Option<f64>,
    /// What a fetch had to be worth.
    pub price: Option<f64>,
    /// Fetches a day that could be spent.
    pub budget: Option<f64>,
}

impl StatsBucket {
    /// The length of the spans that are kept, in milliseconds.
    pub const WIDTH_MS: i64 = 15 * 60_000;

    /// A span in which nothing has happened yet: the one in which this moment is.
    #[must_use]
    pub fn containing(at: i64) -> Self {
        Self { at: at - at.rem_euclid(Self::WIDTH_MS), ..Self::default() }
    }

    /// Adds what happened later: amounts add up, and of how things stood the latest counts.
    pub fn add(&mut self, later: &Self) {
        self.fetches += later.fetches;
        self.changed += later.changed;
        self.failed += later.failed;
        self.bytes += later.bytes;
        self.held += later.held;
        self.fresh += later.fresh;
        self.expected += later.expected;
        self.freshness = later.freshness.or(self.freshness);
        self.price = later.price.or(self.price);
        self.budget = later.budget.or(self.budget);
    }
}

const ROWS: &str = "SELECT at, fetches, changed, failed, bytes, held, fresh, expected,
    freshness, price, budget FROM pulse WHERE at >= ?1 AND at < ?2 ORDER BY at";

fn read(row: &Row<'_>) -> rusqlite::Result<StatsBucket> {
    let count = |place| row.get::<_, i64>(place).map(|count| count as u64);
    Ok(StatsBucket {
        at: row.get(0)?,
        fetches: count(1)?,
        changed: count(2)?,
        failed: count(3)?,
        bytes: count(4)?,
        held: row.get(5)?,
        fresh: row.get(6)?,
        expected: row.get(7)?,
        freshness: row.get(8)?,
        price: row.get(9)?,
        budget: row.get(10)?,
    })
}

impl Reader {
    /// How it went from a moment on and before another, in steps of so many milliseconds, in order of
    /// time. Steps begin at whole multiples of their length; those in which nothing was kept are left
    /// out.
    pub fn stats_buckets(
        &self,
        since: i64,
        until: i64,
        step: i64,
    ) -> Result<Vec<StatsBucket>, StoreError> {
        let step = step.max(1);
        self.run(|connection| {
            let mut statement = connection.prepare_cached(ROWS)?;
            let mut steps: Vec<StatsBucket> = Vec::new();
            for pulse in statement.query_map([since, until], read)? {
                let pulse = pulse?;
                let at = pulse.at - pulse.at.rem_euclid(step);
                match steps.last_mut().filter(|last| last.at == at) {
                    Some(last) => last.add(&pulse),
                    None => steps.push(StatsBucket { at, ..pulse }),
                }
            }
            Ok(steps)
        })
    }
}

pub(crate) fn keep(transaction: &Transaction<'_>, pulses: &[StatsBucket]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO pulse VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT DO UPDATE SET
        fetches = fetches + excluded.fetches,
        changed = changed + excluded.changed,
        failed = failed + excluded.failed,
        bytes = bytes + excluded.bytes,
        held = held + excluded.held,
        fresh = fresh + excluded.fresh,
        expected = expected + excluded.expected,
        freshness = coalesce(excluded.freshness, freshness),
        price = coalesce(excluded.price, price),
        budget = coalesce(excluded.budget, budget)";
    let mut statement = transaction.prepare_cached(sql)?;
    for it in pulses {
        statement.execute(params![
            it.at,
            it.fetches as i64,
            it.changed as i64,
            it.failed as i64,
            it.bytes as i64,
            it.held,
            it.fresh,
            it.expected,
            it.freshness,
            it.price,
            it.budget,
        ])?;
    }
    Ok(())
}

/// Forgets what was before a moment.
pub(crate) fn forget(transaction: &Transaction<'_>, before: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM pulse WHERE at < ?1")?.execute([before]).map(|_| ())
}
