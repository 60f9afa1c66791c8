//! What an axis measures and how it is spaced.

use crate::scale::{Domain, Spacing};

/// One axis: its name, unit and spacing. Without a range it covers the data.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    unit: String,
    spacing: Spacing,
    range: Option<(f64, f64)>,
    zero: bool,
}

impl Axis {
    /// Equal distances are equal differences. An empty unit is not shown.
    pub fn linear(name: &str, unit: &str) -> Axis {
        Axis::new(name, unit, Spacing::Linear)
    }

    /// Equal distances are equal ratios. Values that are not positive are gaps.
    pub fn log(name: &str, unit: &str) -> Axis {
        Axis::new(name, unit, Spacing::Log)
    }

    fn new(name: &str, unit: &str, spacing: Spacing) -> Axis {
        Axis { name: name.to_owned(), unit: unit.to_owned(), spacing, range: None, zero: false }
    }

    /// Shows exactly these values; lines are cut at the ends, points and marks beyond are left out. A range that the axis cannot
    /// show (not finite, or not positive on a logarithmic axis) is ignored.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }

    /// Zero is shown whatever the data, so that lengths can be compared. A logarithmic axis has no zero.
    #[must_use]
    pub fn from_zero(mut self) -> Axis {
        self.zero = true;
        self
    }

    pub(crate) fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The range asked for, if the axis can show it.
    pub(crate) fn fixed(&self) -> Option<Domain> {
        let (low, high) = self.range?;
        (self.spacing.shows(low) && self.spacing.shows(high))
            .then(|| Domain::new(self.spacing, low, high))
    }

    pub(crate) fn covering(&self, values: impl Iterator<Item = f64>) -> Domain {
        let zero = self.zero.then_some(0.0);
        self.fixed().unwrap_or_else(|| Domain::covering(self.spacing, values.chain(zero)))
    }

    /// `name (unit)`, or what there is of it.
    pub(crate) fn title(&self) -> String {
        match (self.name.trim(), self.unit.trim()) {
            (name, "") => name.to_owned(),
            ("", unit) => unit.to_owned(),
            (name, unit) => format!("{name} ({unit})"),
        }
    }
}

impl Default for Axis {
    fn default() -> Axis {
        Axis::linear("", "")
    }
}
