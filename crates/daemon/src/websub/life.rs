//! The life of a subscription, step by step. Time is an argument; nothing is sent from here.

use freshet_store::{Subscription, SubscriptionIntent};

use crate::clock::Millis;

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// How long we ask for: the hub decides.
pub(super) const LEASE: Millis = 10 * DAY;
/// How long a hub may take to make sure, the first time.
const PATIENCE: Millis = 10 * MINUTE;
/// A request that failed is made again after so long; twice as long each time.
const SOON: Millis = MINUTE;
/// The same if it was not wanted, and the most of either.
const LATER: Millis = HOUR;
const LATEST: (Millis, Millis) = (DAY, 7 * DAY);
/// While it holds, it is tried again within what is left, but not sooner than this.
const SOONEST: Millis = 10 * SECOND;
/// A lease that is shorter or longer counts as this.
const LEASES: (Millis, Millis) = (SECOND, 366 * DAY);
/// It is renewed not sooner than this, however short it is.
const RENEWED: Millis = 30 * SECOND;
/// Failures after which another hub is tried, if there is one.
const TRIES: u32 = 3;
/// How often a hub is told that it is over.
const FAREWELLS: u32 = 5;
/// For how long whoever calls back is told that it is over.
const REMEMBERED: Millis = DAY;
/// A verification may come again: the answer to the first may have been lost.
const AGAIN: Millis = 10 * MINUTE;

/// What a hub is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To call back.
    Subscribe,
    /// Not to do so any more.
    Unsubscribe,
}

impl Mode {
    /// As hubs say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
        }
    }
}

/// What a hub said to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HubAnswer {
    /// It will make sure that it was us, and then do so.
    Accepted,
    /// It was not asked: its host is to be left alone for so long.
    PutOff(Millis),
    /// It may go well later, perhaps not before so long.
    Later(String, Option<Millis>),
    /// It will hardly go well as it is.
    No(String),
}

/// What somebody makes up for each subscription: where hubs call back, and what they sign with.
pub(super) struct Identity {
    pub(super) callback: String,
    pub(super) secret: String,
}

/// A new subscription, to be asked for at once.
pub(super) fn begin(
    identity: Identity,
    feed: u32,
    herald: u32,
    topic: String,
    hubs: Vec<String>,
    now: Millis,
) -> Subscription {
    Subscription {
        callback: identity.callback,
        secret: identity.secret,
        base: String::new(),
        feed,
        signal_source: herald,
        topic,
        hubs,
        hub: 0,
        intent: SubscriptionIntent::Subscribe,
        requested_at: None,
        verified_at: None,
        expires_at: None,
        next_action_at: now,
        failures: 0,
        note: String::new(),
        pushes: 0,
        rejected_pushes: 0,
        last_push_at: None,
    }
}

/// Whether the hub has made sure, and it holds.
pub(super) fn holds(it: &Subscription, now: Millis) -> bool {
    it.intent == SubscriptionIntent::Subscribe && it.expires_at.is_some_and(|until| now < until)
}

/// The hub that it is at.
pub(super) fn hub(it: &Subscription) -> &str {
    it.hubs.get(it.hub as usize).map_or("", String::as_str)
}

/// It is due: what the hub is to be asked for. `None` if nothing is left to be asked.
pub(super) fn ask(it: &mut Subscription, base: &str, now: Millis) -> Option<Mode> {
    let mode = match it.intent {
        SubscriptionIntent::Subscribe => Mode::Subscribe,
        SubscriptionIntent::Unsubscribe if it.failures < FAREWELLS => Mode::Unsubscribe,
        SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => {
            end(it, now);
            return None;
        }
    };
    if it.failures > 0 && it.note.is_empty() {
        it.note = "the hub did not make sure that it was us who asked".to_owned();
    }
    if mode == Mode::Subscribe {
        it.base = base.to_owned();
    }
    it.requested_at = Some(now);
    it.next_action_at = now + wait(it, PATIENCE, LATEST.0, now);
    it.failures = it.failures.saturating_add(1);
    Some(mode)
}

