//! Who says that sources have changed, and what they said.

use freshet_store::{
    AlertThresholds, Batch, ChangeFilter, FetchRecord, NewSignalSource, NewSource, SignalEntry,
    SignalHistory, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery, SignalSourceUpdate,
    SourcePatch, SourceQuery, Store, StoredOutcome,
};

const SITEMAP: &str = "https://example.com/sitemap.xml";

fn sitemap(url: &str) -> NewSignalSource {
    NewSignalSource::polled(SignalSourceKind::Sitemap, url, "example.com", 5)
}

fn part(url: &str, parent: u32) -> NewSignalSource {
    NewSignalSource { origin: SignalSourceOrigin::Parent, parent: Some(parent), ..sitemap(url) }
}

fn pages(store: &mut Store, some: u32) {
    let page = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import_sources((0..some).map(page)).unwrap();
}

fn said(herald: u32, source: u32, moment: Option<i64>, print: u64) -> SignalEntry {
    SignalEntry {
        signal_source: herald,
        source,
        received_at: 9,
        changed_at: moment,
        fingerprint: print,
    }
}

pub(super) fn heralds_have_small_numbers_and_names_of_their_own(store: &mut Store) {
    let hub = NewSignalSource::pushing(SignalSourceKind::WebSub, SITEMAP, 7);
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

pub(super) fn what_an_owner_says_of_a_herald_comes_first(store: &mut Store) {
    let intervals = Some((0.5, 7.0));
    let robots =
        NewSignalSource { origin: SignalSourceOrigin::Robots, intervals, ..sitemap(SITEMAP) };
    let number = store.add_signal_sources(std::slice::from_ref(&robots)).unwrap()[0].id;
    let given = SourcePatch { max_interval: Some(2.0), ..SourcePatch::default() };
    let given =
        NewSignalSource { settings: "mine".to_owned(), settings_patch: given, ..sitemap(SITEMAP) };
    let source = store.add_signal_sources(&[given]).unwrap()[0].source.unwrap();
    store.add_signal_sources(&[robots, part(SITEMAP, 7)]).unwrap();
    assert_eq!(store.source(source).unwrap().unwrap().min_interval, 0.5);
    let it = store.signal_source(number).unwrap().unwrap();
    assert_eq!(
        (it.origin, it.settings.as_str(), it.parent),
        (SignalSourceOrigin::Owner, "mine", None)
    );
    assert_eq!(store.source(source).unwrap().unwrap().max_interval, 2.0);
    assert!(store.set_signal_source_settings(number, "other").unwrap());
    assert_eq!(store.signal_source(number).unwrap().unwrap().settings, "other");
    assert!(!store.set_signal_source_settings(77, "other").unwrap());
}

pub(super) fn what_is_read_to_hear_a_herald_is_no_page(store: &mut Store) {
    pages(store, 2);
    let source = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    pages(store, 3);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 3);
    let host = store.find_host("example.com").unwrap().unwrap().id;
    let queries = [
        SourceQuery::default(),
        SourceQuery { hosts: vec![host], ..SourceQuery::default() },
        SourceQuery { text: Some("example".to_owned()), ..SourceQuery::default() },
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
    // It goes with its herald, and not otherwise.
    assert_eq!(store.remove_sources(&[0, source]).unwrap(), 1);
    assert_eq!(store.signal_source_at(source).unwrap().unwrap().name, SITEMAP);
}

pub(super) fn a_page_and_a_herald_can_have_one_url(store: &mut Store) {
    let heard = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let page = store.add_sources(&[NewSource::new(SITEMAP, "example.com", 0)]).unwrap()[0];
    assert!(page.is_new && page.id != heard);
    assert_eq!(store.find_source(SITEMAP).unwrap(), Some(page.id));
    store.remove_sources(&[page.id]).unwrap();
    assert!(store.source(heard).unwrap().is_some());
}

pub(super) fn known_urls_are_found_with_what_was_said_of_them(store: &mut Store) {
    pages(store, 3);
    store.add_signal_sources(&[sitemap(SITEMAP), sitemap("https://example.com/b")]).unwrap();
    let said = vec![said(0, 1, Some(50), u64::MAX), said(0, 2, None, 3), said(1, 2, Some(1), 4)];
    let fetches = vec![FetchRecord::new(1, 70, StoredOutcome::First)];
    store.record_batch(&Batch { fetches, signal_entries: said, ..Batch::default() }).unwrap();
    let urls = ["https://example.com/2", "https://no.example/", "https://example.com/1", SITEMAP];
    let known = store.match_urls(0, &urls).unwrap();
    let seen: Vec<_> =
        known.iter().map(|it| it.map(|it| (it.id, it.fetched, it.last_entry))).collect();
    let first = Some((2, None, Some((None, 3))));
    assert_eq!(seen, [first, None, Some((1, Some(70), Some((Some(50), u64::MAX)))), None]);
    assert_eq!(store.match_urls(7, &urls).unwrap()[0].unwrap().last_entry, None);
    let by_number = store.match_ids(0, &[2, 77, 1]).unwrap();
    assert_eq!(by_number, [known[0], None, known[2]]);
}

pub(super) fn what_was_said_and_learnt_is_kept_for_what_is_there(store: &mut Store) {
    pages(store, 2);
    store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap();
    let ear = |herald, source, learnt: &[u8]| SignalHistory {
        signal_source: herald,
        source,
        learned: learnt.to_vec(),
    };
    let record = SignalSourceUpdate {
        learned: Some(vec![7]),
        last_signal_at: Some(11),
        outcome: Some("read".to_owned()),
        sources_added: 2,
        ..SignalSourceUpdate::default()
    };
    let batch = Batch {
        signal_entries: vec![said(0, 1, Some(5), 1), said(0, 99, None, 1), said(9, 1, None, 1)],
        signal_histories: vec![ear(0, 1, &[1]), ear(0, 0, &[2]), ear(9, 0, &[3]), ear(0, 99, &[4])],
        signal_sources: vec![
            record,
            SignalSourceUpdate { sources_added: 3, ..SignalSourceUpdate::default() },
        ],
        ..Batch::default()
    };
    store.record_batch(&batch).unwrap();
    let mut ears = Vec::new();
    store
        .for_each_signal_history(|ear| ears.push((ear.source, ear.signal_source, ear.learned)))
        .unwrap();
    assert_eq!(ears, [(0, 0, vec![2]), (1, 0, vec![1])]);
    let voices = store.latest_signals(1).unwrap();
    assert_eq!(voices[0].entry, Some(said(0, 1, Some(5), 1)));
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

pub(super) fn a_herald_goes_with_its_parts_and_what_it_said(store: &mut Store) {
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
    let said = vec![said(0, 0, None, 1), said(4, 0, None, 1)];
    store.record_batch(&Batch { fetches, signal_entries: said, ..Batch::default() }).unwrap();
    assert_eq!(store.count_signal_sources().unwrap(), (5, 3));
    let mut gone = store.remove_signal_sources(&[root.id, 77]).unwrap();
    gone.signal_sources.sort_unstable();
    gone.sources.sort_unstable();
    assert_eq!((gone.signal_sources, gone.sources), (vec![0, 1, 2, 3], vec![1, 2, 3, 4]));
    assert_eq!(
        store.latest_signals(0).unwrap().iter().map(|it| it.signal_source).collect::<Vec<_>>(),
        [4]
    );
    assert_eq!(store.source(1).unwrap(), None);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 1);
}

pub(super) fn a_herald_that_said_much_is_forgotten_bit_by_bit(store: &mut Store) {
    pages(store, 45_000);
    store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap();
    let said = (0..45_000).map(|id| said(0, id, None, 1)).collect();
    store.record_batch(&Batch { signal_entries: said, ..Batch::default() }).unwrap();
    store.remove_signal_sources(&[0]).unwrap();
    assert_eq!(store.count_signalled_sources(0, 100_000).unwrap(), 25_000);
    // Nobody else gets its number before all is gone.
    assert_eq!(store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].id, 1);
    while store.prune(0).unwrap().more {}
    assert_eq!(store.count_signalled_sources(0, 100_000).unwrap(), 0);
    assert_eq!(store.add_signal_sources(&[sitemap("https://example.com/x")]).unwrap()[0].id, 0);
}

pub(super) fn nothing_is_told_of_what_is_read_to_hear_a_herald(store: &mut Store) {
    store.set_alert_thresholds(AlertThresholds { failures: 1, quiet_ms: 1 });
    let source = store.add_signal_sources(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let ends = [
        StoredOutcome::First,
        StoredOutcome::Unchanged,
        StoredOutcome::Failed,
        StoredOutcome::Gone,
        StoredOutcome::Changed,
    ];
    let fetches = ends.into_iter().zip(1..).map(|(end, n)| FetchRecord::new(source, n * 100, end));
    store.record_batch(&Batch { fetches: fetches.collect(), ..Batch::default() }).unwrap();
    while store.scan_for_alerts(None, 10_000).unwrap().resume_after.is_some() {}
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
    assert_eq!(store.history(source, 10).unwrap().len(), 5);
}
