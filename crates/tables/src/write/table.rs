//! Named columns of equal length, borrowed from wherever they are.

use freshet_model::Strings;

/// A table to be written.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    columns: Vec<(&'a str, Cells<'a>)>,
    rows: usize,
}

/// Where the cells of a column come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cells<'a> {
    /// Texts; row numbers from 1 where there are none.
    Names(Option<&'a Strings>),
    /// Numbers; NaN is no value.
    Numbers(&'a [f64]),
    /// One divided by each number.
    Inverse(&'a [f64]),
    /// No value in any row.
    Nothing,
}

impl<'a> Table<'a> {
    /// A table without columns that will have `rows` rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self { columns: Vec::new(), rows }
    }

    /// Adds a column of texts; without texts, of row numbers from 1.
    ///
    /// # Panics
    /// When the column has another length than the table.
    #[must_use]
    pub fn names(self, name: &'a str, texts: Option<&'a Strings>) -> Self {
        if let Some(texts) = texts {
            assert_eq!(texts.len(), self.rows, "rows of column {name}");
        }
        self.with(name, Cells::Names(texts))
    }

    /// Adds a column of numbers. NaN means that there is no value: an empty cell, or null.
    /// Infinity is `inf`, and null in JSON, which has no word for it.
    ///
    /// # Panics
    /// When the column has another length than the table.
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
