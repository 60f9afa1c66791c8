//! What fetches brought, in one transaction for many.

use rusqlite::{CachedStatement, OptionalExtension, Transaction, params};

use crate::change::{self, NewChange};
use crate::error::StoreError;
use crate::herald::{self, Ear, HeraldRecord, Said};
use crate::history::Decision;
use crate::host::{self, HostRecord};
use crate::job::Validators;
use crate::lease::{self, Lease};
use crate::manners::{self, KeptRobots, Manner};
use crate::meta::{self, Spent};
use crate::outcome::{Outcome, State};
use crate::pulse::{self, Pulse};
use crate::retention::{self, Retention};
use crate::store::Store;
use crate::version::{self, NewVersion};
use crate::watch::{Before, Watch};

/// Looked at for each fetch recorded, when observations are looked through for those that may go.
const SWEPT_FOR_EACH: usize = 4;

/// A fetch that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    /// The source.
    pub source: u32,
    /// When it ended.
    pub at: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// The status of HTTP; 0 if there was none.
    pub status: u16,
    /// Bytes that came.
    pub bytes: u64,
    /// How long it took, in milliseconds.
    pub duration: u32,
    /// What there is to say; empty if nothing.
    pub note: String,
    /// What the server gave to ask with the next time; `None` leaves what is there.
    pub validators: Option<Validators>,
    /// What was read; `None` leaves what is there.
    pub reading: Option<Vec<u8>>,
    /// What the engine has learnt; `None` leaves what is there.
    pub learnt: Option<Vec<u8>>,
    /// When the source is to be fetched next; `None` if that is not known.
    pub due: Option<i64>,
    /// The content, if it is to be kept.
    pub version: Option<NewVersion>,
    /// The change, if there is one to be logged.
    pub change: Option<NewChange>,
    /// Why it was made, if that is known.
    pub decision: Option<Decision>,
}

impl Fetched {
    /// A fetch of which nothing else is to be recorded.
    #[must_use]
    pub fn new(source: u32, at: i64, outcome: Outcome) -> Self {
        Self {
            source,
            at,
            outcome,
            status: 0,
            bytes: 0,
            duration: 0,
            note: String::new(),
            validators: None,
            reading: None,
            learnt: None,
            due: None,
            version: None,
            change: None,
            decision: None,
        }
    }
}

/// What the engine has learnt of a source without a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learnt {
    /// The source.
    pub source: u32,
    /// Bytes that the store does not look into; `None` leaves what is there.
    pub learnt: Option<Vec<u8>>,
    /// When the source is to be fetched next; `None` if that is not known.
    pub due: Option<i64>,
}

/// What becomes durable together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Fetches that are over, in their order.
    pub fetches: Vec<Fetched>,
    /// What was learnt otherwise.
    pub learnt: Vec<Learnt>,
    /// What the engine keeps of hosts.
    pub hosts: Vec<HostRecord>,
    /// How long hosts without sources are left alone.
    pub manners: Vec<Manner>,
    /// robots.txt files that were found.
    pub robots: Vec<KeptRobots>,
    /// What it keeps beside; `None` leaves what is there.
    pub rest: Option<Vec<u8>>,
    /// What was handed out. Amounts of one moment are added up.
    pub ledger: Vec<Spent>,
    /// How it went. What is of one span is added up.
    pub pulses: Vec<Pulse>,
    /// Leases that were given.
    pub leases: Vec<Lease>,
    /// Leases that are over, or of which all is reported.
    pub dropped: Vec<u128>,
    /// What is known of heralds.
    pub heralds: Vec<HeraldRecord>,
    /// What heralds said of sources, in its order.
    pub said: Vec<Said>,
    /// What was learnt of heralds about sources.
    pub ears: Vec<Ear>,
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// For each fetch of the batch the cursor of its change, or of what else was told of it, if there
    /// was something.
    pub cursors: Vec<Option<i64>>,
    /// Sources that are not there any more: nothing was recorded for them.
    pub unknown: Vec<u32>,
}

impl Store {
    /// Records a batch as a whole. When this returns, it is durable.
    pub fn record(&mut self, batch: &Batch) -> Result<Recorded, StoreError> {
        let (retention, watch, mut sweep) = (self.retention, self.watch, self.sweep);
        let recorded = self.write(|transaction| {
            let mut recorded = Recorded::default();
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
            for learnt in &batch.learnt {
                let row = params![learnt.source, learnt.learnt, learnt.due];
                if statement.execute(row)? == 0 {
                    recorded.unknown.push(learnt.source);
                }
            }
            host::keep(transaction, &batch.hosts)?;
            manners::keep(transaction, &batch.manners, &batch.robots)?;
            lease::keep(transaction, &batch.leases, &batch.dropped)?;
            herald::keep(transaction, &batch.heralds)?;
            herald::keep_ears(transaction, &batch.said, &batch.ears)?;
            meta::keep_spent(transaction, &batch.ledger)?;
            pulse::keep(transaction, &batch.pulses)?;
            if let Some(rest) = &batch.rest {
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
        fetch: &Fetched,
        retention: &Retention,
        watch: Watch,
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
            fetch.duration,
            Some(&fetch.note).filter(|note| !note.is_empty()),
            fetch.decision.map(|it| it.reason),
            fetch.decision.and_then(|it| it.worth),
            fetch.decision.and_then(|it| it.price),
            fetch.decision.and_then(|it| it.believed),
            fetch.decision.and_then(|it| it.learnt),
        ])?;
        let last = self.transaction.last_insert_rowid();
        let state = fetch.outcome.state();
        self.schedule.execute(params![
            fetch.source,
            (state == State::Good).then_some(fetch.at),
            fetch.due,
            state,
            fetch.learnt,
            fetches + 1,
            fetch.at,
            (fetch.outcome == Outcome::Changed).then_some(fetch.at),
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
    fetch: &Fetched,
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
            let unchanged = match (change.unchanged, fetched) {
                (Some(told), Some(fetched)) => Some(told.min(fetched)),
                (told, _) => told,
            };
            change::insert(transaction, source, change, unchanged, (old, new))
        }
        None => Ok(None),
    }
}
