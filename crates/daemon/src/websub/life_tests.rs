use super::*;

const TOPIC: &str = "https://a.example/feed";

fn sample(hubs: usize) -> Subscription {
    let hubs = (0..hubs).map(|it| format!("https://hub{it}.example/")).collect();
    let identity = Identity { callback: "c".to_owned(), secret: "s".to_owned() };
    begin(identity, 1, 2, TOPIC.to_owned(), hubs, 0)
}

/// Asks at once, and lets the hub make sure.
fn subscribed(hubs: usize, lease: Millis) -> Subscription {
    let mut it = sample(hubs);
    assert_eq!(ask(&mut it, "b", 0), Some(Mode::Subscribe));
    assert!(!answered(&mut it, HubAnswer::Accepted, 1));
    assert!(confirm(&mut it, Mode::Subscribe, TOPIC, Some(lease), 2));
    it
}

#[test]
fn it_is_renewed_at_four_fifths_of_the_lease() {
    for lease in [5 * MINUTE, DAY, 10 * DAY] {
        let it = subscribed(1, lease);
        assert_eq!((it.next_action_at, it.expires_at), (2 + lease / 5 * 4, Some(2 + lease)));
        assert!(holds(&it, 1 + lease) && !holds(&it, 2 + lease));
    }
    // However short it is said to be, a hub is not asked all the time; however long, not for ever.
    assert_eq!(subscribed(1, 1).next_action_at, 2 + RENEWED);
    assert!(subscribed(1, Millis::MAX).expires_at.unwrap() <= 2 + 366 * DAY);
}

#[test]
fn only_what_was_asked_for_is_confirmed() {
    let mut it = sample(1);
    assert!(!confirm(&mut it, Mode::Subscribe, TOPIC, None, 0), "nothing was asked");
    ask(&mut it, "b", 0);
    assert!(!confirm(&mut it, Mode::Unsubscribe, TOPIC, None, 1));
    assert!(!confirm(&mut it, Mode::Subscribe, "https://a.example/feed/", None, 1));
    assert!(confirm(&mut it, Mode::Subscribe, TOPIC, None, 1));
    assert_eq!(it.expires_at, Some(1 + LEASE));
    // Its answer was lost.
    assert!(confirm(&mut it, Mode::Subscribe, TOPIC, None, 2));
    // Nobody has asked for that.
    assert!(!confirm(&mut it, Mode::Subscribe, TOPIC, None, AGAIN + 2));
    leave(&mut it, DAY);
    assert_eq!(ask(&mut it, "b", DAY), Some(Mode::Unsubscribe));
    assert!(!confirm(&mut it, Mode::Subscribe, TOPIC, None, DAY));
    assert!(confirm(&mut it, Mode::Unsubscribe, TOPIC, None, DAY));
    assert_eq!(it.intent, SubscriptionIntent::Ended);
}

#[test]
fn a_hub_that_fails_is_asked_ever_less() {
    let mut it = sample(1);
    let (mut now, mut waits) = (0, Vec::new());
    for _ in 0..14 {
        ask(&mut it, "b", now);
        assert!(!answered(&mut it, HubAnswer::Later("503".to_owned(), None), now));
        waits.push(it.next_action_at - now);
        now = it.next_action_at;
    }
    assert_eq!(waits[..4], [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]);
    assert_eq!(waits[13], DAY);
    ask(&mut it, "b", now);
    answered(&mut it, HubAnswer::Later(String::new(), Some(2 * DAY)), now);
    assert_eq!(it.next_action_at - now, 2 * DAY, "the hub says when");
    // One that takes the request and then says nothing is asked again as well.
    let mut it = sample(1);
    ask(&mut it, "b", 0);
    answered(&mut it, HubAnswer::Accepted, 0);
    assert_eq!((it.next_action_at, it.note.as_str()), (PATIENCE, ""));
    let now = it.next_action_at;
    ask(&mut it, "b", now);
    assert_eq!(it.next_action_at, 3 * PATIENCE);
    assert!(it.note.contains("did not make sure"), "{}", it.note);
}

