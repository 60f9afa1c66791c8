//! Tokens, destinations, leases, subscriptions, and events other than changes.

use freshet_store::{
    AlertThresholds, Batch, ChangeFilter, ChangeKind, DeliveryStep, FetchRecord, Lease,
    NewDeadLetter, Store, StoredOutcome, Subscription, SubscriptionIntent, Token,
};

use crate::{add_sources, record};

const DAY: i64 = 86_400_000;

fn logged(store: &Store) -> Vec<(ChangeKind, i64, String)> {
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

pub(crate) fn failing_and_recovered_are_logged_once(store: &mut Store) {
    add_sources(store, 1);
    store.set_alert_thresholds(AlertThresholds { failures_in_a_row: 3, quiet_ms: 0 });
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
    // A source that is gone is logged once, whatever the thresholds are.
    store.set_alert_thresholds(AlertThresholds::default());
    assert_eq!(record(store, fetch(9, StoredOutcome::Gone)), [Some(4)]);
    assert_eq!(record(store, fetch(10, StoredOutcome::Gone)), [None]);
    let kinds: Vec<_> = logged(store).into_iter().map(|(kind, at, _)| (kind, at)).collect();
    let expect = [
        (ChangeKind::Failing, 4),
        (ChangeKind::Gone, 5),
        (ChangeKind::Recovered, 6),
        (ChangeKind::Gone, 9),
    ];
    assert_eq!(kinds, expect);
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
}

pub(crate) fn quiet_is_logged_once_per_period(store: &mut Store) {
    add_sources(store, 1);
    store.set_alert_thresholds(AlertThresholds { failures_in_a_row: 0, quiet_ms: 10 * DAY });
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
    let logged = logged(store);
    let days: Vec<_> = logged.iter().map(|(kind, at, _)| (*kind, at / DAY)).collect();
    // The first period starts when the source was added, at time 5.
    assert_eq!(days, [(ChangeKind::Quiet, 11), (ChangeKind::Quiet, 24)]);
    assert_eq!(logged[1].2, "no change for 10 days");
}

/// Scans all sources after the thresholds have changed, as the daemon does.
fn scan_all(store: &mut Store, thresholds: AlertThresholds, now: i64) {
    store.set_alert_thresholds(thresholds);
    let mut after = None;
    while store.is_alert_scan_due().unwrap() {
        after = store.scan_for_alerts(after, now).unwrap().resume_after;
    }
}

pub(crate) fn a_scan_logs_each_condition_once(store: &mut Store) {
    add_sources(store, 4);
    let fetch = |source, day: i64, outcome| FetchRecord::new(source, day * DAY, outcome);
    // The first source fails, the second is quiet, the third changes, the last is paused.
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
    let pause = freshet_store::SourcePatch { paused: Some(true), ..Default::default() };
    store.update_sources(&[3], &pause).unwrap();
    assert_eq!(logged(store), []);
    let (high, low) = (
        AlertThresholds { failures_in_a_row: 19, quiet_ms: 0 },
        AlertThresholds { failures_in_a_row: 2, quiet_ms: 10 * DAY },
    );
    scan_all(store, high, 21 * DAY);
    let failing = (ChangeKind::Failing, 21 * DAY, "failed 19 times: no answer".to_owned());
    assert_eq!(logged(store), vec![failing.clone()]);
    // Lower thresholds log only conditions that were not logged, and a second scan logs nothing.
    scan_all(store, low, 22 * DAY);
    let quiet = (ChangeKind::Quiet, 22 * DAY, "no change for 19 days".to_owned());
    for thresholds in [low, AlertThresholds::default(), low] {
        scan_all(store, thresholds, 23 * DAY);
    }
    record(
        store,
        vec![fetch(0, 24, StoredOutcome::Failed), fetch(1, 24, StoredOutcome::Unchanged)],
    );
    assert_eq!(logged(store), [failing.clone(), quiet.clone()]);
    // A condition that has ended can be logged again.
    record(
        store,
        vec![fetch(0, 25, StoredOutcome::Unchanged), fetch(1, 25, StoredOutcome::Changed)],
    );
    record(
        store,
        vec![fetch(0, 26, StoredOutcome::Failed), fetch(1, 36, StoredOutcome::Unchanged)],
    );
    record(store, vec![fetch(0, 27, StoredOutcome::Failed)]);
    let kinds: Vec<_> = logged(store).into_iter().map(|(kind, at, _)| (kind, at / DAY)).collect();
    let expect = [
        (ChangeKind::Failing, 21),
        (ChangeKind::Quiet, 22),
        (ChangeKind::Recovered, 25),
        (ChangeKind::Quiet, 36),
        (ChangeKind::Failing, 27),
    ];
    assert_eq!(kinds, expect);
}

pub(crate) fn tokens_are_stored_by_name(store: &mut Store) {
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

fn postponed(
    id: u32,
    settings: &str,
    attempts: u32,
    failed_at: i64,
    retry_at: i64,
) -> DeliveryStep {
    let (settings, error) = (settings.to_owned(), "refused".to_owned());
    DeliveryStep::Postponed { id, settings, attempts, failed_at, retry_at, error }
}

pub(crate) fn a_destination_continues_at_its_cursor(store: &mut Store) {
    let id = store.upsert_destination("hook", "{}", 5, 100).unwrap();
    store
        .record_delivery_steps(&[
            postponed(id, "{}", 1, 700, 800),
            postponed(id, "{}", 2, 850, 900),
        ])
        .unwrap();
    // A destination with new settings is not postponed.
    store.record_delivery_steps(&[postponed(id, "{x}", 3, 950, 999)]).unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.retry_at), (5, 2, Some(900)));
    assert_eq!((it.error.as_deref(), it.failing_since), (Some("refused"), Some(700)));
    assert_eq!(store.unhealthy_destinations(9).unwrap(), [it]);
    assert_eq!(store.count_destinations().unwrap(), (1, 0, 1));
    assert_eq!(store.find_destination("hook").unwrap().unwrap().id, id);
    store.record_delivery_steps(&[DeliveryStep::Started { id, last_cursor: 8 }]).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().in_flight_cursor, Some(8));
    store
        .record_delivery_steps(&[DeliveryStep::Completed {
            id,
            cursor: 8,
            delivered_at: Some(950),
        }])
        .unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().in_flight_cursor, None);
    store
        .record_delivery_steps(&[DeliveryStep::Completed { id, cursor: 7, delivered_at: None }])
        .unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.retry_at, it.delivered_at), (8, 0, None, Some(950)));
    assert_eq!(store.unhealthy_destinations(9).unwrap(), []);
    // With another key, the delivery in flight stays.
    store.record_delivery_steps(&[DeliveryStep::Started { id, last_cursor: 9 }]).unwrap();
    assert!(store.set_destination_settings(id, "{0}").unwrap());
    assert_eq!(store.destination(id).unwrap().unwrap().in_flight_cursor, Some(9));
    // With new settings it keeps its cursor, and the delivery in flight is dropped.
    store.record_delivery_steps(&[DeliveryStep::Started { id, last_cursor: 9 }]).unwrap();
    assert_eq!(store.upsert_destination("hook", "{1}", 0, 200).unwrap(), id);
    assert!(store.set_destination_paused(id, true, 250).unwrap());
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.settings.as_str(), it.created_at, it.paused), (8, "{1}", 100, true));
    assert_eq!((it.in_flight_cursor, it.paused_since), (None, Some(250)));
    // A resumed destination retries at once.
    store.record_delivery_steps(&[postponed(id, "{1}", 1, 260, 900)]).unwrap();
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

