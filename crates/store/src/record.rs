//! Records results of fetches, many in one transaction.

use rusqlite::{CachedStatement, OptionalExtension, Transaction, params};

use crate::alert::{AlertThresholds, SourceBefore};
use crate::change::{self, NewChange};
use crate::error::StoreError;
use crate::history::Decision;
use crate::host::{self, HostRecord};
use crate::host_cooldown::{self, HostCooldown, RobotsRecord};
use crate::job::StoredValidators;
use crate::lease::{self, Lease};
use crate::meta::{self, LedgerEntry};
use crate::outcome::{SourceState, StoredOutcome};
use crate::retention::{self, Retention};
use crate::signal_source::{self, SignalEntry, SignalHistory, SignalSourceUpdate};
use crate::stats::{self, StatsBucket};
use crate::store::Store;
use crate::version::{self, NewVersion};

/// Observations examined for pruning per recorded fetch.
const PRUNE_ROWS_PER_FETCH: usize = 4;

/// Finished fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchRecord {
    /// Source id.
    pub source: u32,
    /// Time at which it ended.
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
    /// Validators for the next fetch; `None` keeps the present ones.
    pub validators: Option<StoredValidators>,
    /// Snapshot of the document; `None` keeps the present one.
    pub snapshot: Option<Vec<u8>>,
    /// State learned by the engine; `None` keeps the present one.
    pub learned: Option<Vec<u8>>,
    /// Time at which the next fetch is due; `None` if unknown.
    pub due_at: Option<i64>,
    /// New version of the content, if it is stored.
    pub version: Option<NewVersion>,
    /// Change to log, if there is one.
    pub change: Option<NewChange>,
    /// Reason of the fetch, if known.
    pub decision: Option<Decision>,
}

impl FetchRecord {
    /// Creates a record with all other fields empty.
    #[must_use]
    pub fn new(source: u32, at: i64, outcome: StoredOutcome) -> Self {
        Self {
            source,
            at,
            outcome,
            status: 0,
            bytes: 0,
            duration_ms: 0,
            note: String::new(),
            validators: None,
            snapshot: None,
            learned: None,
            due_at: None,
            version: None,
            change: None,
            decision: None,
        }
    }
}

/// State of a source that the engine learned without a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedState {
    /// Source id.
    pub source: u32,
    /// State of the engine, opaque to the store; `None` keeps the present one.
    pub learned: Option<Vec<u8>>,
    /// Time at which the next fetch is due; `None` if unknown.
    pub due_at: Option<i64>,
}

/// Changes that are written in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Finished fetches, in order of time.
    pub fetches: Vec<FetchRecord>,
    /// State learned without fetches.
    pub learned: Vec<LearnedState>,
    /// State of hosts.
    pub hosts: Vec<HostRecord>,
    /// Cooldowns of hosts without sources.
    pub host_cooldowns: Vec<HostCooldown>,
    /// Fetched robots.txt files.
    pub robots: Vec<RobotsRecord>,
    /// Global state of the engine; `None` keeps the current one.
    pub engine_checkpoint: Option<Vec<u8>>,
    /// Spending. Amounts at the same time are added up.
    pub ledger: Vec<LedgerEntry>,
    /// Statistics. Amounts of the same bucket are added up.
    pub stats: Vec<StatsBucket>,
    /// New or changed leases.
    pub leases: Vec<Lease>,
    /// Ids of leases that have ended or are completely reported.
    pub dropped_leases: Vec<u128>,
    /// Updates of signal sources.
    pub signal_sources: Vec<SignalSourceUpdate>,
    /// Latest entries of signal sources, in order of time.
    pub signal_entries: Vec<SignalEntry>,
    /// State learned about pairs of a signal source and a source.
    pub signal_histories: Vec<SignalHistory>,
}

