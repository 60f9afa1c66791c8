//! Columns of a table of sources.

use std::fmt;

use strsim::osa_distance;

/// A column of a table of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Name of a source.
    Id,
    /// Importance of a source.
    Importance,
    /// Changes per day.
    ChangeRate,
    /// True if every change is observed.
    Complete,
    /// Host of a source.
    Host,
    /// Cost of a fetch in units of the budget.
    Cost,
    /// Minimum fetches per day.
    MinRate,
    /// Maximum fetches per day.
    MaxRate,
}

impl Column {
    /// All columns, in the order of the documentation.
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

    /// Returns the name in a header.
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

/// Returns the name in `known` that is most similar to `name`.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // A long unknown name is no typing error, and the distance takes quadratic time.
    if name.len() > 40 {
        return None;
    }
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    known
        .iter()
        .map(|candidate| (osa_distance(&wanted, &plain(candidate)), *candidate))
        .filter(|(edits, candidate)| *edits <= candidate.len() / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
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
