use freshet_store::{
    Change, ChangeFilter, FetchRecord, HostFilter, NewSource, Retention, SourcePatch, Store,
    StoredOutcome,
};

use crate::{add_sources, changed, digest, record, source};

fn host(name: &str) -> HostFilter {
    HostFilter { name: name.to_owned(), any_port: true, url_prefix: None }
}

fn cursors(changes: &[Change]) -> Vec<i64> {
    changes.iter().map(|change| change.cursor).collect()
}

pub(crate) fn cursors_increase_and_pages_are_complete(store: &mut Store) {
    add_sources(store, 30);
    let mut logged = Vec::new();
    for at in 0..20 {
        let page = format!("page {at}");
        let fetches = (0..5).map(|id| changed(id * 3, at, page.as_bytes())).collect();
        logged.extend(record(store, fetches).into_iter().flatten());
    }
    assert_eq!(logged.len(), 100);
    assert!(logged.is_sorted_by(|a, b| a < b));
    assert_eq!(store.last_cursor().unwrap(), logged[99]);
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    let all = ChangeFilter::default();
    loop {
        let page = store.changes(forward.last().copied().unwrap_or(0), 7, &all).unwrap();
        if page.is_empty() {
            break;
        }
        forward.extend(cursors(&page));
    }
    loop {
        let page = store.latest_changes(backward.last().copied(), 7, &all).unwrap();
        if page.is_empty() {
            break;
        }
        backward.extend(cursors(&page));
    }
    assert_eq!(forward, logged);
    backward.reverse();
    assert_eq!(backward, logged);
    let one = ChangeFilter { source: Some(6), ..ChangeFilter::default() };
    let of_one = store.latest_changes(None, 3, &one).unwrap();
    assert!(of_one.iter().all(|change| change.source == 6));
    let times: Vec<i64> = of_one.iter().map(|change| change.change.first_changed_at).collect();
    assert_eq!(times, [19, 18, 17]);
}

pub(crate) fn filters_match_their_fields(store: &mut Store) {
    let patch = |tags: &[&str], importance| SourcePatch {
        tags: Some(tags.iter().map(|tag| tag.to_string()).collect()),
        importance: Some(importance),
        ..SourcePatch::default()
    };
    let sources = [
        NewSource { patch: patch(&["news", "blog"], 1.0), ..source(1) },
        NewSource { patch: patch(&["new"], 5.0), ..source(2) },
        NewSource { patch: patch(&[], 9.0), ..source(31) },
    ];
    store.add_sources(&sources).unwrap();
    let mut fetches: Vec<FetchRecord> = (0..3).map(|id| changed(id, 1, b"page")).collect();
    if let Some(change) = &mut fetches[2].change {
        change.similarity = 0.99;
    }
    record(store, fetches);
    // The log has the tags and the importance at the time of the change.
    store.update_sources(&[0, 1, 2], &patch(&["later"], 0.0)).unwrap();
    let none = ChangeFilter::default();
    let cases = [
        (none.clone(), vec![0, 1, 2]),
        (ChangeFilter { tag: Some("new".to_owned()), ..none.clone() }, vec![1]),
        (ChangeFilter { tag: Some("blog".to_owned()), ..none.clone() }, vec![0]),
        (ChangeFilter { tag: Some("later".to_owned()), ..none.clone() }, vec![]),
        (ChangeFilter { host: Some(host("host-3.example")), ..none.clone() }, vec![2]),
        (ChangeFilter { min_importance: Some(5.0), ..none.clone() }, vec![1, 2]),
        (ChangeFilter { max_similarity: Some(0.9), ..none.clone() }, vec![0, 1]),
        (ChangeFilter { source: Some(1), min_importance: Some(6.0), ..none }, vec![]),
    ];
    for (filter, expect) in cases {
        let found = store.changes(0, 10, &filter).unwrap();
        let found: Vec<u32> = found.iter().map(|change| change.source).collect();
        assert_eq!(found, expect, "{filter:?}");
    }
}

pub(crate) fn a_change_has_its_version_numbers(store: &mut Store) {
    add_sources(store, 1);
    let without = FetchRecord { version: None, ..changed(0, 30, b"three") };
    let first = FetchRecord { change: None, ..changed(0, 5, b"zero") };
    let first = FetchRecord { outcome: StoredOutcome::First, ..first };
    record(store, vec![first, changed(0, 10, b"one"), changed(0, 20, b"two"), without]);
    let log = store.changes(0, 10, &ChangeFilter::default()).unwrap();
    let versions: Vec<_> = log.iter().map(|it| (it.old_version, it.new_version)).collect();
    assert_eq!(versions, [(Some(1), Some(2)), (Some(2), Some(3)), (Some(3), None)]);
    assert_eq!(log[1].change.new_digest, digest(b"two"));
    // The old content was last seen by the previous fetch, whatever the record claims.
    assert_eq!((log[1].change.last_unchanged_at, log[1].change.first_changed_at), (Some(10), 20));
    assert_eq!((log[1].change.new_size, log[1].change.summary.as_str()), (3, "found at 20"));
    assert_eq!(store.version(0, 3).unwrap().unwrap().content, b"two");
    assert_eq!(store.fetch_job(0).unwrap().unwrap().version, 3);
}

pub(crate) fn old_changes_are_pruned_up_to_a_cursor(store: &mut Store) {
    const DAY: i64 = 86_400_000;
    add_sources(store, 1);
    for day in 0..10 {
        record(store, vec![changed(0, day * DAY, format!("page {day}").as_bytes())]);
    }
    let all = ChangeFilter::default();
    let logged = cursors(&store.changes(0, 100, &all).unwrap());
    store.prune(9 * DAY).unwrap();
    assert_eq!((store.pruned_cursor().unwrap(), logged.len()), (0, 10));
    store.set_retention(Retention { change_days: 3.0, ..Retention::default() });
    while store.prune(9 * DAY).unwrap().has_more {}
    let kept = cursors(&store.changes(0, 100, &all).unwrap());
    assert_eq!(kept, logged[6..]);
    assert_eq!(store.pruned_cursor().unwrap(), logged[5]);
    // All changes may be pruned, and no cursor is reused.
    while store.prune(99 * DAY).unwrap().has_more {}
    assert!(store.changes(0, 100, &all).unwrap().is_empty());
    assert_eq!(store.pruned_cursor().unwrap(), logged[9]);
    let next = record(store, vec![changed(0, 100 * DAY, b"another")]);
    assert!(next[0].unwrap() > logged[9]);
}
