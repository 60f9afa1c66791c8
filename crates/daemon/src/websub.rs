//! Subscriptions at hubs (WebSub, W3C Recommendation of 23 January 2018): feeds that name a hub are
//! subscribed to there, and what the hub then sends is heard.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `life.rs` | the life of a subscription, as a pure function of what happens |
//! | `run.rs` | the task that asks hubs when it is time, and keeps the store up to date |
//! | `hub.rs` | one request to a hub, and what its answer means |
//! | `signature.rs` | whether what came is from the hub |
//! | `push.rs` | what came: a feed, whose entries are signals |

mod hub;
mod life;
mod push;
mod run;
mod signature;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_store::{Subscription, SubscriptionIntent};
use tokio::sync::Notify;

pub use self::life::Mode;
pub use self::push::Pushed;
pub(crate) use self::run::{Running, start};
use crate::clock::Millis;

/// Subscriptions at most.
const MOST: usize = 10_000;
/// What a hub may send at once, and how many a second after that.
const BURST: f64 = 60.0;
const PER_SECOND: f64 = 1.0;

/// A feed names hubs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which feed: the number of its herald.
    pub feed: u32,
    /// What hubs call it (`rel=self`).
    pub topic: String,
    /// The hubs (`rel=hub`), in order. None: it has none any more.
    pub hubs: Vec<String>,
}

/// What becomes of a call from a hub that makes sure, or denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// It is what we asked for.
    Yes,
    /// It is not.
    No,
    /// There is no such subscription.
    Unknown,
}

/// How a subscription does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// The feed: the number of its herald.
    pub feed: u32,
    /// Who speaks when the hub does: the number of a herald.
    pub herald: u32,
    /// What is subscribed to.
    pub topic: String,
    /// Where.
    pub hub: String,
    /// `off` (there is no address to call back, or no service), `asked`, `active`, `failing` or
    /// `leaving`.
    pub state: &'static str,
    /// Until when it holds, if it does.
    pub until: Option<Millis>,
    /// When the hub is asked next.
    pub next: Millis,
    /// Why it does not hold, or what to do; empty if there is nothing to say.
    pub note: String,
    /// What the hub has sent, and of that what was not signed as it should be.
    pub pushes: u64,
    /// Of what came, the part that was not signed as it should be.
    pub ignored: u64,
    /// When it last sent something.
    pub pushed: Option<Millis>,
}

/// All subscriptions of a daemon.
#[derive(Default)]
pub struct Subscriber {
    state: Mutex<State>,
    /// There is something to do.
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// By where hubs call back.
    all: HashMap<String, Kept>,
    /// What feeds offer, and nobody has looked at.
    offers: HashMap<u32, Offer>,
    /// Callbacks whose rows are not as the store has them.
    unwritten: HashSet<String>,
    /// Those that are not there any more.
    gone: Vec<String>,
    /// Where hubs reach the service, if there is one.
    base: Option<String>,
    /// Whether somebody answers them.
    open: bool,
    /// Whether heralds may have gone.
    stale: bool,
}

struct Kept {
    row: Subscription,
    /// Whether the hub is being asked.
    asking: bool,
    /// What the hub may send at once, and when that was so.
    room: f64,
    at: Millis,
}

impl State {
    fn keep(&mut self, row: Subscription) {
        self.unwritten.insert(row.callback.clone());
        let kept = Kept { row, asking: false, room: BURST, at: 0 };
        self.all.insert(kept.row.callback.clone(), kept);
    }

    fn forget(&mut self, callback: &str) {
        if self.all.remove(callback).is_some() {
            self.unwritten.remove(callback);
            self.gone.push(callback.to_owned());
        }
    }

    /// The one that is to stay, of a feed.
    fn of(&self, feed: u32) -> Option<&Subscription> {
        let mut rows = self.all.values().map(|kept| &kept.row);
        rows.find(|row| row.feed == feed && row.intent == SubscriptionIntent::Subscribe)
    }

    /// Another hub, another identity: none learns what is for the other.
    fn renew(&mut self, callback: &str, identity: life::Identity) {
        let Some(kept) = self.all.get(callback) else { return };
        let mut row = kept.row.clone();
        self.forget(callback);
        (row.callback, row.secret) = (identity.callback, identity.secret);
        self.keep(row);
    }
}

