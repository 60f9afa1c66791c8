//! How much of the past is kept, and how the rest goes: bit by bit.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::change;
use crate::error::StoreError;
use crate::host_cooldown;
use crate::meta::{counter, set_counter};
use crate::pulse;
use crate::signal_source;
use crate::store::Store;
use crate::version;

const DAY: f64 = 86_400_000.0;
/// Rows that one step of [`Store::prune`] looks at.
const STEP: usize = 2_000;
/// Changes that one step removes at most.
const CHANGES: usize = 20_000;
/// Observations are looked through when there are twice as many as were left the last time, and so
/// many more.
const SLACK: i64 = 20_000;
/// Days for which a robots.txt is remembered: as long as it can stand in for one that is out of reach.
const ROBOTS_DAYS: f64 = 30.0;
/// Days for which it is remembered how it went.
const PULSE_DAYS: f64 = 400.0;

/// How much of the past is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retention {
    /// Observations of each source: the latest so many are kept.
    pub observations: u32,
    /// Versions of each source: the newest so many are kept, at least one.
    pub versions: u32,
    /// Versions that were first seen so many days ago go, except the newest. Infinite for none.
    pub days: f64,
    /// Changes that were seen so many days ago go. Infinite for none.
    pub change_days: f64,
    /// Days for which the ledger is kept.
    pub ledger_days: f64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            observations: 200,
            versions: 10,
            days: f64::INFINITY,
            change_days: f64::INFINITY,
            ledger_days: 2.0,
        }
    }
}

impl Retention {
    /// What was first seen before this moment is too old.
    fn before(now: i64, days: f64) -> i64 {
        // A cast of a float saturates: nothing is older than the smallest number.
        (now as f64 - days * DAY) as i64
    }

    /// The smallest number that is kept by count.
    fn first_kept(&self, newest: i64) -> i64 {
        newest - i64::from(self.versions.max(1)) + 1
    }
}

/// What a step of [`Store::prune`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneResult {
    /// Versions that went.
    pub versions: u64,
    /// Observations that went.
    pub observations: u64,
    /// Changes that went.
    pub changes: u64,
    /// Whether there is more to look at: call again when there is time.
    pub more: bool,
}

/// How far the looks through the tables have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sweep {
    /// The last observation that was looked at, while a look is under way.
    observation: Option<i64>,
    /// The last version that was looked at, as source and number.
    version: Option<(u32, i64)>,
}

/// A version that is looked at.
struct Kept {
    /// Source and number.
    place: (u32, i64),
    at: i64,
    content: i64,
    /// The number of the newest version of the source.
    newest: i64,
}

impl Sweep {
    /// Looks through some observations, if there are many that may go.
    pub(crate) fn observations(
        &mut self,
        transaction: &Transaction<'_>,
        keep: u32,
        rows: usize,
    ) -> rusqlite::Result<u64> {
        let all = counter(transaction, "observations")?;
        if self.observation.is_none() {
            if all < 2 * counter(transaction, "swept")? + SLACK {
                return Ok(0);
            }
            self.observation = Some(i64::MIN);
        }
        self.look_at_observations(transaction, keep, rows)
    }

