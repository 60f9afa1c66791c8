use freshet_store::{Retention, Store};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{add_sources, changed, digest, record};

const DAY: i64 = 86_400_000;

fn numbers(store: &Store, id: u32) -> Vec<u32> {
    store.versions(id).unwrap().iter().map(|version| version.number).collect()
}

pub(crate) fn content_is_returned_unchanged(store: &mut Store) {
    add_sources(store, 2);
    let mut random = Pcg64::seed_from_u64(3);
    let noise: Vec<u8> = (0..300_000).map(|_| random.random()).collect();
    let contents: [&[u8]; 6] =
        [b"", b"x", &noise, &[0; 1 << 20], "größe \u{0} \u{fffd}".as_bytes(), &noise[..299_999]];
    for (at, content) in contents.iter().enumerate() {
        record(store, vec![changed(0, at as i64, content), changed(1, at as i64, content)]);
    }
    for (n, content) in (1..).zip(contents) {
        for id in [0, 1] {
            let version = store.version(id, n).unwrap().unwrap();
            assert!(version.content == content, "version {n}");
            assert_eq!(version.meta.size, content.len() as u64);
            assert_eq!(version.meta.digest, digest(content));
            assert_eq!(
                (version.meta.first_seen_at, version.meta.content_kind.as_str()),
                (i64::from(n) - 1, "text")
            );
        }
    }
    assert_eq!(numbers(store, 0), [6, 5, 4, 3, 2, 1]);
    assert_eq!(store.version(0, 7).unwrap(), None);
    store.remove_sources(&[0]).unwrap();
    assert!(store.version(1, 3).unwrap().unwrap().content == noise);
}

pub(crate) fn the_newest_versions_are_kept(store: &mut Store) {
    add_sources(store, 2);
    store.set_retention(Retention { versions_per_source: 3, ..Retention::default() });
    for at in 0..8 {
        record(store, vec![changed(0, at, format!("page {at}").as_bytes())]);
    }
    assert_eq!(numbers(store, 0), [8, 7, 6]);
    assert_eq!(store.version(0, 6).unwrap().unwrap().content, b"page 5");
    assert_eq!(store.version(0, 5).unwrap(), None);
    store.set_retention(Retention { versions_per_source: 0, ..Retention::default() });
    while store.prune(10).unwrap().has_more {}
    assert_eq!(numbers(store, 0), [8]);
}

pub(crate) fn old_versions_are_pruned_except_the_newest(store: &mut Store) {
    add_sources(store, 3);
    store.set_retention(Retention {
        versions_per_source: 100,
        version_days: 10.0,
        ..Retention::default()
    });
    for day in 0..15 {
        record(store, vec![changed(0, day * DAY, format!("page {day}").as_bytes())]);
    }
    // On day 14, versions of day 4 and later are at most ten days old.
    assert_eq!(numbers(store, 0), (5..=15).rev().collect::<Vec<u32>>());
    record(store, vec![changed(1, 0, b"old"), changed(1, DAY, b"also old")]);
    while store.prune(20 * DAY).unwrap().has_more {}
    assert_eq!(numbers(store, 0), [15, 14, 13, 12, 11]);
    assert_eq!(numbers(store, 1), [2]);
    while store.prune(1_000 * DAY).unwrap().has_more {}
    assert_eq!(numbers(store, 0), [15]);
    assert_eq!(store.version(1, 2).unwrap().unwrap().content, b"also old");
}

pub(crate) fn pruning_ends(store: &mut Store) {
    add_sources(store, 40);
    for at in 0..100 {
        let fetches = (0..40).map(|id| changed(id, at, format!("{id} {at}").as_bytes())).collect();
        record(store, fetches);
    }
    let mut steps = 0;
    while store.prune(100).unwrap().has_more {
        steps += 1;
        assert!(steps < 100, "no end");
    }
    assert_eq!(store.history(39, 1_000).unwrap().len(), 100);
    assert_eq!(numbers(store, 39).len(), 10);
}
