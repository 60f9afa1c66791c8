//! Errors of tables, with their positions.

mod fault;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::column::{Column, nearest};
pub use fault::{Fault, Quoted};

/// Position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line number, starting at 1.
    Line(u64),
    /// Row number, starting at 1, for formats without lines.
    Row(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "on line {line}"),
            Self::Row(row) => write!(f, "in row {row}"),
        }
    }
}

/// A position in a named file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path as given, or `standard input`.
    pub file: String,
    /// Position in the file.
    pub position: Position,
}

impl Place {
    pub(crate) fn line(file: &str, line: u64) -> Self {
        Self { file: file.to_owned(), position: Position::Line(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Position::Line(line) => write!(f, "{}:{line}", self.file),
            Position::Row(row) => write!(f, "{}: row {row}", self.file),
        }
    }
}

/// Error of reading or writing a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Reading failed.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// Name of the input.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Writing failed.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// File to write.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Unknown file extension.
    #[error(
        "{}: unknown extension (known: .csv, .tsv, .jsonl, .ndjson, each also with .gz, and .parquet)",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file name is not that of a trace.
    #[error("{}: a trace is a file named .csv or .csv.gz", path.display())]
    NotATrace {
        /// The file.
        path: PathBuf,
    },
    /// The file has no header.
    #[error("{file}: empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The table has a header and no rows.
    #[error("{file}: no sources")]
    NoSources {
        /// The file.
        file: String,
    },
    /// The number of rows does not fit in 32 bits.
    #[error("{file}: more than {} sources", u32::MAX)]
    TooManySources {
        /// The file.
        file: String,
    },
    /// The table has unknown columns.
    #[error("{file}: {}", unknown_columns(names, known))]
    UnknownColumns {
        /// File, and line if the format has no header.
        file: String,
        /// Names of the columns.
        names: Vec<String>,
        /// Names that exist.
        known: Vec<&'static str>,
    },
    /// A column occurs twice.
    #[error("{file}: column `{name}` occurs twice")]
    DuplicateColumn {
        /// File, and line if the format has no header.
        file: String,
        /// Name of the column.
        name: String,
    },
    /// A required column is missing.
    #[error("{file}: no column `{name}`")]
    MissingColumn {
        /// The file.
        file: String,
        /// Name of the column.
        name: &'static str,
    },
    /// A row has more or fewer cells than the header.
    #[error("{at}: {}, but {expected} expected", cells(*found))]
    Ragged {
        /// Number of the row.
        at: Place,
        /// Its number of cells.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// The file is not valid text.
    #[error("{at}: not UTF-8")]
    NotUtf8 {
        /// Line number.
        at: Place,
    },
    /// A quote is not closed.
    #[error("{at}: a quote is opened here and not closed")]
    UnclosedQuote {
        /// Row in which the quote is opened.
        at: Place,
    },
    /// A row is too long.
    #[error("{at}: a row of more than {} MiB", limit >> 20)]
    TooLong {
        /// Number of the row.
        at: Place,
        /// Limit in bytes.
        limit: usize,
    },
    /// Invalid value.
    #[error("{at}: {column}: {fault}")]
    Value {
        /// Number of the row.
        at: Place,
        /// Name of the column.
        column: &'static str,
        /// Reason.
        fault: Fault,
    },
    /// A line is not a JSON object.
    #[error("{at}: not a JSON object: {message}{}", column_if_known(*column))]
    Json {
        /// The line.
        at: Place,
        /// Byte in the line, starting at 1; 0 for the whole line.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// The file is not a Parquet file, or is damaged.
    #[error("{file}: not a readable Parquet file: {message}")]
    Parquet {
        /// The file.
        file: String,
        /// Message of the decoder.
        message: String,
    },
    /// A Parquet column has an unsupported type.
    #[error("{file}: {column}: a column of type {found}, but {expected} expected")]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: Column,
        /// Type of the column.
        found: String,
        /// Supported types.
        expected: &'static str,
    },
    /// A directory lacks the files of the PoliteCrawling data set.
    #[error("{}: no file {}", directory.display(), names.join(" or "))]
    MissingFile {
        /// The directory.
        directory: PathBuf,
        /// File names, of which one is required.
        names: &'static [&'static str],
    },
}

impl TableError {
    pub(crate) fn read(file: &str, source: io::Error) -> Self {
        Self::Read { file: file.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Returns a hint about what to do, if the message does not imply it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownColumns { names, .. }
                if names.len() == 1 && names[0].contains([';', '\t']) =>
            {
                "separate the cells by commas, or name the file .tsv if they are separated by tabs"
            }
            Self::UnknownColumns { known, .. } if known.contains(&Column::ChangeRate.name()) => {
                "use --ignore-extra to skip columns that freshet does not know"
            }
            Self::Ragged { .. } => "put values that hold the separator in double quotes",
            Self::NotUtf8 { .. } => "save the file as UTF-8",
            Self::UnclosedQuote { .. } | Self::TooLong { .. } => {
                "close the quote, or double it and quote the cell if it belongs to the value"
            }
            Self::NotATrace { path } if path.is_dir() => {
                return Some(format!(
                    "if it is a git repository, make a trace of it: `freshet trace git {} -o \
                     trace.csv`",
                    path.display()
                ));
            }
            Self::NotATrace { .. } => "choose a name such as trace.csv.gz",
            Self::Value { fault, .. } => return fault.hint().map(str::to_owned),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl Fault {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OutOfRange(_) => Some("use 0 where it means none: plans cannot tell it from 0"),
            Self::Duplicate { .. } => Some("keep one of the two rows"),
            Self::TooLate(_) => Some("give seconds, not milliseconds"),
            Self::UnknownPage { .. } => {
                Some("give the file of pages that belongs to the trace, with a row for each page")
            }
            Self::OtherCount { .. } => Some(
                "give the file of pages that belongs to the trace; if the trace was cut on \
                 purpose, remove the column n_changes",
            ),
            _ => None,
        }
    }
}

/// Largest number of unknown columns that a message lists.
const MOST_NAMES: usize = 20;

fn column_if_known(column: usize) -> String {
    if column == 0 { String::new() } else { format!(" at column {column}") }
}

fn cells(count: usize) -> String {
    if count == 1 { "1 cell".to_owned() } else { format!("{count} cells") }
}

fn unknown_columns(names: &[String], known: &[&str]) -> String {
    let shown = &names[..names.len().min(MOST_NAMES)];
    let quoted: Vec<String> = shown.iter().map(|name| Quoted::new(name).to_string()).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let meant: Vec<String> = shown
        .iter()
        .zip(&quoted)
        .filter_map(|(name, shown)| {
            let near = nearest(name, known)?;
            let which = if names.len() == 1 { String::new() } else { format!(" for {shown}") };
            Some(format!("; did you mean `{near}`{which}?"))
        })
        .collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    format!(
        "unknown column{plural} {}{more} (known: {}{})",
        quoted.join(", "),
        known.join(", "),
        meant.concat()
    )
}
