use freshet_store::{
    Batch, ChangeFilter, FetchRecord, HostCooldown, HostFilter, HostRecord, NewSource,
    RobotsRecord, Source, SourcePatch, SourceQuery, SourceState, Store, StoredOutcome,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{add_sources, record, source};

const TAGS: [&str; 4] = ["news", "new", "blog", "of two words"];
const OUTCOMES: [StoredOutcome; 6] = [
    StoredOutcome::First,
    StoredOutcome::Changed,
    StoredOutcome::Unchanged,
    StoredOutcome::Failed,
    StoredOutcome::Gone,
    StoredOutcome::Disallowed,
];
const STATES: [SourceState; 5] = [
    SourceState::New,
    SourceState::Good,
    SourceState::Failing,
    SourceState::Gone,
    SourceState::Disallowed,
];

fn matches(source: &Source, query: &SourceQuery) -> bool {
    (query.hosts.is_empty() || query.hosts.contains(&source.host))
        && query.tag.as_ref().is_none_or(|tag| source.tags.contains(tag))
        && query.state.is_none_or(|state| source.state == state)
        && query.paused.is_none_or(|paused| source.paused == paused)
        && query.url_contains.as_ref().is_none_or(|text| source.url.contains(text))
        && query.after.is_none_or(|after| source.id > after)
        && query.max_id.is_none_or(|max_id| source.id <= max_id)
}

pub(crate) fn queries_match_a_full_scan(store: &mut Store) {
    let mut random = Pcg64::seed_from_u64(7);
    let sources: Vec<NewSource> = (0..600)
        .map(|n| {
            let tags = TAGS.iter().filter(|_| random.random_bool(0.2)).map(|tag| tag.to_string());
            let patch = SourcePatch {
                tags: Some(tags.collect()),
                paused: Some(random.random_bool(0.1)),
                ..SourcePatch::default()
            };
            NewSource { patch, ..source(n) }
        })
        .collect();
    store.add_sources(&sources).unwrap();
    let fetches = (0..600).filter(|_| random.random_bool(0.8)).collect::<Vec<u32>>();
    let fetches = fetches
        .into_iter()
        .map(|id| FetchRecord::new(id, 10, *OUTCOMES.choose(&mut random).unwrap()));
    let fetches = fetches.collect();
    record(store, fetches);
    store.remove_sources(&[3, 5, 599]).unwrap();

    let all: Vec<Source> = (0..600).filter_map(|id| store.source(id).unwrap()).collect();
    assert_eq!(all.len(), 597);
    for _ in 0..200 {
        let pick = |random: &mut Pcg64| random.random_bool(0.3);
        let query = SourceQuery {
            hosts: match random.random_range(0..4) {
                0 => vec![random.random_range(0..61)],
                1 => (0..9).map(|_| random.random_range(0..61)).collect(),
                _ => Vec::new(),
            },
            url_prefix: pick(&mut random).then_some("https://"),
            tag: pick(&mut random).then(|| TAGS.choose(&mut random).unwrap().to_string()),
            state: pick(&mut random).then(|| *STATES.choose(&mut random).unwrap()),
            paused: pick(&mut random).then(|| random.random_bool(0.5)),
            url_contains: pick(&mut random).then(|| random.random_range(0..60).to_string()),
            after: pick(&mut random).then(|| random.random_range(0..600)),
            max_id: pick(&mut random).then(|| random.random_range(0..600)),
            limit: random.random_range(1..40),
        };
        let expect: Vec<&Source> = all.iter().filter(|source| matches(source, &query)).collect();
        assert_eq!(store.count_sources(&query).unwrap(), expect.len() as u64, "{query:?}");
        let first: Vec<u32> = expect.iter().take(query.limit).map(|source| source.id).collect();
        assert_eq!(store.source_ids(&query).unwrap(), first, "{query:?}");
        let mut found = Vec::new();
        let mut next = query.clone();
        loop {
            let page = store.list_sources(&next).unwrap();
            assert!(page.sources.len() <= query.limit);
            found.extend(page.sources);
            match page.next_after {
                Some(after) => next.after = Some(after),
                None => break,
            }
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), expect, "{query:?}");
    }
}

pub(crate) fn a_url_is_found_by_exact_match(store: &mut Store) {
    add_sources(store, 300);
    assert_eq!(store.find_source("https://host-1.example/17").unwrap(), Some(17));
    for other in ["https://host-1.example/1", "HTTPS://host-1.example/17", ""] {
        assert_eq!(store.find_source(other).unwrap(), None, "{other}");
    }
    let hostile_url = "https://host/%00?q='; DROP TABLE source; --é\u{0}";
    store.add_sources(&[NewSource::new(hostile_url, "host", 0)]).unwrap();
    assert_eq!(store.find_source(hostile_url).unwrap(), Some(300));
    assert_eq!(store.source(300).unwrap().unwrap().url, hostile_url);
}

