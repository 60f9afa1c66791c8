//! Errors of the store, with hints.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Error of opening, reading or writing a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error("{}: the store does not exist", path.display())]
    Missing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The directory of the file does not exist.
    #[error("{}: its directory does not exist", path.display())]
    MissingDirectory {
        /// Path of the file.
        path: PathBuf,
    },
    /// Another process has locked the store.
    #[error("{}: in use by {}", path.display(), format_holder(*process))]
    InUse {
        /// Path of the file.
        path: PathBuf,
        /// Process id of the holder, if known.
        process: Option<u32>,
    },
    /// The file is not an SQLite database.
    #[error("{}: not a database", path.display())]
    NotADatabase {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is an SQLite database of another program.
    #[error("{}: not a freshet store: an SQLite database of another program", path.display())]
    ForeignDatabase {
        /// Path of the file.
        path: PathBuf,
    },
    /// A newer version of freshet has written the file.
    #[error("{}: written by a newer version of freshet: format {found} > {known}", path.display())]
    NewerFormat {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        found: i64,
        /// Latest format that this version supports.
        known: i64,
    },
    /// An older version of freshet has written the file, and it was opened for reading only.
    #[error("{}: written by an older version of freshet: format {found} < {known}", path.display())]
    OlderFormat {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        found: i64,
        /// Format that this version reads.
        known: i64,
    },
    /// The file is damaged.
    #[error("{}: damaged: {detail}", path.display())]
    Corrupt {
        /// Path of the file.
        path: PathBuf,
        /// Error reported by SQLite.
        detail: String,
    },
    /// The file or its directory is read-only.
    #[error("{}: cannot write: the file or its directory is read-only", path.display())]
    ReadOnly {
        /// Path of the file.
        path: PathBuf,
    },
    /// The operating system denies access to the file.
    #[error("{}: permission denied", path.display())]
    PermissionDenied {
        /// Path of the file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{}: the disk is full, and the transaction was rolled back", path.display())]
    DiskFull {
        /// Path of the file.
        path: PathBuf,
    },
    /// Another program holds a lock inside the database for too long.
    #[error("{}: locked by another program", path.display())]
    Busy {
        /// Path of the file.
        path: PathBuf,
    },
    /// The target of a backup exists.
    #[error("{}: file exists", path.display())]
    AlreadyExists {
        /// Path of the file.
        path: PathBuf,
    },
    /// A value is invalid.
    #[error("{url}: invalid value of `{field}`: {value}")]
    InvalidValue {
        /// URL of the source.
        url: String,
        /// Name of the field.
        field: &'static str,
        /// Rejected value.
        value: String,
    },
    /// All ids of sources or hosts are used.
    #[error("{}: limit of {} sources or hosts reached", path.display(), u32::MAX)]
    IdsExhausted {
        /// Path of the file.
        path: PathBuf,
    },
    /// The operating system failed to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// SQLite failed for another reason.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// Path of the file.
        path: PathBuf,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
}

fn format_holder(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl StoreError {
    /// Returns a suggestion for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing { .. } => "create it with `freshet add` or `freshet run`".to_owned(),
            Self::MissingDirectory { path } => {
                let directory = path.parent().unwrap_or(Path::new("."));
                format!("create it with `mkdir -p {}`", directory.display())
            }
            Self::InUse { process: Some(pid), .. } => {
                format!("use the running daemon, or stop it with `kill {pid}`")
            }
            Self::InUse { .. } => "stop the other process, or choose another file".to_owned(),
            Self::NotADatabase { .. } => {
                "choose another file; if this one was a store, stop the daemon and replace it with a \
                 backup made by `freshet backup`"
                    .to_owned()
            }
            Self::ForeignDatabase { .. } => "choose another file".to_owned(),
            Self::NewerFormat { .. } => {
                "use the newer version of freshet, or restore an older backup".to_owned()
            }
            Self::OlderFormat { .. } => {
                "start the daemon once: it migrates the file".to_owned()
            }
            Self::Corrupt { path, .. } => format!(
                "stop the daemon and replace the file with a backup made by `freshet backup`, or recover \
                 readable data with `sqlite3 {} .recover`",
                path.display()
            ),
            Self::ReadOnly { path } | Self::PermissionDenied { path } => {
                format!("check its owner and mode with `ls -ld {}`", path.display())
            }
            Self::DiskFull { .. } => "free some space: everything written before is safe".to_owned(),
            Self::Busy { .. } => "close the other programs that write to it".to_owned(),
            Self::AlreadyExists { .. } => {
                "choose another file, or overwrite it with `--force`".to_owned()
            }
            Self::InvalidValue { .. } | Self::IdsExhausted { .. } => return None,
            Self::Io { .. } | Self::Sqlite { .. } => return None,
        };
        Some(hint)
    }

    /// Converts an error of SQLite.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        // A row that must exist is missing or has values of wrong types.
        let is_corrupt = matches!(
            source,
            rusqlite::Error::QueryReturnedNoRows
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        );
        if is_corrupt {
            return Self::Corrupt { path, detail: source.to_string() };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation) => {
                Self::Corrupt { path, detail: source.to_string() }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::PermissionDenied) => Self::PermissionDenied { path },
            _ => Self::Sqlite { path, source },
        }
    }

    /// Converts an error of the operating system.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::MissingDirectory { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }
}
