//! What is told of a source beside its changes: that it is no more, that it fails, that it does no
//! longer, that nothing happens. Each is told once: with the fetch that shows it, or when somebody wants
//! to know of what has been so for a while.

use rusqlite::{Transaction, params};

use crate::change;
use crate::error::StoreError;
use crate::outcome::{ChangeKind, SourceState, StoredOutcome};
use crate::record::FetchRecord;
use crate::store::Store;

/// What was told of a source and still holds: bits of `schedule.told`.
const FAILING: u32 = 1;
const QUIET: u32 = 2;
/// Under this key stands what all sources were looked at for.
const KEY: &str = "watched";
/// Numbers of sources that are looked at in one go.
const STRIDE: u32 = 5_000;

/// What is told of sources beside their changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertThresholds {
    /// That a source could not be fetched so many times in a row; 0 for never.
    pub failures: u32,
    /// That a source has not changed for so many milliseconds; 0 for never.
    pub quiet_ms: i64,
}

/// How far sources were looked at for what has been so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertScan {
    /// Where to go on; `None` if all are looked at.
    pub resume_after: Option<u32>,
    /// The cursor of the last entry that was told, if one was.
    pub cursor: Option<i64>,
}

/// What was there before a fetch.
pub(crate) struct Before {
    pub(crate) state: SourceState,
    pub(crate) failures: u32,
    pub(crate) fetched: Option<i64>,
    pub(crate) changed: Option<i64>,
    pub(crate) told: u32,
}

impl AlertThresholds {
    /// Tells what a fetch shows. Gives the cursor of what was told.
    pub(crate) fn tell(
        self,
        transaction: &Transaction<'_>,
        fetch: &FetchRecord,
        before: &Before,
    ) -> rusqlite::Result<Option<i64>> {
        let mut told = before.told;
        let cursor = self.entry(transaction, fetch, before, &mut told)?;
        if told != before.told {
            mark(transaction, fetch.source, told)?;
        }
        Ok(cursor)
    }

    fn entry(
        self,
        transaction: &Transaction<'_>,
        fetch: &FetchRecord,
        before: &Before,
        told: &mut u32,
    ) -> rusqlite::Result<Option<i64>> {
        let tell = |kind, since, summary: &str| {
            change::tell(transaction, fetch.source, kind, since, fetch.at, summary)
        };
        let is_good = fetch.outcome.state() == SourceState::Good;
        let was_failing = before.told & FAILING != 0;
        if is_good {
            *told &= !FAILING;
        }
        if fetch.outcome == StoredOutcome::Changed {
            *told &= !QUIET;
        }
        // Whoever keeps an index must know of these two.
        if fetch.outcome == StoredOutcome::Gone && before.state != SourceState::Gone {
            return tell(ChangeKind::Gone, before.fetched, "it is no more");
        }
        if is_good && before.state == SourceState::Gone {
            return tell(ChangeKind::Recovered, before.fetched, "it is there again");
        }
        let failures = before.failures + 1;
        if self.failures > 0 && !is_good && !was_failing && failures >= self.failures {
            *told |= FAILING;
            return tell(ChangeKind::Failing, before.fetched, &failed(failures, &fetch.note));
        }
        if is_good && was_failing {
            let times = before.failures;
            return tell(ChangeKind::Recovered, before.fetched, &format!("after {times} failures"));
        }
        if self.quiet_ms > 0 && fetch.outcome == StoredOutcome::Unchanged && *told & QUIET == 0 {
            if before.fetched.is_none() {
                return Ok(None);
            }
            let since = match before.changed {
                Some(changed) => changed,
                None => first_seen(transaction, fetch.source)?,
            };
            if since.saturating_add(self.quiet_ms) <= fetch.at {
                *told |= QUIET;
                return tell(ChangeKind::Quiet, Some(since), &unchanged(fetch.at - since));
            }
        }
        Ok(None)
    }

    fn text(self) -> String {
        format!("{} {}", self.failures, self.quiet_ms)
    }
}

fn failed(times: u32, note: &str) -> String {
    let why = if note.is_empty() { "no copy could be made" } else { note };
    format!("failed {times} times: {why}")
}

