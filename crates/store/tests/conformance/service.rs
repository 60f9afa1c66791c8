//! Who may ask, who is told, and what is told beside changes.

use freshet_store::{
    Aim, Batch, ChangeFilter, Fetched, Kind, Lease, NewDead, Outcome, Step, Store, Subscription,
    Token, Watch,
};

use crate::{record, some_sources};

const DAY: i64 = 86_400_000;

fn told(store: &Store) -> Vec<(Kind, i64, String)> {
    let kinds = vec![Kind::Changed, Kind::Failing, Kind::Recovered, Kind::Quiet, Kind::Gone];
    let filter = ChangeFilter { kinds, ..ChangeFilter::default() };
    let changes = store.changes(0, 100, &filter).unwrap();
    changes.into_iter().map(|it| (it.kind, it.change.changed, it.change.summary)).collect()
}

pub(crate) fn failures_are_told_once_and_their_end_too(store: &mut Store) {
    some_sources(store, 1);
    store.set_watch(Watch { failures: 3, quiet: 0 });
    let fetch = |at, outcome| vec![Fetched::new(0, at, outcome)];
    record(store, fetch(1, Outcome::First));
    for at in 2..=4 {
        record(store, fetch(at, Outcome::Failed));
    }
    let cursors = record(store, fetch(5, Outcome::Gone));
    assert_eq!(cursors, [Some(2)]);
    assert_eq!(record(store, fetch(6, Outcome::Unchanged)), [Some(3)]);
    assert_eq!(record(store, fetch(7, Outcome::Failed)), [None]);
    assert_eq!(record(store, fetch(8, Outcome::Unchanged)), [None]);
    // What is no more is told once, whatever is watched.
    store.set_watch(Watch::default());
    assert_eq!(record(store, fetch(9, Outcome::Gone)), [Some(4)]);
    assert_eq!(record(store, fetch(10, Outcome::Gone)), [None]);
    let kinds: Vec<_> = told(store).into_iter().map(|(kind, at, _)| (kind, at)).collect();
    let expect = [(Kind::Failing, 4), (Kind::Gone, 5), (Kind::Recovered, 6), (Kind::Gone, 9)];
    assert_eq!(kinds, expect);
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
}

pub(crate) fn silence_is_told_once_for_each_time(store: &mut Store) {
    some_sources(store, 1);
    store.set_watch(Watch { failures: 0, quiet: 10 * DAY });
    let mut fetch = |day: i64, outcome| record(store, vec![Fetched::new(0, day * DAY, outcome)]);
    fetch(1, Outcome::First);
    for day in 2..=13 {
        fetch(day, Outcome::Unchanged);
    }
    fetch(14, Outcome::Changed);
    for day in 15..=30 {
        fetch(day, Outcome::Unchanged);
    }
    let told = told(store);
    let days: Vec<_> = told.iter().map(|(kind, at, _)| (*kind, at / DAY)).collect();
    // The first is counted from when it was added, just after the beginning of time.
    assert_eq!(days, [(Kind::Quiet, 11), (Kind::Quiet, 24)]);
    assert_eq!(told[1].2, "no change for 10 days");
}

/// Looks at all sources for what has been so for a while, as a daemon does.
fn tell_late(store: &mut Store, watch: Watch, now: i64) {
    store.set_watch(watch);
    let mut after = None;
    while store.is_late().unwrap() {
        after = store.tell_late(after, now).unwrap().next;
    }
}

