//! Comparisons in the form of the paper's table: a line for each of its rows, a column for each of
//! its columns.

use crate::catalogue::Paper;
use crate::comparison::Comparison;

/// A table of comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it is about; may be empty.
    pub title: String,
    /// What the labels of its lines are.
    pub corner: String,
    /// The columns.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether what stands beside ours is not printed in the paper, but follows from theory or is a
    /// claim of ours.
    pub theory: bool,
}

/// A line of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What it is about.
    pub label: String,
    /// A cell for each column; nothing where the paper has nothing.
    pub cells: Vec<Option<Comparison>>,
}

impl Table {
    /// A table with these columns and no line yet.
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

    /// A list of single comparisons.
    #[must_use]
    pub fn list(title: &str) -> Self {
        Self::new(title, "", &[""])
    }

    /// The same for what the paper does not print.
    #[must_use]
    pub fn of_theory(mut self) -> Self {
        self.theory = true;
        self
    }

    /// What the column beside ours is called, in a report on this paper.
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

    /// Adds a line.
    pub fn push(&mut self, label: &str, cells: impl IntoIterator<Item = Option<Comparison>>) {
        let mut cells: Vec<Option<Comparison>> = cells.into_iter().collect();
        cells.resize(self.columns.len(), None);
        self.lines.push(Line { label: label.to_owned(), cells });
    }

    /// Whether each line has one comparison and no more.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.columns.len() == 1
    }

    /// All comparisons, each with a label of its own.
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
