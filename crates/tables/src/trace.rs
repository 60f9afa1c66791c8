//! Traces: recorded changes of many pages.
//!
//! A trace is a CSV file with one row per change and a second CSV file with one row per
//! page. Both may be compressed with gzip (`.csv.gz`).
//!
//! | `NAME.csv` | |
//! | --- | --- |
//! | `page_id` | text or integer |
//! | `unix_time` | time of the change in seconds since 1970; the birth is not a change |
//!
//! | `NAME_pages.csv` | |
//! | --- | --- |
//! | `page_id` | text or integer, unique |
//! | `birth_unix` | birth of the page |
//! | `end_unix` | end of the page or of the trace |
//! | `n_changes` | number of rows in the trace; optional |
//! | `path` | unique name; optional, default `page_id` |

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
