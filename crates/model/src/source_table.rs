//! A table of sources, one column per property.

use crate::PackedStrings;

/// Sources as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTable {
    /// Names; `None` when the table has no `id` column and rows go by their number from 1.
    pub ids: Option<PackedStrings>,
    /// How much each source matters; 1 where the table does not say.
    pub importance: Vec<f64>,
    /// Changes per day.
    pub change_rate: Vec<f64>,
    /// Whether every change is observed from outside.
    pub observed: Option<Vec<bool>>,
    /// What one fetch takes from the budget; `None` is 1 for all.
    pub cost: Option<Vec<f64>>,
    /// Fetches a day below which a source must not fall; `None` is 0 for all.
    pub min_rate: Option<Vec<f64>>,
    /// Fetches a day above which a source must not rise; infinite where there is no limit.
    pub max_rate: Option<Vec<f64>>,
    /// The host of each source.
    pub hosts: Option<HostColumn>,
}

/// The distinct hosts of a table, and which source lives where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostColumn {
    /// Names, in order of first appearance; empty for sources without a host.
    pub names: PackedStrings,
    /// For each source, an index into `names`.
    pub index_by_source: Vec<u32>,
}

impl SourceTable {
    /// How many sources there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.change_rate.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.change_rate.is_empty()
    }
}