    fn look_at_observations(
        &mut self,
        transaction: &Transaction<'_>,
        keep: u32,
        rows: usize,
    ) -> rusqlite::Result<u64> {
        let from = self.observation.unwrap_or(i64::MIN);
        let sql = "SELECT max(id) FROM
            (SELECT id FROM observation WHERE id > ?1 ORDER BY id LIMIT ?2)";
        let to: Option<i64> = transaction
            .prepare_cached(sql)?
            .query_row(params![from, rows as i64], |row| row.get(0))?;
        let all = counter(transaction, "observations")?;
        let Some(to) = to else {
            self.observation = None;
            set_counter(transaction, "swept", all)?;
            return Ok(0);
        };
        let sql = "DELETE FROM observation WHERE id > ?1 AND id <= ?2 AND NOT EXISTS (
            SELECT 1 FROM schedule c
            WHERE c.id = observation.source AND observation.n > c.fetches - ?3)";
        let gone = transaction.prepare_cached(sql)?.execute(params![from, to, keep])?;
        set_counter(transaction, "observations", all - gone as i64)?;
        self.observation = Some(to);
        Ok(gone as u64)
    }

    /// Looks through some versions. The last look of a round finds nothing and ends it.
    fn versions(
        &mut self,
        transaction: &Transaction<'_>,
        retention: &Retention,
        now: i64,
    ) -> rusqlite::Result<u64> {
        let sql = "SELECT v.source, v.n, v.at, v.content, s.version FROM version v
            LEFT JOIN source s ON s.id = v.source
            WHERE (v.source, v.n) > (?1, ?2) ORDER BY v.source, v.n LIMIT ?3";
        let (source, n) = self.version.map_or((-1, 0), |(source, n)| (i64::from(source), n));
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map(params![source, n, STEP as i64], |row| {
            Ok(Kept {
                place: (row.get(0)?, row.get(1)?),
                at: row.get(2)?,
                content: row.get(3)?,
                newest: row.get::<_, Option<i64>>(4)?.unwrap_or(i64::MAX),
            })
        })?;
        let rows: Vec<Kept> = rows.collect::<rusqlite::Result<_>>()?;
        let before = Retention::before(now, retention.days);
        let mut gone = 0;
        for Kept { place: (source, n), at, content, newest } in &rows {
            if *n < retention.first_kept(*newest) || (at < &before && n < newest) {
                let sql = "DELETE FROM version WHERE source = ?1 AND n = ?2";
                transaction.prepare_cached(sql)?.execute(params![source, n])?;
                version::release(transaction, *content)?;
                gone += 1;
            }
        }
        self.version = rows.last().map(|kept| kept.place);
        Ok(gone)
    }
}

/// After a new version: those that it makes too many or that are too old go.
pub(crate) fn after_version(
    transaction: &Transaction<'_>,
    retention: &Retention,
    source: u32,
    newest: u32,
    now: i64,
) -> rusqlite::Result<()> {
    let newest = i64::from(newest);
    let mut below = retention.first_kept(newest);
    if retention.days.is_finite() {
        let sql = "SELECT max(n) FROM version WHERE source = ?1 AND n < ?2 AND at < ?3";
        let before = Retention::before(now, retention.days);
        let old: Option<i64> = transaction
            .prepare_cached(sql)?
            .query_row(params![source, newest, before], |row| row.get(0))
            .optional()?
            .flatten();
        below = below.max(old.map_or(i64::MIN, |n| n + 1));
    }
    version::remove_below(transaction, source, below).map(|_| ())
}

impl Store {
    /// A small step of tidying: removes versions, observations, changes and entries of the ledger that
    /// [`Retention`] does not want. Call it from time to time, until there is no more.
    pub fn prune(&mut self, now: i64) -> Result<PruneResult, StoreError> {
        let (retention, mut sweep) = (self.retention, self.sweep);
        let tidied = self.write(|transaction| {
            let sql = "DELETE FROM ledger WHERE at < ?1";
            let before = Retention::before(now, retention.ledger_days);
            transaction.prepare_cached(sql)?.execute([before])?;
            let versions = sweep.versions(transaction, &retention, now)?;
            let observations =
                sweep.look_at_observations(transaction, retention.observations, STEP)?;
            host_cooldown::forget(transaction, now, Retention::before(now, ROBOTS_DAYS))?;
            pulse::forget(transaction, Retention::before(now, PULSE_DAYS))?;
            let before = Retention::before(now, retention.change_days);
            let changes = change::forget(transaction, before, CHANGES)?;
            let more = sweep.version.is_some() || sweep.observation.is_some();
            let more = more || changes == CHANGES as u64;
            let more = signal_source::tidy_ears(transaction)? || more;
            Ok(PruneResult { versions, observations, changes, more })
        })?;
        self.sweep = sweep;
        Ok(tidied)
    }
}
