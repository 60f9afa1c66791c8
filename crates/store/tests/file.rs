//! The database file: its size, concurrent readers, and backups.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use freshet_store::{
    Batch, ChangeFilter, CompressedContent, FetchRecord, NewChange, NewSource, NewVersion, Reader,
    Retention, SourceQuery, Store, StoreError, StoredOutcome,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tempfile::TempDir;

fn temp_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("freshet.db");
    (directory, path)
}

fn open(path: &Path, sources: u32) -> Store {
    let mut store = Store::open(path, 0).unwrap();
    let source = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import_sources((0..sources).map(source)).unwrap();
    store
}

fn fetch(id: u32, at: i64, content: &[u8]) -> FetchRecord {
    let content = CompressedContent::compress(content);
    let change = NewChange {
        last_unchanged_at: None,
        first_changed_at: at,
        old_digest: None,
        new_digest: [2; 16],
        old_size: None,
        new_size: content.size(),
        similarity: 0.5,
        summary: String::new(),
    };
    let version = NewVersion { digest: [2; 16], content_kind: String::new(), content };
    let (version, change) = (Some(version), Some(change));
    FetchRecord { version, change, ..FetchRecord::new(id, at, StoredOutcome::Changed) }
}

fn record(store: &mut Store, fetches: Vec<FetchRecord>) {
    store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
}

fn noise(random: &mut Pcg64, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.random()).collect()
}

/// Returns the result of a query, read with plain SQLite.
fn query_number(path: &Path, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn equal_contents_are_stored_once() {
    let (_directory, path) = temp_path();
    let mut store = open(&path, 50);
    let same = noise(&mut Pcg64::seed_from_u64(1), 20_000);
    for at in 0..3 {
        let other = format!("other {at}");
        let content = |id| if id == 7 { other.as_bytes() } else { same.as_slice() };
        record(&mut store, (0..50).map(|id| fetch(id, at, content(id))).collect());
    }
    assert_eq!(query_number(&path, "SELECT count(*) FROM packed"), 4);
    assert_eq!(query_number(&path, "SELECT max(uses) FROM content"), 147);
    store.remove_sources(&(0..49).collect::<Vec<u32>>()).unwrap();
    assert_eq!(query_number(&path, "SELECT count(*) FROM packed"), 1);
    assert!(store.version(49, 2).unwrap().unwrap().content == same);
    store.remove_sources(&[49]).unwrap();
    assert_eq!(query_number(&path, "SELECT count(*) FROM packed"), 0);
}

#[test]
fn the_file_does_not_grow_when_versions_are_replaced() {
    let (_directory, path) = temp_path();
    let mut store = open(&path, 20);
    store.set_retention(Retention { versions_per_source: 3, ..Retention::default() });
    let mut random = Pcg64::seed_from_u64(2);
    let mut sizes = Vec::new();
    for at in 0..60 {
        let fetches = (0..20).map(|id| {
            let length = random.random_range(1_000..20_000);
            fetch(id, at, &noise(&mut random, length))
        });
        let fetches = fetches.collect();
        record(&mut store, fetches);
        store.checkpoint_wal().unwrap();
        sizes.push(fs::metadata(&path).unwrap().len());
    }
    // The change log grows by about 200 bytes per change.
    let log = 40 * 20 * 300;
    assert!(sizes[59] < sizes[19] * 5 / 4 + log, "{sizes:?}");
}

#[test]
fn excess_observations_are_pruned_while_recording() {
    let (_directory, path) = temp_path();
    let mut store = open(&path, 10);
    store.set_retention(Retention { observations_per_source: 50, ..Retention::default() });
    for at in 0..60 {
        let fetch =
            |n: i64| FetchRecord::new(n as u32 % 10, at * 1_000 + n, StoredOutcome::Unchanged);
        record(&mut store, (0..1_000).map(fetch).collect());
    }
    let rows = query_number(&path, "SELECT count(*) FROM observation");
    assert!(rows < 30_000, "{rows} of 60000");
    let times: Vec<i64> = store.history(3, 50).unwrap().iter().map(|seen| seen.at).collect();
    assert_eq!(times, (0..50).map(|n| 59_993 - 10 * n).collect::<Vec<i64>>());
}

#[test]
fn the_write_ahead_log_restarts_by_itself() {
    let (_directory, path) = temp_path();
    let mut store = open(&path, 100);
    let log = path.with_extension("db-wal");
    // Bytes 12 to 15 of the log header count its restarts.
    let restarts = || {
        let bytes = fs::read(&log).unwrap();
        u32::from_be_bytes(bytes[12..16].try_into().unwrap())
    };
    let first = restarts();
    let mut random = Pcg64::seed_from_u64(3);
    let mut written = 0;
    for at in 0.. {
        assert!(at < 2_000, "{written} bytes in a log that never restarted");
        let content = noise(&mut random, if written < 40 << 20 { 2_000_000 } else { 10 });
        written += content.len();
        record(&mut store, vec![fetch(0, at, &content)]);
        if written >= 40 << 20 && restarts() != first {
            break;
        }
    }
    store.checkpoint_wal().unwrap();
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    drop(store);
    assert!(!log.exists(), "a closed store is a single file");
}

/// Writes batches of ten changes until `stop` is set.
fn write_until(store: &mut Store, stop: &AtomicBool) -> usize {
    let mut batches = 0;
    while !stop.load(Ordering::Relaxed) {
        let content = format!("page {batches}");
        let fetches = (0..10).map(|id| fetch(id, batches as i64, content.as_bytes())).collect();
        record(store, fetches);
        batches += 1;
    }
    batches
}

#[test]
fn readers_and_backups_see_complete_batches_during_writes() {
    let (directory, path) = temp_path();
    let mut store = open(&path, 300);
    let reader = store.open_another().unwrap();
    let stop = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| write_until(&mut store, &stop));
        let all = ChangeFilter::default();
        let mut seen = 0;
        while seen < 200 {
            let now = reader.changes(0, usize::MAX, &all).unwrap().len();
            assert!(now >= seen && now.is_multiple_of(10), "{now} after {seen}");
            seen = now;
        }
        assert!(reader.check_integrity().unwrap().is_ok(), "while it is written");
        for copy in 0..3 {
            let copy = directory.path().join(format!("copy-{copy}.db"));
            Reader::open(&path).unwrap().backup(&copy, false).unwrap();
            let copied = Reader::open(&copy).unwrap();
            let now = copied.changes(0, usize::MAX, &all).unwrap().len();
            assert!(now >= seen && now.is_multiple_of(10), "{now} after {seen}");
            seen = now;
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert_eq!(store.last_cursor().unwrap(), 10 * written as i64);
    let mut restored = Store::open(&directory.path().join("copy-2.db"), 0).unwrap();
    assert!(restored.check_integrity().unwrap().is_ok());
    assert_eq!(restored.count_sources(&SourceQuery::default()).unwrap(), 300);
    assert_eq!(restored.find_source("https://example.com/299").unwrap(), Some(299));
    record(&mut restored, vec![fetch(5, 1, b"goes on")]);
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|it| it.unwrap()).collect();
    let partial = names.iter().filter(|it| it.file_name().to_string_lossy().contains("partial"));
    assert_eq!(partial.count(), 0);
}

