//! Columns of sources, validated once.

use rayon::prelude::*;

/// Columns of sources. [`Sources::new`] and the `with_` functions validate their arguments, so that later
/// code need not.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    pub(crate) importance: &'a [f64],
    pub(crate) change_rate: &'a [f64],
    pub(crate) complete: Option<&'a [bool]>,
    pub(crate) cost: Option<&'a [f64]>,
    pub(crate) min_rate: Option<&'a [f64]>,
    pub(crate) max_rate: Option<&'a [f64]>,
    pub(crate) hosts: Option<HostColumns<'a>>,
}

/// Host of each source, and limit of each host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostColumns<'a> {
    pub(crate) of_source: &'a [u32],
    pub(crate) limits: &'a [f64],
}

/// Name of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Importance of a source.
    Importance,
    /// Changes per day.
    ChangeRate,
    /// True if every change is observed.
    Complete,
    /// Cost of a fetch in units of the budget.
    Cost,
    /// Minimum fetches per day.
    MinRate,
    /// Maximum fetches per day.
    MaxRate,
    /// Index of the host.
    Host,
    /// Limit of each host per day.
    HostLimit,
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Importance => "importance",
            Self::ChangeRate => "change_rate",
            Self::Complete => "complete",
            Self::Cost => "cost",
            Self::MinRate => "min_rate",
            Self::MaxRate => "max_rate",
            Self::Host => "host",
            Self::HostLimit => "host limit",
        })
    }
}

/// Error for columns that are not a valid table of sources.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidSources {
    /// Two columns differ in length.
    #[error("column `{column}` has {got} rows, not {expected}")]
    Length {
        /// Name of the column.
        column: Column,
        /// Length of the column.
        got: usize,
        /// Length of the other columns.
        expected: usize,
    },
    /// The sources do not fit in a 32-bit row number.
    #[error("{0} sources, more than {max}", max = u32::MAX)]
    TooMany(usize),
    /// A value is negative, not a number, infinite where that is not allowed, or out of
    /// range.
    #[error("row {row}: {column} is {value}; it must be {allowed}")]
    Value {
        /// Row, counted from 0.
        row: usize,
        /// Name of the column.
        column: Column,
        /// The value.
        value: f64,
        /// Allowed values.
        allowed: &'static str,
    },
    /// A minimum rate is above the maximum.
    #[error("row {row}: min_rate {min} is above max_rate {max}")]
    MinAboveMax {
        /// Row, counted from 0.
        row: usize,
        /// Least rate.
        min: f64,
        /// Maximum rate.
        max: f64,
    },
    /// A host number has no limit.
    #[error("row {row}: host number {host} is not below the number of hosts, {hosts}")]
    Host {
        /// Row, counted from 0.
        row: usize,
        /// The host number.
        host: u32,
        /// Number of hosts.
        hosts: usize,
    },
}

/// Range of accepted numbers; products of larger ones would leave the range of `f64`.
pub(crate) const SMALLEST: f64 = 1e-30;
pub(crate) const LARGEST: f64 = 1e30;

pub(crate) fn in_range(value: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&value)
}

impl<'a> Sources<'a> {
    /// Creates sources with the given importance and change rate (per day).
    ///
    /// # Errors
    /// Returns an error if the columns differ in length, or a value is neither 0 nor in 1e-30…1e30.
    pub fn new(importance: &'a [f64], change_rate: &'a [f64]) -> Result<Self, InvalidSources> {
        if change_rate.len() > u32::MAX as usize {
            return Err(InvalidSources::TooMany(change_rate.len()));
        }
        let sources = Self {
            importance,
            change_rate,
            complete: None,
            cost: None,
            min_rate: None,
            max_rate: None,
            hosts: None,
        };
        let zero_or_in_range = |value: f64| value == 0.0 || in_range(value);
        let allowed = "0 or between 1e-30 and 1e30";
        sources.check(Column::Importance, importance, allowed, zero_or_in_range)?;
        sources.check(Column::ChangeRate, change_rate, allowed, zero_or_in_range)?;
        Ok(sources)
    }