impl Subscriber {
    /// Those that a store has.
    pub(crate) fn new(rows: Vec<Subscription>) -> Self {
        let mut state = State::default();
        for row in rows {
            state.keep(row);
        }
        state.unwritten.clear();
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A feed was read, and names these hubs. The same again does nothing.
    pub fn offer(&self, offer: Offer) {
        let mut state = self.lock();
        if state.offers.len() < MOST {
            state.offers.insert(offer.feed, offer);
            self.changed.notify_one();
        }
    }

    /// Heralds were removed: what belongs to them ends.
    pub fn look_again(&self) {
        self.lock().stale = true;
        self.changed.notify_one();
    }

    /// Somebody answers hubs from now on, or nobody any more. Nothing is asked for while nobody does.
    pub fn open(&self, is_open: bool) {
        self.lock().open = is_open;
        self.changed.notify_one();
    }

    /// Whether hubs call back here, and it is not over. Nothing else is looked at.
    #[must_use]
    pub fn knows(&self, callback: &str) -> bool {
        self.lock().all.contains_key(callback)
    }

    /// A hub makes sure that it was us who asked, for so many seconds.
    pub fn confirm(
        &self,
        callback: &str,
        mode: Mode,
        topic: &str,
        lease: Option<u64>,
        now: Millis,
    ) -> Confirmed {
        let lease = lease.map(|it| i64::try_from(it).unwrap_or(i64::MAX).saturating_mul(1000));
        self.called(callback, |row| life::confirm(row, mode, topic, lease, now).then_some(false))
    }

    /// A hub says that it does not do what it was asked for, or not any more.
    pub fn deny(&self, callback: &str, topic: &str, reason: &str, now: Millis) -> Confirmed {
        let reason = hub::shown(reason);
        self.called(callback, |row| life::deny(row, topic, &reason, now))
    }

    fn called(
        &self,
        callback: &str,
        what: impl FnOnce(&mut Subscription) -> Option<bool>,
    ) -> Confirmed {
        let mut state = self.lock();
        let Some(kept) = state.all.get_mut(callback) else { return Confirmed::Unknown };
        let Some(turned) = what(&mut kept.row) else { return Confirmed::No };
        state.unwritten.insert(callback.to_owned());
        if turned && let Some(identity) = run::identity() {
            state.renew(callback, identity);
        }
        drop(state);
        self.changed.notify_one();
        Confirmed::Yes
    }

    /// All that are not over, by the number of their feeds.
    #[must_use]
    pub fn list(&self, now: Millis) -> Vec<Subscribed> {
        let state = self.lock();
        let rows = state
            .all
            .values()
            .map(|kept| &kept.row)
            .filter(|row| row.intent != SubscriptionIntent::Ended);
        let mut all: Vec<_> = rows.map(|row| state.view(row, now)).collect();
        all.sort_by(|a, b| (a.feed, &a.topic).cmp(&(b.feed, &b.topic)));
        all
    }
}

impl State {
    fn view(&self, row: &Subscription, now: Millis) -> Subscribed {
        let is_off = !self.open || self.base.is_none();
        let holds = life::holds(row, now);
        let state = match row.intent {
            SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => "leaving",
            SubscriptionIntent::Subscribe if holds => "active",
            SubscriptionIntent::Subscribe if is_off => "off",
            SubscriptionIntent::Subscribe if row.note.is_empty() => "asked",
            SubscriptionIntent::Subscribe => "failing",
        };
        let note = match state {
            "off" => "nothing is subscribed to: say under [signals] in freshet.toml where hubs reach the \
                service, such as `callback = \"https://freshet.example.com\"`"
                .to_owned(),
            _ => row.note.clone(),
        };
        Subscribed {
            feed: row.feed,
            herald: row.signal_source,
            topic: row.topic.clone(),
            hub: life::hub(row).to_owned(),
            state,
            until: row.expires_at.filter(|_| holds),
            next: row.next_action_at,
            note,
            pushes: row.pushes,
            ignored: row.rejected_pushes,
            pushed: row.last_push_at,
        }
    }
}