/// Result of recording a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordResult {
    /// For each fetch of the batch, the cursor of the entry that was logged for it, if there is one.
    pub cursors: Vec<Option<i64>>,
    /// Sources that no longer exist: nothing was recorded for them.
    pub unknown: Vec<u32>,
}

impl Store {
    /// Records a batch in one transaction. It is durable when this returns.
    pub fn record_batch(&mut self, batch: &Batch) -> Result<RecordResult, StoreError> {
        let (retention, thresholds) = (self.retention, self.alert_thresholds);
        let mut progress = self.prune_progress;
        let result = self.write(|transaction| {
            let mut result = RecordResult::default();
            let mut observed = 0;
            let mut statements = RecordStatements::prepare(transaction)?;
            for fetch in &batch.fetches {
                let cursor = statements.record(fetch, &retention, thresholds)?;
                match cursor {
                    Some(_) => observed += 1,
                    None => result.unknown.push(fetch.source),
                }
                result.cursors.push(cursor.flatten());
            }
            if observed > 0 {
                let sql = "UPDATE counter SET value = value + ?1 WHERE name = 'observations'";
                transaction.prepare_cached(sql)?.execute([observed])?;
                let rows = PRUNE_ROWS_PER_FETCH * batch.fetches.len();
                progress.prune_observations_if_many(
                    transaction,
                    retention.observations_per_source,
                    rows,
                )?;
            }
            let sql = "UPDATE schedule SET learnt = coalesce(?2, learnt), due = ?3 WHERE id = ?1";
            let mut statement = transaction.prepare_cached(sql)?;
            for state in &batch.learned {
                let row = params![state.source, state.learned, state.due_at];
                if statement.execute(row)? == 0 {
                    result.unknown.push(state.source);
                }
            }
            host::save(transaction, &batch.hosts)?;
            host_cooldown::save(transaction, &batch.host_cooldowns, &batch.robots)?;
            lease::save(transaction, &batch.leases, &batch.dropped_leases)?;
            signal_source::update(transaction, &batch.signal_sources)?;
            signal_source::save_signals(
                transaction,
                &batch.signal_entries,
                &batch.signal_histories,
            )?;
            meta::add_to_ledger(transaction, &batch.ledger)?;
            stats::add(transaction, &batch.stats)?;
            if let Some(checkpoint) = &batch.engine_checkpoint {
                meta::save_engine_checkpoint(transaction, checkpoint)?;
            }
            Ok(result)
        })?;
        self.prune_progress = progress;
        Ok(result)
    }
}

/// Prepared statements that every fetch needs.
struct RecordStatements<'a> {
    transaction: &'a Transaction<'a>,
    select_before: CachedStatement<'a>,
    insert_observation: CachedStatement<'a>,
    update_schedule: CachedStatement<'a>,
}

