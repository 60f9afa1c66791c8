//! A writer is killed at random moments: acknowledged batches are stored, no batch is stored in part, and no cursor is
//! reused.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, HashMap};
use std::hint::spin_loop;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use freshet_store::{
    Batch, ChangeFilter, CompressedContent, FetchRecord, HostRecord, LedgerEntry, NewChange,
    NewSource, NewVersion, Retention, Store, StoredOutcome,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const SOURCES: u32 = 200;
const FETCHES: usize = 20;
/// Number of kills, unless `FRESHET_STORE_ROUNDS` is set.
const ROUNDS: u64 = 16;

fn page(source: u32, batch: u64) -> Vec<u8> {
    let mut random = Pcg64::seed_from_u64(batch << 32 | u64::from(source));
    (0..random.random_range(0..9_000)).map(|_| random.random_range(b'a'..=b'h')).collect()
}

fn batch(number: u64) -> Batch {
    let mut random = Pcg64::seed_from_u64(number);
    let fetches = (0..FETCHES).map(|_| {
        let source = random.random_range(0..SOURCES);
        let content = page(source, number);
        FetchRecord {
            learned: Some(number.to_be_bytes().to_vec()),
            snapshot: Some(number.to_be_bytes().to_vec()),
            change: Some(NewChange {
                last_unchanged_at: None,
                first_changed_at: number as i64,
                old_digest: None,
                new_digest: [number as u8; 16],
                old_size: None,
                new_size: content.len() as u64,
                similarity: 0.0,
                summary: number.to_string(),
            }),
            version: Some(NewVersion {
                digest: [number as u8; 16],
                content_kind: String::new(),
                content: CompressedContent::compress(&content),
            }),
            ..FetchRecord::new(source, number as i64, StoredOutcome::Changed)
        }
    });
    Batch {
        fetches: fetches.collect(),
        hosts: vec![HostRecord {
            host: 0,
            cooldown_until: None,
            record: number.to_be_bytes().to_vec(),
        }],
        engine_checkpoint: Some(number.to_be_bytes().to_vec()),
        ledger: vec![LedgerEntry { at: number as i64, fetches: FETCHES as f64, bytes: 0 }],
        ..Batch::default()
    }
}

/// The process that is killed; not a test of its own.
#[test]
#[ignore = "run by the test beside it"]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os("FRESHET_STORE_CRASH") else { return };
    let mut store = Store::open(Path::new(&path), 0).unwrap();
    store.set_retention(Retention {
        versions_per_source: 3,
        observations_per_source: 5,
        ..Retention::default()
    });
    let source = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import_sources((0..SOURCES).map(source)).unwrap();
    let checkpoint = store.engine_checkpoint().unwrap().unwrap_or_default();
    let mut next = checkpoint.try_into().map_or(0, u64::from_be_bytes) + 1;
    let mut out = std::io::stdout();
    loop {
        let recorded = store.record_batch(&batch(next)).unwrap();
        let last = recorded.cursors.last().copied().flatten().unwrap();
        writeln!(out, "\nacknowledged {next} {last}").unwrap();
        out.flush().unwrap();
        match next % 10 {
            3 => drop(store.checkpoint_wal().unwrap()),
            6 => drop(store.prune(next as i64).unwrap()),
            9 => drop(
                store.import_sources((next as u32..).take(50).map(|n| source(1_000 + n))).unwrap(),
            ),
            _ => {}
        }
        next += 1;
    }
}

/// Lets the process write for a while and kills it. Returns the last acknowledged batch and cursor.
fn run_and_kill(path: &Path, random: &mut Pcg64) -> Option<(u64, i64)> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "--nocapture", "writes_until_it_is_killed"]);
    child.env("FRESHET_STORE_CRASH", path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    let mut read = |line: String| {
        let mut words = line.strip_prefix("acknowledged ")?.split(' ');
        last = Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?));
        last
    };
    for _ in 0..random.random_range(0..12) {
        while let Some(Ok(line)) = lines.next() {
            if read(line).is_some() {
                break;
            }
        }
    }
    for _ in 0..random.random_range(0..3_000_000) {
        spin_loop();
    }
    child.kill().unwrap();
    // Lines written before the kill count as well. The last one may be incomplete.
    while let Some(Ok(line)) = lines.next() {
        if line.starts_with("acknowledged ") && line.split(' ').count() == 3 {
            read(line);
        }
    }
    assert!(!child.wait().unwrap().success());
    last
}

fn check_store(path: &Path, acknowledged: u64, cursor: i64) -> u64 {
    let store = Store::open(path, 0).unwrap();
    let health = store.check_integrity().unwrap();
    assert!(health.is_ok(), "{:?}", health.faults);
    let log = store.changes(0, usize::MAX, &ChangeFilter::default()).unwrap();
    assert!(log.is_sorted_by(|a, b| a.cursor < b.cursor));
    assert!(store.last_cursor().unwrap() >= cursor);
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    let mut newest: HashMap<u32, u64> = HashMap::new();
    let mut fetches: HashMap<u32, u64> = HashMap::new();
    for change in &log {
        let number = change.change.summary.parse().unwrap();
        *sizes.entry(number).or_default() += 1;
        newest.insert(change.source, number);
        *fetches.entry(change.source).or_default() += 1;
    }
    let last = sizes.keys().last().copied().unwrap_or(0);
    assert!(last >= acknowledged, "{last} < {acknowledged}");
    let complete: Vec<(u64, usize)> = (1..=last).map(|number| (number, FETCHES)).collect();
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), complete, "each batch once, and complete");
    if last == 0 {
        return 0;
    }
    assert_eq!(store.engine_checkpoint().unwrap(), Some(last.to_be_bytes().to_vec()));
    assert_eq!(store.host(0).unwrap().unwrap().record, last.to_be_bytes());
    let ledger = store.ledger(0).unwrap();
    assert_eq!(ledger.len() as u64, last);
    for (source, number) in newest {
        let job = store.fetch_job(source).unwrap().unwrap();
        assert_eq!(job.snapshot, number.to_be_bytes());
        assert_eq!(store.source(source).unwrap().unwrap().fetches, fetches[&source]);
        assert_eq!(u64::from(job.version), fetches[&source]);
        let version = store.version(source, job.version).unwrap().unwrap();
        assert!(version.content == page(source, number));
        assert_eq!(store.history(source, 1).unwrap()[0].at, number as i64);
    }
    last
}

#[test]
fn acknowledged_batches_survive_and_none_is_partial() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("freshet.db");
    let mut random = Pcg64::seed_from_u64(20_030_415);
    let (mut acknowledged, mut cursor, mut rounds) = (0, 0, 0);
    let kills = std::env::var("FRESHET_STORE_ROUNDS").ok().and_then(|text| text.parse().ok());
    let kills = kills.unwrap_or(ROUNDS);
    for _ in 0..kills {
        if let Some((number, last)) = run_and_kill(&path, &mut random) {
            assert!(number > acknowledged && last > cursor);
            (acknowledged, cursor) = (number, last);
            rounds += 1;
        }
        acknowledged = check_store(&path, acknowledged, cursor).max(acknowledged);
    }
    assert!(rounds > kills / 2, "{rounds} rounds wrote anything");
}
