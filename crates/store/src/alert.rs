//! Events of a source other than changes: gone, failing, recovered, quiet. Each is logged once: with the fetch that
//! shows it, or by a scan after the thresholds have changed.

use rusqlite::{Transaction, params};

use crate::change;
use crate::error::StoreError;
use crate::outcome::{ChangeKind, SourceState, StoredOutcome};
use crate::record::FetchRecord;
use crate::store::Store;

/// Conditions that are logged and still hold: bits of `schedule.told`.
const FAILING: u32 = 1;
const QUIET: u32 = 2;
/// Key of the thresholds of the last complete scan.
const SCANNED_THRESHOLDS_KEY: &str = "watched";
/// Source ids examined by one call of [`Store::scan_for_alerts`].
const IDS_PER_SCAN: u32 = 5_000;

/// Thresholds for events other than changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertThresholds {
    /// Failures in a row after which a source is logged as failing; 0 for never.
    pub failures_in_a_row: u32,
    /// Milliseconds without a change after which a source is logged as quiet; 0 for never.
    pub quiet_ms: i64,
}

/// Result of one step of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertScan {
    /// Where the next step resumes; `None` if the scan is complete.
    pub resume_after: Option<u32>,
    /// Cursor of the last logged entry, if there is one.
    pub cursor: Option<i64>,
}

/// State of a source before a fetch.
pub(crate) struct SourceBefore {
    pub(crate) state: SourceState,
    pub(crate) failures: u32,
    pub(crate) fetched: Option<i64>,
    pub(crate) changed: Option<i64>,
    pub(crate) reported: u32,
}

impl AlertThresholds {
    /// Logs the event that a fetch shows, if there is one. Returns its cursor.
    pub(crate) fn log_events(
        self,
        transaction: &Transaction<'_>,
        fetch: &FetchRecord,
        before: &SourceBefore,
    ) -> rusqlite::Result<Option<i64>> {
        let mut reported = before.reported;
        let cursor = self.log_event(transaction, fetch, before, &mut reported)?;
        if reported != before.reported {
            set_reported(transaction, fetch.source, reported)?;
        }
        Ok(cursor)
    }

    fn log_event(
        self,
        transaction: &Transaction<'_>,
        fetch: &FetchRecord,
        before: &SourceBefore,
        reported: &mut u32,
    ) -> rusqlite::Result<Option<i64>> {
        let log = |kind, since, summary: &str| {
            change::insert_event(transaction, fetch.source, kind, since, fetch.at, summary)
        };
        let is_good = fetch.outcome.state() == SourceState::Good;
        let was_failing = before.reported & FAILING != 0;
        if is_good {
            *reported &= !FAILING;
        }
        if fetch.outcome == StoredOutcome::Changed {
            *reported &= !QUIET;
        }
        // These two are logged without a threshold: a search index depends on them.
        if fetch.outcome == StoredOutcome::Gone && before.state != SourceState::Gone {
            return log(ChangeKind::Gone, before.fetched, "the source no longer exists");
        }
        if is_good && before.state == SourceState::Gone {
            return log(ChangeKind::Recovered, before.fetched, "the source exists again");
        }
        let failures = before.failures + 1;
        if self.failures_in_a_row > 0
            && !is_good
            && !was_failing
            && failures >= self.failures_in_a_row
        {
            *reported |= FAILING;
            return log(
                ChangeKind::Failing,
                before.fetched,
                &failing_summary(failures, &fetch.note),
            );
        }
        if is_good && was_failing {
            let times = before.failures;
            return log(ChangeKind::Recovered, before.fetched, &format!("after {times} failures"));
        }
        if self.quiet_ms > 0 && fetch.outcome == StoredOutcome::Unchanged && *reported & QUIET == 0
        {
            if before.fetched.is_none() {
                return Ok(None);
            }
            let since = match before.changed {
                Some(changed) => changed,
                None => added_at(transaction, fetch.source)?,
            };
            if since.saturating_add(self.quiet_ms) <= fetch.at {
                *reported |= QUIET;
                return log(ChangeKind::Quiet, Some(since), &quiet_summary(fetch.at - since));
            }
        }
        Ok(None)
    }

    fn to_text(self) -> String {
        format!("{} {}", self.failures_in_a_row, self.quiet_ms)
    }
}

fn failing_summary(times: u32, note: &str) -> String {
    let reason = if note.is_empty() { "the fetch failed" } else { note };
    format!("failed {times} times: {reason}")
}

