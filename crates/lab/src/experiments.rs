//! The experiments: a file each, and the one list of them.

mod cho_table_4;
mod cho_table_5;

use crate::catalogue::Experiment;

/// All experiments, in the order of the papers. A new one is a file beside these and a line here
/// (the `mod` declaration stands above it).
pub const CATALOGUE: &[Experiment] = &[cho_table_4::EXPERIMENT, cho_table_5::EXPERIMENT];