pub(crate) fn hosts_have_ids_names_and_state(store: &mut Store) {
    add_sources(store, 35);
    let record = HostRecord { host: 2, cooldown_until: Some(77), record: vec![1, 2, 3] };
    store.record_batch(&Batch { hosts: vec![record], ..Batch::default() }).unwrap();
    let mut hosts = Vec::new();
    store.for_each_host(|host| hosts.push(host)).unwrap();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["host-0.example", "host-1.example", "host-2.example", "host-3.example"]);
    assert_eq!(hosts.iter().map(|host| host.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((hosts[2].cooldown_until, hosts[2].record.as_slice()), (Some(77), &[1, 2, 3][..]));
    assert_eq!((hosts[1].cooldown_until, hosts[1].record.len()), (None, 0));
    assert_eq!(store.find_host("host-2.example").unwrap().as_ref(), Some(&hosts[2]));
    assert_eq!(store.host(9).unwrap(), None);
}

pub(crate) fn hosts_are_found_by_name_and_port(store: &mut Store) {
    let urls = ["https://a.example/", "http://a.example/", "http://a.example:81/", "http://a.ex/"];
    for url in urls {
        let host = url.split('/').nth(2).unwrap();
        store.add_sources(&[NewSource::new(url, host, 0)]).unwrap();
    }
    let cases: [(&str, bool, Option<&'static str>, &[u32]); 5] = [
        ("a.example", true, None, &[0, 1, 2]),
        ("a.example", false, Some("https://"), &[0]),
        ("a.example", false, Some("http://"), &[1]),
        ("a.example:81", false, None, &[2]),
        ("a.example:8", false, None, &[]),
    ];
    let fetches = (0..4).map(|id| crate::changed(id, 1, b"page")).collect();
    record(store, fetches);
    for (name, any_port, scheme, expect) in cases {
        let filter = HostFilter { name: name.to_owned(), any_port, url_prefix: scheme };
        let hosts: Vec<u32> =
            store.find_hosts(&filter).unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(hosts.is_empty(), expect.is_empty(), "{filter:?}");
        if !hosts.is_empty() {
            let page = store
                .list_sources(&SourceQuery { hosts, url_prefix: scheme, ..SourceQuery::default() })
                .unwrap();
            let found: Vec<u32> = page.sources.iter().map(|it| it.id).collect();
            assert_eq!(found, expect, "{filter:?}");
        }
        let change_filter = ChangeFilter { host: Some(filter.clone()), ..ChangeFilter::default() };
        let changes = store.changes(0, 9, &change_filter).unwrap();
        let found: Vec<u32> = changes.iter().map(|it| it.source).collect();
        assert_eq!(found, expect, "{filter:?}");
        assert!(changes.iter().all(|it| filter.matches(&it.host, &it.url)), "{filter:?}");
    }
}

pub(crate) fn cooldowns_and_robots_txt_are_stored_by_name(store: &mut Store) {
    const DAY: i64 = 86_400_000;
    add_sources(store, 1);
    let cooldown = |host: &str, until| HostCooldown { host: host.to_owned(), until };
    let file = |at, byte| RobotsRecord {
        url: "https://x.example/robots.txt".to_owned(),
        at,
        record: vec![byte; 3],
    };
    let batch = |host_cooldowns, robots| Batch { host_cooldowns, robots, ..Batch::default() };
    store.record_batch(&batch(vec![cooldown("x.example", 500)], vec![file(1, 7)])).unwrap();
    store.record_batch(&batch(vec![cooldown("x.example", 900)], vec![file(2, 8)])).unwrap();
    let host = HostRecord { host: 0, cooldown_until: Some(700), record: vec![1] };
    store.record_batch(&Batch { hosts: vec![host], ..Batch::default() }).unwrap();
    assert_eq!(store.host_cooldown_until("x.example").unwrap(), Some(900));
    assert_eq!(store.host_cooldown_until("host-0.example").unwrap(), Some(700));
    assert_eq!(store.host_cooldown_until("y.example").unwrap(), None);
    assert_eq!(store.host_cooldowns(800).unwrap(), [cooldown("x.example", 900)]);
    assert_eq!(store.robots(&file(2, 8).url).unwrap(), Some(file(2, 8)));
    store.prune(29 * DAY).unwrap();
    assert_eq!(store.host_cooldown_until("x.example").unwrap(), None);
    assert_eq!(store.robots(&file(2, 8).url).unwrap(), Some(file(2, 8)));
    store.prune(31 * DAY).unwrap();
    assert_eq!(store.robots(&file(2, 8).url).unwrap(), None);
}
