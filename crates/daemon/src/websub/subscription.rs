//! State machine of a subscription. Time is an argument; it sends nothing itself.

use freshet_store::{Subscription, SubscriptionIntent};

use crate::clock::Millis;

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// Lease to request; the hub decides.
pub(super) const REQUESTED_LEASE_MS: Millis = 10 * DAY;
/// Time that a hub has for the first verification.
const VERIFICATION_TIMEOUT_MS: Millis = 10 * MINUTE;
/// Delay after a transient failure; it doubles with each.
const TRANSIENT_RETRY_MS: Millis = MINUTE;
/// Delay after a rejection, and the longest delays after transient failures and rejections.
const REJECTED_RETRY_MS: Millis = HOUR;
const MAX_RETRY_MS: (Millis, Millis) = (DAY, 7 * DAY);
/// An active subscription is retried within its remaining lease, but not sooner than this.
const MIN_RENEWAL_RETRY_MS: Millis = 10 * SECOND;
/// Bounds that a granted lease is clamped to.
const LEASE_BOUNDS_MS: (Millis, Millis) = (SECOND, 366 * DAY);
/// Shortest time until a renewal.
const MIN_RENEWAL_MS: Millis = 30 * SECOND;
/// Failures after which the next hub is tried.
const FAILURES_PER_HUB: u32 = 3;
/// Most attempts to unsubscribe.
const MAX_UNSUBSCRIBE_ATTEMPTS: u32 = 5;
/// Time for which the callback of an ended subscription is still known.
const ENDED_RETENTION_MS: Millis = DAY;
/// A hub may repeat a verification for this long, since the first response may have been lost.
const REPEAT_VERIFICATION_MS: Millis = 10 * MINUTE;

/// Value of `hub.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubMode {
    /// Subscribe.
    Subscribe,
    /// Unsubscribe.
    Unsubscribe,
}

impl HubMode {
    /// Returns the name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
        }
    }
}

/// Interpreted response of a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HubAnswer {
    /// The hub will verify the request.
    Accepted,
    /// The hub was not contacted: its host is in a cooldown for so long.
    Postponed(Millis),
    /// A transient failure, with the delay that the hub asked for.
    Transient(String, Option<Millis>),
    /// The hub will probably never accept the request.
    Rejected(String),
}

/// Random callback path and signing secret of a subscription.
pub(super) struct Identity {
    pub(super) callback: String,
    pub(super) secret: String,
}

