//! The columns that a plan is made from, checked once.

use rayon::prelude::*;

/// Sources as columns. Built with [`Sources::new`] and the `with_` functions, each of which checks
/// what it is given, so that nothing after it has to.
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

/// Which host each source is on, and what each host allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostColumns<'a> {
    pub(crate) of_source: &'a [u32],
    pub(crate) limits: &'a [f64],
}

/// The columns, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// How much a source matters.
    Importance,
    /// Changes per day.
    ChangeRate,
    /// Whether every change is observed.
    Complete,
    /// What a fetch takes from the budget.
    Cost,
    /// The least fetches a day.
    MinRate,
    /// The most fetches a day.
    MaxRate,
    /// The host, by number.
    Host,
    /// What each host allows a day.
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

/// Why columns do not make a table of sources.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidSources {
    /// Two columns differ in length.
    #[error("column `{column}` has {got} rows, not {expected}")]
    Length {
        /// The column that differs.
        column: Column,
        /// Its length.
        got: usize,
        /// The length of the others.
        expected: usize,
    },
    /// There are more sources than a row number can count.
    #[error("{0} sources are more than {max}", max = u32::MAX)]
    TooMany(usize),
    /// A value is negative, not a number, infinite where it may not be, or too large or small to
    /// calculate with.
    #[error("row {row}: {column} is {value}; it must be {allowed}")]
    Value {
        /// Which row, from 0.
        row: usize,
        /// Which column.
        column: Column,
        /// The value.
        value: f64,
        /// What would be right.
        allowed: &'static str,
    },
    /// A least rate is above the most.
    #[error("row {row}: min_rate {min} is above max_rate {max}")]
    MinAboveMax {
        /// Which row, from 0.
        row: usize,
        /// The least rate.
        min: f64,
        /// The most.
        max: f64,
    },
    /// A host number has no limit.
    #[error("row {row}: host number {host} is not below the number of hosts, {hosts}")]
    Host {
        /// Which row, from 0.
        row: usize,
        /// The host number.
        host: u32,
        /// How many hosts there are.
        hosts: usize,
    },
}

/// Numbers beyond these are refused: products of them would leave the range of `f64`.
pub(crate) const SMALLEST: f64 = 1e-30;
pub(crate) const LARGEST: f64 = 1e30;

pub(crate) fn in_range(value: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&value)
}

impl<'a> Sources<'a> {
    /// Sources of the given importance and change rate (per day).
    ///
    /// # Errors
    /// The columns differ in length, or a value is neither 0 nor in 1e-30…1e30.
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

    /// Marks the sources whose changes are all observed.
    ///
    /// # Errors
    /// The column has another length.
    pub fn with_complete(mut self, complete: &'a [bool]) -> Result<Self, InvalidSources> {
        self.same_length(Column::Complete, complete.len())?;
        self.complete = Some(complete);
        Ok(self)
    }

    /// What one fetch takes from the budget, instead of 1.
    ///
    /// # Errors
    /// The column has another length, or a value is not in 1e-30…1e30.
    pub fn with_cost(mut self, cost: &'a [f64]) -> Result<Self, InvalidSources> {
        self.check(Column::Cost, cost, "between 1e-30 and 1e30", in_range)?;
        self.cost = Some(cost);
        Ok(self)
    }

    /// The least and the most fetches a day of each source; the most may be infinite.
    ///
    /// # Errors
    /// A column has another length, a value is out of range, or a least is above a most.
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

    /// The host of each source, as an index into `limits`: what each host allows a day, in the
    /// unit of the budget; infinite where there is no limit.
    ///
    /// # Errors
    /// The column has another length, a host has no limit, or a limit is negative or NaN.
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

    /// The same sources as if nothing were observed from outside.
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
