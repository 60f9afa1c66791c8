//! Compares the store with minimal use of plain SQLite: rows with a URL inserted in one transaction, the same rows read
//! on one thread, and one small column updated in durable batches.
//!
//! `cargo bench -p freshet-store --bench store [-- SOURCES…]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use freshet_store::{
    Batch, CompressedContent, FetchRecord, NewChange, NewSource, NewVersion, Store, StoredOutcome,
    StoredValidators,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rusqlite::{Connection, params};

/// Fetches per batch, and number of timed batches.
const BATCH: usize = 1_000;
const BATCHES: usize = 200;
/// Sources per host.
const PER_HOST: usize = 100;

fn url(at: usize) -> String {
    // URLs are not in lexical order, as in a real list.
    let name = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("https://www.host-{}.example/articles/2026/{name:016x}.html", at / PER_HOST)
}

fn sources(count: usize) -> impl Iterator<Item = NewSource> {
    (0..count).map(|at| NewSource::new(url(at), format!("www.host-{}.example", at / PER_HOST), 0))
}

/// Wall-clock and CPU seconds: they differ on a shared machine.
#[derive(Clone, Copy, Default)]
struct Elapsed {
    clock: f64,
    cpu: f64,
}

/// Runs a function and measures its time.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Elapsed) {
    let (start, before) = (Instant::now(), cpu_seconds());
    let result = work();
    (result, Elapsed { clock: start.elapsed().as_secs_f64(), cpu: cpu_seconds() - before })
}

/// Returns the CPU seconds used by this process, if the system reports them.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn main() {
    let counts: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if counts.is_empty() { vec![100_000, 1_000_000] } else { counts };
    for count in sizes {
        println!("{count} sources");
        let directory = tempfile::tempdir().unwrap();
        let plain = plain(&directory.path().join("plain.db"), count);
        ours(&directory.path().join("freshet.db"), count, &plain);
    }
}

/// Rates of plain SQLite, per second.
struct Plain {
    insert: f64,
    read: f64,
    update: f64,
}

fn plain(path: &Path, count: usize) -> Plain {
    let mut connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection
        .execute_batch("CREATE TABLE source (id INTEGER PRIMARY KEY, due INTEGER, url TEXT)")
        .unwrap();
    let ((), insert) = timed(|| {
        let transaction = connection.transaction().unwrap();
        let mut statement =
            transaction.prepare("INSERT INTO source (id, due, url) VALUES (?1, 0, ?2)").unwrap();
        for at in 0..count {
            statement.execute(params![at as i64, url(at)]).unwrap();
        }
        drop(statement);
        transaction.commit().unwrap();
    });
    let (sum, read) = timed(|| {
        let mut statement = connection.prepare("SELECT id, due FROM source").unwrap();
        let rows = statement.query_map([], |row| Ok(row.get::<_, i64>(0)? + row.get::<_, i64>(1)?));
        rows.unwrap().map(Result::unwrap).sum::<i64>()
    });
    assert_eq!(sum, (count as i64) * (count as i64 - 1) / 2);
    let mut random = Pcg64::seed_from_u64(1);
    let ((), update) = timed(|| {
        for _ in 0..BATCHES {
            let transaction = connection.transaction().unwrap();
            let mut statement =
                transaction.prepare_cached("UPDATE source SET due = ?2 WHERE id = ?1").unwrap();
            for _ in 0..BATCH {
                let id = random.random_range(0..count as i64);
                statement.execute([id, id]).unwrap();
            }
            drop(statement);
            transaction.commit().unwrap();
        }
    });
    let plain = Plain {
        insert: count as f64 / insert.clock,
        read: count as f64 / read.clock,
        update: (BATCH * BATCHES) as f64 / update.clock,
    };
    println!(
        "  plain SQLite: {:.0} inserts/s, {:.2} M rows/s read, {:.0} durable updates/s",
        plain.insert,
        plain.read / 1e6,
        plain.update
    );
    plain
}

