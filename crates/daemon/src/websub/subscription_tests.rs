use super::*;

const TOPIC: &str = "https://a.example/feed";

fn new_sample(hubs: usize) -> Subscription {
    let hubs = (0..hubs).map(|it| format!("https://hub{it}.example/")).collect();
    let identity = Identity { callback: "c".to_owned(), secret: "s".to_owned() };
    new_subscription(identity, 1, 2, TOPIC.to_owned(), hubs, 0)
}

/// Requests a subscription and lets the hub verify it.
fn subscribed(hubs: usize, lease: Millis) -> Subscription {
    let mut it = new_sample(hubs);
    assert_eq!(next_request(&mut it, "b", 0), Some(HubMode::Subscribe));
    assert!(!on_answer(&mut it, HubAnswer::Accepted, 1));
    assert!(on_verification(&mut it, HubMode::Subscribe, TOPIC, Some(lease), 2));
    it
}

#[test]
fn a_subscription_is_renewed_at_four_fifths_of_its_lease() {
    for lease in [5 * MINUTE, DAY, 10 * DAY] {
        let it = subscribed(1, lease);
        assert_eq!((it.next_action_at, it.expires_at), (2 + lease / 5 * 4, Some(2 + lease)));
        assert!(is_active(&it, 1 + lease) && !is_active(&it, 2 + lease));
    }
    // A very short lease does not lead to constant renewals, and a very long one is capped.
    assert_eq!(subscribed(1, 1).next_action_at, 2 + MIN_RENEWAL_MS);
    assert!(subscribed(1, Millis::MAX).expires_at.unwrap() <= 2 + 366 * DAY);
}

#[test]
fn only_a_requested_subscription_is_verified() {
    let mut it = new_sample(1);
    assert!(!on_verification(&mut it, HubMode::Subscribe, TOPIC, None, 0), "nothing was asked");
    next_request(&mut it, "b", 0);
    assert!(!on_verification(&mut it, HubMode::Unsubscribe, TOPIC, None, 1));
    assert!(!on_verification(&mut it, HubMode::Subscribe, "https://a.example/feed/", None, 1));
    assert!(on_verification(&mut it, HubMode::Subscribe, TOPIC, None, 1));
    assert_eq!(it.expires_at, Some(1 + REQUESTED_LEASE_MS));
    // The response was lost.
    assert!(on_verification(&mut it, HubMode::Subscribe, TOPIC, None, 2));
    // No request is pending.
    assert!(!on_verification(&mut it, HubMode::Subscribe, TOPIC, None, REPEAT_VERIFICATION_MS + 2));
    unsubscribe(&mut it, DAY);
    assert_eq!(next_request(&mut it, "b", DAY), Some(HubMode::Unsubscribe));
    assert!(!on_verification(&mut it, HubMode::Subscribe, TOPIC, None, DAY));
    assert!(on_verification(&mut it, HubMode::Unsubscribe, TOPIC, None, DAY));
    assert_eq!(it.intent, SubscriptionIntent::Ended);
}

#[test]
fn retries_at_a_failing_hub_back_off() {
    let mut it = new_sample(1);
    let (mut now, mut waits) = (0, Vec::new());
    for _ in 0..14 {
        next_request(&mut it, "b", now);
        assert!(!on_answer(&mut it, HubAnswer::Transient("503".to_owned(), None), now));
        waits.push(it.next_action_at - now);
        now = it.next_action_at;
    }
    assert_eq!(waits[..4], [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]);
    assert_eq!(waits[13], DAY);
    next_request(&mut it, "b", now);
    on_answer(&mut it, HubAnswer::Transient(String::new(), Some(2 * DAY)), now);
    assert_eq!(it.next_action_at - now, 2 * DAY, "the hub says when");
    // A hub that accepts the request but never verifies it is asked again too.
    let mut it = new_sample(1);
    next_request(&mut it, "b", 0);
    on_answer(&mut it, HubAnswer::Accepted, 0);
    assert_eq!((it.next_action_at, it.note.as_str()), (VERIFICATION_TIMEOUT_MS, ""));
    let now = it.next_action_at;
    next_request(&mut it, "b", now);
    assert_eq!(it.next_action_at, 3 * VERIFICATION_TIMEOUT_MS);
    assert!(it.note.contains("did not verify"), "{}", it.note);
}

