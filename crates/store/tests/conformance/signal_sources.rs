//! Signal sources and their signals.

use freshet_store::{
    AlertThresholds, Batch, ChangeFilter, FetchRecord, NewSignalSource, NewSource, SignalEntry,
    SignalHistory, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, SignalSourceUpdate,
    SourcePatch, SourceQuery, Store, StoredOutcome,
};

const SITEMAP: &str = "https://example.com/sitemap.xml";

fn sitemap(url: &str) -> NewSignalSource {
    NewSignalSource::new_polled(SignalSourceKind::Sitemap, url, "example.com", 5)
}

fn part(url: &str, parent: u32) -> NewSignalSource {
    NewSignalSource { origin: SignalSourceOrigin::Parent, parent: Some(parent), ..sitemap(url) }
}

fn pages(store: &mut Store, count: u32) {
    let page = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import_sources((0..count).map(page)).unwrap();
}

fn entry(
    signal_source: u32,
    source: u32,
    changed_at: Option<i64>,
    fingerprint: u64,
) -> SignalEntry {
    SignalEntry { signal_source, source, received_at: 9, changed_at, fingerprint }
}

pub(super) fn signal_sources_get_the_smallest_free_ids(store: &mut Store) {
    let hub = NewSignalSource::new_pushing(SignalSourceKind::WebSub, SITEMAP, 7);
    let added =
        store.add_signal_sources(&[sitemap(SITEMAP), hub.clone(), sitemap(SITEMAP)]).unwrap();
    let seen: Vec<_> = added.iter().map(|it| (it.id, it.source, it.is_new)).collect();
    assert_eq!(seen, [(0, Some(0), true), (1, None, true), (0, Some(0), false)]);
    store.add_signal_sources(&[sitemap("https://example.com/b")]).unwrap();
    store.remove_signal_sources(&[1]).unwrap();
    let again = store.add_signal_sources(&[sitemap("https://example.com/c"), hub]).unwrap();
    assert_eq!(again.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(store.find_signal_source(SignalSourceKind::WebSub, SITEMAP).unwrap().unwrap().id, 3);
    assert_eq!(store.find_signal_source(SignalSourceKind::Feed, SITEMAP).unwrap(), None);
    let all = store.signal_sources(&SignalSourceQuery::default()).unwrap();
    assert_eq!(all.iter().map(|it| it.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let some = SignalSourceQuery {
        kind: Some(SignalSourceKind::Sitemap),
        after: Some(0),
        ..SignalSourceQuery::default()
    };
    let some = store.signal_sources(&some).unwrap();
    assert_eq!(some.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 2]);
    assert!(store.add_signal_sources(&[sitemap("")]).is_err());
}

pub(super) fn settings_of_the_user_take_precedence(store: &mut Store) {
    let default_intervals = Some((0.5, 7.0));
    let robots = NewSignalSource {
        origin: SignalSourceOrigin::Robots,
        default_intervals,
        ..sitemap(SITEMAP)
    };
    let id = store.add_signal_sources(std::slice::from_ref(&robots)).unwrap()[0].id;
    let patch = SourcePatch { max_interval: Some(2.0), ..SourcePatch::default() };
    let configured =
        NewSignalSource { settings: "mine".to_owned(), settings_patch: patch, ..sitemap(SITEMAP) };
    let source = store.add_signal_sources(&[configured]).unwrap()[0].source.unwrap();
    store.add_signal_sources(&[robots, part(SITEMAP, 7)]).unwrap();
    assert_eq!(store.source(source).unwrap().unwrap().min_interval, 0.5);
    let it = store.signal_source(id).unwrap().unwrap();
    assert_eq!(
        (it.origin, it.settings.as_str(), it.parent),
        (SignalSourceOrigin::Owner, "mine", None)
    );
    assert_eq!(store.source(source).unwrap().unwrap().max_interval, 2.0);
    assert!(store.set_signal_source_settings(id, "other").unwrap());
    assert_eq!(store.signal_source(id).unwrap().unwrap().settings, "other");
    assert!(!store.set_signal_source_settings(77, "other").unwrap());
}

pub(super) fn the_source_of_a_signal_source_is_no_page(store: &mut Store) {
    pages(store, 2);
    let source = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    pages(store, 3);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 3);
    let host = store.find_host("example.com").unwrap().unwrap().id;
    let queries = [
        SourceQuery::default(),
        SourceQuery { hosts: vec![host], ..SourceQuery::default() },
        SourceQuery { url_contains: Some("example".to_owned()), ..SourceQuery::default() },
        SourceQuery { paused: Some(false), ..SourceQuery::default() },
    ];
    for query in queries {
        let ids: Vec<u32> =
            store.list_sources(&query).unwrap().sources.iter().map(|it| it.id).collect();
        assert_eq!(ids, [0, 1, 3], "{query:?}");
        assert_eq!(store.source_ids(&query).unwrap(), ids, "{query:?}");
        assert_eq!(store.count_sources(&query).unwrap(), 3, "{query:?}");
    }
    assert_eq!(store.find_source(SITEMAP).unwrap(), None);
    assert_eq!(store.count_host_sources(host, 100).unwrap(), 3);
    assert!(store.source(source).unwrap().unwrap().is_signal_source);
    assert_eq!(store.fetch_job(source).unwrap().unwrap().signal_source, Some(0));
    assert_eq!(store.fetch_job(0).unwrap().unwrap().signal_source, None);
    let mut loaded = Vec::new();
    store.load_schedule(|row| loaded.push((row.id, row.is_signal_source))).unwrap();
    assert_eq!(loaded, [(0, false), (1, false), (2, true), (3, false)]);
    // It is removed with its signal source only.
    assert_eq!(store.remove_sources(&[0, source]).unwrap(), 1);
    assert_eq!(store.signal_source_of_source(source).unwrap().unwrap().name, SITEMAP);
}

pub(super) fn a_page_and_a_signal_source_can_share_a_url(store: &mut Store) {
    let sitemap_source = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let page = store.add_sources(&[NewSource::new(SITEMAP, "example.com", 0)]).unwrap()[0];
    assert!(page.is_new && page.id != sitemap_source);
    assert_eq!(store.find_source(SITEMAP).unwrap(), Some(page.id));
    store.remove_sources(&[page.id]).unwrap();
    assert!(store.source(sitemap_source).unwrap().is_some());
}

pub(super) fn existing_urls_are_matched_with_their_latest_entry(store: &mut Store) {
    pages(store, 3);
    store.add_signal_sources(&[sitemap(SITEMAP), sitemap("https://example.com/b")]).unwrap();
    let entries =
        vec![entry(0, 1, Some(50), u64::MAX), entry(0, 2, None, 3), entry(1, 2, Some(1), 4)];
    let fetches = vec![FetchRecord::new(1, 70, StoredOutcome::First)];
    store.record_batch(&Batch { fetches, signal_entries: entries, ..Batch::default() }).unwrap();
    let urls = ["https://example.com/2", "https://no.example/", "https://example.com/1", SITEMAP];
    let matches = store.match_signalled_urls(0, &urls).unwrap();
    let seen: Vec<_> =
        matches.iter().map(|it| it.map(|it| (it.id, it.fetched_at, it.last_entry))).collect();
    let first = Some((2, None, Some((None, 3))));
    assert_eq!(seen, [first, None, Some((1, Some(70), Some((Some(50), u64::MAX)))), None]);
    assert_eq!(store.match_signalled_urls(7, &urls).unwrap()[0].unwrap().last_entry, None);
    let by_id = store.match_signalled_ids(0, &[2, 77, 1]).unwrap();
    assert_eq!(by_id, [matches[0], None, matches[2]]);
}

pub(super) fn signals_are_stored_for_existing_pairs_only(store: &mut Store) {
    pages(store, 2);
    store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap();
    let history = |signal_source, source, learned: &[u8]| SignalHistory {
        signal_source,
        source,
        learned: learned.to_vec(),
    };
    let record = SignalSourceUpdate {
        learned: Some(vec![7]),
        last_signal_at: Some(11),
        outcome: Some("read".to_owned()),
        sources_added: 2,
        ..SignalSourceUpdate::default()
    };
    let batch = Batch {
        signal_entries: vec![entry(0, 1, Some(5), 1), entry(0, 99, None, 1), entry(9, 1, None, 1)],
        signal_histories: vec![
            history(0, 1, &[1]),
            history(0, 0, &[2]),
            history(9, 0, &[3]),
            history(0, 99, &[4]),
        ],
        signal_sources: vec![
            record,
            SignalSourceUpdate { sources_added: 3, ..SignalSourceUpdate::default() },
        ],
        ..Batch::default()
    };
    store.record_batch(&batch).unwrap();
    let mut histories = Vec::new();
    store
        .for_each_signal_history(|it| histories.push((it.source, it.signal_source, it.learned)))
        .unwrap();
    assert_eq!(histories, [(0, 0, vec![2]), (1, 0, vec![1])]);
    let signals = store.latest_signals(1).unwrap();
    assert_eq!(signals[0].entry, Some(entry(0, 1, Some(5), 1)));
    assert_eq!(store.latest_signals(0).unwrap()[0].entry, None);
    assert_eq!(
        (
            store.count_signalled_sources(0, 9).unwrap(),
            store.signalled_sources(0, Some(0), 9).unwrap()
        ),
        (2, vec![1])
    );
    let it = store.signal_source(0).unwrap().unwrap();
    assert_eq!(
        (it.learned, it.last_signal_at, it.outcome, it.sources_added),
        (vec![7], Some(11), "read".to_owned(), 5)
    );
    store.remove_sources(&[1]).unwrap();
    assert_eq!(store.latest_signals(1).unwrap(), []);
}

pub(super) fn removing_a_signal_source_removes_its_parts_and_signals(store: &mut Store) {
    pages(store, 1);
    let root = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0];
    let some = [part("https://example.com/p1", 0), part("https://example.com/p2", 0)];
    store.add_signal_sources(&some).unwrap();
    store
        .add_signal_sources(&[
            part("https://example.com/deep", 2),
            sitemap("https://example.com/x"),
        ])
        .unwrap();
    let parts = SignalSourceQuery { parent: Some(root.id), ..SignalSourceQuery::default() };
    assert_eq!(store.signal_sources(&parts).unwrap().len(), 2);
    let fetches = vec![FetchRecord::new(root.source.unwrap(), 70, StoredOutcome::First)];
    let entries = vec![entry(0, 0, None, 1), entry(4, 0, None, 1)];
    store.record_batch(&Batch { fetches, signal_entries: entries, ..Batch::default() }).unwrap();
    assert_eq!(store.count_signal_sources().unwrap(), (5, 3));
    let mut removed = store.remove_signal_sources(&[root.id, 77]).unwrap();
    removed.signal_sources.sort_unstable();
    removed.sources.sort_unstable();
    assert_eq!((removed.signal_sources, removed.sources), (vec![0, 1, 2, 3], vec![1, 2, 3, 4]));
    assert_eq!(
        store.latest_signals(0).unwrap().iter().map(|it| it.signal_source).collect::<Vec<_>>(),
        [4]
    );
    assert_eq!(store.source(1).unwrap(), None);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 1);
}

