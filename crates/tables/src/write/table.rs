//! Named borrowed columns of equal length.

use freshet_model::PackedStrings;

/// A table to write.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    columns: Vec<(&'a str, Cells<'a>)>,
    rows: usize,
}

/// Cells of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cells<'a> {
    /// Texts, or row numbers starting at 1.
    Names(Option<&'a PackedStrings>),
    /// Numbers; NaN is a missing value.
    Numbers(&'a [f64]),
    /// Inverse of each number.
    Inverse(&'a [f64]),
    /// Missing values in all rows.
    Nothing,
}

impl<'a> Table<'a> {
    /// Creates a table with `rows` rows and no columns.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self { columns: Vec::new(), rows }
    }

    /// Adds a column of texts, or of row numbers starting at 1.
    ///
    /// # Panics
    /// Panics if the length of the column differs from that of the table.
    #[must_use]
    pub fn names(self, name: &'a str, texts: Option<&'a PackedStrings>) -> Self {
        if let Some(texts) = texts {
            assert_eq!(texts.len(), self.rows, "rows of column {name}");
        }
        self.with(name, Cells::Names(texts))
    }

    /// Adds a column of numbers. NaN is a missing value: an empty cell, or null.
    /// Infinity is `inf`, and null in JSON.
    ///
    /// # Panics
    /// Panics if the length of the column differs from that of the table.
    #[must_use]
    pub fn numbers(self, name: &'a str, numbers: &'a [f64]) -> Self {
        assert_eq!(numbers.len(), self.rows, "rows of column {name}");
        self.with(name, Cells::Numbers(numbers))
    }

    pub(super) fn with(mut self, name: &'a str, cells: Cells<'a>) -> Self {
        self.columns.push((name, cells));
        self
    }

    pub(super) fn columns(&self) -> &[(&'a str, Cells<'a>)] {
        &self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Row(usize),
    Number(f64),
    Nothing,
}

impl<'a> Cells<'a> {
    pub(super) fn at(self, row: usize) -> Cell<'a> {
        let number = |value: f64| {
            if value.is_nan() { Cell::Nothing } else { Cell::Number(value) }
        };
        match self {
            Self::Names(Some(texts)) => texts.get(row).map_or(Cell::Nothing, Cell::Text),
            Self::Names(None) => Cell::Row(row + 1),
            Self::Numbers(numbers) => number(numbers[row]),
            // The inverse of the negative zero would be the wrong infinity.
            Self::Inverse(numbers) if numbers[row] == 0.0 => Cell::Number(f64::INFINITY),
            Self::Inverse(numbers) => number(1.0 / numbers[row]),
            Self::Nothing => Cell::Nothing,
        }
    }

    pub(super) fn are_names(self) -> bool {
        matches!(self, Self::Names(_))
    }
}