#[test]
fn a_failed_renewal_is_retried_within_the_lease() {
    let mut it = subscribed(2, 10 * DAY);
    let until = it.expires_at.unwrap();
    let mut tries = 0;
    while it.next_action_at < until {
        let now = it.next_action_at;
        next_request(&mut it, "b", now);
        assert!(
            !on_answer(&mut it, HubAnswer::Transient("502".to_owned(), None), now),
            "it stays where it holds"
        );
        tries += 1;
    }
    assert!(tries >= 10, "{tries}");
    assert!(on_verification(&mut it, HubMode::Subscribe, TOPIC, Some(DAY), until));
    assert_eq!((it.failures, it.note.as_str(), it.hub_index), (0, "", 0));
}

#[test]
fn the_next_hub_is_tried_after_a_rejection() {
    let mut it = new_sample(3);
    next_request(&mut it, "b", 0);
    assert!(on_answer(&mut it, HubAnswer::Rejected("400".to_owned()), 5));
    assert_eq!((current_hub(&it), it.next_action_at), ("https://hub1.example/", 5));
    next_request(&mut it, "b", 5);
    assert!(on_answer(&mut it, HubAnswer::Rejected("400".to_owned()), 5));
    next_request(&mut it, "b", 5);
    assert!(on_answer(&mut it, HubAnswer::Rejected("400".to_owned()), 5));
    // All hubs have been tried: now it waits.
    assert_eq!(current_hub(&it), "https://hub0.example/");
    assert!(it.next_action_at >= 5 + HOUR, "{}", it.next_action_at);
    // Transient failures take three attempts.
    let mut it = new_sample(2);
    let mut switched = Vec::new();
    for _ in 0..6 {
        let now = it.next_action_at;
        next_request(&mut it, "b", now);
        switched.push(on_answer(&mut it, HubAnswer::Transient("503".to_owned(), None), now));
    }
    assert_eq!(switched, [false, false, true, false, false, true]);
}

#[test]
fn a_denial_ends_an_active_subscription() {
    let mut it = subscribed(1, DAY);
    assert_eq!(on_denial(&mut it, "https://b.example/", "no", 3), None);
    assert!(is_active(&it, 3));
    assert_eq!(on_denial(&mut it, TOPIC, "not for you", 3), Some(false));
    assert!(!is_active(&it, 3) && it.next_action_at >= 3 + HOUR);
    assert_eq!(it.note, "the hub denied the subscription: not for you");
    let mut it = subscribed(2, DAY);
    assert_eq!(on_denial(&mut it, TOPIC, "", 3), Some(true));
    assert_eq!((current_hub(&it), it.next_action_at), ("https://hub1.example/", 3));
    assert_eq!(on_denial(&mut new_sample(1), TOPIC, "", 0), None, "nobody was asked");
}

#[test]
fn unsubscribing_ends_even_if_the_hub_does_not_answer() {
    let mut never_asked = new_sample(1);
    unsubscribe(&mut never_asked, 7);
    assert_eq!(never_asked.intent, SubscriptionIntent::Ended);
    let mut it = subscribed(1, 100 * DAY);
    unsubscribe(&mut it, DAY);
    let (mut attempts, mut now) = (0, it.next_action_at);
    while next_request(&mut it, "b", now).is_some() {
        on_answer(&mut it, HubAnswer::Transient("no answer".to_owned(), None), now);
        (attempts, now) = (attempts + 1, it.next_action_at);
    }
    assert_eq!((attempts, it.intent), (5, SubscriptionIntent::Ended));
    // The callback stays known while the hub may use it.
    assert!(it.next_action_at > 100 * DAY, "{}", it.next_action_at);
    let mut it = subscribed(1, DAY);
    unsubscribe(&mut it, 5);
    next_request(&mut it, "b", 5);
    on_answer(&mut it, HubAnswer::Rejected("404".to_owned()), 5);
    assert_eq!(it.intent, SubscriptionIntent::Ended);
}
