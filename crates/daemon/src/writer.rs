//! The writer thread, the only one that writes to the store.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use freshet_engine::{LearnedState, SourceDescription};
use freshet_store::{
    AlertThresholds, Batch, RecordResult, Retention, SignalSourceUpdate, SourceState, Store,
    StoreError,
};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clock::Millis;
use crate::engine_loader::describe_source;
use crate::signal_sources::{SignalSourceChange, SignalSourceChanges};
use crate::source_edit::{EditError, EditResult, NewSourceRequest, SourceEdit, apply_edit};

/// Order to the writer thread.
pub(crate) enum WriteOrder {
    Batch(Box<Batch>),
    Edit(SourceEdit, Millis, oneshot::Sender<Result<AppliedEdit, EditError>>),
    /// Add discovered sources and count them for these signal sources.
    AddDiscovered(
        Vec<NewSourceRequest>,
        Vec<u32>,
        Millis,
        oneshot::Sender<Result<AppliedEdit, EditError>>,
    ),
    ChangeSignalSources(
        SignalSourceChange,
        oneshot::Sender<Result<SignalSourceChanges, StoreError>>,
    ),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Prune(Millis),
    SetLimits(Retention, Option<u64>, AlertThresholds, Millis),
    /// Any other work on the store.
    Other(Box<dyn FnOnce(&mut Store) + Send>),
}

/// Result of an edit, and what the engine needs to know about it.
pub(crate) struct AppliedEdit {
    pub(crate) result: EditResult,
    pub(crate) updated: Vec<SourceDescription>,
    /// New sources with a prior.
    pub(crate) restored: Vec<(SourceDescription, LearnedState)>,
}

/// Result of an order.
pub(crate) enum WriteEvent {
    /// A batch was written or failed.
    Batch(BatchWriteResult),
    /// The log grew up to this cursor.
    Cursor(i64),
}

/// Result of writing a batch.
pub(crate) struct BatchWriteResult {
    pub(crate) fetches: usize,
    pub(crate) duration: Duration,
    /// On failure, the batch is returned.
    pub(crate) result: Result<RecordResult, (StoreError, Box<Batch>)>,
}

/// Scan of all sources for alert conditions that last long enough, between other orders.
struct AlertScanTask {
    after: Option<u32>,
    now: Millis,
}

impl AlertScanTask {
    /// Starts a scan if one is due.
    fn start(store: &Store, now: Millis) -> Option<Self> {
        match store.is_alert_scan_due() {
            Ok(scan_result) => scan_result.then_some(Self { after: None, now }),
            Err(error) => {
                tracing::warn!("cannot start the alert scan: {error}");
                None
            }
        }
    }

    /// Scans the next sources. Returns the rest of the scan, if any.
    fn scan_next(
        self,
        store: &mut Store,
        write_events: &mpsc::UnboundedSender<WriteEvent>,
    ) -> Option<Self> {
        match store.scan_for_alerts(self.after, self.now) {
            Ok(scan_result) => {
                if let Some(cursor) = scan_result.cursor {
                    let _ = write_events.send(WriteEvent::Cursor(cursor));
                }
                scan_result.resume_after.map(|after| Self { after: Some(after), ..self })
            }
            // A missed alert is raised after the next start, or by the next fetch that shows the
            // condition.
            Err(error) => {
                tracing::warn!("alert scan failed: {error}");
                None
            }
        }
    }
}

