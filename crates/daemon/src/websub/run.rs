//! The task that asks hubs when it is time, and keeps the store up to date.

use std::sync::Arc;
use std::time::Duration;

use freshet_store::{
    NewSignalSource, Reader, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, StoreError,
    Subscription, SubscriptionIntent,
};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::life::{self, HubAnswer, Identity};
use super::{MOST, Offer, State, Subscriber, hub};
use crate::clock::{Millis, days};
use crate::daemon::{DaemonError, Handle};
use crate::signal_sources::{SignalSourceChange, SignalSourceRead};

/// Hubs that are asked at a time.
const ASKED: usize = 16;
/// How often it is looked whether all that is subscribed to is still wanted, in the world.
const ROUND: Duration = Duration::from_secs(60);
/// How long the store is left alone if it cannot be written.
const HELD: Duration = Duration::from_secs(5);
/// How long it may take to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// The task, to be ended.
pub(crate) struct Running {
    stopping: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends it: hubs that are being asked are asked again after the restart.
    pub(crate) async fn stop(self) {
        self.stopping.send_replace(true);
        let abort = self.task.abort_handle();
        if timeout(SHUTDOWN_GRACE, self.task).await.is_err() {
            abort.abort();
        }
    }
}

/// Starts it. It must be called within a tokio runtime.
pub(crate) fn start(handle: Handle) -> Running {
    let (stopping, stop) = watch::channel(false);
    Running { stopping, task: tokio::spawn(run(handle, stop)) }
}

async fn run(handle: Handle, mut stop: watch::Receiver<bool>) {
    let subscriber = Arc::clone(handle.websub());
    let mut shops = handle.shops();
    let mut asked = JoinSet::new();
    let mut round = Instant::now();
    let mut held = round;
    // What was offered and not looked at before the end of the last process is in no document that comes:
    // the feed may be as it was.
    match handle.read(offered).await {
        Ok(offers) => offers.into_iter().for_each(|offer| subscriber.offer(offer)),
        Err(error) => tracing::warn!("cannot look for feeds with hubs: {error}"),
    }
    loop {
        let is_round = round <= Instant::now();
        if is_round {
            round = Instant::now() + ROUND;
        }
        if let Err(error) = look(&handle, &subscriber, is_round).await {
            tracing::warn!("cannot look after subscriptions: {error}");
        }
        begin(&handle, &subscriber, &mut asked);
        if held <= Instant::now() && !write(&handle, &subscriber).await {
            held = Instant::now() + HELD;
        }
        let due = next(&handle, &subscriber).filter(|_| asked.len() < ASKED);
        let wake = due.map_or(round, |next| {
            let wait = shops.borrow().clock.wait_for(days(next));
            (Instant::now() + wait).min(round)
        });
        tokio::select! {
            () = subscriber.changed.notified() => {}
            Some(_) = asked.join_next() => {}
            _ = shops.changed() => {}
            _ = stop.wait_for(|it| *it) => break,
            () = sleep_until(wake) => {}
        }
    }
    asked.abort_all();
    write(&handle, &subscriber).await;
}

/// When something is due, if hubs can be asked.
fn next(handle: &Handle, subscriber: &Subscriber) -> Option<Millis> {
    let base = handle.shops().borrow().callback.clone();
    let state = subscriber.lock();
    let can = state.open && base.is_some();
    let rows = state.all.values().filter(|kept| !kept.asking).map(|kept| &kept.row);
    rows.filter(|row| can || row.intent == SubscriptionIntent::Ended)
        .map(|row| row.next_action_at)
        .min()
}

/// Looks at what feeds offer, and now and then whether what is subscribed to is still wanted.
async fn look(handle: &Handle, subscriber: &Subscriber, is_round: bool) -> Result<(), DaemonError> {
    let base = handle.shops().borrow().callback.clone();
    let now = handle.now();
    let (offers, wanted) = {
        let mut state = subscriber.lock();
        state.move_to(base, now);
        let offers: Vec<Offer> = state.offers.drain().map(|(_, offer)| offer).collect();
        let is_round = std::mem::take(&mut state.stale) || is_round;
        let rows = state
            .all
            .values()
            .map(|kept| &kept.row)
            .filter(|row| row.intent == SubscriptionIntent::Subscribe);
        let wanted = rows.map(|row| (row.callback.clone(), row.signal_source, row.topic.clone()));
        (offers, if is_round { wanted.collect() } else { Vec::new() })
    };
    if !wanted.is_empty() {
        let orphans = handle.read(move |reader| orphans(reader, wanted)).await?;
        let mut state = subscriber.lock();
        for callback in orphans {
            state.leave(&callback, now);
        }
    }
    for offer in offers {
        if let Err(error) = take(handle, subscriber, offer.clone(), now).await {
            // It is looked at again in the next round.
            subscriber.lock().offers.entry(offer.feed).or_insert(offer);
            return Err(error);
        }
    }
    subscriber.lock().tidy(now);
    Ok(())
}

