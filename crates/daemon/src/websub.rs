//! WebSub subscriptions (W3C Recommendation of 23 January 2018). Feeds that name a hub are
//! subscribed to there, and the hub's pushes are received as signals.
//!
//! | file | content |
//! | --- | --- |
//! | `subscription.rs` | state machine of a subscription, a pure function of events |
//! | `task.rs` | task that contacts hubs when due and keeps the store up to date |
//! | `hub_request.rs` | one request to a hub and its response |
//! | `signature.rs` | verification of push signatures |
//! | `push.rs` | a push: a feed whose entries are signals |

mod hub_request;
mod push;
mod signature;
mod subscription;
mod task;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_store::{Subscription, SubscriptionIntent};
use tokio::sync::Notify;

pub use self::push::PushResult;
pub use self::subscription::HubMode;
pub(crate) use self::task::{SubscriptionTask, start};
use crate::clock::Millis;

/// Most subscriptions.
const MAX_SUBSCRIPTIONS: usize = 10_000;
/// Pushes accepted from a hub at once, and the rate after that.
const MAX_PUSH_BURST: f64 = 60.0;
const PUSHES_PER_SECOND: f64 = 1.0;

/// Hubs named by a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOffer {
    /// Signal source id of the feed.
    pub feed: u32,
    /// Topic URL of the feed (`rel=self`).
    pub topic: String,
    /// Hub URLs (`rel=hub`) in order; empty if the feed names none any more.
    pub hubs: Vec<String>,
}

/// Result of a verification or denial by a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubCallResult {
    /// It matches our request.
    Confirmed,
    /// It does not match our request.
    Refused,
    /// No such subscription.
    Unknown,
}

/// Status of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionStatus {
    /// Signal source id of the feed.
    pub feed: u32,
    /// Signal source id of the pushes.
    pub signal_source: u32,
    /// Topic URL.
    pub topic: String,
    /// Hub URL.
    pub hub: String,
    /// `off` (no callback URL or no server), `asked`, `active`, `failing` or `leaving`.
    pub state: &'static str,
    /// End of the lease, if the subscription is active.
    pub expires_at: Option<Millis>,
    /// Time of the next request to the hub.
    pub next_request_at: Millis,
    /// Reason for a failure, or what to do; empty otherwise.
    pub note: String,
    /// Number of pushes.
    pub pushes: u64,
    /// Number of pushes with a missing or invalid signature.
    pub rejected_pushes: u64,
    /// Time of the last valid push.
    pub last_push_at: Option<Millis>,
}

/// WebSub subscriptions of a daemon.
#[derive(Default)]
pub struct Subscriber {
    state: Mutex<SubscriberState>,
    /// Wakes the task.
    changed: Notify,
}

#[derive(Default)]
struct SubscriberState {
    /// By callback path.
    subscriptions: HashMap<String, SubscriptionEntry>,
    /// Offers not processed yet, by feed.
    offers: HashMap<u32, HubOffer>,
    /// Callbacks of subscriptions that differ from the store.
    unwritten: HashSet<String>,
    /// Callbacks of removed subscriptions.
    removed: Vec<String>,
    /// Public base URL, if there is one.
    callback_base: Option<String>,
    /// True while the server answers hubs.
    is_open: bool,
    /// True if signal sources may have been removed.
    needs_recheck: bool,
}

struct SubscriptionEntry {
    row: Subscription,
    /// True while a request to the hub is in flight.
    is_being_asked: bool,
    /// Pushes that the hub may send at once, and the time of that count.
    push_allowance: f64,
    allowance_at: Millis,
}

impl SubscriberState {
    fn insert(&mut self, row: Subscription) {
        self.unwritten.insert(row.callback.clone());
        let entry = SubscriptionEntry {
            row,
            is_being_asked: false,
            push_allowance: MAX_PUSH_BURST,
            allowance_at: 0,
        };
        self.subscriptions.insert(entry.row.callback.clone(), entry);
    }

    fn remove(&mut self, callback: &str) {
        if self.subscriptions.remove(callback).is_some() {
            self.unwritten.remove(callback);
            self.removed.push(callback.to_owned());
        }
    }

    /// Returns the subscription of a feed that is not ending.
    fn active_of_feed(&self, feed: u32) -> Option<&Subscription> {
        let mut rows = self.subscriptions.values().map(|entry| &entry.row);
        rows.find(|row| row.feed == feed && row.intent == SubscriptionIntent::Subscribe)
    }

    /// Replaces callback and secret for another hub, so that neither hub learns those of the other.
    fn replace_identity(&mut self, callback: &str, identity: subscription::Identity) {
        let Some(entry) = self.subscriptions.get(callback) else { return };
        let mut row = entry.row.clone();
        self.remove(callback);
        (row.callback, row.secret) = (identity.callback, identity.secret);
        self.insert(row);
    }
}

