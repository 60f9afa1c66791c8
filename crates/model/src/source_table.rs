//! Table of sources, one column per property.

use crate::PackedStrings;

/// Sources as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTable {
    /// Ids; `None` if the table has no `id` column, and rows are numbered from 1.
    pub ids: Option<PackedStrings>,
    /// Importance; 1 if the table has no value.
    pub importance: Vec<f64>,
    /// Changes per day.
    pub change_rate: Vec<f64>,
    /// True if all changes of the source are reported by signals.
    pub observed: Option<Vec<bool>>,
    /// Cost of one fetch in units of the budget; `None` for 1.
    pub cost: Option<Vec<f64>>,
    /// Minimum number of fetches per day; `None` for 0.
    pub min_rate: Option<Vec<f64>>,
    /// Maximum number of fetches per day; infinite without a limit.
    pub max_rate: Option<Vec<f64>>,
    /// Hosts.
    pub hosts: Option<HostColumn>,
}

/// Distinct hosts of a table, and the host of each source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostColumn {
    /// Names, in order of first appearance; empty for sources without a host.
    pub names: PackedStrings,
    /// Index into `names` for each source.
    pub index_by_source: Vec<u32>,
}

impl SourceTable {
    /// Returns the number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.change_rate.len()
    }

    /// True if there are no sources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.change_rate.is_empty()
    }
}
