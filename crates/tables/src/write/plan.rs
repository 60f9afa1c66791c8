//! The rows of a plan.

use freshet_model::PackedStrings;

use crate::write::table::{Cells, Table};

/// A plan, one row for each source, in columns of equal length.
#[derive(Clone, Copy, Debug)]
pub struct PlanRows<'a> {
    /// Names; `None` for row numbers starting at 1.
    pub ids: Option<&'a PackedStrings>,
    /// Fetches per day.
    pub rate: &'a [f64],
    /// Probability of a fetch at each observed change; NaN for sources without this rule,
    /// `None` if no source has it.
    pub probability: Option<&'a [f64]>,
    /// Number of observed changes at which to fetch; NaN for sources without this rule,
    /// `None` if no source has it.
    pub threshold: Option<&'a [f64]>,
    /// Value of a fetch.
    pub value: &'a [f64],
}

impl<'a> PlanRows<'a> {
    /// Returns the table `id, rate, interval, probability, threshold, value`; the interval in days is
    /// the inverse of the rate.
    ///
    /// # Panics
    /// Panics if the columns differ in length.
    #[must_use]
    pub fn table(&self) -> Table<'a> {
        let optional = |table: Table<'a>, name, numbers: Option<&'a [f64]>| match numbers {
            Some(numbers) => table.numbers(name, numbers),
            None => table.with(name, Cells::Nothing),
        };
        let table = Table::new(self.rate.len())
            .names("id", self.ids)
            .numbers("rate", self.rate)
            .with("interval", Cells::Inverse(self.rate));
        let table = optional(table, "probability", self.probability);
        optional(table, "threshold", self.threshold).numbers("value", self.value)
    }
}