fn quiet_summary(millis: i64) -> String {
    let minutes = millis / 60_000;
    let duration = match minutes {
        ..120 => format!("{minutes} minutes"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    };
    format!("no change for {duration}")
}

fn set_reported(transaction: &Transaction<'_>, source: u32, reported: u32) -> rusqlite::Result<()> {
    let sql = "UPDATE schedule SET told = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![source, reported]).map(|_| ())
}

/// Returns the time at which a source was added.
fn added_at(transaction: &Transaction<'_>, source: u32) -> rusqlite::Result<i64> {
    let sql = "SELECT added FROM source WHERE id = ?1";
    transaction.prepare_cached(sql)?.query_row([source], |row| row.get(0))
}

impl Store {
    /// Sets the thresholds for events other than changes. Sources that exceed new thresholds already are logged by
    /// [`Store::scan_for_alerts`].
    pub fn set_alert_thresholds(&mut self, thresholds: AlertThresholds) {
        self.alert_thresholds = thresholds;
    }

    /// True if the thresholds have changed since the last complete scan.
    pub fn is_alert_scan_due(&self) -> Result<bool, StoreError> {
        let scanned = self
            .meta(SCANNED_THRESHOLDS_KEY)?
            .unwrap_or_else(|| AlertThresholds::default().to_text());
        Ok(scanned != self.alert_thresholds.to_text())
    }

    /// Logs conditions that hold for some sources and were not logged: those with ids after `after`. Call it again with
    /// `resume_after` until that is `None`. A condition is logged once, however often the scan restarts.
    pub fn scan_for_alerts(
        &mut self,
        after: Option<u32>,
        now: i64,
    ) -> Result<AlertScan, StoreError> {
        let thresholds = self.alert_thresholds;
        let end = self.next_source_id()?;
        let first = after.map_or(0, |after| after.saturating_add(1));
        let last = first.saturating_add(IDS_PER_SCAN - 1);
        let cursor =
            self.write(|transaction| log_unreported(transaction, thresholds, (first, last), now))?;
        if last < end {
            return Ok(AlertScan { resume_after: Some(last), cursor });
        }
        self.set_meta(SCANNED_THRESHOLDS_KEY, &thresholds.to_text())?;
        Ok(AlertScan { resume_after: None, cursor })
    }
}

struct UnreportedCondition {
    source: u32,
    reported: u32,
    failures: u32,
    note: String,
    fetched: Option<i64>,
    since: i64,
    is_good: bool,
}

fn log_unreported(
    transaction: &Transaction<'_>,
    thresholds: AlertThresholds,
    (first, last): (u32, u32),
    now: i64,
) -> rusqlite::Result<Option<i64>> {
    // As of the last fetch: a condition that no fetch has shown is not logged.
    let sql = "SELECT c.id, c.told, c.failures, coalesce(o.note, ''), c.fetched,
        coalesce(c.changed, s.added), c.state = ?5
        FROM schedule c JOIN source s ON s.id = c.id LEFT JOIN observation o ON o.id = c.last
        WHERE c.id BETWEEN ?1 AND ?2 AND NOT c.flags & 5 AND (
            (?3 > 0 AND c.failures >= ?3 AND NOT c.told & 1) OR
            (?4 > 0 AND c.state = ?5 AND NOT c.told & 2
                AND c.fetched - coalesce(c.changed, s.added) >= ?4))
        ORDER BY c.id";
    let mut statement = transaction.prepare_cached(sql)?;
    let values =
        params![first, last, thresholds.failures_in_a_row, thresholds.quiet_ms, SourceState::Good];
    let rows = statement.query_map(values, |row| {
        Ok(UnreportedCondition {
            source: row.get(0)?,
            reported: row.get(1)?,
            failures: row.get(2)?,
            note: row.get(3)?,
            fetched: row.get(4)?,
            since: row.get(5)?,
            is_good: row.get(6)?,
        })
    })?;
    let mut cursor = None;
    for it in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        let source = it.source;
        let (bit, kind, since, summary) = match it.is_good {
            true => {
                let duration = it.fetched.unwrap_or(now) - it.since;
                (QUIET, ChangeKind::Quiet, Some(it.since), quiet_summary(duration))
            }
            false => {
                (FAILING, ChangeKind::Failing, it.fetched, failing_summary(it.failures, &it.note))
            }
        };
        let logged = change::insert_event(transaction, source, kind, since, now, &summary)?;
        set_reported(transaction, source, it.reported | bit)?;
        cursor = logged.or(cursor);
    }
    Ok(cursor)
}