/// What feeds offered when they were last read.
fn offered(reader: &Reader) -> Result<Vec<Offer>, StoreError> {
    let mut query = SignalSourceQuery { limit: 1_000, ..SignalSourceQuery::default() };
    let mut offers = Vec::new();
    loop {
        let some = reader.signal_sources(&query)?;
        let Some(last) = some.last() else { return Ok(offers) };
        query.after = Some(last.id);
        for it in &some {
            let Some(read) = SignalSourceRead::of(it).filter(|it| !it.hubs.is_empty()) else {
                continue;
            };
            let topic = read.itself.unwrap_or_else(|| it.name.clone());
            offers.push(Offer { feed: it.id, topic, hubs: read.hubs });
        }
    }
}

/// Subscriptions whose heralds are gone.
fn orphans(reader: &Reader, wanted: Vec<(String, u32, String)>) -> Result<Vec<String>, StoreError> {
    let mut orphans = Vec::new();
    for (callback, herald, topic) in wanted {
        let herald = reader.signal_source(herald)?;
        // Numbers are used again.
        if !herald.is_some_and(|it| it.kind == SignalSourceKind::WebSub && it.name == topic) {
            orphans.push(callback);
        }
    }
    Ok(orphans)
}

async fn take(
    handle: &Handle,
    subscriber: &Subscriber,
    mut offer: Offer,
    now: Millis,
) -> Result<(), DaemonError> {
    offer.hubs.retain(|hub| !hub.contains(['\n', '\r']));
    let old = {
        let mut state = subscriber.lock();
        let old = state.of(offer.feed).cloned();
        if let Some(mut row) = old.clone().filter(|row| row.topic == offer.topic) {
            // It stays where it is, if that is still one of them.
            let place = offer.hubs.iter().position(|hub| *hub == life::hub(&row));
            if let Some(place) = place {
                if row.hubs != offer.hubs {
                    row.hub = u32::try_from(place).unwrap_or(0);
                    row.hubs = offer.hubs;
                    let callback = row.callback.clone();
                    if let Some(kept) = state.all.get_mut(&callback) {
                        kept.row = row;
                    }
                    state.unwritten.insert(callback);
                }
                return Ok(());
            }
        }
        if let Some(row) = &old {
            state.leave(&row.callback, now);
        }
        old
    };
    if let Some(row) = old.filter(|row| row.topic != offer.topic || offer.hubs.is_empty()) {
        let change =
            SignalSourceChange { remove: vec![row.signal_source], ..SignalSourceChange::default() };
        handle.change_heralds(change).await?;
    }
    if offer.hubs.is_empty() {
        return Ok(());
    }
    let topic = offer.topic.clone();
    let known = handle
        .read(move |reader| reader.find_signal_source(SignalSourceKind::WebSub, &topic))
        .await?;
    // Another feed of the same name has it.
    if known.is_some_and(|it| it.parent != Some(offer.feed)) {
        return Ok(());
    }
    let new = NewSignalSource {
        origin: SignalSourceOrigin::Parent,
        parent: Some(offer.feed),
        ..NewSignalSource::pushing(SignalSourceKind::WebSub, offer.topic.clone(), now)
    };
    let change = SignalSourceChange { add: vec![new], ..SignalSourceChange::default() };
    let changed = handle.change_heralds(change).await?;
    let herald = changed.added.first().ok_or(DaemonError::Stopped)?.id;
    let Some(identity) = identity() else { return Ok(()) };
    let mut state = subscriber.lock();
    if state.all.len() >= MOST {
        tracing::warn!(topic = offer.topic, "not subscribed to: there are {MOST} subscriptions");
        return Ok(());
    }
    state.keep(life::begin(identity, offer.feed, herald, offer.topic, offer.hubs, now));
    Ok(())
}

