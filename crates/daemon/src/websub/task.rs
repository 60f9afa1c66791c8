//! Task that contacts hubs when due and keeps the store up to date.

use std::sync::Arc;
use std::time::Duration;

use freshet_store::{
    NewSignalSource, Reader, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, StoreError,
    Subscription, SubscriptionIntent,
};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::subscription::{self, HubAnswer, Identity};
use super::{HubOffer, MAX_SUBSCRIPTIONS, Subscriber, SubscriberState, hub_request};
use crate::clock::{Millis, days_from_millis};
use crate::daemon::{DaemonError, DaemonHandle};
use crate::signal_sources::{SignalSourceChange, SignalSourceReadResult};

/// Concurrent requests to hubs.
const MAX_REQUESTS: usize = 16;
/// Real-time interval of checks for orphaned subscriptions.
const RECHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Delay after a failed write.
const WRITE_RETRY_DELAY: Duration = Duration::from_secs(5);
/// Time that the task has to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Handle of the running task.
pub(crate) struct SubscriptionTask {
    stopping: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl SubscriptionTask {
    /// Ends the task. Interrupted requests are repeated after the restart.
    pub(crate) async fn stop(self) {
        self.stopping.send_replace(true);
        let abort = self.task.abort_handle();
        if timeout(SHUTDOWN_GRACE, self.task).await.is_err() {
            abort.abort();
        }
    }
}

/// Starts the task. Requires a tokio runtime.
pub(crate) fn start(handle: DaemonHandle) -> SubscriptionTask {
    let (stopping, stop) = watch::channel(false);
    SubscriptionTask { stopping, task: tokio::spawn(run_task(handle, stop)) }
}

async fn run_task(handle: DaemonHandle, mut stop: watch::Receiver<bool>) {
    let subscriber = Arc::clone(handle.subscriber());
    let mut contexts = handle.watch_context();
    let mut requests = JoinSet::new();
    let mut round = Instant::now();
    let mut held = round;
    // Offers that the previous process did not handle would not come again while the feed is
    // unchanged.
    match handle.read(stored_offers).await {
        Ok(offers) => offers.into_iter().for_each(|offer| subscriber.offer_hubs(offer)),
        Err(error) => tracing::warn!("cannot load feeds with hubs: {error}"),
    }
    loop {
        let is_round = round <= Instant::now();
        if is_round {
            round = Instant::now() + RECHECK_INTERVAL;
        }
        if let Err(error) = process_offers(&handle, &subscriber, is_round).await {
            tracing::warn!("cannot update subscriptions: {error}");
        }
        start_requests(&handle, &subscriber, &mut requests);
        if held <= Instant::now() && !write_subscriptions(&handle, &subscriber).await {
            held = Instant::now() + WRITE_RETRY_DELAY;
        }
        let due = next_due(&handle, &subscriber).filter(|_| requests.len() < MAX_REQUESTS);
        let wake = due.map_or(round, |next| {
            let wait = contexts.borrow().clock.real_time_until(days_from_millis(next));
            (Instant::now() + wait).min(round)
        });
        tokio::select! {
            () = subscriber.changed.notified() => {}
            Some(_) = requests.join_next() => {}
            _ = contexts.changed() => {}
            _ = stop.wait_for(|it| *it) => break,
            () = sleep_until(wake) => {}
        }
    }
    requests.abort_all();
    write_subscriptions(&handle, &subscriber).await;
}

/// Returns when the next request is due, if hubs can be contacted.
fn next_due(handle: &DaemonHandle, subscriber: &Subscriber) -> Option<Millis> {
    let base = handle.watch_context().borrow().callback_url.clone();
    let state = subscriber.lock();
    let can = state.is_open && base.is_some();
    let rows =
        state.subscriptions.values().filter(|entry| !entry.is_being_asked).map(|entry| &entry.row);
    rows.filter(|row| can || row.intent == SubscriptionIntent::Ended)
        .map(|row| row.next_action_at)
        .min()
}

/// Processes offers of feeds and, periodically, checks for orphaned subscriptions.
async fn process_offers(
    handle: &DaemonHandle,
    subscriber: &Subscriber,
    is_round: bool,
) -> Result<(), DaemonError> {
    let base = handle.watch_context().borrow().callback_url.clone();
    let now = handle.now();
    let (offers, subscribed) = {
        let mut state = subscriber.lock();
        state.set_callback_base(base, now);
        let offers: Vec<HubOffer> = state.offers.drain().map(|(_, offer)| offer).collect();
        let is_round = std::mem::take(&mut state.needs_recheck) || is_round;
        let rows = state
            .subscriptions
            .values()
            .map(|entry| &entry.row)
            .filter(|row| row.intent == SubscriptionIntent::Subscribe);
        let subscribed =
            rows.map(|row| (row.callback.clone(), row.signal_source, row.topic.clone()));
        (offers, if is_round { subscribed.collect() } else { Vec::new() })
    };
    if !subscribed.is_empty() {
        let orphans = handle.read(move |reader| find_orphans(reader, subscribed)).await?;
        let mut state = subscriber.lock();
        for callback in orphans {
            state.unsubscribe(&callback, now);
        }
    }
    for offer in offers {
        if let Err(error) = process_offer(handle, subscriber, offer.clone(), now).await {
            // It is processed again in the next round.
            subscriber.lock().offers.entry(offer.feed).or_insert(offer);
            return Err(error);
        }
    }
    subscriber.lock().prune(now);
    Ok(())
}

/// Returns the hubs that feeds named when they were last read.
fn stored_offers(reader: &Reader) -> Result<Vec<HubOffer>, StoreError> {
    let mut query = SignalSourceQuery { limit: 1_000, ..SignalSourceQuery::default() };
    let mut offers = Vec::new();
    loop {
        let page = reader.signal_sources(&query)?;
        let Some(last) = page.last() else { return Ok(offers) };
        query.after = Some(last.id);
        for it in &page {
            let Some(read) =
                SignalSourceReadResult::from_signal_source(it).filter(|it| !it.hubs.is_empty())
            else {
                continue;
            };
            let topic = read.itself.unwrap_or_else(|| it.name.clone());
            offers.push(HubOffer { feed: it.id, topic, hubs: read.hubs });
        }
    }
}

/// Returns the callbacks of subscriptions whose signal source is gone.
fn find_orphans(
    reader: &Reader,
    subscribed: Vec<(String, u32, String)>,
) -> Result<Vec<String>, StoreError> {
    let mut orphans = Vec::new();
    for (callback, signal_source, topic) in subscribed {
        let signal_source = reader.signal_source(signal_source)?;
        // Ids are reused.
        if !signal_source.is_some_and(|it| it.kind == SignalSourceKind::WebSub && it.name == topic)
        {
            orphans.push(callback);
        }
    }
    Ok(orphans)
}

async fn process_offer(
    handle: &DaemonHandle,
    subscriber: &Subscriber,
    mut offer: HubOffer,
    now: Millis,
) -> Result<(), DaemonError> {
    offer.hubs.retain(|hub| !hub.contains(['\n', '\r']));
    let old = {
        let mut state = subscriber.lock();
        let old = state.active_of_feed(offer.feed).cloned();
        if let Some(mut row) = old.clone().filter(|row| row.topic == offer.topic) {
            // Stays at its hub if the feed still names it.
            let place = offer.hubs.iter().position(|hub| *hub == subscription::current_hub(&row));
            if let Some(place) = place {
                if row.hubs != offer.hubs {
                    row.hub_index = u32::try_from(place).unwrap_or(0);
                    row.hubs = offer.hubs;
                    let callback = row.callback.clone();
                    if let Some(entry) = state.subscriptions.get_mut(&callback) {
                        entry.row = row;
                    }
                    state.unwritten.insert(callback);
                }
                return Ok(());
            }
        }
        if let Some(row) = &old {
            state.unsubscribe(&row.callback, now);
        }
        old
    };
    if let Some(row) = old.filter(|row| row.topic != offer.topic || offer.hubs.is_empty()) {
        let change =
            SignalSourceChange { remove: vec![row.signal_source], ..SignalSourceChange::default() };
        handle.change_signal_sources(change).await?;
    }
    if offer.hubs.is_empty() {
        return Ok(());
    }
    let topic = offer.topic.clone();
    let known = handle
        .read(move |reader| reader.find_signal_source(SignalSourceKind::WebSub, &topic))
        .await?;
    // Another feed with the same topic has the subscription.
    if known.is_some_and(|it| it.parent != Some(offer.feed)) {
        return Ok(());
    }
    let new = NewSignalSource {
        origin: SignalSourceOrigin::Parent,
        parent: Some(offer.feed),
        ..NewSignalSource::new_pushing(SignalSourceKind::WebSub, offer.topic.clone(), now)
    };
    let change = SignalSourceChange { add: vec![new], ..SignalSourceChange::default() };
    let changed = handle.change_signal_sources(change).await?;
    let signal_source = changed.added.first().ok_or(DaemonError::Stopped)?.id;
    let Some(identity) = new_identity() else { return Ok(()) };
    let mut state = subscriber.lock();
    if state.subscriptions.len() >= MAX_SUBSCRIPTIONS {
        tracing::warn!(
            topic = offer.topic,
            "not subscribed: the limit of {MAX_SUBSCRIPTIONS} subscriptions is reached"
        );
        return Ok(());
    }
    state.insert(subscription::new_subscription(
        identity,
        offer.feed,
        signal_source,
        offer.topic,
        offer.hubs,
        now,
    ));
    Ok(())
}

/// Sends the due requests to hubs, if they can call back.
fn start_requests(handle: &DaemonHandle, subscriber: &Arc<Subscriber>, requests: &mut JoinSet<()>) {
    let now = handle.now();
    let mut state = subscriber.lock();
    let Some(base) = state.callback_base.clone().filter(|_| state.is_open) else { return };
    let is_due =
        |row: &Subscription| row.next_action_at <= now && row.intent != SubscriptionIntent::Ended;
    let mut due: Vec<_> = state
        .subscriptions
        .values()
        .filter(|entry| !entry.is_being_asked && is_due(&entry.row))
        .map(|entry| (entry.row.next_action_at, entry.row.callback.clone()))
        .collect();
    due.sort_unstable();
    for (_, callback) in due.into_iter().take(MAX_REQUESTS.saturating_sub(requests.len())) {
        state.unwritten.insert(callback.clone());
        let Some(entry) = state.subscriptions.get_mut(&callback) else { continue };
        let Some(mode) = subscription::next_request(&mut entry.row, &base, now) else { continue };
        entry.is_being_asked = true;
        let (row, handle, subscriber) = (entry.row.clone(), handle.clone(), Arc::clone(subscriber));
        requests.spawn(async move {
            let answer = match handle.save_subscription(row.clone()).await {
                // The callback must be stored before the hub learns it.
                Ok(()) => {
                    let context = Arc::clone(&handle.watch_context().borrow());
                    hub_request::send_request(&context, &row, mode).await
                }
                Err(error) => HubAnswer::Transient(error.to_string(), None),
            };
            tracing::debug!(
                topic = row.topic,
                hub = subscription::current_hub(&row),
                ?answer,
                "{}",
                mode.name()
            );
            subscriber.on_answer(&row.callback, answer, handle.now());
        });
    }
}

impl Subscriber {
    fn on_answer(&self, callback: &str, answer: HubAnswer, now: Millis) {
        let mut state = self.lock();
        let Some(entry) = state.subscriptions.get_mut(callback) else { return };
        entry.is_being_asked = false;
        let switched = subscription::on_answer(&mut entry.row, answer, now);
        state.unwritten.insert(callback.to_owned());
        if switched && let Some(identity) = new_identity() {
            state.replace_identity(callback, identity);
        }
        drop(state);
        self.changed.notify_one();
    }
}

impl SubscriberState {
    /// Sets the public base URL. Hubs are asked to use the new one.
    fn set_callback_base(&mut self, base: Option<String>, now: Millis) {
        if self.callback_base == base {
            return;
        }
        self.callback_base = base;
        let Some(base) = &self.callback_base else { return };
        for entry in self.subscriptions.values_mut() {
            let row = &mut entry.row;
            if row.intent == SubscriptionIntent::Subscribe
                && row.requested_at.is_some()
                && row.callback_base != *base
            {
                row.next_action_at = now;
                row.failures = 0;
            }
        }
    }

