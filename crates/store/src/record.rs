//! What fetches brought, in one transaction for many.

use rusqlite::{CachedStatement, OptionalExtension, Transaction, params};

use crate::change::{self, NewChange};
use crate::error::StoreError;
use crate::history::Decision;
use crate::host::{self, HostRecord};
use crate::host_cooldown::{self, HostCooldown, RobotsRecord};
use crate::job::StoredValidators;
use crate::lease::{self, Lease};
use crate::meta::{self, LedgerEntry};
use crate::outcome::{SourceState, StoredOutcome};
use crate::pulse::{self, StatsBucket};
use crate::retention::{self, Retention};
use crate::signal_source::{self, SignalEntry, SignalHistory, SignalSourceUpdate};
use crate::store::Store;
use crate::version::{self, NewVersion};
use crate::watch::{AlertThresholds, Before};

/// Looked at for each fetch recorded, when observations are looked through for those that may go.
const SWEPT_FOR_EACH: usize = 4;

/// A fetch that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchRecord {
    /// The source.
    pub source: u32,
    /// When it ended.
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
    /// What the server gave to ask with the next time; `None` leaves what is there.
    pub validators: Option<StoredValidators>,
    /// What was read; `None` leaves what is there.
    pub reading: Option<Vec<u8>>,
    /// What the engine has learnt; `None` leaves what is there.
    pub learned: Option<Vec<u8>>,
    /// When the source is to be fetched next; `None` if that is not known.
    pub due_at: Option<i64>,
    /// The content, if it is to be kept.
    pub version: Option<NewVersion>,
    /// The change, if there is one to be logged.
    pub change: Option<NewChange>,
    /// Why it was made, if that is known.
    pub decision: Option<Decision>,
}

impl FetchRecord {
    /// A fetch of which nothing else is to be recorded.
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
            reading: None,
            learned: None,
            due_at: None,
            version: None,
            change: None,
            decision: None,
        }
    }
}

/// What the engine has learnt of a source without a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedState {
    /// The source.
    pub source: u32,
    /// Bytes that the store does not look into; `None` leaves what is there.
    pub learned: Option<Vec<u8>>,
    /// When the source is to be fetched next; `None` if that is not known.
    pub due_at: Option<i64>,
}

/// What becomes durable together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Fetches that are over, in their order.
    pub fetches: Vec<FetchRecord>,
    /// What was learnt otherwise.
    pub learned: Vec<LearnedState>,
    /// What the engine keeps of hosts.
    pub hosts: Vec<HostRecord>,
    /// How long hosts without sources are left alone.
    pub host_cooldowns: Vec<HostCooldown>,
    /// robots.txt files that were found.
    pub robots: Vec<RobotsRecord>,
    /// What it keeps beside; `None` leaves what is there.
    pub engine_checkpoint: Option<Vec<u8>>,
    /// What was handed out. Amounts of one moment are added up.
    pub ledger: Vec<LedgerEntry>,
    /// How it went. What is of one span is added up.
    pub stats: Vec<StatsBucket>,
    /// Leases that were given.
    pub leases: Vec<Lease>,
    /// Leases that are over, or of which all is reported.
    pub dropped_leases: Vec<u128>,
    /// What is known of heralds.
    pub signal_sources: Vec<SignalSourceUpdate>,
    /// What heralds said of sources, in its order.
    pub signal_entries: Vec<SignalEntry>,
    /// What was learnt of heralds about sources.
    pub signal_histories: Vec<SignalHistory>,
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordResult {
    /// For each fetch of the batch the cursor of its change, or of what else was told of it, if there
    /// was something.
    pub cursors: Vec<Option<i64>>,
    /// Sources that are not there any more: nothing was recorded for them.
    pub unknown: Vec<u32>,
}