#[test]
fn a_renewal_that_fails_is_tried_again_before_the_end() {
    let mut it = subscribed(2, 10 * DAY);
    let until = it.expires_at.unwrap();
    let mut tries = 0;
    while it.next_action_at < until {
        let now = it.next_action_at;
        ask(&mut it, "b", now);
        assert!(
            !answered(&mut it, HubAnswer::Later("502".to_owned(), None), now),
            "it stays where it holds"
        );
        tries += 1;
    }
    assert!(tries >= 10, "{tries}");
    assert!(confirm(&mut it, Mode::Subscribe, TOPIC, Some(DAY), until));
    assert_eq!((it.failures, it.note.as_str(), it.hub), (0, "", 0));
}

#[test]
fn the_next_hub_is_tried_if_one_does_not_want_to() {
    let mut it = sample(3);
    ask(&mut it, "b", 0);
    assert!(answered(&mut it, HubAnswer::No("400".to_owned()), 5));
    assert_eq!((hub(&it), it.next_action_at), ("https://hub1.example/", 5));
    ask(&mut it, "b", 5);
    assert!(answered(&mut it, HubAnswer::No("400".to_owned()), 5));
    ask(&mut it, "b", 5);
    assert!(answered(&mut it, HubAnswer::No("400".to_owned()), 5));
    // All of them were asked: it takes its time.
    assert_eq!(hub(&it), "https://hub0.example/");
    assert!(it.next_action_at >= 5 + HOUR, "{}", it.next_action_at);
    // Failures that may pass take three.
    let mut it = sample(2);
    let mut turned = Vec::new();
    for _ in 0..6 {
        let now = it.next_action_at;
        ask(&mut it, "b", now);
        turned.push(answered(&mut it, HubAnswer::Later("503".to_owned(), None), now));
    }
    assert_eq!(turned, [false, false, true, false, false, true]);
}

#[test]
fn what_is_denied_does_not_hold_any_more() {
    let mut it = subscribed(1, DAY);
    assert_eq!(deny(&mut it, "https://b.example/", "no", 3), None);
    assert!(holds(&it, 3));
    assert_eq!(deny(&mut it, TOPIC, "not for you", 3), Some(false));
    assert!(!holds(&it, 3) && it.next_action_at >= 3 + HOUR);
    assert_eq!(it.note, "the hub denies it: not for you");
    let mut it = subscribed(2, DAY);
    assert_eq!(deny(&mut it, TOPIC, "", 3), Some(true));
    assert_eq!((hub(&it), it.next_action_at), ("https://hub1.example/", 3));
    assert_eq!(deny(&mut sample(1), TOPIC, "", 0), None, "nobody was asked");
}

#[test]
fn leaving_ends_also_if_the_hub_does_not_answer() {
    let mut never_asked = sample(1);
    leave(&mut never_asked, 7);
    assert_eq!(never_asked.intent, SubscriptionIntent::Ended);
    let mut it = subscribed(1, 100 * DAY);
    leave(&mut it, DAY);
    let (mut asked, mut now) = (0, it.next_action_at);
    while ask(&mut it, "b", now).is_some() {
        answered(&mut it, HubAnswer::Later("no answer".to_owned(), None), now);
        (asked, now) = (asked + 1, it.next_action_at);
    }
    assert_eq!((asked, it.intent), (5, SubscriptionIntent::Ended));
    // As long as the hub may call back it is told that there is nothing any more.
    assert!(it.next_action_at > 100 * DAY, "{}", it.next_action_at);
    let mut it = subscribed(1, DAY);
    leave(&mut it, 5);
    ask(&mut it, "b", 5);
    answered(&mut it, HubAnswer::No("404".to_owned()), 5);
    assert_eq!(it.intent, SubscriptionIntent::Ended);
}