/// Starts the writer thread. It returns the store when all senders are gone.
pub(crate) fn start(
    mut store: Store,
    mut orders: mpsc::UnboundedReceiver<WriteOrder>,
    write_events: mpsc::UnboundedSender<WriteEvent>,
    now: Millis,
) -> std::io::Result<JoinHandle<Store>> {
    std::thread::Builder::new().name("freshet-writer".to_owned()).spawn(move || {
        let mut scan = AlertScanTask::start(&store, now);
        loop {
            // Orders go before the scan.
            let order = match scan {
                Some(_) => orders.try_recv(),
                None => orders.blocking_recv().ok_or(TryRecvError::Disconnected),
            };
            match order {
                Ok(order) => {
                    let since = match &order {
                        WriteOrder::SetLimits(.., now) => Some(*now),
                        _ => None,
                    };
                    execute(&mut store, order, &write_events);
                    if let Some(now) = since {
                        scan = AlertScanTask::start(&store, now);
                    }
                }
                Err(TryRecvError::Empty) => {
                    scan = scan.and_then(|scan| scan.scan_next(&mut store, &write_events));
                }
                Err(TryRecvError::Disconnected) => return store,
            }
        }
    })
}

fn execute(store: &mut Store, order: WriteOrder, write_events: &mpsc::UnboundedSender<WriteEvent>) {
    match order {
        WriteOrder::Batch(batch) => {
            let start = Instant::now();
            let result = store.record_batch(&batch);
            let duration = start.elapsed();
            let fetches = batch.fetches.len();
            let result = result.map_err(|error| (error, batch));
            // A dropped receiver has stopped.
            let _ = write_events.send(WriteEvent::Batch(BatchWriteResult {
                fetches,
                duration,
                result,
            }));
        }
        WriteOrder::Edit(edit, now, reply) => {
            let _ = reply.send(apply_source_edit(store, &edit, now));
        }
        WriteOrder::AddDiscovered(requests, signal_sources, now, reply) => {
            let _ = reply.send(add_discovered(store, requests, &signal_sources, now));
        }
        WriteOrder::ChangeSignalSources(change, reply) => {
            let _ = reply.send(change.apply(store));
        }
        WriteOrder::Backup(path, force, reply) => {
            let _ = reply.send(store.backup(&path, force));
        }
        WriteOrder::Prune(now) => {
            if let Err(error) = store.prune(now) {
                tracing::warn!("cannot prune the store: {error}");
            }
        }
        WriteOrder::Other(work) => work(store),
        WriteOrder::SetLimits(retention, size, alert_thresholds, _) => {
            store.set_alert_thresholds(alert_thresholds);
            if let Err(error) = set_limits(store, retention, size) {
                tracing::warn!("cannot set the limits of the store: {error}");
            }
        }
    }
}

/// Sets the retention and the size limit of the store.
pub(crate) fn set_limits(
    store: &mut Store,
    retention: Retention,
    size: Option<u64>,
) -> Result<(), StoreError> {
    store.set_retention(retention);
    store.limit_size(size.unwrap_or(u64::MAX))
}

/// Adds discovered sources and counts them for their signal sources.
fn add_discovered(
    store: &mut Store,
    requests: Vec<NewSourceRequest>,
    signal_sources: &[u32],
    now: Millis,
) -> Result<AppliedEdit, EditError> {
    let edited = apply_source_edit(store, &SourceEdit::Add(requests), now)?;
    let added = u32::try_from(edited.result.created).unwrap_or(u32::MAX);
    let record = |&signal_source: &u32| SignalSourceUpdate {
        signal_source,
        sources_added: added,
        ..SignalSourceUpdate::default()
    };
    store.record_batch(&Batch {
        signal_sources: signal_sources.iter().map(record).collect(),
        ..Batch::default()
    })?;
    Ok(edited)
}

fn apply_source_edit(
    store: &mut Store,
    edit: &SourceEdit,
    now: Millis,
) -> Result<AppliedEdit, EditError> {
    let applied = apply_edit(store, edit, now)?;
    let mut described = Vec::with_capacity(applied.updated_ids.len());
    let mut expected = Vec::new();
    store.load_schedule_for(&applied.updated_ids, |row| {
        // The engine has a more recent time of the last fetch.
        let description = SourceDescription { last_fetch: None, ..describe_source(&row) };
        match LearnedState::from_bytes(row.learned) {
            Ok(learned) if row.state == SourceState::New => expected.push((description, learned)),
            _ => described.push(description),
        }
    })?;
    Ok(AppliedEdit { result: applied, updated: described, restored: expected })
}
