//! Who may ask, who is told, and what is told beside changes.

use freshet_store::{
    AlertThresholds, Batch, ChangeFilter, ChangeKind, DeliveryStep, FetchRecord, Lease,
    NewDeadLetter, Store, StoredOutcome, Subscription, SubscriptionIntent, Token,
};

use crate::{record, some_sources};

const DAY: i64 = 86_400_000;

fn told(store: &Store) -> Vec<(ChangeKind, i64, String)> {
    let kinds = vec![
        ChangeKind::Changed,
        ChangeKind::Failing,
        ChangeKind::Recovered,
        ChangeKind::Quiet,
        ChangeKind::Gone,
    ];
    let filter = ChangeFilter { kinds, ..ChangeFilter::default() };
    let changes = store.changes(0, 100, &filter).unwrap();
    changes.into_iter().map(|it| (it.kind, it.change.first_changed_at, it.change.summary)).collect()
}

pub(crate) fn failures_are_told_once_and_their_end_too(store: &mut Store) {
    some_sources(store, 1);
    store.set_alert_thresholds(AlertThresholds { failures: 3, quiet_ms: 0 });
    let fetch = |at, outcome| vec![FetchRecord::new(0, at, outcome)];
    record(store, fetch(1, StoredOutcome::First));
    for at in 2..=4 {
        record(store, fetch(at, StoredOutcome::Failed));
    }
    let cursors = record(store, fetch(5, StoredOutcome::Gone));
    assert_eq!(cursors, [Some(2)]);
    assert_eq!(record(store, fetch(6, StoredOutcome::Unchanged)), [Some(3)]);
    assert_eq!(record(store, fetch(7, StoredOutcome::Failed)), [None]);
    assert_eq!(record(store, fetch(8, StoredOutcome::Unchanged)), [None]);
    // What is no more is told once, whatever is watched.
    store.set_alert_thresholds(AlertThresholds::default());
    assert_eq!(record(store, fetch(9, StoredOutcome::Gone)), [Some(4)]);
    assert_eq!(record(store, fetch(10, StoredOutcome::Gone)), [None]);
    let kinds: Vec<_> = told(store).into_iter().map(|(kind, at, _)| (kind, at)).collect();
    let expect = [
        (ChangeKind::Failing, 4),
        (ChangeKind::Gone, 5),
        (ChangeKind::Recovered, 6),
        (ChangeKind::Gone, 9),
    ];
    assert_eq!(kinds, expect);
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
}

pub(crate) fn silence_is_told_once_for_each_time(store: &mut Store) {
    some_sources(store, 1);
    store.set_alert_thresholds(AlertThresholds { failures: 0, quiet_ms: 10 * DAY });
    let mut fetch =
        |day: i64, outcome| record(store, vec![FetchRecord::new(0, day * DAY, outcome)]);
    fetch(1, StoredOutcome::First);
    for day in 2..=13 {
        fetch(day, StoredOutcome::Unchanged);
    }
    fetch(14, StoredOutcome::Changed);
    for day in 15..=30 {
        fetch(day, StoredOutcome::Unchanged);
    }
    let told = told(store);
    let days: Vec<_> = told.iter().map(|(kind, at, _)| (*kind, at / DAY)).collect();
    // The first is counted from when it was added, just after the beginning of time.
    assert_eq!(days, [(ChangeKind::Quiet, 11), (ChangeKind::Quiet, 24)]);
    assert_eq!(told[1].2, "no change for 10 days");
}

/// Looks at all sources for what has been so for a while, as a daemon does.
fn tell_late(store: &mut Store, watch: AlertThresholds, now: i64) {
    store.set_alert_thresholds(watch);
    let mut after = None;
    while store.is_alert_scan_due().unwrap() {
        after = store.scan_for_alerts(after, now).unwrap().resume_after;
    }
}

