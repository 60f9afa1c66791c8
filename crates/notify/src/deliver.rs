//! Telling one destination: at least once, in order, and on when something cannot be told.

use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::{DaemonError, Handle};
use freshet_store::{DeliveryStep, Destination, NewDeadLetter, Reader, Store, StoreError};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::gather::{self, Next, millis};
use crate::ledger::Ledger;
use crate::payload::Payload;
use crate::sender::{DeliveryError, Envelope, FailureKind, Sender};
use crate::target::Target;
use crate::wait::{chance, is_over, wait};

/// The log is looked at no more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// What was looked at in vain is written down so often: less is looked at again after a restart.
const NOTED: Duration = Duration::from_secs(60);
/// What is longer than this is slept in pieces: the clock may be set meanwhile.
const NAP: Duration = Duration::from_secs(60);
/// Nothing is put off for longer, in milliseconds.
const LONGEST: i64 = 86_400_000 + 60_000;

/// Writes down what came of a delivery, unless its destination was described anew meanwhile: that is
/// tried at once, whatever became of what it was before.
fn as_it_was(
    row: &Destination,
    write: impl FnOnce(&mut Store) -> Result<(), StoreError> + Send + 'static,
) -> impl FnOnce(&mut Store) -> Result<(), StoreError> + Send + 'static {
    let (id, settings) = (row.id, row.settings.clone());
    move |store| match store.destination(id)? {
        Some(now) if now.settings == settings => write(store),
        _ => Ok(()),
    }
}

/// How many may do something at once: connections and threads are not without end.
#[derive(Clone)]
pub(crate) struct Turns {
    read: Arc<Semaphore>,
    send: Arc<Semaphore>,
}

impl Turns {
    /// Those who read the store, and those who deliver.
    const READ: usize = 8;
    const SEND: usize = 512;

    pub(crate) fn new() -> Self {
        let (read, send) = (Semaphore::new(Self::READ), Semaphore::new(Self::SEND));
        Self { read: Arc::new(read), send: Arc::new(send) }
    }
}

/// Waits until it is to stop.
pub(crate) async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|it| *it).await;
}

/// One destination, as long as there is one.
pub(crate) struct Delivery {
    pub(crate) id: u32,
    pub(crate) identity: Arc<str>,
    pub(crate) handle: Handle,
    pub(crate) ledger: Ledger,
    pub(crate) turns: Turns,
    pub(crate) sender: watch::Receiver<Arc<Sender>>,
    /// What it was last put off with.
    pub(crate) known: Arc<Sender>,
    /// How often somebody changed its settings.
    pub(crate) edits: watch::Receiver<u64>,
    pub(crate) stopping: watch::Receiver<bool>,
    /// What was looked at in vain.
    pub(crate) seen: i64,
    pub(crate) noted: Instant,
    /// Until when the other side wants to be left alone.
    pub(crate) wished: i64,
}

/// What is waited for.
enum Wait {
    /// A change of its settings.
    Edit,
    /// A new entry, or that.
    Entry,
    /// A moment, or that.
    Until(i64),
    /// Nothing.
    No,
}

impl Delivery {
    /// Tells until it is to stop, or there is nobody to be told any more.
    pub(crate) async fn run(mut self) {
        let mut status = self.handle.watch();
        let mut edits = self.edits.clone();
        let mut senders = self.sender.clone();
        loop {
            let cursor = status.borrow_and_update().cursor;
            edits.mark_unchanged();
            senders.mark_unchanged();
            let waits = match self.round().await {
                Ok(Some(waits)) => waits,
                Ok(None) => return,
                Err(DaemonError::Stopped) => return,
                Err(error) => {
                    tracing::warn!(destination = self.id, "cannot tell of changes: {error}");
                    Wait::Until(self.handle.now() + millis(NAP))
                }
            };
            if *self.stopping.borrow() {
                return self.note(true).await;
            }
            let waited = async {
                match waits {
                    Wait::No => {}
                    Wait::Edit => std::future::pending().await,
                    Wait::Until(at) => self.doze(at).await,
                    Wait::Entry => {
                        sleep(PAUSE).await;
                        let _ = status.wait_for(|status| status.cursor > cursor).await;
                    }
                }
            };
            let is_over = tokio::select! {
                () = waited => false,
                gone = edits.changed() => gone.is_err(),
                gone = senders.changed() => gone.is_err(),
                () = stopped(self.stopping.clone()) => true,
            };
            if is_over {
                return self.note(true).await;
            }
        }
    }

