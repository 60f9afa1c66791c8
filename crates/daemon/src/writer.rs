//! The one thread that writes to the store.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use freshet_engine::{Description, LearnedState};
use freshet_store::{
    AlertThresholds, Batch, RecordResult, Retention, SignalSourceUpdate, SourceState, Store,
    StoreError,
};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clock::Millis;
use crate::edit::{Applied, Edit, EditError, NewSourceRequest, apply};
use crate::load::description;
use crate::signal_sources::{SignalSourceChange, SignalSourceChanges};

/// What is to be written.
pub(crate) enum Write {
    Batch(Box<Batch>),
    Edit(Edit, Millis, oneshot::Sender<Result<Edited, EditError>>),
    /// The same of sources that heralds named, and counted with these.
    Found(Vec<NewSourceRequest>, Vec<u32>, Millis, oneshot::Sender<Result<Edited, EditError>>),
    Heralds(SignalSourceChange, oneshot::Sender<Result<SignalSourceChanges, StoreError>>),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Tidy(Millis),
    Keep(Retention, Option<u64>, AlertThresholds, Millis),
    /// Whatever else somebody writes.
    Other(Box<dyn FnOnce(&mut Store) + Send>),
}

/// What an edit did, and what the engine must know of it.
pub(crate) struct Edited {
    pub(crate) applied: Applied,
    pub(crate) described: Vec<Description>,
    /// The same of new sources of which something is expected.
    pub(crate) expected: Vec<(Description, LearnedState)>,
}

/// What was written.
pub(crate) enum Wrote {
    /// A batch.
    Batch(Written),
    /// Entries of the log that nobody waits for, up to this cursor.
    Told(i64),
}

/// What became of a batch.
pub(crate) struct Written {
    pub(crate) fetches: usize,
    pub(crate) took: Duration,
    /// If it could not be written, the batch again.
    pub(crate) result: Result<RecordResult, (StoreError, Box<Batch>)>,
}

/// Looking at all sources for what has been so for a while, beside all else.
struct Look {
    after: Option<u32>,
    now: Millis,
}

impl Look {
    /// One, if there may be something to find.
    fn begin(store: &Store, now: Millis) -> Option<Self> {
        match store.is_alert_scan_due() {
            Ok(late) => late.then_some(Self { after: None, now }),
            Err(error) => {
                tracing::warn!("cannot look at what is watched: {error}");
                None
            }
        }
    }

    /// Looks at some of them. Gives where to go on, if anywhere.
    fn go_on(self, store: &mut Store, wrote: &mpsc::UnboundedSender<Wrote>) -> Option<Self> {
        match store.scan_for_alerts(self.after, self.now) {
            Ok(late) => {
                if let Some(cursor) = late.cursor {
                    let _ = wrote.send(Wrote::Told(cursor));
                }
                late.resume_after.map(|after| Self { after: Some(after), ..self })
            }
            // What is not told now is told after the next start, or with a fetch that shows it.
            Err(error) => {
                tracing::warn!("cannot tell what has been so for a while: {error}");
                None
            }
        }
    }
}

/// Writes until nobody asks for more, and gives the store back.
pub(crate) fn start(
    mut store: Store,
    mut orders: mpsc::UnboundedReceiver<Write>,
    wrote: mpsc::UnboundedSender<Wrote>,
    now: Millis,
) -> std::io::Result<JoinHandle<Store>> {
    std::thread::Builder::new().name("freshet-writer".to_owned()).spawn(move || {
        let mut look = Look::begin(&store, now);
        loop {
            // What is ordered goes before what nobody waits for.
            let order = match look {
                Some(_) => orders.try_recv(),
                None => orders.blocking_recv().ok_or(TryRecvError::Disconnected),
            };
            match order {
                Ok(order) => {
                    let since = match &order {
                        Write::Keep(.., now) => Some(*now),
                        _ => None,
                    };
                    carry_out(&mut store, order, &wrote);
                    if let Some(now) = since {
                        look = Look::begin(&store, now);
                    }
                }
                Err(TryRecvError::Empty) => {
                    look = look.and_then(|look| look.go_on(&mut store, &wrote));
                }
                Err(TryRecvError::Disconnected) => return store,
            }
        }
    })
}

fn carry_out(store: &mut Store, order: Write, wrote: &mpsc::UnboundedSender<Wrote>) {
    match order {
        Write::Batch(batch) => {
            let start = Instant::now();
            let result = store.record_batch(&batch);
            let took = start.elapsed();
            let fetches = batch.fetches.len();
            let result = result.map_err(|error| (error, batch));
            // Whoever does not listen any more has stopped.
            let _ = wrote.send(Wrote::Batch(Written { fetches, took, result }));
        }
        Write::Edit(edit, now, reply) => {
            let _ = reply.send(change(store, &edit, now));
        }
        Write::Found(wanted, heralds, now, reply) => {
            let _ = reply.send(find(store, wanted, &heralds, now));
        }
        Write::Heralds(change, reply) => {
            let _ = reply.send(change.apply(store));
        }
        Write::Backup(path, force, reply) => {
            let _ = reply.send(store.backup(&path, force));
        }
        Write::Tidy(now) => {
            if let Err(error) = store.prune(now) {
                tracing::warn!("cannot tidy the store: {error}");
            }
        }
        Write::Other(work) => work(store),
        Write::Keep(retention, size, watch, _) => {
            store.set_alert_thresholds(watch);
            if let Err(error) = keep(store, retention, size) {
                tracing::warn!("cannot limit the store: {error}");
            }
        }
    }
}

/// Says how much is kept, in the past and in bytes.
pub(crate) fn keep(
    store: &mut Store,
    retention: Retention,
    size: Option<u64>,
) -> Result<(), StoreError> {
    store.set_retention(retention);
    store.limit_size(size.unwrap_or(u64::MAX))
}

/// Adds sources that heralds named.
fn find(
    store: &mut Store,
    wanted: Vec<NewSourceRequest>,
    heralds: &[u32],
    now: Millis,
) -> Result<Edited, EditError> {
    let edited = change(store, &Edit::Add(wanted), now)?;
    let found = u32::try_from(edited.applied.new).unwrap_or(u32::MAX);
    let record = |&herald: &u32| SignalSourceUpdate {
        signal_source: herald,
        sources_added: found,
        ..SignalSourceUpdate::default()
    };
    store.record_batch(&Batch {
        signal_sources: heralds.iter().map(record).collect(),
        ..Batch::default()
    })?;
    Ok(edited)
}

fn change(store: &mut Store, edit: &Edit, now: Millis) -> Result<Edited, EditError> {
    let applied = apply(store, edit, now)?;
    let mut described = Vec::with_capacity(applied.described.len());
    let mut expected = Vec::new();
    store.load_schedule_of(&applied.described, |row| {
        // The engine knows better when it was fetched.
        let description = Description { fetched: None, ..description(&row) };
        match LearnedState::from_bytes(row.learned) {
            Ok(learnt) if row.state == SourceState::New => expected.push((description, learnt)),
            _ => described.push(description),
        }
    })?;
    Ok(Edited { applied, described, expected })
}
