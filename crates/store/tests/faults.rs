//! Files that cannot be opened or written: each gets an error with a hint, and existing data is not harmed.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use freshet_store::{
    Batch, ChangeFilter, CompressedContent, FetchRecord, NewSource, NewVersion, Reader, Retention,
    SourceQuery, Store, StoreError, StoredOutcome,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tempfile::TempDir;

fn temp_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("freshet.db");
    (directory, path)
}

fn fetch(id: u32, at: i64, content: &[u8]) -> FetchRecord {
    let content = CompressedContent::compress(content);
    let version = NewVersion { digest: [1; 16], content_kind: "text".to_owned(), content };
    FetchRecord { version: Some(version), ..FetchRecord::new(id, at, StoredOutcome::Changed) }
}

/// Creates and closes a store with sources and versions.
fn create_filled(path: &Path) {
    let mut store = Store::open(path, 0).unwrap();
    let source = |n| NewSource::new(format!("https://example.com/{n}"), "example.com", 0);
    store.import_sources((0..600).map(source)).unwrap();
    let fetches = (0..200).map(|id| fetch(id, 1, format!("page {id}").as_bytes())).collect();
    store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
}

/// Checks the message and the hint of an error.
#[track_caller]
fn check(error: &StoreError, path: &Path, message: &str, hint: &str) {
    let expect = format!("{}: {message}", path.canonicalize().as_deref().unwrap_or(path).display());
    assert_eq!(error.to_string(), expect);
    let found_hint = error.hint().unwrap_or_default();
    assert!(found_hint.contains(hint), "{found_hint}");
}

#[test]
fn a_missing_directory_is_reported() {
    let (directory, _) = temp_path();
    let path = directory.path().join("no/such/freshet.db");
    let error = Store::open(&path, 0).unwrap_err();
    assert!(matches!(error, StoreError::MissingDirectory { .. }));
    check(&error, &path, "its directory does not exist", "mkdir -p");
}