    /// Returns the number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.change_rate.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.change_rate.is_empty()
    }

    /// Marks the sources whose changes are all observed.
    ///
    /// # Errors
    /// Returns an error if the column has another length.
    pub fn with_complete(mut self, complete: &'a [bool]) -> Result<Self, InvalidSources> {
        self.same_length(Column::Complete, complete.len())?;
        self.complete = Some(complete);
        Ok(self)
    }

    /// Sets the cost of a fetch in units of the budget; the default is 1.
    ///
    /// # Errors
    /// Returns an error if the column has another length, or a value is not in 1e-30…1e30.
    pub fn with_cost(mut self, cost: &'a [f64]) -> Result<Self, InvalidSources> {
        self.check(Column::Cost, cost, "between 1e-30 and 1e30", in_range)?;
        self.cost = Some(cost);
        Ok(self)
    }

    /// Sets the minimum and maximum fetches per day of each source; the maximum may be infinite.
    ///
    /// # Errors
    /// Returns an error if a column has another length, a value is out of range, or a minimum is above a maximum.
    pub fn with_limits(
        mut self,
        min_rate: Option<&'a [f64]>,
        max_rate: Option<&'a [f64]>,
    ) -> Result<Self, InvalidSources> {
        if let Some(min) = min_rate {
            let allowed = "0 or between 1e-30 and 1e30";
            self.check(Column::MinRate, min, allowed, |value| value == 0.0 || in_range(value))?;
        }
        if let Some(max) = max_rate {
            let allowed = "0, between 1e-30 and 1e30, or infinite";
            let fine = |value: f64| value == 0.0 || in_range(value) || value == f64::INFINITY;
            self.check(Column::MaxRate, max, allowed, fine)?;
        }
        if let (Some(min), Some(max)) = (min_rate, max_rate)
            && let Some(row) = (0..self.len()).find(|&row| min[row] > max[row])
        {
            return Err(InvalidSources::MinAboveMax { row, min: min[row], max: max[row] });
        }
        (self.min_rate, self.max_rate) = (min_rate, max_rate);
        Ok(self)
    }

    /// Sets the host of each source, as an index into `limits`: the limit of each host per day, in the
    /// unit of the budget; infinite for no limit.
    ///
    /// # Errors
    /// Returns an error if the column has another length, a host has no limit, or a limit is negative or NaN.
    pub fn with_hosts(
        mut self,
        of_source: &'a [u32],
        limits: &'a [f64],
    ) -> Result<Self, InvalidSources> {
        self.same_length(Column::Host, of_source.len())?;
        let hosts = limits.len();
        if let Some(row) = of_source.iter().position(|&host| host as usize >= hosts) {
            return Err(InvalidSources::Host { row, host: of_source[row], hosts });
        }
        let fine = |limit: f64| limit == 0.0 || in_range(limit) || limit == f64::INFINITY;
        if let Some(row) = limits.iter().position(|&limit| !fine(limit)) {
            return Err(InvalidSources::Value {
                row,
                column: Column::HostLimit,
                value: limits[row],
                allowed: "0, between 1e-30 and 1e30, or infinite",
            });
        }
        self.hosts = Some(HostColumns { of_source, limits });
        Ok(self)
    }

    /// Returns the same sources without observed changes.
    #[must_use]
    pub fn without_observations(self) -> Self {
        Self { complete: None, ..self }
    }

    fn same_length(&self, column: Column, got: usize) -> Result<(), InvalidSources> {
        let expected = self.len();
        if got == expected { Ok(()) } else { Err(InvalidSources::Length { column, got, expected }) }
    }

    fn check(
        &self,
        column: Column,
        values: &[f64],
        allowed: &'static str,
        fine: impl Fn(f64) -> bool + Sync,
    ) -> Result<(), InvalidSources> {
        self.same_length(column, values.len())?;
        match values.par_iter().position_first(|&value| !fine(value)) {
            None => Ok(()),
            Some(row) => Err(InvalidSources::Value { row, column, value: values[row], allowed }),
        }
    }
}
