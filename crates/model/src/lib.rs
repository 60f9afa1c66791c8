//! Types that cross a boundary between crates: rates, budgets, tables of sources, traces of changes, and how
//! numbers and times are shown to people.
//!
//! In: numbers and text. Out: values that are valid by construction. Not here: algorithms, files, clocks,
//! threads.

mod budget;
mod change_trace;
mod markup;
pub mod number;
mod packed_strings;
mod rate;
mod source_table;
pub mod time_format;

pub use budget::{Budget, InvalidBudget};
pub use change_trace::{ChangeTrace, TimeRange};
pub use markup::escape_markup;
pub use packed_strings::PackedStrings;
pub use rate::{InvalidRate, PerDay};
pub use source_table::{HostColumn, SourceTable};
