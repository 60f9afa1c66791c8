//! Statistics of fetching, in buckets of a quarter of an hour.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// Totals of a span of time, and the state at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatsBucket {
    /// Start of the span.
    pub at: i64,
    /// Fetches with a response.
    pub fetches: u64,
    /// Number of them that found a change.
    pub changed: u64,
    /// Failed fetches.
    pub failed: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Total age of the copies at their next fetch, in days weighted by importance.
    pub held_days: f64,
    /// Part of that time during which the copies equalled their sources.
    pub fresh_days: f64,
    /// Part of that time during which they were expected to.
    pub expected_fresh_days: f64,
    /// Expected freshness of all copies.
    pub freshness: Option<f64>,
    /// Price of a fetch.
    pub price: Option<f64>,
    /// Budget in fetches per day.
    pub budget: Option<f64>,
}

impl StatsBucket {
    /// Width of a stored bucket in milliseconds.
    pub const WIDTH_MS: i64 = 15 * 60_000;

    /// Creates an empty bucket for the span that contains a time.
    #[must_use]
    pub fn containing(at: i64) -> Self {
        Self { at: at - at.rem_euclid(Self::WIDTH_MS), ..Self::default() }
    }

    /// Adds a later bucket: totals are summed, and the later state replaces the earlier one.
    pub fn add(&mut self, later: &Self) {
        self.fetches += later.fetches;
        self.changed += later.changed;
        self.failed += later.failed;
        self.bytes += later.bytes;
        self.held_days += later.held_days;
        self.fresh_days += later.fresh_days;
        self.expected_fresh_days += later.expected_fresh_days;
        self.freshness = later.freshness.or(self.freshness);
        self.price = later.price.or(self.price);
        self.budget = later.budget.or(self.budget);
    }
}

const SELECT_RANGE: &str = "SELECT at, fetches, changed, failed, bytes, held, fresh, expected,
    freshness, price, budget FROM pulse WHERE at >= ?1 AND at < ?2 ORDER BY at";

fn read(row: &Row<'_>) -> rusqlite::Result<StatsBucket> {
    let count = |column| row.get::<_, i64>(column).map(|count| count as u64);
    Ok(StatsBucket {
        at: row.get(0)?,
        fetches: count(1)?,
        changed: count(2)?,
        failed: count(3)?,
        bytes: count(4)?,
        held_days: row.get(5)?,
        fresh_days: row.get(6)?,
        expected_fresh_days: row.get(7)?,
        freshness: row.get(8)?,
        price: row.get(9)?,
        budget: row.get(10)?,
    })
}

impl Reader {
    /// Returns the statistics from `since` to before `until`, in buckets of `width` milliseconds, in order of time. Buckets
    /// start at multiples of their width. Omits empty buckets.
    pub fn stats_buckets(
        &self,
        since: i64,
        until: i64,
        width: i64,
    ) -> Result<Vec<StatsBucket>, StoreError> {
        let width = width.max(1);
        self.run(|connection| {
            let mut statement = connection.prepare_cached(SELECT_RANGE)?;
            let mut buckets: Vec<StatsBucket> = Vec::new();
            for bucket in statement.query_map([since, until], read)? {
                let bucket = bucket?;
                let at = bucket.at - bucket.at.rem_euclid(width);
                match buckets.last_mut().filter(|last| last.at == at) {
                    Some(last) => last.add(&bucket),
                    None => buckets.push(StatsBucket { at, ..bucket }),
                }
            }
            Ok(buckets)
        })
    }
}

pub(crate) fn add(transaction: &Transaction<'_>, buckets: &[StatsBucket]) -> rusqlite::Result<()> {
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
    for it in buckets {
        statement.execute(params![
            it.at,
            it.fetches as i64,
            it.changed as i64,
            it.failed as i64,
            it.bytes as i64,
            it.held_days,
            it.fresh_days,
            it.expected_fresh_days,
            it.freshness,
            it.price,
            it.budget,
        ])?;
    }
    Ok(())
}

/// Removes buckets that start before `cutoff`.
pub(crate) fn prune(transaction: &Transaction<'_>, cutoff: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM pulse WHERE at < ?1")?.execute([cutoff]).map(|_| ())
}