pub(crate) fn what_has_been_so_for_a_while_is_told_once_when_somebody_asks(store: &mut Store) {
    some_sources(store, 4);
    let fetch = |source, day: i64, outcome| Fetched::new(source, day * DAY, outcome);
    // The first fails, the second is quiet, the third changes, the last is left alone.
    for source in 0..4 {
        record(store, vec![fetch(source, 1, Outcome::First)]);
    }
    for day in 2..=20 {
        let outcome = if day % 2 == 0 { Outcome::Changed } else { Outcome::Unchanged };
        let mut failed = fetch(0, day, Outcome::Failed);
        failed.note = "no answer".to_owned();
        record(store, vec![failed, fetch(1, day, Outcome::Unchanged), fetch(2, day, outcome)]);
    }
    record(store, vec![fetch(3, 2, Outcome::Failed), fetch(3, 3, Outcome::Failed)]);
    let left_alone = freshet_store::Patch { paused: Some(true), ..Default::default() };
    store.change(&[3], &left_alone).unwrap();
    assert_eq!(told(store), []);
    let (high, low) = (Watch { failures: 19, quiet: 0 }, Watch { failures: 2, quiet: 10 * DAY });
    tell_late(store, high, 21 * DAY);
    let failing = (Kind::Failing, 21 * DAY, "failed 19 times: no answer".to_owned());
    assert_eq!(told(store), vec![failing.clone()]);
    // A lower limit tells of those alone that were not told: twice is once.
    tell_late(store, low, 22 * DAY);
    let quiet = (Kind::Quiet, 22 * DAY, "no change for 19 days".to_owned());
    for watch in [low, Watch::default(), low] {
        tell_late(store, watch, 23 * DAY);
    }
    record(store, vec![fetch(0, 24, Outcome::Failed), fetch(1, 24, Outcome::Unchanged)]);
    assert_eq!(told(store), [failing.clone(), quiet.clone()]);
    // It begins anew when it ends.
    record(store, vec![fetch(0, 25, Outcome::Unchanged), fetch(1, 25, Outcome::Changed)]);
    record(store, vec![fetch(0, 26, Outcome::Failed), fetch(1, 36, Outcome::Unchanged)]);
    record(store, vec![fetch(0, 27, Outcome::Failed)]);
    let kinds: Vec<_> = told(store).into_iter().map(|(kind, at, _)| (kind, at / DAY)).collect();
    let expect = [
        (Kind::Failing, 21),
        (Kind::Quiet, 22),
        (Kind::Recovered, 25),
        (Kind::Quiet, 36),
        (Kind::Failing, 27),
    ];
    assert_eq!(kinds, expect);
}

pub(crate) fn tokens_are_kept_by_name(store: &mut Store) {
    let token = |name: &str, byte| Token {
        name: name.to_owned(),
        hash: [byte; 32],
        scopes: 3,
        made: 7,
        used: None,
    };
    store.put_token(&token("b", 1)).unwrap();
    store.put_token(&token("a", 2)).unwrap();
    store.put_token(&token("b", 3)).unwrap();
    store.used_tokens(&[("a".to_owned(), 9), ("nobody".to_owned(), 9)]).unwrap();
    let used = Token { used: Some(9), ..token("a", 2) };
    assert_eq!(store.tokens().unwrap(), [used, token("b", 3)]);
    assert!(store.remove_token("b").unwrap());
    assert!(!store.remove_token("b").unwrap());
    assert_eq!(store.tokens().unwrap().len(), 1);
}

fn put_off(id: u32, settings: &str, attempts: u32, now: i64, next: i64) -> Step {
    let (settings, error) = (settings.to_owned(), "refused".to_owned());
    Step::PutOff { id, settings, attempts, now, next, error }
}

pub(crate) fn a_destination_goes_on_from_its_cursor(store: &mut Store) {
    let id = store.put_destination("hook", "{}", 5, 100).unwrap();
    store.deliver(&[put_off(id, "{}", 1, 700, 800), put_off(id, "{}", 2, 850, 900)]).unwrap();
    // What was described anew is not put off.
    store.deliver(&[put_off(id, "{x}", 3, 950, 999)]).unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.next), (5, 2, Some(900)));
    assert_eq!((it.error.as_deref(), it.failed), (Some("refused"), Some(700)));
    assert_eq!(store.troubled_destinations(9).unwrap(), [it]);
    assert_eq!(store.count_destinations().unwrap(), (1, 0, 1));
    assert_eq!(store.find_destination("hook").unwrap().unwrap().id, id);
    store.deliver(&[Step::Begun { id, until: 8 }]).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().until, Some(8));
    store.deliver(&[Step::Done { id, cursor: 8, at: Some(950) }]).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().until, None);
    store.deliver(&[Step::Done { id, cursor: 7, at: None }]).unwrap();
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.attempts, it.next, it.delivered), (8, 0, None, Some(950)));
    assert_eq!(store.troubled_destinations(9).unwrap(), []);
    // With another key, what was begun is the same.
    store.deliver(&[Step::Begun { id, until: 9 }]).unwrap();
    assert!(store.rekey_destination(id, "{0}").unwrap());
    assert_eq!(store.destination(id).unwrap().unwrap().until, Some(9));
    // Described anew, it keeps its place, and what was begun is not the same any more.
    store.deliver(&[Step::Begun { id, until: 9 }]).unwrap();
    assert_eq!(store.put_destination("hook", "{1}", 0, 200).unwrap(), id);
    assert!(store.pause_destination(id, true, 250).unwrap());
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.cursor, it.settings.as_str(), it.made, it.paused), (8, "{1}", 100, true));
    assert_eq!((it.until, it.rested), (None, Some(250)));
    // Who goes on tries at once.
    store.deliver(&[put_off(id, "{1}", 1, 260, 900)]).unwrap();
    store.hasten_delivery(id, 950).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().next, Some(900));
    store.hasten_delivery(id, 850).unwrap();
    assert_eq!(store.destination(id).unwrap().unwrap().next, Some(850));
    assert!(store.pause_destination(id, false, 300).unwrap());
    let it = store.destination(id).unwrap().unwrap();
    assert_eq!((it.paused, it.rested, it.next, it.failed), (false, None, None, None));
    assert!(store.remove_destination(id).unwrap());
    assert_ne!(store.put_destination("hook", "{}", 0, 300).unwrap(), id);
}

