//! Axes: name, unit, spacing and range.

use crate::number::number;
use crate::scale::{Domain, Spacing};
use crate::text::{LABEL, fit};
use crate::ticks::{Tick, Ticks};

/// Largest width of a category name in pixels.
const WIDEST: f64 = 140.0;

/// Axis with name, unit and spacing. Without a range it covers the data.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    unit: String,
    spacing: Spacing,
    range: Option<(f64, f64)>,
    zero: bool,
    categories: Vec<String>,
    notes: Vec<String>,
}

impl Axis {
    /// Creates a linear axis. An empty unit is not shown.
    pub fn linear(name: &str, unit: &str) -> Axis {
        Axis::new(name, unit, Spacing::Linear)
    }

    /// Creates a logarithmic axis. Values that are not positive are gaps.
    pub fn log(name: &str, unit: &str) -> Axis {
        Axis::new(name, unit, Spacing::Log)
    }

    fn new(name: &str, unit: &str, spacing: Spacing) -> Axis {
        Axis {
            name: name.to_owned(),
            unit: unit.to_owned(),
            spacing,
            range: None,
            zero: false,
            categories: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates an axis of categories: 0 is the first one, at the left or at the top.
    pub fn categories(name: &str, names: &[impl AsRef<str>]) -> Axis {
        let categories: Vec<String> =
            names.iter().map(|name| fit(name.as_ref().trim(), LABEL, WIDEST)).collect();
        let last = categories.len() as f64 - 0.5;
        Axis { categories, range: Some((-0.5, last)), ..Axis::linear(name, "") }
    }

    /// Sets notes at the far end of each category, such as its value.
    #[must_use]
    pub fn notes(mut self, notes: &[impl AsRef<str>]) -> Axis {
        self.notes = notes.iter().map(|note| note.as_ref().trim().to_owned()).collect();
        self
    }

    /// Sets the range. Lines are clipped at its ends; points and marks outside it are omitted. A range that the axis cannot
    /// show (not finite, or not positive on a logarithmic axis) is ignored.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }

    /// Includes zero, so that lengths can be compared. A logarithmic axis has no zero.
    #[must_use]
    pub fn from_zero(mut self) -> Axis {
        self.zero = true;
        self
    }

    pub(crate) fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// Returns the configured range, if the axis can show it.
    pub(crate) fn fixed(&self) -> Option<Domain> {
        let (low, high) = self.range?;
        (self.spacing.shows(low) && self.spacing.shows(high))
            .then(|| Domain::new(self.spacing, low, high))
    }

    pub(crate) fn covering(&self, values: impl Iterator<Item = f64>) -> Domain {
        let zero = self.zero.then_some(0.0);
        self.fixed().unwrap_or_else(|| Domain::covering(self.spacing, values.chain(zero)))
    }

    pub(crate) fn has_categories(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Returns the notes at the far end of the categories, with their positions.
    pub(crate) fn far_notes(&self) -> impl Iterator<Item = (f64, &str)> {
        let notes = self.notes.iter().take(self.categories.len());
        notes.enumerate().map(|(at, note)| (at as f64, note.as_str()))
    }

    /// Returns the ticks of the visible categories.
    pub(crate) fn category_ticks(&self, shown: &Domain) -> Option<Ticks> {
        let tick = |(at, label): (usize, &String)| Tick { value: at as f64, label: label.clone() };
        self.has_categories().then(|| Ticks {
            labelled: (self.categories.iter().enumerate().map(tick))
                .filter(|tick| shown.contains(tick.value))
                .collect(),
            minor: Vec::new(),
        })
    }

    /// Formats a value: its category, or the number.
    pub(crate) fn say(&self, value: f64) -> String {
        let whole = value >= 0.0 && value.fract() == 0.0;
        let category = self.categories.get(value as usize).filter(|_| whole);
        category.cloned().unwrap_or_else(|| number(value))
    }

    /// Returns `name (unit)`, or the part that is set.
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