impl Store {
    /// Records a batch as a whole. When this returns, it is durable.
    pub fn record_batch(&mut self, batch: &Batch) -> Result<RecordResult, StoreError> {
        let (retention, watch, mut sweep) = (self.retention, self.watch, self.sweep);
        let recorded = self.write(|transaction| {
            let mut recorded = RecordResult::default();
            let mut observed = 0;
            let mut keeper = Keeper::prepare(transaction)?;
            for fetch in &batch.fetches {
                let kept = keeper.keep(fetch, &retention, watch)?;
                match kept {
                    Some(_) => observed += 1,
                    None => recorded.unknown.push(fetch.source),
                }
                recorded.cursors.push(kept.flatten());
            }
            if observed > 0 {
                let sql = "UPDATE counter SET value = value + ?1 WHERE name = 'observations'";
                transaction.prepare_cached(sql)?.execute([observed])?;
                let rows = SWEPT_FOR_EACH * batch.fetches.len();
                sweep.observations(transaction, retention.observations, rows)?;
            }
            let sql = "UPDATE schedule SET learnt = coalesce(?2, learnt), due = ?3 WHERE id = ?1";
            let mut statement = transaction.prepare_cached(sql)?;
            for learnt in &batch.learned {
                let row = params![learnt.source, learnt.learned, learnt.due_at];
                if statement.execute(row)? == 0 {
                    recorded.unknown.push(learnt.source);
                }
            }
            host::keep(transaction, &batch.hosts)?;
            host_cooldown::keep(transaction, &batch.host_cooldowns, &batch.robots)?;
            lease::keep(transaction, &batch.leases, &batch.dropped_leases)?;
            signal_source::keep(transaction, &batch.signal_sources)?;
            signal_source::keep_ears(transaction, &batch.signal_entries, &batch.signal_histories)?;
            meta::keep_spent(transaction, &batch.ledger)?;
            pulse::keep(transaction, &batch.stats)?;
            if let Some(rest) = &batch.engine_checkpoint {
                meta::keep_rest(transaction, rest)?;
            }
            Ok(recorded)
        })?;
        self.sweep = sweep;
        Ok(recorded)
    }
}

/// The statements that every fetch needs.
struct Keeper<'a> {
    transaction: &'a Transaction<'a>,
    before: CachedStatement<'a>,
    observe: CachedStatement<'a>,
    schedule: CachedStatement<'a>,
}

impl<'a> Keeper<'a> {
    fn prepare(transaction: &'a Transaction<'a>) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            before: transaction.prepare_cached(
                "SELECT fetches, last, failures, fetched, changed, state, told, flags & 4
                FROM schedule WHERE id = ?1",
            )?,
            observe: transaction.prepare_cached(
                "INSERT INTO observation
                (source, n, previous, at, outcome, status, bytes, duration, note,
                    reason, worth, price, believed, learnt)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?,
            schedule: transaction.prepare_cached(
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

    /// The cursor of the change within; `None` outside if there is no such source.
    fn keep(
        &mut self,
        fetch: &FetchRecord,
        retention: &Retention,
        watch: AlertThresholds,
    ) -> rusqlite::Result<Option<Option<i64>>> {
        let found = self.before.query_row([fetch.source], |row| {
            let (failures, fetched, changed) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let (state, told) = (row.get(5)?, row.get(6)?);
            let before = Before { failures, fetched, changed, state, told };
            let is_page = row.get::<_, i64>(7)? == 0;
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?, before, is_page))
        });
        let Some((fetches, previous, before, is_page)) = found.optional()? else {
            return Ok(None);
        };
        self.observe.execute(params![
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
        self.schedule.execute(params![
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
        let told = if is_page { watch.tell(self.transaction, fetch, &before)? } else { None };
        let changed = keep_copy(self.transaction, fetch, retention, before.fetched)?;
        Ok(Some(changed.or(told)))
    }
}

/// What is kept of what came, in one write to its source. Gives the cursor of the change, if there is one.
fn keep_copy(
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
        let row = params![source, etag, last_modified, fetch.reading, new];
        transaction.prepare_cached(sql)?.execute(row)?;
    } else if fetch.reading.is_some() || new.is_some() {
        let sql = "UPDATE source SET reading = coalesce(?2, reading),
            version = coalesce(?3, version) WHERE id = ?1";
        transaction.prepare_cached(sql)?.execute(params![source, fetch.reading, new])?;
    }
    if let (Some(version), Some(n)) = (&fetch.version, new) {
        version::insert(transaction, source, n, fetch.at, version)?;
        retention::after_version(transaction, retention, source, n, fetch.at)?;
    }
    let old = Some(old).filter(|n| *n > 0);
    match &fetch.change {
        Some(change) => {
            // When it was fetched, not when somebody told of it.
            let unchanged = match (change.last_unchanged_at, fetched) {
                (Some(told), Some(fetched)) => Some(told.min(fetched)),
                (told, _) => told,
            };
            change::insert(transaction, source, change, unchanged, (old, new))
        }
        None => Ok(None),
    }
}
