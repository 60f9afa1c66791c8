//! The nouns that cross a boundary between crates, their units, and how people read them.
//!
//! In: numbers and text. Out: values that are valid by construction. Knows no algorithm, file,
//! clock or thread.

mod budget;
mod history;
pub mod moment;
pub mod number;
mod rate;
mod strings;
mod table;

pub use budget::{Budget, InvalidBudget};
pub use history::{History, Life};
pub use rate::{InvalidRate, PerDay};
pub use strings::Strings;
pub use table::{Hosts, SourceTable};