pub(crate) fn what_is_given_up_is_kept_up_to_a_number(store: &mut Store) {
    let id = store.put_destination("hook", "{}", 0, 100).unwrap();
    let dead = |n: i64| NewDead {
        destination: id,
        first: n,
        last: n,
        at: n,
        attempts: 9,
        error: "gone".to_owned(),
        body: vec![1, 2],
    };
    for n in 1..=1_002 {
        store.bury(&dead(n)).unwrap();
    }
    assert_eq!(store.destination(id).unwrap().unwrap().cursor, 1_002);
    assert_eq!(store.count_dead(id).unwrap(), 1_000);
    let page = store.dead(id, 0, 2).unwrap();
    assert_eq!(page[0].dead, dead(3));
    assert_eq!(store.unbury(&[page[0].id, page[1].id, -1]).unwrap(), 2);
    assert_eq!(store.count_dead(id).unwrap(), 998);
    // One that arrives in the end was told.
    let next = store.dead(id, 0, 1).unwrap().remove(0).id;
    assert!(store.redelivered(next, 77).unwrap() && !store.redelivered(next, 78).unwrap());
    assert_eq!(store.destination(id).unwrap().unwrap().delivered, Some(77));
    assert_eq!(store.count_all_dead().unwrap(), [(id, 997)]);
    store.bury(&NewDead { destination: id + 1, ..dead(1) }).unwrap();
    assert_eq!(store.count_dead(id + 1).unwrap(), 0);
}

pub(crate) fn a_lease_is_kept_for_what_is_not_reported(store: &mut Store) {
    some_sources(store, 4);
    record(store, vec![Fetched::new(2, 50, Outcome::First)]);
    let lease = |id, since, sources| Lease { id, since, until: since + 10, sources };
    let leases = vec![lease(1 << 100, 200, vec![0]), lease(7, 100, vec![3, 1, 2, 99])];
    store.record(&Batch { leases, ..Batch::default() }).unwrap();
    // The oldest first, and of it what is there.
    let kept = [lease(7, 100, vec![3, 1, 2]), lease(1 << 100, 200, vec![0])];
    assert_eq!(store.leases().unwrap(), kept);
    let fetches = vec![Fetched::new(1, 150, Outcome::Failed), Fetched::new(0, 210, Outcome::First)];
    store.record(&Batch { fetches, dropped: vec![1 << 100, 5], ..Batch::default() }).unwrap();
    assert_eq!(store.leases().unwrap(), [lease(7, 100, vec![3, 2])]);
}

pub(crate) fn subscriptions_are_kept_by_where_hubs_call_back(store: &mut Store) {
    let one = |callback: &str| Subscription {
        callback: callback.to_owned(),
        secret: "not to be shown".to_owned(),
        base: "https://freshet.example".to_owned(),
        feed: 3,
        herald: 4,
        topic: "https://a.example/feed?x=ü".to_owned(),
        hubs: vec!["https://hub.example/".to_owned(), "https://other.example/".to_owned()],
        hub: 1,
        aim: Aim::Stay,
        asked: Some(1),
        verified: None,
        until: Some(7 * DAY),
        next: 5,
        failures: 2,
        note: "why".to_owned(),
        pushes: u64::from(u32::MAX) + 1,
        ignored: 3,
        pushed: None,
    };
    let (a, b) = (one("a"), Subscription { aim: Aim::Ended, hubs: Vec::new(), ..one("b") });
    assert!(!format!("{a:?}").contains("not to be shown"));
    store.put_subscriptions(&[a.clone(), b.clone()], &[]).unwrap();
    assert_eq!(store.subscriptions().unwrap(), [a, b.clone()]);
    let again = Subscription { aim: Aim::Leave, verified: Some(2), ..one("a") };
    store
        .put_subscriptions(std::slice::from_ref(&again), &["b".to_owned(), "x".to_owned()])
        .unwrap();
    assert_eq!(store.subscriptions().unwrap(), [again]);
}