    fn unsubscribe(&mut self, callback: &str, now: Millis) {
        if let Some(entry) = self.subscriptions.get_mut(callback) {
            subscription::unsubscribe(&mut entry.row, now);
            self.unwritten.insert(callback.to_owned());
        }
    }

    /// Removes subscriptions that ended long enough ago.
    fn prune(&mut self, now: Millis) {
        let rows = self.subscriptions.values().map(|entry| &entry.row);
        // Without a callback URL no hub can be notified, so an ending subscription ends with its
        // lease.
        let is_untold = self.callback_base.is_none();
        let ended = rows.filter(|row| match row.intent {
            SubscriptionIntent::Subscribe => false,
            SubscriptionIntent::Unsubscribe => {
                is_untold && row.expires_at.is_none_or(|until| until <= now)
            }
            SubscriptionIntent::Ended => row.next_action_at <= now,
        });
        let ended: Vec<String> = ended.map(|row| row.callback.clone()).collect();
        for callback in ended {
            self.remove(&callback);
        }
    }
}

/// Writes the subscriptions that differ from the store. Returns false on failure.
async fn write_subscriptions(handle: &DaemonHandle, subscriber: &Subscriber) -> bool {
    let (rows, gone, written) = {
        let mut state = subscriber.lock();
        let (unwritten, gone) =
            (std::mem::take(&mut state.unwritten), std::mem::take(&mut state.removed));
        let rows: Vec<Subscription> = unwritten
            .iter()
            .filter_map(|it| Some(state.subscriptions.get(it)?.row.clone()))
            .collect();
        (rows, gone, unwritten)
    };
    if rows.is_empty() && gone.is_empty() {
        return true;
    }
    let again = gone.clone();
    match handle.write(move |store| store.update_subscriptions(&rows, &gone)).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!("cannot write subscriptions: {error}");
            let mut state = subscriber.lock();
            state.unwritten.extend(written);
            state.removed.extend(again);
            false
        }
    }
}

/// Creates a random identity; `None` if the system has no randomness.
pub(super) fn new_identity() -> Option<Identity> {
    let text = || {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    Some(Identity { callback: text()?, secret: text()? })
}
