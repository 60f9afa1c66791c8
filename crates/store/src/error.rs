//! What can go wrong with the file, and the way out.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no file to read.
    #[error("{}: there is no store", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The directory of the file does not exist.
    #[error("{}: its directory does not exist", path.display())]
    MissingDirectory {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the store.
    #[error("{}: in use by {}", path.display(), holder(*process))]
    InUse {
        /// The file.
        path: PathBuf,
        /// The number of the process, if it could be found out.
        process: Option<u32>,
    },
    /// The file is something else.
    #[error("{}: not a database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is an SQLite database of another program.
    #[error("{}: an SQLite database, but not of freshet", path.display())]
    ForeignDatabase {
        /// The file.
        path: PathBuf,
    },
    /// A later freshet has written the file.
    #[error("{}: written by a newer freshet: format {found} > {known}", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// An older freshet has written the file, and it was opened to be read only.
    #[error("{}: written by an older freshet: format {found} < {known}", path.display())]
    OlderFormat {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file is damaged.
    #[error("{}: damaged: {detail}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says of it.
        detail: String,
    },
    /// The file or its directory must not be written.
    #[error("{}: cannot be written: the file or its directory is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The system does not let this user at the file.
    #[error("{}: permission denied", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// There is no room left.
    #[error("{}: the disk is full, nothing of this step was written", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds a lock inside the database for too long.
    #[error("{}: locked by another program", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// What a backup would overwrite.
    #[error("{}: exists already", path.display())]
    AlreadyExists {
        /// The file.
        path: PathBuf,
    },
    /// A value that cannot be meant.
    #[error("{url}: `{field}` cannot be {value}")]
    InvalidValue {
        /// The source.
        url: String,
        /// The field.
        field: &'static str,
        /// What it was.
        value: String,
    },
    /// There are no numbers left for sources or hosts.
    #[error("{}: more than {} sources or hosts", path.display(), u32::MAX)]
    IdsExhausted {
        /// The file.
        path: PathBuf,
    },
    /// The system failed to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite failed in another way.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
}

fn holder(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".to_owned(), |number| format!("process {number}"))
}

impl StoreError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing { .. } => "add a source or start the daemon to make one".to_owned(),
            Self::MissingDirectory { path } => {
                let directory = path.parent().unwrap_or(Path::new("."));
                format!("make it with `mkdir -p {}`", directory.display())
            }
            Self::InUse { process: Some(number), .. } => {
                format!("talk to the daemon that runs, or stop it with `kill {number}`")
            }
            Self::InUse { .. } => "stop the other process, or name another file".to_owned(),
            Self::NotADatabase { .. } => {
                "name another file; if this one was a store, stop the daemon and put a backup that \
                 `freshet backup` made in its place"
                    .to_owned()
            }
            Self::ForeignDatabase { .. } => "name another file".to_owned(),
            Self::NewerFormat { .. } => {
                "use the newer freshet, or restore an older backup".to_owned()
            }
            Self::OlderFormat { .. } => {
                "start the daemon once: it brings the file up to date".to_owned()
            }
            Self::Corrupt { path, .. } => format!(
                "stop the daemon and put a backup that `freshet backup` made in its place, or save what \
                 can be read with `sqlite3 {} .recover`",
                path.display()
            ),
            Self::ReadOnly { path } | Self::PermissionDenied { path } => {
                format!("see who owns it with `ls -ld {}`", path.display())
            }
            Self::DiskFull { .. } => "free some space: what was written before is safe".to_owned(),
            Self::Busy { .. } => "close other programs that write to it".to_owned(),
            Self::AlreadyExists { .. } => {
                "name another file, or say that it may be replaced".to_owned()
            }
            Self::InvalidValue { .. } | Self::IdsExhausted { .. } => return None,
            Self::Io { .. } | Self::Sqlite { .. } => return None,
        };
        Some(hint)
    }

    /// What SQLite said, as what it means.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        // Rows that we wrote and that are not there, or not as we wrote them.
        let unreadable = matches!(
            source,
            rusqlite::Error::QueryReturnedNoRows
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        );
        if unreadable {
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

    /// What the system said, as what it means.
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