impl<'a> RecordStatements<'a> {
    fn prepare(transaction: &'a Transaction<'a>) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            select_before: transaction.prepare_cached(
                "SELECT fetches, last, failures, fetched, changed, state, told, flags & 4
                FROM schedule WHERE id = ?1",
            )?,
            insert_observation: transaction.prepare_cached(
                "INSERT INTO observation
                (source, n, previous, at, outcome, status, bytes, duration, note,
                    reason, worth, price, believed, learnt)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?,
            update_schedule: transaction.prepare_cached(
                "UPDATE schedule SET
                fetched = coalesce(?2, fetched),
                due = ?3,
                state = ?4,
                learnt = coalesce(?5, learnt),
                fetches = ?6,
                failures = CASE WHEN ?2 IS NULL THEN failures + 1 ELSE 0 END,
                tried = ?7,
                changed = coalesce(?8, changed),
                last = ?9
                WHERE id = ?1",
            )?,
        })
    }

    /// Records a fetch. The outer `Option` is `None` if there is no such source; the inner one is the cursor of the logged
    /// entry, if there is one.
    fn record(
        &mut self,
        fetch: &FetchRecord,
        retention: &Retention,
        thresholds: AlertThresholds,
    ) -> rusqlite::Result<Option<Option<i64>>> {
        let row = self.select_before.query_row([fetch.source], |row| {
            let (failures, fetched, changed) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let (state, reported) = (row.get(5)?, row.get(6)?);
            let before = SourceBefore { failures, fetched, changed, state, reported };
            let is_page = row.get::<_, i64>(7)? == 0;
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?, before, is_page))
        });
        let Some((fetches, previous, before, is_page)) = row.optional()? else {
            return Ok(None);
        };
        self.insert_observation.execute(params![
            fetch.source,
            fetches + 1,
            previous,
            fetch.at,
            fetch.outcome,
            fetch.status,
            fetch.bytes as i64,
            fetch.duration_ms,
            Some(&fetch.note).filter(|note| !note.is_empty()),
            fetch.decision.map(|it| it.reason),
            fetch.decision.and_then(|it| it.value),
            fetch.decision.and_then(|it| it.price),
            fetch.decision.and_then(|it| it.rate_before),
            fetch.decision.and_then(|it| it.rate_after),
        ])?;
        let last = self.transaction.last_insert_rowid();
        let state = fetch.outcome.state();
        self.update_schedule.execute(params![
            fetch.source,
            (state == SourceState::Good).then_some(fetch.at),
            fetch.due_at,
            state,
            fetch.learned,
            fetches + 1,
            fetch.at,
            (fetch.outcome == StoredOutcome::Changed).then_some(fetch.at),
            last,
        ])?;
        let event =
            if is_page { thresholds.log_events(self.transaction, fetch, &before)? } else { None };
        let change = save_content(self.transaction, fetch, retention, before.fetched)?;
        Ok(Some(change.or(event)))
    }
}

/// Stores validators, snapshot, version and change of a fetch, with one write to the source. Returns the cursor of the
/// change, if there is one.
fn save_content(
    transaction: &Transaction<'_>,
    fetch: &FetchRecord,
    retention: &Retention,
    fetched: Option<i64>,
) -> rusqlite::Result<Option<i64>> {
    let source = fetch.source;
    let old: u32 = if fetch.version.is_some() || fetch.change.is_some() {
        let sql = "SELECT version FROM source WHERE id = ?1";
        transaction.prepare_cached(sql)?.query_row([source], |row| row.get(0))?
    } else {
        0
    };
    let new = fetch.version.as_ref().map(|_| old + 1);
    if let Some(validators) = &fetch.validators {
        let sql = "UPDATE source SET etag = ?2, last_modified = ?3,
            reading = coalesce(?4, reading), version = coalesce(?5, version) WHERE id = ?1";
        let (etag, last_modified) = (&validators.etag, &validators.last_modified);
        let row = params![source, etag, last_modified, fetch.snapshot, new];
        transaction.prepare_cached(sql)?.execute(row)?;
    } else if fetch.snapshot.is_some() || new.is_some() {
        let sql = "UPDATE source SET reading = coalesce(?2, reading),
            version = coalesce(?3, version) WHERE id = ?1";
        transaction.prepare_cached(sql)?.execute(params![source, fetch.snapshot, new])?;
    }
    if let (Some(version), Some(n)) = (&fetch.version, new) {
        version::insert(transaction, source, n, fetch.at, version)?;
        retention::prune_versions_of(transaction, retention, source, n, fetch.at)?;
    }
    let old = Some(old).filter(|n| *n > 0);
    match &fetch.change {
        Some(change) => {
            // A signal may come later than the fetch that confirmed the copy.
            let unchanged = match (change.last_unchanged_at, fetched) {
                (Some(unchanged), Some(fetched)) => Some(unchanged.min(fetched)),
                (unchanged, _) => unchanged,
            };
            change::insert(transaction, source, change, unchanged, (old, new))
        }
        None => Ok(None),
    }
}
