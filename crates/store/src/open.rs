//! How connections are opened: one that writes, and any number that only read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::schema::{APPLICATION, Mark, STEPS};

/// How long a connection waits for a lock inside the database.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Pages in memory for each connection, in KiB.
const CACHE_WRITING: i64 = 64 << 10;
const CACHE_READING: i64 = 8 << 10;
/// Statements that are kept ready: all that there are.
const STATEMENTS: usize = 64;

/// The file itself: where symbolic links lead, so that two names have one lock.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    match (parent, path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// What all connections have in common.
fn prepare(connection: &Connection, cache: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise statements are planned anew for new values, which takes longer than they do.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// A connection that writes. It does no checkpoints by itself.
pub(crate) fn writing(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fault = |error| cannot_open(path, error);
    // One that is there, or cannot be made, is told of by SQLite.
    let _ = make_own(path);
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    // SQLite opens what it may only read without a word.
    if connection.is_readonly("main").map_err(fault)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    prepare(&connection, CACHE_WRITING).map_err(fault)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
    Ok(connection)
}

/// A new file is for its owner alone: it holds what others sign by, and what was fetched with passwords.
/// What SQLite puts beside it is treated as the file is.
pub(crate) fn make_own(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A connection that only reads.
pub(crate) fn reading(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let path = path.to_owned();
        return Err(match parent.is_none_or(Path::is_dir) {
            true => StoreError::Missing { path },
            false => StoreError::MissingDirectory { path },
        });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags| -> rusqlite::Result<(Connection, Mark)> {
        let connection = Connection::open_with_flags(name, flags)?;
        prepare(&connection, CACHE_READING)?;
        let mark = Mark::read(&connection)?;
        Ok((connection, mark))
    };
    let opened = open(path, flags).or_else(|error| {
        // Where nothing can be written, there is no place for the index of a log. Without a log
        // nothing is missed.
        let unwritable = matches!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
        );
        if !unwritable || with_suffix(path, "-wal").exists() {
            return Err(error);
        }
        open(&immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
    });
    let (connection, mark) = opened.map_err(|error| cannot_open(path, error))?;
    judge(path, &mark)?;
    let known = STEPS.len() as i64;
    if mark.empty {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    if mark.version < known {
        return Err(StoreError::OlderFormat { path: path.to_owned(), found: mark.version, known });
    }
    Ok(connection)
}

/// Refuses what is not ours, or not yet.
pub(crate) fn judge(path: &Path, mark: &Mark) -> Result<(), StoreError> {
    let (path, known) = (path.to_owned(), STEPS.len() as i64);
    if mark.empty {
        return Ok(());
    }
    if mark.application != APPLICATION {
        return Err(StoreError::ForeignDatabase { path });
    }
    if mark.version > known {
        return Err(StoreError::NewerFormat { path, found: mark.version, known });
    }
    Ok(())
}

fn immutable(path: &Path) -> PathBuf {
    let mut name = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                name.push(char::from(*byte));
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name.push_str("?immutable=1");
    name.into()
}

/// SQLite's name of the file beside it.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// SQLite says only that it cannot: the system says why.
pub(crate) fn cannot_open(path: &Path, error: rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() != Some(rusqlite::ErrorCode::CannotOpen) {
        return StoreError::from_sqlite(path, error);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if !parent.unwrap_or(Path::new(".")).is_dir() {
        return StoreError::MissingDirectory { path: path.to_owned() };
    }
    match std::fs::OpenOptions::new().read(true).write(true).open(path) {
        Err(refused) if refused.kind() != std::io::ErrorKind::NotFound => {
            StoreError::from_io(path, refused)
        }
        _ => StoreError::from_sqlite(path, error),
    }
}
