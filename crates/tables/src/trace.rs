//! Traces: when each of many pages changed.
//!
//! A trace is a CSV file with a row for each change, and beside it a CSV file with a row for each
//! page. Both may be compressed with gzip (`.csv.gz`).
//!
//! | `NAME.csv` | |
//! | --- | --- |
//! | `page_id` | text or integer |
//! | `unix_time` | when the page changed, in seconds since 1970; coming up is no change |
//!
//! | `NAME_pages.csv` | |
//! | --- | --- |
//! | `page_id` | text or integer, each once |
//! | `birth_unix` | when the page came up |
//! | `end_unix` | when it went away, or the record ended |
//! | `n_changes` | how many rows the trace has for it; may be left out |
//! | `path` | its name, each once; may be left out, and is the `page_id` then |

mod git;
mod name;
mod pages;
mod read;
mod sheet;
mod write;

pub use git::{GitError, GitHistory, GitOptions, read_git};
pub use name::{pages_beside, pages_path};
pub use read::read_trace;
pub use write::write_trace;

const PAGE: &str = "page_id";
const TIME: &str = "unix_time";
const BIRTH: &str = "birth_unix";
const END: &str = "end_unix";
const COUNT: &str = "n_changes";
const PATH: &str = "path";