pub(super) fn many_signals_are_removed_step_by_step(store: &mut Store) {
    pages(store, 45_000);
    store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap();
    let entries = (0..45_000).map(|id| entry(0, id, None, 1)).collect();
    store.record_batch(&Batch { signal_entries: entries, ..Batch::default() }).unwrap();
    store.remove_signal_sources(&[0]).unwrap();
    assert_eq!(store.count_signalled_sources(0, 100_000).unwrap(), 25_000);
    // Its id is not reused before all its signals are removed.
    assert_eq!(store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].id, 1);
    while store.prune(0).unwrap().has_more {}
    assert_eq!(store.count_signalled_sources(0, 100_000).unwrap(), 0);
    assert_eq!(store.add_signal_sources(&[sitemap("https://example.com/x")]).unwrap()[0].id, 0);
}

pub(super) fn no_events_are_logged_for_sources_of_signal_sources(store: &mut Store) {
    store.set_alert_thresholds(AlertThresholds { failures_in_a_row: 1, quiet_ms: 1 });
    let source = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let outcomes = [
        StoredOutcome::First,
        StoredOutcome::Unchanged,
        StoredOutcome::Failed,
        StoredOutcome::Gone,
        StoredOutcome::Changed,
    ];
    let fetches = outcomes
        .into_iter()
        .zip(1..)
        .map(|(outcome, n)| FetchRecord::new(source, n * 100, outcome));
    store.record_batch(&Batch { fetches: fetches.collect(), ..Batch::default() }).unwrap();
    while store.scan_for_alerts(None, 10_000).unwrap().resume_after.is_some() {}
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
    assert_eq!(store.history(source, 10).unwrap().len(), 5);
}
