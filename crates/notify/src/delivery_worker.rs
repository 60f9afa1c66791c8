//! Delivers entries to one destination: at least once, in order, and past entries that cannot be delivered.

use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::{DaemonError, DaemonHandle};
use freshet_store::{DeliveryStep, Destination, NewDeadLetter, Reader, Store, StoreError};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::next_delivery::{NextDelivery, duration_millis, find_next};
use crate::payload::Payload;
use crate::progress_writer::ProgressWriter;
use crate::retry::{is_final, random_fraction, retry_delay};
use crate::sender::{DeliveryError, Envelope, FailureKind, Sender};
use crate::target::Target;

/// Minimum time between two looks at the log.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time between two writes of the examined cursor: after a restart entries after it are examined again.
const SAVE_CURSOR_INTERVAL: Duration = Duration::from_secs(60);
/// Longer sleeps are split: the clock may be set meanwhile.
const MAX_SLEEP: Duration = Duration::from_secs(60);
/// Maximum postponement of a retry, in milliseconds.
const MAX_POSTPONEMENT_MS: i64 = 86_400_000 + 60_000;

/// Writes the result of a delivery, unless the settings of the destination have changed meanwhile: new settings are
/// tried at once, whatever the result with the old ones.
fn if_settings_unchanged(
    row: &Destination,
    write: impl FnOnce(&mut Store) -> Result<(), StoreError> + Send + 'static,
) -> impl FnOnce(&mut Store) -> Result<(), StoreError> + Send + 'static {
    let (id, settings) = (row.id, row.settings.clone());
    move |store| match store.destination(id)? {
        Some(now) if now.settings == settings => write(store),
        _ => Ok(()),
    }
}

/// Limits on concurrent reads and deliveries.
#[derive(Clone)]
pub(crate) struct ConcurrencyLimits {
    read: Arc<Semaphore>,
    send: Arc<Semaphore>,
}

impl ConcurrencyLimits {
    /// Maximum number of concurrent reads of the store.
    const MAX_READS: usize = 8;
    /// Maximum number of concurrent deliveries.
    const MAX_DELIVERIES: usize = 512;

    pub(crate) fn new() -> Self {
        let (read, send) = (Semaphore::new(Self::MAX_READS), Semaphore::new(Self::MAX_DELIVERIES));
        Self { read: Arc::new(read), send: Arc::new(send) }
    }
}

/// Waits for the stop signal.
pub(crate) async fn wait_for_stop(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|it| *it).await;
}

/// Delivers to one destination, as long as it exists.
pub(crate) struct DeliveryWorker {
    pub(crate) id: u32,
    pub(crate) identity: Arc<str>,
    pub(crate) handle: DaemonHandle,
    pub(crate) progress: ProgressWriter,
    pub(crate) limits: ConcurrencyLimits,
    pub(crate) sender: watch::Receiver<Arc<Sender>>,
    /// Sender of the last failed attempt.
    pub(crate) last_sender: Arc<Sender>,
    /// Number of changes of its settings.
    pub(crate) edits: watch::Receiver<u64>,
    pub(crate) stopping: watch::Receiver<bool>,
    /// Cursor up to which no entry matches the filter.
    pub(crate) examined_cursor: i64,
    pub(crate) cursor_saved_at: Instant,
    /// End of the pause that the receiver requested by `Retry-After`, in milliseconds since 1970.
    pub(crate) retry_not_before: i64,
}

/// Event that ends a wait.
enum WaitFor {
    /// Change of its settings.
    SettingsChange,
    /// New entry, or a change of its settings.
    NewEntry,
    /// Time in milliseconds since 1970, or a change of its settings.
    Until(i64),
    /// Nothing: continue at once.
    Nothing,
}

impl DeliveryWorker {
    /// Delivers until the stop signal, or until the destination is removed.
    pub(crate) async fn run(mut self) {
        let mut status = self.handle.watch_status();
        let mut edits = self.edits.clone();
        let mut senders = self.sender.clone();
        loop {
            let cursor = status.borrow_and_update().cursor;
            edits.mark_unchanged();
            senders.mark_unchanged();
            let wait = match self.deliver_next().await {
                Ok(Some(wait)) => wait,
                Ok(None) => return,
                Err(DaemonError::Stopped) => return,
                Err(error) => {
                    tracing::warn!(destination = self.id, "cannot deliver notifications: {error}");
                    WaitFor::Until(self.handle.now() + duration_millis(MAX_SLEEP))
                }
            };
            if *self.stopping.borrow() {
                return self.save_cursor(true).await;
            }
            let waited = async {
                match wait {
                    WaitFor::Nothing => {}
                    WaitFor::SettingsChange => std::future::pending().await,
                    WaitFor::Until(at) => self.sleep_until_time(at).await,
                    WaitFor::NewEntry => {
                        sleep(MIN_POLL_INTERVAL).await;
                        let _ = status.wait_for(|status| status.cursor > cursor).await;
                    }
                }
            };
            let is_over = tokio::select! {
                () = waited => false,
                gone = edits.changed() => gone.is_err(),
                gone = senders.changed() => gone.is_err(),
                () = wait_for_stop(self.stopping.clone()) => true,
            };
            if is_over {
                return self.save_cursor(true).await;
            }
        }
    }