impl Subscriber {
    /// Creates the subscriber with the stored subscriptions.
    pub(crate) fn new(rows: Vec<Subscription>) -> Self {
        let mut state = SubscriberState::default();
        for row in rows {
            state.insert(row);
        }
        state.unwritten.clear();
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, SubscriberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers the hubs of a feed that was read. Repeating an offer has no effect.
    pub fn offer_hubs(&self, offer: HubOffer) {
        let mut state = self.lock();
        if state.offers.len() < MAX_SUBSCRIPTIONS {
            state.offers.insert(offer.feed, offer);
            self.changed.notify_one();
        }
    }

    /// Requests a check for subscriptions whose signal source was removed.
    pub fn recheck(&self) {
        self.lock().needs_recheck = true;
        self.changed.notify_one();
    }

    /// Sets whether the server answers hubs. While it does not, no hub is contacted.
    pub fn set_open(&self, is_open: bool) {
        self.lock().is_open = is_open;
        self.changed.notify_one();
    }

    /// True if the callback belongs to a subscription.
    #[must_use]
    pub fn has_callback(&self, callback: &str) -> bool {
        self.lock().subscriptions.contains_key(callback)
    }

    /// Handles the verification of intent by a hub, which grants a lease in seconds.
    pub fn on_verification(
        &self,
        callback: &str,
        mode: HubMode,
        topic: &str,
        lease: Option<u64>,
        now: Millis,
    ) -> HubCallResult {
        let lease = lease.map(|it| i64::try_from(it).unwrap_or(i64::MAX).saturating_mul(1000));
        self.update_subscription(callback, |row| {
            subscription::on_verification(row, mode, topic, lease, now).then_some(false)
        })
    }

    /// Handles the denial of a subscription by a hub.
    pub fn on_denial(
        &self,
        callback: &str,
        topic: &str,
        reason: &str,
        now: Millis,
    ) -> HubCallResult {
        let reason = hub_request::sanitize_text(reason);
        self.update_subscription(callback, |row| subscription::on_denial(row, topic, &reason, now))
    }

    fn update_subscription(
        &self,
        callback: &str,
        update: impl FnOnce(&mut Subscription) -> Option<bool>,
    ) -> HubCallResult {
        let mut state = self.lock();
        let Some(entry) = state.subscriptions.get_mut(callback) else {
            return HubCallResult::Unknown;
        };
        let Some(switched) = update(&mut entry.row) else { return HubCallResult::Refused };
        state.unwritten.insert(callback.to_owned());
        if switched && let Some(identity) = task::new_identity() {
            state.replace_identity(callback, identity);
        }
        drop(state);
        self.changed.notify_one();
        HubCallResult::Confirmed
    }

    /// Returns the subscriptions that have not ended, ordered by feed.
    #[must_use]
    pub fn statuses(&self, now: Millis) -> Vec<SubscriptionStatus> {
        let state = self.lock();
        let rows = state
            .subscriptions
            .values()
            .map(|entry| &entry.row)
            .filter(|row| row.intent != SubscriptionIntent::Ended);
        let mut all: Vec<_> = rows.map(|row| state.status_of(row, now)).collect();
        all.sort_by(|a, b| (a.feed, &a.topic).cmp(&(b.feed, &b.topic)));
        all
    }
}

impl SubscriberState {
    fn status_of(&self, row: &Subscription, now: Millis) -> SubscriptionStatus {
        let is_off = !self.is_open || self.callback_base.is_none();
        let holds = subscription::is_active(row, now);
        let state = match row.intent {
            SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => "leaving",
            SubscriptionIntent::Subscribe if holds => "active",
            SubscriptionIntent::Subscribe if is_off => "off",
            SubscriptionIntent::Subscribe if row.note.is_empty() => "asked",
            SubscriptionIntent::Subscribe => "failing",
        };
        let note = match state {
            "off" => {
                "not subscribed: hubs need a public URL; set one under [signals] in freshet.toml, \
                such as `callback = \"https://freshet.example.com\"`"
                    .to_owned()
            }
            _ => row.note.clone(),
        };
        SubscriptionStatus {
            feed: row.feed,
            signal_source: row.signal_source,
            topic: row.topic.clone(),
            hub: subscription::current_hub(row).to_owned(),
            state,
            expires_at: row.expires_at.filter(|_| holds),
            next_request_at: row.next_action_at,
            note,
            pushes: row.pushes,
            rejected_pushes: row.rejected_pushes,
            last_push_at: row.last_push_at,
        }
    }
}
