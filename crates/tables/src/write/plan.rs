//! The rows of a plan.

use freshet_model::Strings;

use crate::write::table::{Cells, Table};

/// A plan, one row for each source, in columns of equal length.
#[derive(Clone, Copy, Debug)]
pub struct PlanRows<'a> {
    /// Names; `None` for row numbers from 1.
    pub ids: Option<&'a Strings>,
    /// Fetches a day.
    pub rate: &'a [f64],
    /// The chance of a fetch at each observed change; NaN where that is not how a source is
    /// treated, `None` when it is for none.
    pub probability: Option<&'a [f64]>,
    /// The number of observed changes at which to fetch; NaN where that is not how a source is
    /// treated, `None` when it is for none.
    pub threshold: Option<&'a [f64]>,
    /// The value of a fetch.
    pub value: &'a [f64],
}

impl<'a> PlanRows<'a> {
    /// The table `id, rate, interval, probability, threshold, value`, the interval in days being
    /// the inverse of the rate.
    ///
    /// # Panics
    /// When the columns differ in length.
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