    /// Sleeps until a time of the daemon's clock.
    async fn sleep_until_time(&self, at: i64) {
        loop {
            let left = at.saturating_sub(self.handle.now());
            let Ok(left @ 1..) = u64::try_from(left) else { return };
            sleep_until(Instant::now() + Duration::from_millis(left).min(MAX_SLEEP)).await;
        }
    }

    /// Delivers the next entries, if there are some. Returns what to wait for afterwards; `None` if the destination was
    /// removed.
    async fn deliver_next(&mut self) -> Result<Option<WaitFor>, DaemonError> {
        let id = self.id;
        let row = self.read(move |reader| reader.destination(id)).await?;
        let Some(row) = row else { return Ok(None) };
        if row.paused {
            return Ok(Some(WaitFor::SettingsChange));
        }
        let now = self.handle.now();
        // A retry beyond the maximum postponement was written before the clock was set back.
        if let Some(next) =
            row.retry_at.filter(|&next| next > now && next - now <= MAX_POSTPONEMENT_MS)
        {
            return self.reschedule(&row, next, now).await.map(Some);
        }
        let target = match Target::parse(&row.settings) {
            Ok(target) => Arc::new(target),
            Err(why) => {
                tracing::warn!(destination = %row.name, "invalid settings: {why}");
                return Ok(Some(WaitFor::SettingsChange));
            }
        };
        let (destination, filter_target) = (row.clone(), Arc::clone(&target));
        let examined = self.examined_cursor;
        let next =
            self.read(move |reader| find_next(reader, &destination, &filter_target, examined, now));
        match next.await? {
            NextDelivery::NoneUpTo(cursor) => {
                self.examined_cursor = self.examined_cursor.max(cursor);
                if self.cursor_saved_at.elapsed() >= SAVE_CURSOR_INTERVAL
                    && self.examined_cursor > row.cursor
                {
                    self.save_cursor(false).await;
                }
                Ok(Some(WaitFor::NewEntry))
            }
            NextDelivery::Unfinished(cursor) => {
                self.examined_cursor = self.examined_cursor.max(cursor);
                Ok(Some(WaitFor::Nothing))
            }
            NextDelivery::NotBefore(at) => Ok(Some(WaitFor::Until(at))),
            NextDelivery::Deliver { payload, last_cursor, is_started } => {
                if !is_started {
                    self.progress.write(DeliveryStep::Started { id, last_cursor }).await?;
                }
                self.deliver(&row, &target, &payload, last_cursor).await.map(Some)
            }
        }
    }

