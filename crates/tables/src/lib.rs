//! Table files in, columns out; columns in, table files out.
//!
//! Reads CSV, TSV, JSON lines, Parquet, and the PoliteCrawling data set from files or standard
//! input. Returns a [`freshet_model::SourceTable`] with validated values, or the first
//! error with its file, line, column and value. Writes plans and other columns
//! to files, atomically. Reads and writes traces of changes, and reads
//! them from the history of a git repository. Reads lists of URLs: plain text, OPML and
//! sitemaps. Contains no mathematics and reads no clock or network.
//!
//! | column | values | default |
//! | --- | --- | --- |
//! | `id` | text or integer, each once | the row number |
//! | `importance` | 0 or more | 1 |
//! | `change_rate` | 0 or more, per day | must be given |
//! | `complete` | 0, 1, true or false | 0 |
//! | `host` | text or integer | no host |
//! | `cost` | more than 0 | 1 |
//! | `min_rate` | 0 or more | 0 |
//! | `max_rate` | `min_rate` or more, `inf` is no limit | `inf` |
//!
//! A cell without a value (empty, or null) takes the default. Sources without a host share the
//! empty name in [`freshet_model::HostColumn::names`], which is not a host and has no limit. Numbers other
//! than 0 are between 1e-30 and 1e30, so that the planner can square them.

mod column;
mod columns;
mod error;
mod format;
mod header;
mod input;
mod json_lines;
mod limits;
mod lists;
mod names;
mod parquet;
mod pieces;
mod polite;
mod read;
mod separated;
mod text;
mod trace;
mod value;
mod write;

pub use column::{Column, nearest};
pub use error::{Fault, Place, Position, Quoted, TableError};
pub use format::Format;
pub use input::{Input, Progress};
pub use limits::read_host_limits;
pub use lists::{BadLine, LineFault, ListError, ListFormat, Listed, TakeListed, read_list};
pub use pieces::Piece;
pub use polite::PoliteNotes;
pub use read::{Estimate, ReadOptions, Sources, read, stream};
pub use trace::{
    GitError, GitHistory, GitOptions, pages_beside, pages_path, read_git, read_trace, write_trace,
};
pub use write::{PlanRows, Table, write, write_atomic, write_csv, write_files, write_to};
