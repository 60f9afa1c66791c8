//! Comparisons in the layout of the paper's table.

use crate::catalogue::Paper;
use crate::comparison::Comparison;

/// A table of comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title; may be empty.
    pub title: String,
    /// Heading of the row labels.
    pub corner: String,
    /// Columns.
    pub columns: Vec<String>,
    /// Rows.
    pub lines: Vec<Line>,
    /// True if the reference value is not printed in the paper, but follows from theory or is a
    /// claim of freshet.
    pub theory: bool,
}

/// A line of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Label.
    pub label: String,
    /// One cell per column; `None` if the paper has none.
    pub cells: Vec<Option<Comparison>>,
}

impl Table {
    /// Creates an empty table with columns.
    #[must_use]
    pub fn new(title: &str, corner: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            corner: corner.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            lines: Vec::new(),
            theory: false,
        }
    }

    /// Creates a list of single comparisons.
    #[must_use]
    pub fn list(title: &str) -> Self {
        Self::new(title, "", &[""])
    }

    /// Creates a list of comparisons that the paper does not print.
    #[must_use]
    pub fn of_theory(mut self) -> Self {
        self.theory = true;
        self
    }

    /// Returns the heading of the reference column in a report on a paper.
    #[must_use]
    pub fn claimant(&self, paper: Paper) -> &'static str {
        match (paper, self.theory) {
            (Paper::Ours, _) => "claim",
            (_, true) => "theory",
            (_, false) => "paper",
        }
    }

    /// Adds a comparison to a list.
    #[must_use]
    pub fn with(mut self, label: &str, comparison: Comparison) -> Self {
        self.push(label, [Some(comparison)]);
        self
    }

    /// Adds a row.
    pub fn push(&mut self, label: &str, cells: impl IntoIterator<Item = Option<Comparison>>) {
        let mut cells: Vec<Option<Comparison>> = cells.into_iter().collect();
        cells.resize(self.columns.len(), None);
        self.lines.push(Line { label: label.to_owned(), cells });
    }

    /// Returns true if each row has a single comparison.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.columns.len() == 1
    }

    /// Returns all comparisons with labels.
    pub fn comparisons(&self) -> impl Iterator<Item = (String, &Comparison)> {
        self.lines.iter().flat_map(|line| {
            let cells = self.columns.iter().zip(&line.cells);
            cells.filter_map(|(column, cell)| Some((name(&line.label, column), cell.as_ref()?)))
        })
    }
}

fn name(line: &str, column: &str) -> String {
    match (line, column) {
        (line, "") => line.to_owned(),
        ("", column) => column.to_owned(),
        (line, column) => format!("{line}: {column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_has_a_label_and_gaps_have_none() {
        let mut table = Table::new("", "", &["a", "b"]);
        table.push("one", [Some(Comparison::count(1, 1)), None]);
        table.push("two", [None, Some(Comparison::count(1, 1)), Some(Comparison::count(1, 2))]);
        table.push("three", []);
        let labels: Vec<String> = table.comparisons().map(|(label, _)| label).collect();
        assert_eq!(labels, ["one: a", "two: b"]);
        let list = Table::list("").with("single", Comparison::count(1, 1));
        assert_eq!(list.comparisons().next().map(|it| it.0).as_deref(), Some("single"));
    }
}