/// Creates a subscription that is due at once.
pub(super) fn new_subscription(
    identity: Identity,
    feed: u32,
    signal_source: u32,
    topic: String,
    hubs: Vec<String>,
    now: Millis,
) -> Subscription {
    Subscription {
        callback: identity.callback,
        secret: identity.secret,
        callback_base: String::new(),
        feed,
        signal_source,
        topic,
        hubs,
        hub_index: 0,
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

/// True if the hub has verified the subscription and the lease lasts.
pub(super) fn is_active(it: &Subscription, now: Millis) -> bool {
    it.intent == SubscriptionIntent::Subscribe && it.expires_at.is_some_and(|until| now < until)
}

/// Returns the hub in use.
pub(super) fn current_hub(it: &Subscription) -> &str {
    it.hubs.get(it.hub_index as usize).map_or("", String::as_str)
}

/// Returns the request to send to the hub, or `None` if nothing is left to send.
pub(super) fn next_request(it: &mut Subscription, base: &str, now: Millis) -> Option<HubMode> {
    let mode = match it.intent {
        SubscriptionIntent::Subscribe => HubMode::Subscribe,
        SubscriptionIntent::Unsubscribe if it.failures < MAX_UNSUBSCRIBE_ATTEMPTS => {
            HubMode::Unsubscribe
        }
        SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => {
            mark_ended(it, now);
            return None;
        }
    };
    if it.failures > 0 && it.note.is_empty() {
        it.note = "the hub did not verify the request".to_owned();
    }
    if mode == HubMode::Subscribe {
        it.callback_base = base.to_owned();
    }
    it.requested_at = Some(now);
    it.next_action_at = now + retry_delay(it, VERIFICATION_TIMEOUT_MS, MAX_RETRY_MS.0, now);
    it.failures = it.failures.saturating_add(1);
    Some(mode)
}

/// Handles the response to a request. Returns true if the next hub should be tried, with a new
/// identity.
pub(super) fn on_answer(it: &mut Subscription, answer: HubAnswer, now: Millis) -> bool {
    // The hub verified before it responded.
    if it.intent == SubscriptionIntent::Ended
        || it
            .verified_at
            .zip(it.requested_at)
            .is_some_and(|(verified, requested)| verified >= requested)
    {
        return false;
    }
    let before = it.failures.saturating_sub(1);
    match answer {
        HubAnswer::Accepted => {
            it.note.clear();
            false
        }
        HubAnswer::Postponed(wait) => {
            (it.failures, it.next_action_at) = (before, now + wait);
            false
        }
        HubAnswer::Transient(note, after) => {
            it.note = note;
            let failures = std::mem::replace(&mut it.failures, before);
            it.next_action_at = now
                + retry_delay(it, TRANSIENT_RETRY_MS, MAX_RETRY_MS.0, now)
                    .max(after.unwrap_or(0).min(MAX_RETRY_MS.1));
            it.failures = failures;
            failures.is_multiple_of(FAILURES_PER_HUB) && switch_hub(it, now)
        }
        HubAnswer::Rejected(note) => {
            it.note = note;
            if it.intent == SubscriptionIntent::Unsubscribe {
                mark_ended(it, now);
                return false;
            }
            let is_last = it.hub_index as usize + 1 >= it.hubs.len();
            let failures = std::mem::replace(&mut it.failures, before);
            it.next_action_at = now + retry_delay(it, REJECTED_RETRY_MS, MAX_RETRY_MS.1, now);
            it.failures = failures;
            let switched = switch_hub(it, now);
            if switched && !is_last {
                it.next_action_at = now;
            }
            switched
        }
    }
}

/// Switches to the next hub, unless the subscription is active.
fn switch_hub(it: &mut Subscription, now: Millis) -> bool {
    if it.hubs.len() < 2 || it.intent != SubscriptionIntent::Subscribe || is_active(it, now) {
        return false;
    }
    it.hub_index = (it.hub_index + 1) % u32::try_from(it.hubs.len()).unwrap_or(u32::MAX);
    it.requested_at = None;
    true
}

/// Returns the retry delay: it doubles with each failure, within what remains of the lease.
fn retry_delay(it: &Subscription, first: Millis, max: Millis, now: Millis) -> Millis {
    let wait = first.saturating_mul(1 << it.failures.min(20)).min(max);
    match it.expires_at.filter(|until| it.intent == SubscriptionIntent::Subscribe && *until > now) {
        Some(until) => wait.min(((until - now) / 3).max(MIN_RENEWAL_RETRY_MS)),
        None => wait,
    }
}

/// Handles a verification. Returns true if it matches the request.
pub(super) fn on_verification(
    it: &mut Subscription,
    mode: HubMode,
    topic: &str,
    lease: Option<Millis>,
    now: Millis,
) -> bool {
    let is_expected = match it.intent {
        SubscriptionIntent::Subscribe => mode == HubMode::Subscribe,
        SubscriptionIntent::Unsubscribe | SubscriptionIntent::Ended => mode == HubMode::Unsubscribe,
    };
    let is_pending = it.requested_at.is_some_and(|requested| {
        it.verified_at.is_none_or(|verified| verified < requested)
            || now - requested < REPEAT_VERIFICATION_MS
    });
    if !is_expected || !is_pending || topic != it.topic {
        return false;
    }
    it.verified_at = Some(now);
    it.failures = 0;
    it.note.clear();
    if mode == HubMode::Unsubscribe {
        mark_ended(it, now);
        return true;
    }
    let lease = lease.unwrap_or(REQUESTED_LEASE_MS).clamp(LEASE_BOUNDS_MS.0, LEASE_BOUNDS_MS.1);
    it.expires_at = Some(now + lease);
    it.next_action_at = now + (lease / 5 * 4).max(MIN_RENEWAL_MS);
    true
}

/// Handles a denial. Returns `None` if it does not match the subscription, and true if the next hub
/// should be tried.
pub(super) fn on_denial(
    it: &mut Subscription,
    topic: &str,
    reason: &str,
    now: Millis,
) -> Option<bool> {
    if topic != it.topic || it.requested_at.is_none() {
        return None;
    }
    if it.intent != SubscriptionIntent::Subscribe {
        mark_ended(it, now);
        return Some(false);
    }
    it.expires_at = None;
    it.verified_at = None;
    it.failures = it.failures.max(1);
    let note = match reason {
        "" => "the hub denied the subscription".to_owned(),
        reason => format!("the hub denied the subscription: {reason}"),
    };
    Some(on_answer(it, HubAnswer::Rejected(note), now))
}

/// Begins to unsubscribe.
pub(super) fn unsubscribe(it: &mut Subscription, now: Millis) {
    if it.intent != SubscriptionIntent::Subscribe {
        return;
    }
    (it.intent, it.failures, it.next_action_at) = (SubscriptionIntent::Unsubscribe, 0, now);
    if it.requested_at.is_none() {
        mark_ended(it, now);
    }
}

/// Ends the subscription. `next_action_at` is when it is forgotten.
fn mark_ended(it: &mut Subscription, now: Millis) {
    if it.intent != SubscriptionIntent::Ended {
        it.intent = SubscriptionIntent::Ended;
        it.next_action_at =
            it.expires_at.filter(|_| it.requested_at.is_some()).unwrap_or(now).max(now)
                + ENDED_RETENTION_MS;
    }
}

#[cfg(test)]
#[path = "subscription_tests.rs"]
mod tests;
