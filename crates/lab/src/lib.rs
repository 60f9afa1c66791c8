//! Tables and figures of the papers in; computed numbers beside the printed ones, with a verdict for each,
//! out. Opens no file or terminal and reads no clock.
//!
//! The [`CATALOGUE`] has an [`Experiment`] for each table, figure or proposition. Running one returns
//! an [`Outcome`]: [`Table`]s of [`Comparison`]s, and optionally a [`Picture`].
//! A [`Verdict`] is always derived from the printed and the computed number; it cannot
//! be set.
//!
//! ```
//! use freshet_lab::{Verdict, find};
//!
//! let table = find("cho-table-4").ok_or("no such experiment")?;
//! let outcome = (table.run)()?;
//! // Nine of the ten numbers are as printed; 0.84 should be 0.83.
//! assert_eq!(outcome.counts().of(Verdict::Reproduced), 9);
//! assert_eq!(outcome.counts().of(Verdict::Misprint), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod printed;
mod verdict;

mod comparison;
mod table;

mod outcome;
mod picture;

mod grid;
mod index;
mod planned;
mod random;

mod catalogue;
mod experiments;

mod html;
mod page;

mod error;
mod number;

pub use catalogue::{CATALOGUE, Experiment, Paper, find};
pub use comparison::{Comparison, Evidence};
pub use error::LabError;
pub use number::{fixed, significant};
pub use outcome::{Counts, Outcome, Report, run_all};
pub use page::page;
pub use picture::{Curve, Picture};
pub use printed::Printed;
pub use table::{Line, Table};
pub use verdict::Verdict;