/// Asks hubs for what is due, if they can call back.
fn begin(handle: &Handle, subscriber: &Arc<Subscriber>, asked: &mut JoinSet<()>) {
    let now = handle.now();
    let mut state = subscriber.lock();
    let Some(base) = state.base.clone().filter(|_| state.open) else { return };
    let is_due =
        |row: &Subscription| row.next_action_at <= now && row.intent != SubscriptionIntent::Ended;
    let mut due: Vec<_> = state
        .all
        .values()
        .filter(|kept| !kept.asking && is_due(&kept.row))
        .map(|kept| (kept.row.next_action_at, kept.row.callback.clone()))
        .collect();
    due.sort_unstable();
    for (_, callback) in due.into_iter().take(ASKED.saturating_sub(asked.len())) {
        state.unwritten.insert(callback.clone());
        let Some(kept) = state.all.get_mut(&callback) else { continue };
        let Some(mode) = life::ask(&mut kept.row, &base, now) else { continue };
        kept.asking = true;
        let (row, handle, subscriber) = (kept.row.clone(), handle.clone(), Arc::clone(subscriber));
        asked.spawn(async move {
            let said = match handle.keep_subscription(row.clone()).await {
                // Whoever calls back is known, whatever happens meanwhile.
                Ok(()) => {
                    let shop = Arc::clone(&handle.shops().borrow());
                    hub::ask(&shop, &row, mode).await
                }
                Err(error) => HubAnswer::Later(error.to_string(), None),
            };
            tracing::debug!(topic = row.topic, hub = life::hub(&row), ?said, "{}", mode.word());
            subscriber.answered(&row.callback, said, handle.now());
        });
    }
}

impl Subscriber {
    fn answered(&self, callback: &str, said: HubAnswer, now: Millis) {
        let mut state = self.lock();
        let Some(kept) = state.all.get_mut(callback) else { return };
        kept.asking = false;
        let turned = life::answered(&mut kept.row, said, now);
        state.unwritten.insert(callback.to_owned());
        if turned && let Some(identity) = identity() {
            state.renew(callback, identity);
        }
        drop(state);
        self.changed.notify_one();
    }
}

impl State {
    /// Hubs reach the service somewhere else: they are told where.
    fn move_to(&mut self, base: Option<String>, now: Millis) {
        if self.base == base {
            return;
        }
        self.base = base;
        let Some(base) = &self.base else { return };
        for kept in self.all.values_mut() {
            let row = &mut kept.row;
            if row.intent == SubscriptionIntent::Subscribe
                && row.requested_at.is_some()
                && row.base != *base
            {
                row.next_action_at = now;
                row.failures = 0;
            }
        }
    }

    fn leave(&mut self, callback: &str, now: Millis) {
        if let Some(kept) = self.all.get_mut(callback) {
            life::leave(&mut kept.row, now);
            self.unwritten.insert(callback.to_owned());
        }
    }

    /// Forgets what has been over for long enough.
    fn tidy(&mut self, now: Millis) {
        let rows = self.all.values().map(|kept| &kept.row);
        // Where nobody can be told that it is over, it is over with the lease.
        let is_untold = self.base.is_none();
        let over = rows.filter(|row| match row.intent {
            SubscriptionIntent::Subscribe => false,
            SubscriptionIntent::Unsubscribe => {
                is_untold && row.expires_at.is_none_or(|until| until <= now)
            }
            SubscriptionIntent::Ended => row.next_action_at <= now,
        });
        let over: Vec<String> = over.map(|row| row.callback.clone()).collect();
        for callback in over {
            self.forget(&callback);
        }
    }
}

/// Has written what is not as the store has it. Says whether that went well.
async fn write(handle: &Handle, subscriber: &Subscriber) -> bool {
    let (rows, gone, written) = {
        let mut state = subscriber.lock();
        let (unwritten, gone) =
            (std::mem::take(&mut state.unwritten), std::mem::take(&mut state.gone));
        let rows: Vec<Subscription> =
            unwritten.iter().filter_map(|it| Some(state.all.get(it)?.row.clone())).collect();
        (rows, gone, unwritten)
    };
    if rows.is_empty() && gone.is_empty() {
        return true;
    }
    let again = gone.clone();
    match handle.write(move |store| store.update_subscriptions(&rows, &gone)).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!("cannot keep subscriptions: {error}");
            let mut state = subscriber.lock();
            state.unwritten.extend(written);
            state.gone.extend(again);
            false
        }
    }
}

/// What nobody can guess; `None` if the system has no randomness.
pub(super) fn identity() -> Option<Identity> {
    let text = || {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    Some(Identity { callback: text()?, secret: text()? })
}
