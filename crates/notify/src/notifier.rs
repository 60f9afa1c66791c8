//! All who are told, each at its own pace.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::{DaemonError, Handle};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::deliver::{Delivery, Turns, stopped};
use crate::ledger::Ledger;
use crate::sender::{DeliveryError, NotifySettings, Receipt, Sender};
use crate::target::Target;

/// How long those who are telling have to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// How often somebody looks whether all are being told, even if nothing was said.
const ROUND: Duration = Duration::from_secs(30);
/// How long somebody who broke off waits before going on.
const PAUSE: Duration = Duration::from_millis(100);
/// Letters that are sent again at once.
const LETTERS: usize = 100;
/// And for how long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells all destinations of a daemon's changes. Clones are the same one; dropped, it goes on.
#[derive(Clone)]
pub struct Notifier {
    handle: Handle,
    sender: Arc<watch::Sender<Arc<Sender>>>,
    stopping: Arc<watch::Sender<bool>>,
    round: Arc<std::sync::Mutex<Option<JoinHandle<()>>>>,
}

/// What became of deliveries that were given up and tried once more.
#[derive(Debug)]
pub struct RetryResult {
    /// Those that arrived.
    pub sent: usize,
    /// Why the next one did not, if one did not: then no more were tried.
    pub error: Option<DeliveryError>,
    /// How many are left.
    pub remaining: u64,
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}

impl Notifier {
    /// Starts to tell. It must be called within a tokio runtime.
    #[must_use]
    pub fn start(handle: Handle, settings: NotifySettings) -> Self {
        let (sender, senders) = watch::channel(Arc::new(Sender::new(settings)));
        let (stopping, stop) = watch::channel(false);
        let round = tokio::spawn(look_after(handle.clone(), senders, stop));
        Self {
            handle,
            sender: Arc::new(sender),
            stopping: Arc::new(stopping),
            round: Arc::new(std::sync::Mutex::new(Some(round))),
        }
    }

    /// Goes on with other settings.
    pub fn reload(&self, settings: NotifySettings) {
        self.sender.send_replace(Arc::new(Sender::new(settings)));
    }

    /// Ends it, within some seconds. What is being told is told again after the restart.
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

    /// What it delivers with now.
    #[must_use]
    pub fn sender(&self) -> Arc<Sender> {
        Arc::clone(&self.sender.borrow())
    }

    /// Delivers something that shows that it arrives.
    ///
    /// # Errors
    /// What came of it, if it did not arrive.
    pub async fn send_test(&self, name: &str, target: &Target) -> Result<Receipt, DeliveryError> {
        self.sender().send_test(name, target, self.handle.now()).await
    }

    /// Delivers once more what was given up, the oldest first, until something fails or it takes long.
    /// `None` if there is
    /// no such destination.
    ///
    /// # Errors
    /// If the store cannot be used, or the daemon has stopped.
    pub async fn retry_dead_letters(&self, id: u32) -> Result<Option<RetryResult>, DaemonError> {
        let found = self.handle.read(move |reader| {
            let dead = reader.dead_letters(id, 0, LETTERS)?;
            Ok((reader.destination(id)?, dead, reader.identity()?))
        });
        let (Some(row), dead, identity) = found.await? else { return Ok(None) };
        let sender = self.sender();
        let mut retried = RetryResult { sent: 0, error: None, remaining: 0 };
        let target = match Target::parse(&row.settings) {
            Ok(target) => target,
            Err(why) => {
                let what = format!("its settings make no sense: {why}");
                retried.error =
                    Some(DeliveryError::new(what, crate::sender::FailureKind::Permanent));
                return Ok(Some(retried));
            }
        };
        let start = Instant::now();
        for letter in dead {
            if start.elapsed() > PATIENCE {
                break;
            }
            let now = self.handle.now();
            match sender.resend(&identity, &row, &target, &letter.delivery, now).await {
                Ok(_) => {
                    let now = self.handle.now();
                    self.handle
                        .write(move |store| store.complete_redelivery(letter.id, now))
                        .await?;
                    retried.sent += 1;
                }
                Err(trouble) => {
                    retried.error = Some(trouble);
                    break;
                }
            }
        }
        retried.remaining = self.handle.read(move |reader| reader.count_dead_letters(id)).await?;
        Ok(Some(retried))
    }
}

/// Somebody who tells a destination, and a way to say that it was changed.
struct Telling {
    task: tokio::task::Id,
    edits: watch::Sender<u64>,
}

/// Which destinations are looked at.
#[derive(Clone, Copy)]
enum Look {
    All,
    One(u32),
}

/// Sees to it that each destination is told by somebody.
async fn look_after(
    handle: Handle,
    sender: watch::Receiver<Arc<Sender>>,
    stopping: watch::Receiver<bool>,
) {
    let mut edits = handle.destination_changes();
    let (ledger, turns) = (Ledger::start(handle.clone()), Turns::new());
    let mut telling: JoinSet<u32> = JoinSet::new();
    let mut who: HashMap<u32, Telling> = HashMap::new();
    let mut look = Look::All;
    let mut pause = Duration::ZERO;
    loop {
        let found = handle.read(move |reader| {
            let rows = match look {
                Look::All => reader.destinations()?,
                Look::One(id) => reader.destination(id)?.into_iter().collect(),
            };
            Ok((rows, reader.identity()?))
        });
        match found.await {
            Ok((rows, identity)) => {
                let identity: Arc<str> = identity.into();
                for row in rows {
                    if who.contains_key(&row.id) {
                        continue;
                    }
                    let (own, edits) = watch::channel(0);
                    let (id, seen, noted) = (row.id, row.cursor, Instant::now());
                    let delivery = Delivery {
                        id,
                        identity: Arc::clone(&identity),
                        handle: handle.clone(),
                        ledger: ledger.clone(),
                        turns: turns.clone(),
                        sender: sender.clone(),
                        known: Arc::clone(&sender.borrow()),
                        edits,
                        stopping: stopping.clone(),
                        seen,
                        noted,
                        wished: 0,
                    };
                    let task = telling.spawn(async move {
                        sleep(pause).await;
                        delivery.run().await;
                        id
                    });
                    who.insert(id, Telling { task: task.id(), edits: own });
                }
            }
            Err(DaemonError::Stopped) => return,
            Err(error) => tracing::warn!("cannot read who is to be told: {error}"),
        }
        pause = Duration::ZERO;
        tokio::select! {
            edit = edits.recv() => look = match edit {
                Ok(Some(id)) => {
                    if let Some(it) = who.get(&id) {
                        it.edits.send_modify(|count| *count += 1);
                    }
                    Look::One(id)
                }
                // Any of them may have changed.
                Ok(None) | Err(RecvError::Lagged(_)) => {
                    for it in who.values() {
                        it.edits.send_modify(|count| *count += 1);
                    }
                    Look::All
                }
                Err(RecvError::Closed) => return,
            },
            Some(ended) = telling.join_next_with_id(), if !telling.is_empty() => {
                let ended = ended.map_or_else(|error| error.id(), |(task, _)| task);
                let id = who.iter().find(|(_, it)| it.task == ended).map(|(id, _)| *id);
                look = Look::All;
                if let Some(id) = id {
                    who.remove(&id);
                    look = Look::One(id);
                }
                // Not at once again and again, if something is wrong with it.
                pause = PAUSE;
            }
            () = sleep(ROUND) => look = Look::All,
            () = stopped(stopping.clone()) => {
                let all = async { while telling.join_next().await.is_some() {} };
                let _ = timeout(SHUTDOWN_GRACE, all).await;
                telling.shutdown().await;
                return;
            }
        }
    }
}
