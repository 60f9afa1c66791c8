use freshet_store::{ChangeFilter, NewSource, SourcePatch, SourceQuery, Store, StoreError};

use crate::{add_sources, changed, record, source};

fn ids(store: &mut Store, urls: &[&str]) -> Vec<(u32, bool)> {
    let sources: Vec<NewSource> = urls.iter().map(|url| NewSource::new(*url, "host", 0)).collect();
    store.add_sources(&sources).unwrap().iter().map(|added| (added.id, added.is_new)).collect()
}

pub(crate) fn ids_are_dense_and_never_reused(store: &mut Store) {
    assert_eq!(ids(store, &["a", "b", "c"]), [(0, true), (1, true), (2, true)]);
    assert_eq!(store.remove_sources(&[1, 2, 77]).unwrap(), 2);
    assert_eq!(ids(store, &["c", "a", "d"]), [(3, true), (0, false), (4, true)]);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 3);
    assert_eq!(store.source(2).unwrap(), None);
}

pub(crate) fn an_existing_url_keeps_its_id_and_unpatched_settings(store: &mut Store) {
    let tags = Some(vec!["news".to_owned(), "daily".to_owned(), "news".to_owned()]);
    let patch = SourcePatch {
        importance: Some(5.0),
        max_interval: Some(0.5),
        tags,
        goal: Some("age".to_owned()),
        observed: Some(true),
        ..SourcePatch::default()
    };
    store.add_sources(&[NewSource { patch, ..source(0) }]).unwrap();
    let before = store.source(0).unwrap().unwrap();
    assert_eq!(before.tags, ["daily", "news"]);
    assert_eq!((before.importance, before.cost, before.max_interval), (5.0, 1.0, 0.5));

    let again = store.add_sources(&[NewSource { added_at: 99, ..source(0) }]).unwrap();
    assert_eq!((again[0].id, again[0].is_new), (0, false));
    assert_eq!(store.source(0).unwrap().unwrap(), before);

    let patch = SourcePatch {
        cost: Some(2.5),
        paused: Some(true),
        max_interval: Some(f64::INFINITY),
        goal: Some(String::new()),
        ..SourcePatch::default()
    };
    store.add_sources(&[NewSource { patch, ..source(0) }]).unwrap();
    let mut expect = before;
    (expect.cost, expect.paused, expect.max_interval) = (2.5, true, f64::INFINITY);
    expect.goal.clear();
    assert_eq!(store.source(0).unwrap().unwrap(), expect);
}

pub(crate) fn a_prior_belief_is_stored_for_new_sources_only(store: &mut Store) {
    let with_prior = |learned: &[u8]| NewSource { learned: learned.to_vec(), ..source(1) };
    store.add_sources(&[source(0), with_prior(b"often")]).unwrap();
    // Ignored for an existing source.
    store.add_sources(&[with_prior(b"seldom"), source(2)]).unwrap();
    let mut rows = Vec::new();
    store
        .load_schedule_for(&[2, 77, 1, 0], |row| rows.push((row.id, row.learned.to_vec())))
        .unwrap();
    assert_eq!(rows, [(2, vec![]), (1, b"often".to_vec()), (0, vec![])]);
    let mut loaded = Vec::new();
    store.load_schedule(|row| loaded.push(row.learned.to_vec())).unwrap();
    assert_eq!(loaded, [vec![], b"often".to_vec(), vec![]]);
}

pub(crate) fn a_duplicate_url_in_a_batch_is_added_once(store: &mut Store) {
    let second = SourcePatch { importance: Some(3.0), ..SourcePatch::default() };
    let batch = [source(4), source(5), NewSource { patch: second, ..source(4) }];
    let added = store.add_sources(&batch).unwrap();
    assert_eq!(
        added.iter().map(|it| (it.id, it.is_new)).collect::<Vec<_>>(),
        [(0, true), (1, true), (0, false)]
    );
    assert_eq!(store.source(0).unwrap().unwrap().importance, 3.0);
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 2);
}

pub(crate) fn an_import_counts_new_and_existing_sources(store: &mut Store) {
    add_sources(store, 1_000);
    let list = (500..20_000).chain(19_000..21_000).map(source);
    let imported = store.import_sources(list).unwrap();
    assert_eq!((imported.added, imported.existing), (20_000, 1_500));
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 21_000);
    for n in [0, 999, 1_000, 19_999, 20_999] {
        assert_eq!(store.find_source(&source(n).url).unwrap(), Some(n));
    }
    let again = store.import_sources((0..21_000).map(source)).unwrap();
    assert_eq!((again.added, again.existing), (0, 21_000));
}