    /// Sleeps until a moment of the daemon's clock.
    async fn doze(&self, at: i64) {
        loop {
            let left = at.saturating_sub(self.handle.now());
            let Ok(left @ 1..) = u64::try_from(left) else { return };
            sleep_until(Instant::now() + Duration::from_millis(left).min(NAP)).await;
        }
    }

    /// Tells what is next, if something is. Gives what is to be waited for then; `None` if there is
    /// nobody to be told any more.
    async fn round(&mut self) -> Result<Option<Wait>, DaemonError> {
        let id = self.id;
        let row = self.read(move |reader| reader.destination(id)).await?;
        let Some(row) = row else { return Ok(None) };
        if row.paused {
            return Ok(Some(Wait::Edit));
        }
        let now = self.handle.now();
        // What is further away than anything is put off was written before the clock was set back.
        if let Some(next) = row.retry_at.filter(|&next| next > now && next - now <= LONGEST) {
            return self.hasten(&row, next, now).await.map(Some);
        }
        let target = match Target::parse(&row.settings) {
            Ok(target) => Arc::new(target),
            Err(why) => {
                tracing::warn!(destination = %row.name, "its settings make no sense: {why}");
                return Ok(Some(Wait::Edit));
            }
        };
        let (its, asked, seen) = (row.clone(), Arc::clone(&target), self.seen);
        let next = self.read(move |reader| gather::next(reader, &its, &asked, seen, now));
        match next.await? {
            Next::Nothing(looked) => {
                self.seen = self.seen.max(looked);
                if self.noted.elapsed() >= NOTED && self.seen > row.cursor {
                    self.note(false).await;
                }
                Ok(Some(Wait::Entry))
            }
            Next::More(looked) => {
                self.seen = self.seen.max(looked);
                Ok(Some(Wait::No))
            }
            Next::Later(at) => Ok(Some(Wait::Until(at))),
            Next::Tell { letter, until, begun } => {
                if !begun {
                    self.ledger.write(DeliveryStep::Started { id, until }).await?;
                }
                self.tell(&row, &target, &letter, until).await.map(Some)
            }
        }
    }

