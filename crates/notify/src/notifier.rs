//! Runs one delivery worker per destination.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::{DaemonError, DaemonHandle};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::delivery_worker::{ConcurrencyLimits, DeliveryWorker, wait_for_stop};
use crate::progress_writer::ProgressWriter;
use crate::sender::{DeliveryError, NotifySettings, Receipt, Sender};
use crate::target::Target;

/// Time that workers have to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// Time between two checks that each destination has a worker, even without an edit.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Delay before a worker that ended unexpectedly is restarted.
const RESTART_DELAY: Duration = Duration::from_millis(100);
/// Dead letters resent by one call.
const MAX_RESENT: usize = 100;
/// Time after which no more dead letters are resent by one call.
const RESEND_TIME_LIMIT: Duration = Duration::from_secs(30);

/// Delivers the entries of the change log to all destinations. Clones share one notifier; it keeps running when they are
/// dropped.
#[derive(Clone)]
pub struct Notifier {
    handle: DaemonHandle,
    sender: Arc<watch::Sender<Arc<Sender>>>,
    stopping: Arc<watch::Sender<bool>>,
    round: Arc<std::sync::Mutex<Option<JoinHandle<()>>>>,
}

/// Result of resending dead letters.
#[derive(Debug)]
pub struct RetryResult {
    /// Number of delivered dead letters.
    pub sent: usize,
    /// Error of the first failure, if there is one: no more were tried after it.
    pub error: Option<DeliveryError>,
    /// Number of remaining dead letters.
    pub remaining: u64,
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}

impl Notifier {
    /// Starts the notifier. Must be called within a tokio runtime.
    #[must_use]
    pub fn start(handle: DaemonHandle, settings: NotifySettings) -> Self {
        let (sender, senders) = watch::channel(Arc::new(Sender::new(settings)));
        let (stopping, stop) = watch::channel(false);
        let round = tokio::spawn(supervise(handle.clone(), senders, stop));
        Self {
            handle,
            sender: Arc::new(sender),
            stopping: Arc::new(stopping),
            round: Arc::new(std::sync::Mutex::new(Some(round))),
        }
    }

    /// Replaces the settings.
    pub fn reload(&self, settings: NotifySettings) {
        self.sender.send_replace(Arc::new(Sender::new(settings)));
    }

    /// Stops the notifier within a few seconds. Deliveries in flight are sent again after the restart.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let round = self.round.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(round) = round {
            let abort = round.abort_handle();
            if timeout(2 * SHUTDOWN_GRACE, round).await.is_err() {
                abort.abort();
            }
        }
    }

    /// Returns the current sender.
    #[must_use]
    pub fn sender(&self) -> Arc<Sender> {
        Arc::clone(&self.sender.borrow())
    }

    /// Sends a test notification.
    ///
    /// # Errors
    /// Returns [`DeliveryError`] if it was not delivered.
    pub async fn send_test(&self, name: &str, target: &Target) -> Result<Receipt, DeliveryError> {
        self.sender().send_test(name, target, self.handle.now()).await
    }

    /// Resends dead letters, oldest first, until one fails or the time limit is reached. Returns `None` if there is no such
    /// destination.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be used or the daemon has stopped.
    pub async fn retry_dead_letters(&self, id: u32) -> Result<Option<RetryResult>, DaemonError> {
        let found = self.handle.read(move |reader| {
            let dead_letters = reader.dead_letters(id, 0, MAX_RESENT)?;
            Ok((reader.destination(id)?, dead_letters, reader.identity()?))
        });
        let (Some(row), dead_letters, identity) = found.await? else { return Ok(None) };
        let sender = self.sender();
        let mut result = RetryResult { sent: 0, error: None, remaining: 0 };
        let target = match Target::parse(&row.settings) {
            Ok(target) => target,
            Err(why) => {
                let message = format!("invalid settings: {why}");
                result.error =
                    Some(DeliveryError::new(message, crate::sender::FailureKind::Permanent));
                return Ok(Some(result));
            }
        };
        let start = Instant::now();
        for dead_letter in dead_letters {
            if start.elapsed() > RESEND_TIME_LIMIT {
                break;
            }
            let now = self.handle.now();
            match sender.resend(&identity, &row, &target, &dead_letter.delivery, now).await {
                Ok(_) => {
                    let now = self.handle.now();
                    self.handle
                        .write(move |store| store.complete_redelivery(dead_letter.id, now))
                        .await?;
                    result.sent += 1;
                }
                Err(failure) => {
                    result.error = Some(failure);
                    break;
                }
            }
        }
        result.remaining = self.handle.read(move |reader| reader.count_dead_letters(id)).await?;
        Ok(Some(result))
    }
}