fn ours(path: &Path, count: usize, plain: &Plain) {
    let mut store = Store::open(path, 0).unwrap();
    let (imported, seconds) = timed(|| store.import_sources(sources(count)).unwrap());
    assert_eq!(imported.added, count as u64);
    show("import", count, seconds, plain.insert);
    let again = count.min(1_000_000);
    let (imported, seconds) = timed(|| store.import_sources(sources(again)).unwrap());
    assert_eq!(imported.existing, again as u64);
    show("import of existing sources", again, seconds, plain.insert);

    load(&store, count, plain, "load, without learned state");
    let ((), seconds) = timed(|| learn_all(&mut store, count));
    show("record, all in order, batches of 100,000", count, seconds, plain.update);
    store.checkpoint_wal().unwrap();
    load(&store, count, plain, "load, with learned state");

    let mut random = Pcg64::seed_from_u64(2);
    record(&mut store, plain, "record, unchanged", |_| {
        let id = random.random_range(0..count as u32);
        FetchRecord { learned: Some(vec![7; 56]), ..fetched(id, StoredOutcome::Unchanged) }
    });
    record(&mut store, plain, "record, new snapshot", |_| {
        let id = random.random_range(0..count as u32);
        let etag = Some(format!("\"{id:032x}\""));
        FetchRecord {
            learned: Some(vec![7; 56]),
            snapshot: Some(vec![7; 176]),
            validators: Some(StoredValidators { etag, last_modified: None }),
            ..fetched(id, StoredOutcome::Unchanged)
        }
    });
    let mut page = page(&mut random);
    record(&mut store, plain, "record, changed, 10 KB stored", |n| {
        page[..8].copy_from_slice(&(n as u64).to_be_bytes());
        let id = random.random_range(0..count as u32);
        FetchRecord {
            learned: Some(vec![7; 56]),
            snapshot: Some(vec![7; 176]),
            version: Some(NewVersion {
                digest: [7; 16],
                content_kind: "text/html".to_owned(),
                content: CompressedContent::compress(&page),
            }),
            change: Some(NewChange {
                last_unchanged_at: Some(0),
                first_changed_at: 1,
                old_digest: None,
                new_digest: [7; 16],
                old_size: None,
                new_size: page.len() as u64,
                similarity: 0.9,
                summary: "a paragraph was added".to_owned(),
            }),
            ..fetched(id, StoredOutcome::Changed)
        }
    });
    let ids: Vec<u32> = (0..100_000).map(|_| random.random_range(0..count as u32)).collect();
    let (jobs, seconds) = timed(|| store.fetch_jobs(&ids).unwrap().len());
    println!("  jobs: {:.0}/s", jobs as f64 / seconds.clock);
    let wal = fs::metadata(path.with_extension("db-wal")).map_or(0, |it| it.len());
    drop(store);
    let size = fs::metadata(path).unwrap().len();
    println!("  file {} MB, log {} MB, peak memory {} MB", size >> 20, wal >> 20, peak());
}

fn fetched(id: u32, outcome: StoredOutcome) -> FetchRecord {
    FetchRecord {
        status: 200,
        bytes: 10_000,
        duration_ms: 120,
        due_at: Some(86_400_000),
        ..FetchRecord::new(id, 1_000_000, outcome)
    }
}

/// Returns text that compresses like a page.
fn page(random: &mut Pcg64) -> Vec<u8> {
    let words =
        ["river ", "water ", "stream ", "<p>", "</p>\n", "of the ", "fresh ", "and ", "to "];
    let mut page = Vec::new();
    while page.len() < 10_000 {
        page.extend_from_slice(words[random.random_range(0..words.len())].as_bytes());
        page.extend_from_slice(random.random_range(0..100_u32).to_string().as_bytes());
    }
    page
}

fn load(store: &Store, count: usize, plain: &Plain, label: &str) {
    let best = (0..3).map(|_| {
        let mut rows = 0;
        let ((), seconds) =
            timed(|| store.load_schedule(|row| rows += usize::from(row.cost > 0.0)).unwrap());
        assert_eq!(rows, count);
        seconds
    });
    let best = best.min_by(|a, b| a.clock.total_cmp(&b.clock)).unwrap();
    show(label, count, best, plain.read);
}

fn learn_all(store: &mut Store, count: usize) {
    for first in (0..count as u32).step_by(100_000) {
        let last = (first + 100_000).min(count as u32);
        let fetches = (first..last).map(|id| FetchRecord {
            learned: Some(vec![7; 56]),
            ..fetched(id, StoredOutcome::Unchanged)
        });
        store.record_batch(&Batch { fetches: fetches.collect(), ..Batch::default() }).unwrap();
    }
}

fn record(
    store: &mut Store,
    plain: &Plain,
    label: &str,
    mut next: impl FnMut(usize) -> FetchRecord,
) {
    let (mut all, mut longest) = (Elapsed::default(), Vec::new());
    for batch in 0..BATCHES {
        let fetches = (0..BATCH).map(|at| next(batch * BATCH + at)).collect();
        let batch = Batch { fetches, ..Batch::default() };
        let (_, elapsed) = timed(|| store.record_batch(&batch).unwrap());
        all.clock += elapsed.clock;
        all.cpu += elapsed.cpu;
        longest.push(elapsed.clock);
    }
    show(label, BATCH * BATCHES, all, plain.update);
    longest.sort_unstable_by(f64::total_cmp);
    println!(
        "    batch time: half below {:.1} ms, 99 % below {:.1} ms, longest {:.1} ms",
        1e3 * longest[BATCHES / 2],
        1e3 * longest[BATCHES * 99 / 100],
        1e3 * longest[BATCHES - 1]
    );
}

fn show(label: &str, count: usize, elapsed: Elapsed, plain: f64) {
    let rate = count as f64 / elapsed.clock;
    let each = 1e6 * elapsed.cpu / count as f64;
    let times = plain / rate;
    println!("  {label}: {rate:.0}/s, {times:.2} times plain SQLite, {each:.2} µs of CPU each");
}

/// Returns the peak memory of the process, in MB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) >> 10
}
