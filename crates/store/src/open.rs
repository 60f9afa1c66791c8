//! Opens connections: one writer, and any number of readers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::schema::{APPLICATION_ID, FileHeader, MIGRATIONS};

/// Time for which a connection waits for a lock inside the database.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Page cache of each connection, in KiB.
const WRITER_CACHE_KIB: i64 = 64 << 10;
const READER_CACHE_KIB: i64 = 8 << 10;
/// Prepared statements cached by each connection: more than the crate has.
const STATEMENT_CACHE_SIZE: usize = 64;

/// Resolves symbolic links, so that two names of one file share one lock.
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

/// Applies the settings that all connections share.
fn configure(connection: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    // Without it statements are planned again for new values, which takes longer than running them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Opens a connection for writing. It runs no checkpoints by itself.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open_error = |error| cannot_open(path, error);
    // SQLite reports a file that exists already or cannot be created.
    let _ = create_private(path);
    let connection = Connection::open_with_flags(path, flags).map_err(open_error)?;
    // SQLite silently opens a file without write permission as read-only.
    if connection.is_readonly("main").map_err(open_error)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    configure(&connection, WRITER_CACHE_KIB).map_err(open_error)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(open_error)?;
    Ok(connection)
}

/// Creates a file that only its owner can read: it holds signing keys, and pages that were fetched with passwords.
/// SQLite gives the files beside it the same mode.
pub(crate) fn create_private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a connection for reading only.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let path = path.to_owned();
        return Err(match parent.is_none_or(Path::is_dir) {
            true => StoreError::Missing { path },
            false => StoreError::MissingDirectory { path },
        });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let try_open = |name: &Path, flags| -> rusqlite::Result<(Connection, FileHeader)> {
        let connection = Connection::open_with_flags(name, flags)?;
        configure(&connection, READER_CACHE_KIB)?;
        let header = FileHeader::from_connection(&connection)?;
        Ok((connection, header))
    };
    let opened = try_open(path, flags).or_else(|error| {
        // In a read-only directory SQLite cannot create the index of the write-ahead log. Without a log the
        // database file alone is complete.
        let unwritable = matches!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
        );
        if !unwritable || with_suffix(path, "-wal").exists() {
            return Err(error);
        }
        try_open(&immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
    });
    let (connection, header) = opened.map_err(|error| cannot_open(path, error))?;
    check_format(path, &header)?;
    let known = MIGRATIONS.len() as i64;
    if header.is_empty {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    if header.format_version < known {
        return Err(StoreError::OlderFormat {
            path: path.to_owned(),
            found: header.format_version,
            known,
        });
    }
    Ok(connection)
}

/// Refuses databases of other programs and of newer formats.
pub(crate) fn check_format(path: &Path, header: &FileHeader) -> Result<(), StoreError> {
    let (path, known) = (path.to_owned(), MIGRATIONS.len() as i64);
    if header.is_empty {
        return Ok(());
    }
    if header.application_id != APPLICATION_ID {
        return Err(StoreError::ForeignDatabase { path });
    }
    if header.format_version > known {
        return Err(StoreError::NewerFormat { path, found: header.format_version, known });
    }
    Ok(())
}

fn immutable_uri(path: &Path) -> PathBuf {
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

/// Name of a file that SQLite keeps beside the database, such as `-wal`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Finds out from the operating system why SQLite cannot open a file.
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