pub(crate) fn invalid_values_are_refused_and_nothing_is_added(store: &mut Store) {
    let invalid: [(&str, SourcePatch); 6] = [
        ("importance", SourcePatch { importance: Some(f64::NAN), ..SourcePatch::default() }),
        ("importance", SourcePatch { importance: Some(-1.0), ..SourcePatch::default() }),
        ("cost", SourcePatch { cost: Some(0.0), ..SourcePatch::default() }),
        (
            "min_interval",
            SourcePatch { min_interval: Some(f64::INFINITY), ..SourcePatch::default() },
        ),
        ("max_interval", SourcePatch { max_interval: Some(0.0), ..SourcePatch::default() }),
        ("tags", SourcePatch { tags: Some(vec!["a\nb".to_owned()]), ..SourcePatch::default() }),
    ];
    for (expect, patch) in invalid {
        let result = store.add_sources(&[source(0), NewSource { patch, ..source(1) }]);
        let Err(StoreError::InvalidValue { url, field, .. }) = result else { panic!("{result:?}") };
        assert_eq!((url, field), (source(1).url, expect));
    }
    let without_url = store.add_sources(&[NewSource::new("", "host", 0)]);
    assert!(matches!(without_url, Err(StoreError::InvalidValue { field: "url", .. })));
    assert_eq!(store.count_sources(&SourceQuery::default()).unwrap(), 0);
    assert_eq!(store.list_sources(&SourceQuery::default()).unwrap().sources, []);
}

pub(crate) fn a_patch_changes_only_its_fields(store: &mut Store) {
    add_sources(store, 5);
    let tags = Some(vec!["x".to_owned()]);
    let patch = SourcePatch { importance: Some(0.0), tags, ..SourcePatch::default() };
    assert_eq!(store.update_sources(&[1, 3, 9], &patch).unwrap(), 2);
    let cleared =
        SourcePatch { tags: Some(Vec::new()), paused: Some(true), ..SourcePatch::default() };
    assert_eq!(store.update_sources(&[3], &cleared).unwrap(), 1);
    let seen: Vec<_> = (0..5).map(|id| store.source(id).unwrap().unwrap()).collect();
    let importances: Vec<f64> = seen.iter().map(|source| source.importance).collect();
    assert_eq!(importances, [1.0, 0.0, 1.0, 0.0, 1.0]);
    let tagged = SourceQuery { tag: Some("x".to_owned()), ..SourceQuery::default() };
    let tagged = store.list_sources(&tagged).unwrap().sources;
    assert_eq!(tagged.iter().map(|source| source.id).collect::<Vec<_>>(), [1]);
    let paused: Vec<bool> = seen.iter().map(|source| source.paused).collect();
    assert_eq!(paused, [false, false, false, true, false]);
}

pub(crate) fn removing_a_source_keeps_its_change_log(store: &mut Store) {
    add_sources(store, 3);
    for at in 0..4 {
        let page = format!("page {at}");
        record(store, vec![changed(1, 100 + at, page.as_bytes()), changed(2, 100, b"other")]);
    }
    let before = store.changes(0, 100, &ChangeFilter::default()).unwrap();
    assert_eq!(before.len(), 8);
    assert_eq!(store.remove_sources(&[1]).unwrap(), 1);
    assert_eq!(store.changes(0, 100, &ChangeFilter::default()).unwrap(), before);
    assert_eq!(before[0].url, source(1).url);
    assert!(store.history(1, 10).unwrap().is_empty());
    assert!(store.versions(1).unwrap().is_empty());
    assert_eq!(store.find_source(&source(1).url).unwrap(), None);
    assert_eq!(store.fetch_job(1).unwrap(), None);
    assert_eq!(store.versions(2).unwrap().len(), 4);
    assert_eq!(store.history(2, 10).unwrap().len(), 4);
}

pub(crate) fn a_source_can_move_to_another_host(store: &mut Store) {
    add_sources(store, 2);
    store.add_sources(&[NewSource { host: "elsewhere".to_owned(), ..source(1) }]).unwrap();
    let host = store.find_host("elsewhere").unwrap().unwrap().id;
    assert_eq!(store.source(1).unwrap().unwrap().host, host);
    for (host, expect) in [(0, vec![0]), (host, vec![1])] {
        let page = store
            .list_sources(&SourceQuery { hosts: vec![host], ..SourceQuery::default() })
            .unwrap();
        assert_eq!(page.sources.iter().map(|source| source.id).collect::<Vec<_>>(), expect);
    }
}
