//! Who says that sources have changed, and what they said.

use freshet_store::{
    Batch, ChangeFilter, Ear, Fetched, HeraldKind, HeraldOrigin, HeraldQuery, HeraldRecord,
    NewHerald, NewSource, Outcome, Patch, Query, Said, Store, Watch,
};

const SITEMAP: &str = "https://example.com/sitemap.xml";

fn sitemap(url: &str) -> NewHerald {
    NewHerald::read(HeraldKind::Sitemap, url, "example.com", 5)
}

fn part(url: &str, parent: u32) -> NewHerald {
    NewHerald { origin: HeraldOrigin::Part, parent: Some(parent), ..sitemap(url) }
}

fn pages(store: &mut Store, some: u32) {
    let page = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import((0..some).map(page)).unwrap();
}

fn said(herald: u32, source: u32, moment: Option<i64>, print: u64) -> Said {
    Said { herald, source, at: 9, moment, print }
}

pub(super) fn heralds_have_small_numbers_and_names_of_their_own(store: &mut Store) {
    let hub = NewHerald::speaks(HeraldKind::WebSub, SITEMAP, 7);
    let added = store.add_heralds(&[sitemap(SITEMAP), hub.clone(), sitemap(SITEMAP)]).unwrap();
    let seen: Vec<_> = added.iter().map(|it| (it.number, it.source, it.new)).collect();
    assert_eq!(seen, [(0, Some(0), true), (1, None, true), (0, Some(0), false)]);
    store.add_heralds(&[sitemap("https://example.com/b")]).unwrap();
    store.remove_heralds(&[1]).unwrap();
    let again = store.add_heralds(&[sitemap("https://example.com/c"), hub]).unwrap();
    assert_eq!(again.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(store.find_herald(HeraldKind::WebSub, SITEMAP).unwrap().unwrap().number, 3);
    assert_eq!(store.find_herald(HeraldKind::Feed, SITEMAP).unwrap(), None);
    let all = store.heralds(&HeraldQuery::default()).unwrap();
    assert_eq!(all.iter().map(|it| it.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let some =
        HeraldQuery { kind: Some(HeraldKind::Sitemap), after: Some(0), ..HeraldQuery::default() };
    let some = store.heralds(&some).unwrap();
    assert_eq!(some.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 2]);
    assert!(store.add_heralds(&[sitemap("")]).is_err());
}

pub(super) fn what_an_owner_says_of_a_herald_comes_first(store: &mut Store) {
    let intervals = Some((0.5, 7.0));
    let robots = NewHerald { origin: HeraldOrigin::Robots, intervals, ..sitemap(SITEMAP) };
    let number = store.add_heralds(std::slice::from_ref(&robots)).unwrap()[0].number;
    let given = Patch { max_interval: Some(2.0), ..Patch::default() };
    let given = NewHerald { settings: "mine".to_owned(), given, ..sitemap(SITEMAP) };
    let source = store.add_heralds(&[given]).unwrap()[0].source.unwrap();
    store.add_heralds(&[robots, part(SITEMAP, 7)]).unwrap();
    assert_eq!(store.source(source).unwrap().unwrap().min_interval, 0.5);
    let it = store.herald(number).unwrap().unwrap();
    assert_eq!((it.origin, it.settings.as_str(), it.parent), (HeraldOrigin::Given, "mine", None));
    assert_eq!(store.source(source).unwrap().unwrap().max_interval, 2.0);
    assert!(store.set_herald(number, "other").unwrap());
    assert_eq!(store.herald(number).unwrap().unwrap().settings, "other");
    assert!(!store.set_herald(77, "other").unwrap());
}

pub(super) fn what_is_read_to_hear_a_herald_is_no_page(store: &mut Store) {
    pages(store, 2);
    let source = store.add_heralds(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    pages(store, 3);
    assert_eq!(store.count(&Query::default()).unwrap(), 3);
    let host = store.find_host("example.com").unwrap().unwrap().id;
    let queries = [
        Query::default(),
        Query { hosts: vec![host], ..Query::default() },
        Query { text: Some("example".to_owned()), ..Query::default() },
        Query { paused: Some(false), ..Query::default() },
    ];
    for query in queries {
        let ids: Vec<u32> = store.list(&query).unwrap().sources.iter().map(|it| it.id).collect();
        assert_eq!(ids, [0, 1, 3], "{query:?}");
        assert_eq!(store.ids(&query).unwrap(), ids, "{query:?}");
        assert_eq!(store.count(&query).unwrap(), 3, "{query:?}");
    }
    assert_eq!(store.find(SITEMAP).unwrap(), None);
    assert_eq!(store.count_host(host, 100).unwrap(), 3);
    assert!(store.source(source).unwrap().unwrap().herald);
    assert_eq!(store.job(source).unwrap().unwrap().herald, Some(0));
    assert_eq!(store.job(0).unwrap().unwrap().herald, None);
    let mut loaded = Vec::new();
    store.load(|row| loaded.push((row.id, row.herald))).unwrap();
    assert_eq!(loaded, [(0, false), (1, false), (2, true), (3, false)]);
    // It goes with its herald, and not otherwise.
    assert_eq!(store.remove(&[0, source]).unwrap(), 1);
    assert_eq!(store.herald_of(source).unwrap().unwrap().name, SITEMAP);
}

pub(super) fn a_page_and_a_herald_can_have_one_url(store: &mut Store) {
    let heard = store.add_heralds(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let page = store.add(&[NewSource::new(SITEMAP, "example.com", 0)]).unwrap()[0];
    assert!(page.new && page.id != heard);
    assert_eq!(store.find(SITEMAP).unwrap(), Some(page.id));
    store.remove(&[page.id]).unwrap();
    assert!(store.source(heard).unwrap().is_some());
}

pub(super) fn known_urls_are_found_with_what_was_said_of_them(store: &mut Store) {
    pages(store, 3);
    store.add_heralds(&[sitemap(SITEMAP), sitemap("https://example.com/b")]).unwrap();
    let said = vec![said(0, 1, Some(50), u64::MAX), said(0, 2, None, 3), said(1, 2, Some(1), 4)];
    let fetches = vec![Fetched::new(1, 70, Outcome::First)];
    store.record(&Batch { fetches, said, ..Batch::default() }).unwrap();
    let urls = ["https://example.com/2", "https://no.example/", "https://example.com/1", SITEMAP];
    let known = store.known(0, &urls).unwrap();
    let seen: Vec<_> = known.iter().map(|it| it.map(|it| (it.id, it.fetched, it.said))).collect();
    let first = Some((2, None, Some((None, 3))));
    assert_eq!(seen, [first, None, Some((1, Some(70), Some((Some(50), u64::MAX)))), None]);
    assert_eq!(store.known(7, &urls).unwrap()[0].unwrap().said, None);
    let by_number = store.known_numbers(0, &[2, 77, 1]).unwrap();
    assert_eq!(by_number, [known[0], None, known[2]]);
}

pub(super) fn what_was_said_and_learnt_is_kept_for_what_is_there(store: &mut Store) {
    pages(store, 2);
    store.add_heralds(&[sitemap(SITEMAP)]).unwrap();
    let ear = |herald, source, learnt: &[u8]| Ear { herald, source, learnt: learnt.to_vec() };
    let record = HeraldRecord {
        learnt: Some(vec![7]),
        heard: Some(11),
        outcome: Some("read".to_owned()),
        found: 2,
        ..HeraldRecord::default()
    };
    let batch = Batch {
        said: vec![said(0, 1, Some(5), 1), said(0, 99, None, 1), said(9, 1, None, 1)],
        ears: vec![ear(0, 1, &[1]), ear(0, 0, &[2]), ear(9, 0, &[3]), ear(0, 99, &[4])],
        heralds: vec![record, HeraldRecord { found: 3, ..HeraldRecord::default() }],
        ..Batch::default()
    };
    store.record(&batch).unwrap();
    let mut ears = Vec::new();
    store.ears(|ear| ears.push((ear.source, ear.herald, ear.learnt))).unwrap();
    assert_eq!(ears, [(0, 0, vec![2]), (1, 0, vec![1])]);
    let voices = store.voices(1).unwrap();
    assert_eq!(voices[0].said, Some(said(0, 1, Some(5), 1)));
    assert_eq!(store.voices(0).unwrap()[0].said, None);
    assert_eq!(
        (store.count_ears(0, 9).unwrap(), store.heard_of(0, Some(0), 9).unwrap()),
        (2, vec![1])
    );
    let it = store.herald(0).unwrap().unwrap();
    assert_eq!(
        (it.learnt, it.heard, it.outcome, it.found),
        (vec![7], Some(11), "read".to_owned(), 5)
    );
    store.remove(&[1]).unwrap();
    assert_eq!(store.voices(1).unwrap(), []);
}

pub(super) fn a_herald_goes_with_its_parts_and_what_it_said(store: &mut Store) {
    pages(store, 1);
    let root = store.add_heralds(&[sitemap(SITEMAP)]).unwrap()[0];
    let some = [part("https://example.com/p1", 0), part("https://example.com/p2", 0)];
    store.add_heralds(&some).unwrap();
    store
        .add_heralds(&[part("https://example.com/deep", 2), sitemap("https://example.com/x")])
        .unwrap();
    let parts = HeraldQuery { parent: Some(root.number), ..HeraldQuery::default() };
    assert_eq!(store.heralds(&parts).unwrap().len(), 2);
    let fetches = vec![Fetched::new(root.source.unwrap(), 70, Outcome::First)];
    let said = vec![said(0, 0, None, 1), said(4, 0, None, 1)];
    store.record(&Batch { fetches, said, ..Batch::default() }).unwrap();
    assert_eq!(store.count_heralds().unwrap(), (5, 3));
    let mut gone = store.remove_heralds(&[root.number, 77]).unwrap();
    gone.heralds.sort_unstable();
    gone.sources.sort_unstable();
    assert_eq!((gone.heralds, gone.sources), (vec![0, 1, 2, 3], vec![1, 2, 3, 4]));
    assert_eq!(store.voices(0).unwrap().iter().map(|it| it.herald).collect::<Vec<_>>(), [4]);
    assert_eq!(store.source(1).unwrap(), None);
    assert_eq!(store.count(&Query::default()).unwrap(), 1);
}

pub(super) fn a_herald_that_said_much_is_forgotten_bit_by_bit(store: &mut Store) {
    pages(store, 45_000);
    store.add_heralds(&[sitemap(SITEMAP)]).unwrap();
    let said = (0..45_000).map(|id| said(0, id, None, 1)).collect();
    store.record(&Batch { said, ..Batch::default() }).unwrap();
    store.remove_heralds(&[0]).unwrap();
    assert_eq!(store.count_ears(0, 100_000).unwrap(), 25_000);
    // Nobody else gets its number before all is gone.
    assert_eq!(store.add_heralds(&[sitemap(SITEMAP)]).unwrap()[0].number, 1);
    while store.tidy(0).unwrap().more {}
    assert_eq!(store.count_ears(0, 100_000).unwrap(), 0);
    assert_eq!(store.add_heralds(&[sitemap("https://example.com/x")]).unwrap()[0].number, 0);
}

pub(super) fn nothing_is_told_of_what_is_read_to_hear_a_herald(store: &mut Store) {
    store.set_watch(Watch { failures: 1, quiet: 1 });
    let source = store.add_heralds(&[sitemap(SITEMAP)]).unwrap()[0].source.unwrap();
    let ends =
        [Outcome::First, Outcome::Unchanged, Outcome::Failed, Outcome::Gone, Outcome::Changed];
    let fetches = ends.into_iter().zip(1..).map(|(end, n)| Fetched::new(source, n * 100, end));
    store.record(&Batch { fetches: fetches.collect(), ..Batch::default() }).unwrap();
    while store.tell_late(None, 10_000).unwrap().next.is_some() {}
    assert_eq!(store.changes(0, 10, &ChangeFilter::default()).unwrap(), []);
    assert_eq!(store.history(source, 10).unwrap().len(), 5);
}