pub(crate) fn dead_letters_are_limited_in_number(store: &mut Store) {
    let id = store.upsert_destination("hook", "{}", 0, 100).unwrap();
    let dead_letter = |n: i64| NewDeadLetter {
        destination: id,
        first_cursor: n,
        last_cursor: n,
        at: n,
        attempts: 9,
        error: "gone".to_owned(),
        body: vec![1, 2],
    };
    for n in 1..=1_002 {
        store.add_dead_letter(&dead_letter(n)).unwrap();
    }
    assert_eq!(store.destination(id).unwrap().unwrap().cursor, 1_002);
    assert_eq!(store.count_dead_letters(id).unwrap(), 1_000);
    let page = store.dead_letters(id, 0, 2).unwrap();
    assert_eq!(page[0].delivery, dead_letter(3));
    assert_eq!(store.remove_dead_letters(&[page[0].id, page[1].id, -1]).unwrap(), 2);
    assert_eq!(store.count_dead_letters(id).unwrap(), 998);
    // One that is delivered in the end is removed.
    let next = store.dead_letters(id, 0, 1).unwrap().remove(0).id;
    assert!(
        store.complete_redelivery(next, 77).unwrap()
            && !store.complete_redelivery(next, 78).unwrap()
    );
    assert_eq!(store.destination(id).unwrap().unwrap().delivered_at, Some(77));
    assert_eq!(store.count_dead_letters_by_destination().unwrap(), [(id, 997)]);
    store.add_dead_letter(&NewDeadLetter { destination: id + 1, ..dead_letter(1) }).unwrap();
    assert_eq!(store.count_dead_letters(id + 1).unwrap(), 0);
}

pub(crate) fn a_lease_holds_unreported_sources_only(store: &mut Store) {
    add_sources(store, 4);
    record(store, vec![FetchRecord::new(2, 50, StoredOutcome::First)]);
    let lease =
        |id, since, sources| Lease { id, granted_at: since, expires_at: since + 10, sources };
    let leases = vec![lease(1 << 100, 200, vec![0]), lease(7, 100, vec![3, 1, 2, 99])];
    store.record_batch(&Batch { leases, ..Batch::default() }).unwrap();
    // Oldest first, and only with existing sources.
    let stored = [lease(7, 100, vec![3, 1, 2]), lease(1 << 100, 200, vec![0])];
    assert_eq!(store.leases().unwrap(), stored);
    let fetches = vec![
        FetchRecord::new(1, 150, StoredOutcome::Failed),
        FetchRecord::new(0, 210, StoredOutcome::First),
    ];
    store
        .record_batch(&Batch { fetches, dropped_leases: vec![1 << 100, 5], ..Batch::default() })
        .unwrap();
    assert_eq!(store.leases().unwrap(), [lease(7, 100, vec![3, 2])]);
}

pub(crate) fn subscriptions_are_stored_by_callback(store: &mut Store) {
    let one = |callback: &str| Subscription {
        callback: callback.to_owned(),
        secret: "not to be shown".to_owned(),
        callback_base: "https://freshet.example".to_owned(),
        feed: 3,
        signal_source: 4,
        topic: "https://a.example/feed?x=ü".to_owned(),
        hubs: vec!["https://hub.example/".to_owned(), "https://other.example/".to_owned()],
        hub_index: 1,
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