#[test]
fn a_reader_needs_an_existing_store() {
    let (_directory, path) = temp_path();
    let error = Reader::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!path.exists());
    File::create(&path).unwrap();
    assert!(matches!(Reader::open(&path), Err(StoreError::Missing { .. })));
    // An empty file becomes a store.
    Store::open(&path, 0).unwrap();
    Reader::open(&path).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_not_changed() {
    let (_directory, path) = temp_path();
    for text in ["importance = 5\n".to_owned(), "not a database\n".repeat(1_000)] {
        fs::write(&path, &text).unwrap();
        for error in [Store::open(&path, 0).unwrap_err(), Reader::open(&path).unwrap_err()] {
            assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
            check(&error, &path, "not a database", "another file");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_database_of_another_program_is_not_changed() {
    let (_directory, path) = temp_path();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE source (id INTEGER); PRAGMA user_version = 1").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    for error in [Store::open(&path, 0).unwrap_err(), Reader::open(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::ForeignDatabase { .. }), "{error:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_a_newer_format_is_refused() {
    let (_directory, path) = temp_path();
    create_filled(&path);
    let known = {
        let raw = rusqlite::Connection::open(&path).unwrap();
        let known: i64 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        raw.pragma_update(None, "user_version", known + 1).unwrap();
        known
    };
    let message = format!("written by a newer version of freshet: format {} > {known}", known + 1);
    for error in [Store::open(&path, 0).unwrap_err(), Reader::open(&path).unwrap_err()] {
        check(&error, &path, &message, "newer version");
    }
}

#[test]
fn a_second_writer_is_refused_under_any_path() {
    let (directory, path) = temp_path();
    let store = Store::open(&path, 0).unwrap();
    let link = directory.path().join("link.db");
    symlink(&path, &link).unwrap();
    for name in [&path, &link] {
        let error = Store::open(name, 0).unwrap_err();
        let message = format!("in use by process {}", process::id());
        check(&error, &path, &message, &format!("kill {}", process::id()));
    }
    Reader::open(&link).unwrap();
    drop(store);
    Store::open(&link, 0).unwrap();
}

#[test]
fn a_full_disk_rolls_back_the_batch() {
    let (_directory, path) = temp_path();
    create_filled(&path);
    let mut store = Store::open(&path, 0).unwrap();
    store.limit_size(1 << 20).unwrap();
    store.set_retention(Retention { versions_per_source: 1_000, ..Retention::default() });
    let mut random = Pcg64::seed_from_u64(1);
    let mut recorded = 0;
    let error = loop {
        let content: Vec<u8> = (0..50_000).map(|_| random.random()).collect();
        let fetches = vec![
            FetchRecord::new(500, recorded, StoredOutcome::Unchanged),
            fetch(501, recorded, &content),
        ];
        match store.record_batch(&Batch { fetches, ..Batch::default() }) {
            Ok(_) => recorded += 1,
            Err(error) => break error,
        }
        assert!(recorded < 1_000, "no limit");
    };
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    check(
        &error,
        &path,
        "the disk is full, and the transaction was rolled back",
        "free some space",
    );
    for id in [500, 501] {
        assert_eq!(store.source(id).unwrap().unwrap().fetches, recorded as u64);
    }
    assert!(store.check_integrity().unwrap().is_ok());
    // After the limit is raised, writes succeed again.
    store.limit_size(u64::MAX).unwrap();
    let fetches = vec![fetch(501, recorded, &[7; 50_000])];
    store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
    assert_eq!(store.source(501).unwrap().unwrap().fetches, recorded as u64 + 1);
}

/// Reads everything in the store. Returns the result of the integrity check.
fn read_all(path: &Path) -> Result<bool, StoreError> {
    let reader = Reader::open(path)?;
    reader.load_schedule(|_| ())?;
    reader.for_each_host(|_| ())?;
    let all = SourceQuery { limit: 10_000, ..SourceQuery::default() };
    for source in reader.list_sources(&all)?.sources {
        reader.fetch_job(source.id)?;
        reader.find_source(&source.url)?;
        reader.history(source.id, 10)?;
        for version in reader.versions(source.id)? {
            reader.version(source.id, version.number)?;
        }
    }
    reader.changes(0, 10_000, &ChangeFilter::default())?;
    Ok(reader.check_integrity()?.is_ok())
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let (_directory, path) = temp_path();
    create_filled(&path);
    let whole = fs::read(&path).unwrap();
    let mut random = Pcg64::seed_from_u64(2);
    let mut noticed = 0;
    for _ in 0..30 {
        let mut bytes = whole.clone();
        let page = random.random_range(1..bytes.len() / 4_096) * 4_096;
        // Damage the page header, or any part of the page.
        let range = if random.random() { 0..16 } else { 0..4_096 };
        for _ in 0..8 {
            bytes[page + random.random_range(range.clone())] = random.random();
        }
        fs::write(&path, &bytes).unwrap();
        match read_all(&path) {
            Ok(good) => noticed += usize::from(!good),
            Err(StoreError::Corrupt { detail, .. }) => {
                assert!(!detail.is_empty());
                noticed += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
        // Opening for writing returns a store or an error as well.
        if let Ok(mut store) = Store::open(&path, 0) {
            let fetches = (0..600).map(|id| fetch(id, 9, b"page")).collect();
            if let Err(error) = store.record_batch(&Batch { fetches, ..Batch::default() }) {
                assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
            }
        }
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }
    assert!(noticed > 15, "{noticed} of 30");
}

#[test]
fn a_truncated_file_is_damaged() {
    let (_directory, path) = temp_path();
    create_filled(&path);
    let length = fs::metadata(&path).unwrap().len();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(length / 2 / 4_096 * 4_096).unwrap();
    file.seek(SeekFrom::Start(length / 4)).unwrap();
    file.write_all(&[0; 4_096]).unwrap();
    drop(file);
    match read_all(&path) {
        Ok(good) => assert!(!good),
        Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}"),
    }
}

/// Files without write permission. Root may write all files: as root, the test runs in a child process of another
/// user.
#[test]
fn read_only_files_can_be_read() {
    if std::env::var_os("FRESHET_STORE_UNPRIVILEGED").is_none() && can_write_read_only_files() {
        let executable = std::env::current_exe().unwrap();
        let mut child = Command::new(executable);
        child.args(["--exact", "read_only_files_can_be_read"]).uid(65_534).gid(65_534);
        child.env("FRESHET_STORE_UNPRIVILEGED", "1");
        // If that user cannot run the test binary, nothing is tested.
        if let Ok(output) = child.output() {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    }
    let (directory, path) = temp_path();
    create_filled(&path);
    fs::remove_file(path.with_extension("db.lock")).unwrap();
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(&path, 0o444);
    let error = Store::open(&path, 0).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(read_all(&path).unwrap());

    fs::remove_file(path.with_extension("db.lock")).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    allow(directory.path(), 0o555);
    let error = Store::open(&path, 0).unwrap_err();
    assert!(matches!(error, StoreError::PermissionDenied { .. }), "{error:?}");
    assert!(read_all(&path).unwrap());
    let backup = Reader::open(&path).unwrap().backup(&directory.path().join("copy.db"), false);
    assert!(matches!(backup, Err(StoreError::PermissionDenied { .. })), "{backup:?}");
    allow(&path, 0o000);
    let error = Reader::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::PermissionDenied { .. }), "{error:?}");
    allow(directory.path(), 0o755);
}

fn can_write_read_only_files() -> bool {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o444)).unwrap();
    OpenOptions::new().write(true).open(file.path()).is_ok()
}
