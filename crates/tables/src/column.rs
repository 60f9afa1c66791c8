//! The columns that a table of sources can have.

use std::fmt;

/// A column of a table of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The name of a source.
    Id,
    /// How much a source matters.
    Importance,
    /// Changes per day.
    ChangeRate,
    /// Whether every change is observed.
    Complete,
    /// Where a source lives.
    Host,
    /// What one fetch takes from the budget.
    Cost,
    /// Fetches a day at least.
    MinRate,
    /// Fetches a day at most.
    MaxRate,
}

impl Column {
    /// Every column, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Id,
        Self::Importance,
        Self::ChangeRate,
        Self::Complete,
        Self::Host,
        Self::Cost,
        Self::MinRate,
        Self::MaxRate,
    ];

    pub(crate) const NUMBERS: [Self; 5] =
        [Self::Importance, Self::ChangeRate, Self::Cost, Self::MinRate, Self::MaxRate];

    /// The name in a header.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Importance => "importance",
            Self::ChangeRate => "change_rate",
            Self::Complete => "complete",
            Self::Host => "host",
            Self::Cost => "cost",
            Self::MinRate => "min_rate",
            Self::MaxRate => "max_rate",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name among `known` that `name` was most likely meant to be.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // Long unknown names are no typing errors, and the distance is quadratic.
    if name.len() > 40 {
        return None;
    }
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    known
        .iter()
        .map(|candidate| (distance(&wanted, &plain(candidate)), *candidate))
        .filter(|(edits, candidate)| *edits <= candidate.len() / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut before = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; width];
        for j in 1..width {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<&str>) {
        let known = Column::ALL.map(Column::name);
        assert_eq!(nearest(name, &known), expect);
    }

    #[test]
    fn near_misses_find_their_column_and_other_words_none() {
        check("chnage_rate", Some("change_rate"));
        check("ChangeRate", Some("change_rate"));
        check("change rate", Some("change_rate"));
        check("Hosts", Some("host"));
        check("importnace", Some("importance"));
        check("min-rate", Some("min_rate"));
        check("ID", Some("id"));
        check("url", None);
        check("title", None);
        check("", None);
        check(&"x".repeat(10_000), None);
    }
}