/// What the hub said to that. Says whether another hub is to be tried: with another identity.
pub(super) fn answered(it: &mut Subscription, said: HubAnswer, now: Millis) -> bool {
    // It has made sure while it was asked.
    if it.intent == SubscriptionIntent::Ended
        || it.verified_at.zip(it.requested_at).is_some_and(|(verified, asked)| verified >= asked)
    {
        return false;
    }
    let before = it.failures.saturating_sub(1);
    match said {
        HubAnswer::Accepted => {
            it.note.clear();
            false
        }
        HubAnswer::PutOff(wait) => {
            (it.failures, it.next_action_at) = (before, now + wait);
            false
        }
        HubAnswer::Later(note, after) => {
            it.note = note;
            let failures = std::mem::replace(&mut it.failures, before);
            it.next_action_at =
                now + wait(it, SOON, LATEST.0, now).max(after.unwrap_or(0).min(LATEST.1));
            it.failures = failures;
            failures.is_multiple_of(TRIES) && turn(it, now)
        }
        HubAnswer::No(note) => {
            it.note = note;
            if it.intent == SubscriptionIntent::Unsubscribe {
                end(it, now);
                return false;
            }
            let is_last = it.hub as usize + 1 >= it.hubs.len();
            let failures = std::mem::replace(&mut it.failures, before);
            it.next_action_at = now + wait(it, LATER, LATEST.1, now);
            it.failures = failures;
            let turned = turn(it, now);
            if turned && !is_last {
                it.next_action_at = now;
            }
            turned
        }
    }
}

/// Goes to the next hub, unless it holds where it is.
fn turn(it: &mut Subscription, now: Millis) -> bool {
    if it.hubs.len() < 2 || it.intent != SubscriptionIntent::Subscribe || holds(it, now) {
        return false;
    }
    it.hub = (it.hub + 1) % u32::try_from(it.hubs.len()).unwrap_or(u32::MAX);
    it.requested_at = None;
    true
}

/// How long to wait: twice as long with each failure, but within what is left of a lease.
fn wait(it: &Subscription, first: Millis, most: Millis, now: Millis) -> Millis {
    let wait = first.saturating_mul(1 << it.failures.min(20)).min(most);
    match it.expires_at.filter(|until| it.intent == SubscriptionIntent::Subscribe && *until > now) {
        Some(until) => wait.min(((until - now) / 3).max(SOONEST)),
        None => wait,
    }
}

/// The hub makes sure. Says whether it is what we asked for.
pub(super) fn confirm(
    it: &mut Subscription,
    mode: Mode,
    topic: &str,
    lease: Option<Millis>,
    now: Millis,
) -> bool {
    let wanted = match it.intent {
        SubscriptionIntent::Subscribe => mode == Mode::Subscribe,
        SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => mode == Mode::Unsubscribe,
    };
    let is_pending = it.requested_at.is_some_and(|asked| {
        it.verified_at.is_none_or(|verified| verified < asked) || now - asked < AGAIN
    });
    if !wanted || !is_pending || topic != it.topic {
        return false;
    }
    it.verified_at = Some(now);
    it.failures = 0;
    it.note.clear();
    if mode == Mode::Unsubscribe {
        end(it, now);
        return true;
    }
    let lease = lease.unwrap_or(LEASE).clamp(LEASES.0, LEASES.1);
    it.expires_at = Some(now + lease);
    it.next_action_at = now + (lease / 5 * 4).max(RENEWED);
    true
}

/// The hub says that it does not do so, or not any more. Says whether that is about this, and whether
/// another hub is to be tried.
pub(super) fn deny(it: &mut Subscription, topic: &str, reason: &str, now: Millis) -> Option<bool> {
    if topic != it.topic || it.requested_at.is_none() {
        return None;
    }
    if it.intent != SubscriptionIntent::Subscribe {
        end(it, now);
        return Some(false);
    }
    it.expires_at = None;
    it.verified_at = None;
    it.failures = it.failures.max(1);
    let note = match reason {
        "" => "the hub denies it".to_owned(),
        reason => format!("the hub denies it: {reason}"),
    };
    Some(answered(it, HubAnswer::No(note), now))
}

/// It is not wanted any more.
pub(super) fn leave(it: &mut Subscription, now: Millis) {
    if it.intent != SubscriptionIntent::Subscribe {
        return;
    }
    (it.intent, it.failures, it.next_action_at) = (SubscriptionIntent::Unsubscribe, 0, now);
    if it.requested_at.is_none() {
        end(it, now);
    }
}

/// It is over. `next` is when it is forgotten.
fn end(it: &mut Subscription, now: Millis) {
    if it.intent != SubscriptionIntent::Ended {
        it.intent = SubscriptionIntent::Ended;
        it.next_action_at =
            it.expires_at.filter(|_| it.requested_at.is_some()).unwrap_or(now).max(now)
                + REMEMBERED;
    }
}

#[cfg(test)]
#[path = "life_tests.rs"]
mod tests;