pub(crate) fn what_has_been_so_for_a_while_is_told_once_when_somebody_asks(store: &mut Store) {
    some_sources(store, 4);
    let fetch = |source, day: i64, outcome| FetchRecord::new(source, day * DAY, outcome);
    // The first fails, the second is quiet, the third changes, the last is left alone.
    for source in 0..4 {
        record(store, vec![fetch(source, 1, StoredOutcome::First)]);
    }
    for day in 2..=20 {
        let outcome = if day % 2 == 0 { StoredOutcome::Changed } else { StoredOutcome::Unchanged };
        let mut failed = fetch(0, day, StoredOutcome::Failed);
        failed.note = "no answer".to_owned();
        record(
            store,
            vec![failed, fetch(1, day, StoredOutcome::Unchanged), fetch(2, day, outcome)],
        );
    }
    record(store, vec![fetch(3, 2, StoredOutcome::Failed), fetch(3, 3, StoredOutcome::Failed)]);
    let left_alone = freshet_store::SourcePatch { paused: Some(true), ..Default::default() };
    store.update_sources(&[3], &left_alone).unwrap();
    assert_eq!(told(store), []);
    let (high, low) = (
        AlertThresholds { failures: 19, quiet_ms: 0 },
        AlertThresholds { failures: 2, quiet_ms: 10 * DAY },
    );
    tell_late(store, high, 21 * DAY);
    let failing = (ChangeKind::Failing, 21 * DAY, "failed 19 times: no answer".to_owned());
    assert_eq!(told(store), vec![failing.clone()]);
    // A lower limit tells of those alone that were not told: twice is once.
    tell_late(store, low, 22 * DAY);
    let quiet = (ChangeKind::Quiet, 22 * DAY, "no change for 19 days".to_owned());
    for watch in [low, AlertThresholds::default(), low] {
        tell_late(store, watch, 23 * DAY);
    }
    record(
        store,
        vec![fetch(0, 24, StoredOutcome::Failed), fetch(1, 24, StoredOutcome::Unchanged)],
    );
    assert_eq!(told(store), [failing.clone(), quiet.clone()]);
    // It begins anew when it ends.
    record(
        store,
        vec![fetch(0, 25, StoredOutcome::Unchanged), fetch(1, 25, StoredOutcome::Changed)],
    );
    record(
        store,
        vec![fetch(0, 26, StoredOutcome::Failed), fetch(1, 36, StoredOutcome::Unchanged)],
    );
    record(store, vec![fetch(0, 27, StoredOutcome::Failed)]);
    let kinds: Vec<_> = told(store).into_iter().map(|(kind, at, _)| (kind, at / DAY)).collect();
    let expect = [
        (ChangeKind::Failing, 21),
        (ChangeKind::Quiet, 22),
        (ChangeKind::Recovered, 25),
        (ChangeKind::Quiet, 36),
        (ChangeKind::Failing, 27),
    ];
    assert_eq!(kinds, expect);
}

pub(crate) fn tokens_are_kept_by_name(store: &mut Store) {
    let token = |name: &str, byte| Token {
        name: name.to_owned(),
        hash: [byte; 32],
        scopes: 3,
        created_at: 7,
        used_at: None,
    };
    store.upsert_token(&token("b", 1)).unwrap();
    store.upsert_token(&token("a", 2)).unwrap();
    store.upsert_token(&token("b", 3)).unwrap();
    store.record_token_use(&[("a".to_owned(), 9), ("nobody".to_owned(), 9)]).unwrap();
    let used = Token { used_at: Some(9), ..token("a", 2) };
    assert_eq!(store.tokens().unwrap(), [used, token("b", 3)]);
    assert!(store.remove_token("b").unwrap());
    assert!(!store.remove_token("b").unwrap());
    assert_eq!(store.tokens().unwrap().len(), 1);
}

fn put_off(id: u32, settings: &str, attempts: u32, now: i64, next: i64) -> DeliveryStep {
    let (settings, error) = (settings.to_owned(), "refused".to_owned());
    DeliveryStep::Postponed { id, settings, attempts, now, next, error }
}

pub(crate) fn a_destination_goes_on_from_its_cursor(store: &mut Store) {
    let id = store.upsert_destination("hook", "{}", 5, 100).unwrap();
    store
        .record_delivery_steps(&[put_off(id, "{}", 1, 700, 800), put_off(id, "{}", 2, 850, 900)])
        .unwrap();
    // What was described anew is not put off.
    store.record_delivery_steps(&[put_off(id, "{x}", 3, 950, 999)]).unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.retry_at), (5, 2, Some(900)));
    assert_eq!((it.error.as_deref(), it.failing_since), (Some("refused"), Some(700)));
    assert_eq!(store.unhealthy_destinations(9).unwrap(), [it]);
    assert_eq!(store.count_destinations().unwrap(), (1, 0, 1));
    assert_eq!(store.find_destination("hook").unwrap().unwrap().id, id);
    store.record_delivery_steps(&[DeliveryStep::Started { id, until: 8 }]).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().until, Some(8));
    store
        .record_delivery_steps(&[DeliveryStep::Completed { id, cursor: 8, at: Some(950) }])
        .unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().until, None);
    store.record_delivery_steps(&[DeliveryStep::Completed { id, cursor: 7, at: None }]).unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.retry_at, it.delivered_at), (8, 0, None, Some(950)));
    assert_eq!(store.unhealthy_destinations(9).unwrap(), []);
    // With another key, what was begun is the same.
    store.record_delivery_steps(&[DeliveryStep::Started { id, until: 9 }]).unwrap();
    assert!(store.set_destination_settings(id, "{0}").unwrap());
    assert_eq!(store.destination(id).unwrap().unwrap().until, Some(9));
    // Described anew, it keeps its place, and what was begun is not the same any more.
    store.record_delivery_steps(&[DeliveryStep::Started { id, until: 9 }]).unwrap();
    assert_eq!(store.upsert_destination("hook", "{1}", 0, 200).unwrap(), id);
    assert!(store.set_destination_paused(id, true, 250).unwrap());
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.settings.as_str(), it.created_at, it.paused), (8, "{1}", 100, true));
    assert_eq!((it.until, it.paused_since), (None, Some(250)));
    // Who goes on tries at once.
    store.record_delivery_steps(&[put_off(id, "{1}", 1, 260, 900)]).unwrap();
    store.bring_retry_forward(id, 950).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().retry_at, Some(900));
    store.bring_retry_forward(id, 850).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().retry_at, Some(850));
    assert!(store.set_destination_paused(id, false, 300).unwrap());
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!(
        (it.paused, it.paused_since, it.retry_at, it.failing_since),
        (false, None, None, None)
    );
    assert!(store.remove_destination(id).unwrap());
    assert_ne!(store.upsert_destination("hook", "{}", 0, 300).unwrap(), id);
}

