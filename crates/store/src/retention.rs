//! Limits on stored history, and the stepwise removal of what exceeds them.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::change;
use crate::error::StoreError;
use crate::host_cooldown;
use crate::meta::{counter, set_counter};
use crate::signal_source;
use crate::stats;
use crate::store::Store;
use crate::version;

const DAY_MS: f64 = 86_400_000.0;
/// Rows that one step of [`Store::prune`] examines.
const ROWS_PER_STEP: usize = 2_000;
/// Limit on the number of changes that one step removes.
const MAX_CHANGES_PER_STEP: usize = 20_000;
/// Observations are pruned when there are twice as many as the last pass left, plus this number.
const PRUNE_SLACK: i64 = 20_000;
/// Days for which a robots.txt file is stored: as long as it may stand in for one that is unreachable.
const ROBOTS_DAYS: f64 = 30.0;
/// Days for which statistics are stored.
const STATS_DAYS: f64 = 400.0;

/// Limits on stored history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retention {
    /// Number of latest observations stored per source.
    pub observations_per_source: u32,
    /// Number of newest versions stored per source, at least 1.
    pub versions_per_source: u32,
    /// Age in days at which versions other than the newest are removed; infinite for never.
    pub version_days: f64,
    /// Age in days at which changes are removed; infinite for never.
    pub change_days: f64,
    /// Age in days at which entries of the budget ledger are removed.
    pub ledger_days: f64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            observations_per_source: 200,
            versions_per_source: 10,
            version_days: f64::INFINITY,
            change_days: f64::INFINITY,
            ledger_days: 2.0,
        }
    }
}

impl Retention {
    /// Returns the time before which rows are too old.
    fn cutoff(now: i64, days: f64) -> i64 {
        // The cast saturates: nothing is older than `i64::MIN`.
        (now as f64 - days * DAY_MS) as i64
    }

    /// Returns the smallest version number that is kept by count.
    fn first_kept(&self, newest: i64) -> i64 {
        newest - i64::from(self.versions_per_source.max(1)) + 1
    }
}

/// Result of one step of [`Store::prune`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneResult {
    /// Number of removed versions.
    pub versions: u64,
    /// Number of removed observations.
    pub observations: u64,
    /// Number of removed changes.
    pub changes: u64,
    /// True if the pass is not complete: call again when there is time.
    pub has_more: bool,
}

/// Positions of the passes through the tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PruneProgress {
    /// Last observation examined in the current pass; `None` between passes.
    observation: Option<i64>,
    /// Last version examined, as source and number.
    version: Option<(u32, i64)>,
}

/// Version examined in a step.
struct ExaminedVersion {
    /// Source and number.
    key: (u32, i64),
    at: i64,
    content: i64,
    /// Number of the newest version of the source.
    newest: i64,
}

impl PruneProgress {
    /// Prunes some observations, if many may exceed the limit.
    pub(crate) fn prune_observations_if_many(
        &mut self,
        transaction: &Transaction<'_>,
        keep: u32,
        rows: usize,
    ) -> rusqlite::Result<u64> {
        let all = counter(transaction, "observations")?;
        if self.observation.is_none() {
            if all < 2 * counter(transaction, "swept")? + PRUNE_SLACK {
                return Ok(0);
            }
            self.observation = Some(i64::MIN);
        }
        self.prune_observations(transaction, keep, rows)
    }

    fn prune_observations(
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
        let removed = transaction.prepare_cached(sql)?.execute(params![from, to, keep])?;
        set_counter(transaction, "observations", all - removed as i64)?;
        self.observation = Some(to);
        Ok(removed as u64)
    }

    /// Prunes some versions. The last step of a pass finds no rows and ends it.
    fn prune_versions(
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
        let rows = statement.query_map(params![source, n, ROWS_PER_STEP as i64], |row| {
            Ok(ExaminedVersion {
                key: (row.get(0)?, row.get(1)?),
                at: row.get(2)?,
                content: row.get(3)?,
                newest: row.get::<_, Option<i64>>(4)?.unwrap_or(i64::MAX),
            })
        })?;
        let rows: Vec<ExaminedVersion> = rows.collect::<rusqlite::Result<_>>()?;
        let cutoff = Retention::cutoff(now, retention.version_days);
        let mut removed = 0;
        for ExaminedVersion { key: (source, n), at, content, newest } in &rows {
            if *n < retention.first_kept(*newest) || (at < &cutoff && n < newest) {
                let sql = "DELETE FROM version WHERE source = ?1 AND n = ?2";
                transaction.prepare_cached(sql)?.execute(params![source, n])?;
                version::release(transaction, *content)?;
                removed += 1;
            }
        }
        self.version = rows.last().map(|row| row.key);
        Ok(removed)
    }
}

/// Removes the versions of a source that exceed the limits after a new version.
pub(crate) fn prune_versions_of(
    transaction: &Transaction<'_>,
    retention: &Retention,
    source: u32,
    newest: u32,
    now: i64,
) -> rusqlite::Result<()> {
    let newest = i64::from(newest);
    let mut below = retention.first_kept(newest);
    if retention.version_days.is_finite() {
        let sql = "SELECT max(n) FROM version WHERE source = ?1 AND n < ?2 AND at < ?3";
        let cutoff = Retention::cutoff(now, retention.version_days);
        let old: Option<i64> = transaction
            .prepare_cached(sql)?
            .query_row(params![source, newest, cutoff], |row| row.get(0))
            .optional()?
            .flatten();
        below = below.max(old.map_or(i64::MIN, |n| n + 1));
    }
    version::remove_below(transaction, source, below).map(|_| ())
}

impl Store {
    /// Runs one small step of pruning: removes versions, observations, changes and ledger entries that exceed
    /// [`Retention`]. Call it regularly, until `has_more` is false.
    pub fn prune(&mut self, now: i64) -> Result<PruneResult, StoreError> {
        let (retention, mut progress) = (self.retention, self.prune_progress);
        let result = self.write(|transaction| {
            let sql = "DELETE FROM ledger WHERE at < ?1";
            let cutoff = Retention::cutoff(now, retention.ledger_days);
            transaction.prepare_cached(sql)?.execute([cutoff])?;
            let versions = progress.prune_versions(transaction, &retention, now)?;
            let observations = progress.prune_observations(
                transaction,
                retention.observations_per_source,
                ROWS_PER_STEP,
            )?;
            host_cooldown::prune(transaction, now, Retention::cutoff(now, ROBOTS_DAYS))?;
            stats::prune(transaction, Retention::cutoff(now, STATS_DAYS))?;
            let cutoff = Retention::cutoff(now, retention.change_days);
            let changes = change::prune(transaction, cutoff, MAX_CHANGES_PER_STEP)?;
            let has_more = progress.version.is_some() || progress.observation.is_some();
            let has_more = has_more || changes == MAX_CHANGES_PER_STEP as u64;
            let has_more = signal_source::prune_dismissed(transaction)? || has_more;
            Ok(PruneResult { versions, observations, changes, has_more })
        })?;
        self.prune_progress = progress;
        Ok(result)
    }
}