#[test]
fn a_backup_overwrites_only_with_force() {
    let (directory, path) = temp_path();
    let store = open(&path, 3);
    let copy = directory.path().join("copy.db");
    fs::write(&copy, "precious").unwrap();
    let refused = store.backup(&copy, false).unwrap_err();
    assert!(matches!(refused, StoreError::AlreadyExists { .. }), "{refused:?}");
    assert_eq!(fs::read(&copy).unwrap(), b"precious");
    store.backup(&copy, true).unwrap();
    assert_eq!(Reader::open(&copy).unwrap().count_sources(&SourceQuery::default()).unwrap(), 3);
    // It never overwrites the store itself, under any path.
    let itself = directory.path().join(".").join("freshet.db");
    assert!(matches!(store.backup(&itself, true), Err(StoreError::AlreadyExists { .. })));
    let nowhere = directory.path().join("no/copy.db");
    assert!(matches!(store.backup(&nowhere, false), Err(StoreError::MissingDirectory { .. })));
    assert!(store.check_integrity().unwrap().is_ok());
}

#[test]
fn stores_and_readers_are_send() {
    fn sendable<T: Send>() {}
    sendable::<Store>();
    sendable::<Reader>();
}

#[test]
fn a_store_shares_its_identity_with_its_copies_only() {
    let (directory, path) = temp_path();
    let store = open(&path, 1);
    let identity = store.identity().unwrap();
    assert_eq!(identity.len(), 32);
    let copy = directory.path().join("copy.db");
    store.backup(&copy, false).unwrap();
    drop(store);
    assert_eq!(open(&path, 1).identity().unwrap(), identity);
    assert_eq!(Reader::open(&copy).unwrap().identity().unwrap(), identity);
    let (_other, path) = temp_path();
    assert_ne!(open(&path, 1).identity().unwrap(), identity);
}