pub(crate) fn what_is_given_up_is_kept_up_to_a_number(store: &mut Store) {
    let id = store.upsert_destination("hook", "{}", 0, 100).unwrap();
    let dead = |n: i64| NewDeadLetter {
        destination: id,
        first_cursor: n,
        last_cursor: n,
        at: n,
        attempts: 9,
        error: "gone".to_owned(),
        body: vec![1, 2],
    };
    for n in 1..=1_002 {
        store.add_dead_letter(&dead(n)).unwrap();
    }
    assert_eq!(store.destination(id).unwrap().unwrap().cursor, 1_002);
    assert_eq!(store.count_dead_letters(id).unwrap(), 1_000);
    let page = store.dead_letters(id, 0, 2).unwrap();
    assert_eq!(page[0].delivery, dead(3));
    assert_eq!(store.remove_dead_letters(&[page[0].id, page[1].id, -1]).unwrap(), 2);
    assert_eq!(store.count_dead_letters(id).unwrap(), 998);
    // One that arrives in the end was told.
    let next = store.dead_letters(id, 0, 1).unwrap().remove(0).id;
    assert!(
        store.complete_redelivery(next, 77).unwrap()
            && !store.complete_redelivery(next, 78).unwrap()
    );
    assert_eq!(store.destination(id).unwrap().unwrap().delivered_at, Some(77));
    assert_eq!(store.count_dead_letters_by_destination().unwrap(), [(id, 997)]);
    store.add_dead_letter(&NewDeadLetter { destination: id + 1, ..dead(1) }).unwrap();
    assert_eq!(store.count_dead_letters(id + 1).unwrap(), 0);
}

pub(crate) fn a_lease_is_kept_for_what_is_not_reported(store: &mut Store) {
    some_sources(store, 4);
    record(store, vec![FetchRecord::new(2, 50, StoredOutcome::First)]);
    let lease =
        |id, since, sources| Lease { id, granted_at: since, expires_at: since + 10, sources };
    let leases = vec![lease(1 << 100, 200, vec![0]), lease(7, 100, vec![3, 1, 2, 99])];
    store.record_batch(&Batch { leases, ..Batch::default() }).unwrap();
    // The oldest first, and of it what is there.
    let kept = [lease(7, 100, vec![3, 1, 2]), lease(1 << 100, 200, vec![0])];
    assert_eq!(store.leases().unwrap(), kept);
    let fetches = vec![
        FetchRecord::new(1, 150, StoredOutcome::Failed),
        FetchRecord::new(0, 210, StoredOutcome::First),
    ];
    store
        .record_batch(&Batch { fetches, dropped_leases: vec![1 << 100, 5], ..Batch::default() })
        .unwrap();
    assert_eq!(store.leases().unwrap(), [lease(7, 100, vec![3, 2])]);
}

pub(crate) fn subscriptions_are_kept_by_where_hubs_call_back(store: &mut Store) {
    let one = |callback: &str| Subscription {
        callback: callback.to_owned(),
        secret: "not to be shown".to_owned(),
        base: "https://freshet.example".to_owned(),
        feed: 3,
        signal_source: 4,
        topic: "https://a.example/feed?x=ü".to_owned(),
        hubs: vec!["https://hub.example/".to_owned(), "https://other.example/".to_owned()],
        hub: 1,
        intent: SubscriptionIntent::Subscribe,
        requested_at: Some(1),
        verified_at: None,
        expires_at: Some(7 * DAY),
        next_action_at: 5,
        failures: 2,
        note: "why".to_owned(),
        pushes: u64::from(u32::MAX) + 1,
        rejected_pushes: 3,
        last_push_at: None,
    };
    let (a, b) = (
        one("a"),
        Subscription { intent: SubscriptionIntent::Ended, hubs: Vec::new(), ..one("b") },
    );
    assert!(!format!("{a:?}").contains("not to be shown"));
    store.update_subscriptions(&[a.clone(), b.clone()], &[]).unwrap();
    assert_eq!(store.subscriptions().unwrap(), [a, b.clone()]);
    let again =
        Subscription { intent: SubscriptionIntent::Unsubscribe, verified_at: Some(2), ..one("a") };
    store
        .update_subscriptions(std::slice::from_ref(&again), &["b".to_owned(), "x".to_owned()])
        .unwrap();
    assert_eq!(store.subscriptions().unwrap(), [again]);
}