/// Running worker of a destination, and the channel that reports changes of its settings to it.
struct RunningWorker {
    task: tokio::task::Id,
    edits: watch::Sender<u64>,
}

/// Destinations to check.
#[derive(Clone, Copy)]
enum CheckScope {
    All,
    One(u32),
}

/// Makes sure that each destination has a running worker.
async fn supervise(
    handle: DaemonHandle,
    sender: watch::Receiver<Arc<Sender>>,
    stopping: watch::Receiver<bool>,
) {
    let mut edits = handle.subscribe_destination_changes();
    let (progress, limits) = (ProgressWriter::start(handle.clone()), ConcurrencyLimits::new());
    let mut tasks: JoinSet<u32> = JoinSet::new();
    let mut workers: HashMap<u32, RunningWorker> = HashMap::new();
    let mut scope = CheckScope::All;
    let mut pause = Duration::ZERO;
    loop {
        let found = handle.read(move |reader| {
            let rows = match scope {
                CheckScope::All => reader.destinations()?,
                CheckScope::One(id) => reader.destination(id)?.into_iter().collect(),
            };
            Ok((rows, reader.identity()?))
        });
        match found.await {
            Ok((rows, identity)) => {
                let identity: Arc<str> = identity.into();
                for row in rows {
                    if workers.contains_key(&row.id) {
                        continue;
                    }
                    let (edit_sender, edits) = watch::channel(0);
                    let id = row.id;
                    let worker = DeliveryWorker {
                        id,
                        identity: Arc::clone(&identity),
                        handle: handle.clone(),
                        progress: progress.clone(),
                        limits: limits.clone(),
                        sender: sender.clone(),
                        last_sender: Arc::clone(&sender.borrow()),
                        edits,
                        stopping: stopping.clone(),
                        examined_cursor: row.cursor,
                        cursor_saved_at: Instant::now(),
                        retry_not_before: 0,
                    };
                    let task = tasks.spawn(async move {
                        sleep(pause).await;
                        worker.run().await;
                        id
                    });
                    workers.insert(id, RunningWorker { task: task.id(), edits: edit_sender });
                }
            }
            Err(DaemonError::Stopped) => return,
            Err(error) => tracing::warn!("cannot read the destinations: {error}"),
        }
        pause = Duration::ZERO;
        tokio::select! {
            edit = edits.recv() => scope = match edit {
                Ok(Some(id)) => {
                    if let Some(it) = workers.get(&id) {
                        it.edits.send_modify(|count| *count += 1);
                    }
                    CheckScope::One(id)
                }
                // Any destination may have changed.
                Ok(None) | Err(RecvError::Lagged(_)) => {
                    for it in workers.values() {
                        it.edits.send_modify(|count| *count += 1);
                    }
                    CheckScope::All
                }
                Err(RecvError::Closed) => return,
            },
            Some(ended) = tasks.join_next_with_id(), if !tasks.is_empty() => {
                let ended = ended.map_or_else(|error| error.id(), |(task, _)| task);
                let id = workers.iter().find(|(_, it)| it.task == ended).map(|(id, _)| *id);
                scope = CheckScope::All;
                if let Some(id) = id {
                    workers.remove(&id);
                    scope = CheckScope::One(id);
                }
                // A worker that keeps failing is not restarted in a tight loop.
                pause = RESTART_DELAY;
            }
            () = sleep(CHECK_INTERVAL) => scope = CheckScope::All,
            () = wait_for_stop(stopping.clone()) => {
                let all = async { while tasks.join_next().await.is_some() {} };
                let _ = timeout(SHUTDOWN_GRACE, all).await;
                tasks.shutdown().await;
                return;
            }
        }
    }
}