    /// Reads the store, within the limit on concurrent reads.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let _permit = self.limits.read.acquire().await;
        self.handle.read(read).await
    }

    /// Moves a retry to an earlier time if the settings of the sender have changed since the failure, unless the receiver
    /// requested a pause.
    async fn reschedule(
        &mut self,
        row: &Destination,
        next: i64,
        now: i64,
    ) -> Result<WaitFor, DaemonError> {
        let sender = Arc::clone(&self.sender.borrow());
        let last_sender = std::mem::replace(&mut self.last_sender, Arc::clone(&sender));
        let target = Target::parse(&row.settings).ok();
        let differs = target.is_some_and(|target| sender.differs_for(&last_sender, &target));
        let sooner = if differs {
            now
        } else if sender.first_retry_delay != last_sender.first_retry_delay {
            now.saturating_add(duration_millis(retry_delay(
                row.attempts,
                sender.first_retry_delay,
                random_fraction(),
                None,
            )))
        } else {
            next
        };
        let sooner = sooner.max(self.retry_not_before);
        if sooner >= next {
            return Ok(WaitFor::Until(next));
        }
        let id = row.id;
        self.handle.write(move |store| store.bring_retry_forward(id, sooner)).await?;
        Ok(WaitFor::Until(sooner))
    }

    /// Delivers a payload and records the result.
    async fn deliver(
        &mut self,
        row: &Destination,
        target: &Target,
        payload: &Payload,
        last_cursor: i64,
    ) -> Result<WaitFor, DaemonError> {
        let body = payload.body();
        let delivery_id = Payload::id(&self.identity, row.id, &body);
        let now = self.handle.now();
        let envelope = Envelope { name: &row.name, id: &delivery_id, payload, body: &body, now };
        let sender = Arc::clone(&self.sender.borrow());
        let send = async {
            let _permit = self.limits.send.acquire().await;
            sender.send(target, &envelope).await
        };
        let sent = tokio::select! {
            sent = send => sent,
            // It is sent again after the restart.
            () = wait_for_stop(self.stopping.clone()) => return Ok(WaitFor::Nothing),
        };
        let (id, now) = (row.id, self.handle.now());
        let failure = match sent {
            Ok(receipt) => {
                tracing::debug!(destination = %row.name, delivery = delivery_id, "{}", receipt.answer);
                self.progress
                    .write(DeliveryStep::Completed {
                        id,
                        cursor: last_cursor,
                        delivered_at: Some(now),
                    })
                    .await?;
                return Ok(WaitFor::Nothing);
            }
            Err(failure) => failure,
        };
        self.last_sender = Arc::clone(&sender);
        self.on_failure(row, payload, last_cursor, body, failure, &sender).await
    }

    async fn on_failure(
        &mut self,
        row: &Destination,
        payload: &Payload,
        last_cursor: i64,
        body: Vec<u8>,
        failure: DeliveryError,
        sender: &Sender,
    ) -> Result<WaitFor, DaemonError> {
        let (id, now) = (row.id, self.handle.now());
        let attempts = row.attempts.saturating_add(1);
        let error = failure.message.clone();
        if failure.kind == FailureKind::Unsubscribed {
            tracing::warn!(
                destination = %row.name,
                "{error}: paused, resume it with `freshet notify resume {}`",
                row.name
            );
            let error = format!("{error}: the receiver has unsubscribed");
            let settings = row.settings.clone();
            self.handle
                .write(if_settings_unchanged(row, move |store| {
                    store.record_delivery_steps(&[DeliveryStep::Postponed {
                        id,
                        settings,
                        attempts,
                        failed_at: now,
                        retry_at: now,
                        error,
                    }])?;
                    store.set_destination_paused(id, true, now).map(|_| ())
                }))
                .await?;
            return Ok(WaitFor::SettingsChange);
        }
        if is_final(attempts, &failure, sender.max_attempts) {
            tracing::warn!(destination = %row.name, attempts, "{error}: given up, see `freshet notify dead {}`", row.name);
            let first = payload.entries.first().map(|it| it.cursor);
            let first = first.or(payload.gap.map(|gap| gap.from)).unwrap_or(last_cursor);
            let dead = NewDeadLetter {
                destination: id,
                first_cursor: first,
                last_cursor,
                at: now,
                attempts,
                error,
                body,
            };
            self.handle
                .write(if_settings_unchanged(row, move |store| store.add_dead_letter(&dead)))
                .await?;
            return Ok(WaitFor::Nothing);
        }
        let delay =
            retry_delay(attempts, sender.first_retry_delay, random_fraction(), failure.retry_after);
        tracing::info!(destination = %row.name, attempts, "{error}: retrying in {delay:?}");
        let retry_at = now.saturating_add(duration_millis(delay));
        self.retry_not_before = failure.retry_after.map_or(0, |_| retry_at);
        let settings = row.settings.clone();
        self.progress
            .write(DeliveryStep::Postponed {
                id,
                settings,
                attempts,
                failed_at: now,
                retry_at,
                error,
            })
            .await?;
        Ok(WaitFor::Until(retry_at))
    }

    /// Records the examined cursor as the cursor of the destination.
    async fn save_cursor(&mut self, is_last: bool) {
        let (id, examined) = (self.id, self.examined_cursor);
        self.cursor_saved_at = Instant::now();
        let saved = self.handle.write(move |store| match store.destination(id)? {
            // Not while a delivery is in flight.
            Some(row)
                if row.in_flight_cursor.is_none() && row.attempts == 0 && row.cursor < examined =>
            {
                store.record_delivery_steps(&[DeliveryStep::Completed {
                    id,
                    cursor: examined,
                    delivered_at: None,
                }])
            }
            _ => Ok(()),
        });
        if let Err(error) = saved.await
            && !is_last
        {
            tracing::debug!(destination = id, "{error}");
        }
    }
}