    /// Reads the store when it is its turn.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let _turn = self.turns.read.acquire().await;
        self.handle.read(read).await
    }

    /// What is put off is tried sooner if what it failed with has changed since, unless the other side
    /// wants to be left alone.
    async fn hasten(
        &mut self,
        row: &Destination,
        next: i64,
        now: i64,
    ) -> Result<Wait, DaemonError> {
        let sender = Arc::clone(&self.sender.borrow());
        let known = std::mem::replace(&mut self.known, Arc::clone(&sender));
        let target = Target::parse(&row.settings).ok();
        let differs = target.is_some_and(|target| sender.differs(&known, &target));
        let sooner = if differs {
            now
        } else if sender.wait != known.wait {
            now.saturating_add(millis(wait(row.attempts, sender.wait, chance(), None)))
        } else {
            next
        };
        let sooner = sooner.max(self.wished);
        if sooner >= next {
            return Ok(Wait::Until(next));
        }
        let id = row.id;
        self.handle.write(move |store| store.bring_retry_forward(id, sooner)).await?;
        Ok(Wait::Until(sooner))
    }

    /// Delivers something, and writes down what came of it.
    async fn tell(
        &mut self,
        row: &Destination,
        target: &Target,
        letter: &Payload,
        until: i64,
    ) -> Result<Wait, DaemonError> {
        let body = letter.body();
        let name = Payload::id(&self.identity, row.id, &body);
        let now = self.handle.now();
        let parcel = Envelope { name: &row.name, id: &name, payload: letter, body: &body, now };
        let sender = Arc::clone(&self.sender.borrow());
        let send = async {
            let _turn = self.turns.send.acquire().await;
            sender.send(target, &parcel).await
        };
        let sent = tokio::select! {
            sent = send => sent,
            // It goes out again after the restart.
            () = stopped(self.stopping.clone()) => return Ok(Wait::No),
        };
        let (id, now) = (row.id, self.handle.now());
        let trouble = match sent {
            Ok(receipt) => {
                tracing::debug!(destination = %row.name, delivery = name, "{}", receipt.answer);
                self.ledger
                    .write(DeliveryStep::Completed { id, cursor: until, at: Some(now) })
                    .await?;
                return Ok(Wait::No);
            }
            Err(trouble) => trouble,
        };
        self.known = Arc::clone(&sender);
        self.fail(row, letter, until, body, trouble, &sender).await
    }

    async fn fail(
        &mut self,
        row: &Destination,
        letter: &Payload,
        until: i64,
        body: Vec<u8>,
        trouble: DeliveryError,
        sender: &Sender,
    ) -> Result<Wait, DaemonError> {
        let (id, now) = (row.id, self.handle.now());
        let attempts = row.attempts.saturating_add(1);
        let error = trouble.message.clone();
        if trouble.kind == FailureKind::Unsubscribed {
            tracing::warn!(
                destination = %row.name,
                "{error}: it is paused until `freshet notify resume {}`",
                row.name
            );
            let error = format!("{error}: it does not want to be told any more");
            let settings = row.settings.clone();
            self.handle
                .write(as_it_was(row, move |store| {
                    let next = now;
                    store.record_delivery_steps(&[DeliveryStep::Postponed {
                        id,
                        settings,
                        attempts,
                        now,
                        next,
                        error,
                    }])?;
                    store.set_destination_paused(id, true, now).map(|_| ())
                }))
                .await?;
            return Ok(Wait::Edit);
        }
        if is_over(attempts, &trouble, sender.attempts) {
            tracing::warn!(destination = %row.name, attempts, "{error}: given up, see `freshet notify dead {}`", row.name);
            let first = letter.entries.first().map(|it| it.cursor);
            let first = first.or(letter.gap.map(|gap| gap.from)).unwrap_or(until);
            let dead = NewDeadLetter {
                destination: id,
                first_cursor: first,
                last_cursor: until,
                at: now,
                attempts,
                error,
                body,
            };
            self.handle.write(as_it_was(row, move |store| store.add_dead_letter(&dead))).await?;
            return Ok(Wait::No);
        }
        let wait = wait(attempts, sender.wait, chance(), trouble.retry_after);
        tracing::info!(destination = %row.name, attempts, "{error}: again in {wait:?}");
        let next = now.saturating_add(millis(wait));
        self.wished = trouble.retry_after.map_or(0, |_| next);
        let settings = row.settings.clone();
        self.ledger
            .write(DeliveryStep::Postponed { id, settings, attempts, now, next, error })
            .await?;
        Ok(Wait::Until(next))
    }

    /// Writes down what was looked at in vain.
    async fn note(&mut self, last: bool) {
        let (id, seen) = (self.id, self.seen);
        self.noted = Instant::now();
        let noted = self.handle.write(move |store| match store.destination(id)? {
            // Not if something is under way.
            Some(row) if row.until.is_none() && row.attempts == 0 && row.cursor < seen => store
                .record_delivery_steps(&[DeliveryStep::Completed { id, cursor: seen, at: None }]),
            _ => Ok(()),
        });
        if let Err(error) = noted.await
            && !last
        {
            tracing::debug!(destination = id, "{error}");
        }
    }
}