fn unchanged(millis: i64) -> String {
    let minutes = millis / 60_000;
    let long = match minutes {
        ..120 => format!("{minutes} minutes"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    };
    format!("no change for {long}")
}

fn mark(transaction: &Transaction<'_>, source: u32, told: u32) -> rusqlite::Result<()> {
    let sql = "UPDATE schedule SET told = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![source, told]).map(|_| ())
}

/// When a source that never changed was added.
fn first_seen(transaction: &Transaction<'_>, source: u32) -> rusqlite::Result<i64> {
    let sql = "SELECT added FROM source WHERE id = ?1";
    transaction.prepare_cached(sql)?.query_row([source], |row| row.get(0))
}

impl Store {
    /// Says what is told of sources beside their changes from now on. What has been so for a while is
    /// told by [`Store::scan_for_alerts`].
    pub fn set_alert_thresholds(&mut self, watch: AlertThresholds) {
        self.watch = watch;
    }

    /// Whether there may be sources of which something is to be told though no fetch shows it anew: what
    /// is to be told is not what it was.
    pub fn is_alert_scan_due(&self) -> Result<bool, StoreError> {
        let known = self.meta(KEY)?.unwrap_or_else(|| AlertThresholds::default().text());
        Ok(known != self.watch.text())
    }

    /// Tells what has been so for a while and was not told, of some sources: from `after` on, until there
    /// is no `resume_after`. What was told is not told again, whenever it ends.
    pub fn scan_for_alerts(
        &mut self,
        after: Option<u32>,
        now: i64,
    ) -> Result<AlertScan, StoreError> {
        let watch = self.watch;
        let end = self.next_source_id()?;
        let first = after.map_or(0, |after| after.saturating_add(1));
        let last = first.saturating_add(STRIDE - 1);
        let cursor = self.write(|transaction| late(transaction, watch, (first, last), now))?;
        if last < end {
            return Ok(AlertScan { resume_after: Some(last), cursor });
        }
        self.set_meta(KEY, &watch.text())?;
        Ok(AlertScan { resume_after: None, cursor })
    }
}

struct Overdue {
    source: u32,
    told: u32,
    failures: u32,
    note: String,
    fetched: Option<i64>,
    since: i64,
    is_good: bool,
}

fn late(
    transaction: &Transaction<'_>,
    watch: AlertThresholds,
    (first, last): (u32, u32),
    now: i64,
) -> rusqlite::Result<Option<i64>> {
    // As of the last fetch: what nobody has seen is not told.
    let sql = "SELECT c.id, c.told, c.failures, coalesce(o.note, ''), c.fetched,
        coalesce(c.changed, s.added), c.state = ?5
        FROM schedule c JOIN source s ON s.id = c.id LEFT JOIN observation o ON o.id = c.last
        WHERE c.id BETWEEN ?1 AND ?2 AND NOT c.flags & 5 AND (
            (?3 > 0 AND c.failures >= ?3 AND NOT c.told & 1) OR
            (?4 > 0 AND c.state = ?5 AND NOT c.told & 2
                AND c.fetched - coalesce(c.changed, s.added) >= ?4))
        ORDER BY c.id";
    let mut statement = transaction.prepare_cached(sql)?;
    let values = params![first, last, watch.failures, watch.quiet_ms, SourceState::Good];
    let found = statement.query_map(values, |row| {
        Ok(Overdue {
            source: row.get(0)?,
            told: row.get(1)?,
            failures: row.get(2)?,
            note: row.get(3)?,
            fetched: row.get(4)?,
            since: row.get(5)?,
            is_good: row.get(6)?,
        })
    })?;
    let mut cursor = None;
    for it in found.collect::<rusqlite::Result<Vec<_>>>()? {
        let source = it.source;
        let (bit, kind, since, summary) = match it.is_good {
            true => {
                let length = it.fetched.unwrap_or(now) - it.since;
                (QUIET, ChangeKind::Quiet, Some(it.since), unchanged(length))
            }
            false => (FAILING, ChangeKind::Failing, it.fetched, failed(it.failures, &it.note)),
        };
        let told = change::tell(transaction, source, kind, since, now, &summary)?;
        mark(transaction, source, it.told | bit)?;
        cursor = told.or(cursor);
    }
    Ok(cursor)
}
