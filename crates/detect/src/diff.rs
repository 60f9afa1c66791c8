//! Line and word diffs for people.
//!
//! Lines that occur once in both texts are matched first, and anchor the rest (patience diff, Bram
//! Cohen). Between anchors the shortest edit script is searched (Myers 1986) within a fixed budget
//! of work; beyond it, the rest is replaced as a whole. So the time is bounded for any two texts.

mod align;
mod format;
mod truncate;

use align::{Edit, WorkBudget, align};

use crate::similarity::WordOverlap;

/// The differences between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// All lines of both texts, in order.
    pub rows: Vec<DiffRow>,
}

/// A row of a diff in two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// A line in both texts.
    Same(String),
    /// A line only in the old text.
    Removed(String),
    /// A line only in the new text.
    Added(String),
    /// A line that changed.
    Changed {
        /// Parts of the old line.
        old: Vec<DiffPart>,
        /// Parts of the new line.
        new: Vec<DiffPart>,
    },
}

/// A run of words in a changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffPart {
    /// Text of the words, with the separators between them.
    pub text: String,
    /// True if the other line has the same words.
    pub is_same: bool,
}

/// A column of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSide {
    /// The old text.
    Old,
    /// The new text.
    New,
}

/// Returns the differences between two texts.
#[must_use]
pub fn diff(old: &str, new: &str) -> Diff {
    diff_outline(old, new, usize::MAX)
}

/// Returns the differences between two texts, with word diffs only for the first `max_detail` bytes
/// that differ. Later changed lines have no parts, and count as changed even if their words are in
/// another order. This takes a fraction of the time.
#[must_use]
pub fn diff_outline(old: &str, new: &str, max_detail: usize) -> Diff {
    let work = WorkBudget::new(old.len() + new.len());
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut builder =
        RowBuilder { work, detail_budget: max_detail, rows: Vec::with_capacity(new.len()) };
    for edit in align(&old, &new, &mut builder.work) {
        match edit {
            Edit::Same(from, _, count) => {
                let same = old[from..from + count].iter();
                builder.rows.extend(same.map(|it| DiffRow::Same((*it).to_owned())));
            }
            Edit::Replace(before, after) => builder.replace(&old[before], &new[after]),
        }
    }
    Diff { rows: builder.rows }
}

/// Builds the rows of a diff.
struct RowBuilder {
    work: WorkBudget,
    /// Number of differing bytes that still get a word diff.
    detail_budget: usize,
    rows: Vec<DiffRow>,
}

impl RowBuilder {
    /// Pairs replaced lines that have words in common.
    fn replace(&mut self, old: &[&str], new: &[&str]) {
        if old.len() != new.len() {
            return self.replace_unequal(old, new);
        }
        for (old, new) in old.iter().zip(new) {
            if let Some(row) = self.pair_lines(old, new) {
                self.push(row);
            } else {
                self.push(DiffRow::Removed((*old).to_owned()));
                self.push(DiffRow::Added((*new).to_owned()));
            }
        }
    }

    /// Pairs each new line with the first remaining old line that is similar.
    fn replace_unequal(&mut self, old: &[&str], new: &[&str]) {
        /// Maximum distance of a similar line.
        const MAX_DISTANCE: usize = 8;
        let mut next = 0;
        for line in new {
            let end = old.len().min(next + MAX_DISTANCE);
            let similar = (next..end).find_map(|at| Some((at, self.pair_lines(old[at], line)?)));
            match similar {
                Some((at, row)) => {
                    self.push_removed(&old[next..at]);
                    self.push(row);
                    next = at + 1;
                }
                None => self.push(DiffRow::Added((*line).to_owned())),
            }
        }
        self.push_removed(&old[next..]);
    }

    fn push_removed(&mut self, lines: &[&str]) {
        for line in lines {
            self.push(DiffRow::Removed((*line).to_owned()));
        }
    }

    fn push(&mut self, row: DiffRow) {
        let differing_bytes = match &row {
            DiffRow::Same(_) => 0,
            DiffRow::Removed(line) | DiffRow::Added(line) => line.len(),
            DiffRow::Changed { old, new } => {
                let differing = old.iter().chain(new).filter(|part| !part.is_same);
                differing.map(|part| part.text.len()).sum()
            }
        };
        self.detail_budget = self.detail_budget.saturating_sub(differing_bytes);
        self.rows.push(row);
    }

    /// Returns the row of a pair of lines, if they are similar.
    fn pair_lines(&mut self, old: &str, new: &str) -> Option<DiffRow> {
        let (shorter, longer) = (old.len().min(new.len()), old.len().max(new.len()));
        // A line of a tenth of the length cannot have a third of the words.
        if longer > MAX_LINE_LEN || shorter * 10 < longer || !self.work.spend(old.len() + new.len())
        {
            return None;
        }
        if self.detail_budget == 0 {
            let overlap = WordOverlap::count_words(old, new);
            let longest = overlap.first_count.max(overlap.second_count);
            let is_similar = overlap.common_count * 3 >= longest;
            return is_similar.then(|| DiffRow::Changed { old: Vec::new(), new: Vec::new() });
        }
        let (old, new) = diff_words(old, new, &mut self.work)?;
        Some(DiffRow::Changed { old, new })
    }
}

/// Longer lines are not compared word by word, in bytes.
const MAX_LINE_LEN: usize = 1 << 16;

/// Returns the parts of two lines, if they have at least a third of their words in common.
fn diff_words(
    old: &str,
    new: &str,
    work: &mut WorkBudget,
) -> Option<(Vec<DiffPart>, Vec<DiffPart>)> {
    let (before, after) = (tokenize(old), tokenize(new));
    let mut parts = (Vec::new(), Vec::new());
    let mut common = 0;
    for edit in align(&before, &after, work) {
        match edit {
            Edit::Same(from, _, count) => {
                let same = &before[from..from + count];
                common += same.iter().filter(|it| !it.trim().is_empty()).count();
                push_part(&mut parts.0, same, true);
                push_part(&mut parts.1, same, true);
            }
            Edit::Replace(from, to) => {
                push_part(&mut parts.0, &before[from], false);
                push_part(&mut parts.1, &after[to], false);
            }
        }
    }
    let count_words = |list: &[&str]| list.iter().filter(|it| !it.trim().is_empty()).count();
    let longest = count_words(&before).max(count_words(&after));
    (common * 3 >= longest).then_some(parts)
}

fn push_part(parts: &mut Vec<DiffPart>, tokens: &[&str], is_same: bool) {
    if !tokens.is_empty() {
        parts.push(DiffPart { text: tokens.concat(), is_same });
    }
}

/// Splits a line into words and the separators between them.
fn tokenize(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut at = 0;
    for word in crate::sketch::words(line) {
        // Words are slices of the line, so their offsets follow from their addresses.
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        if start > at {
            tokens.push(&line[at..start]);
        }
        at = start + word.len();
        tokens.push(word);
    }
    if at < line.len() {
        tokens.push(&line[at..]);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_has_word_diffs_of_the_first_lines_only() {
        let old = "It costs 12 € today.\nkept\nwe open at nine\nnothing of this\n";
        let new = "It costs 13 € today.\nkept\nat ten we open\nall is other here\n";
        let rows = diff_outline(old, new, 1).rows;
        let DiffRow::Changed { old: before, new: after } = &rows[0] else { panic!("{rows:?}") };
        let differing = |parts: &[DiffPart]| {
            parts
                .iter()
                .filter(|part| !part.is_same)
                .map(|part| part.text.clone())
                .collect::<String>()
        };
        assert_eq!((differing(before), differing(after)), ("12".to_owned(), "13".to_owned()));
        let without_parts = DiffRow::Changed { old: Vec::new(), new: Vec::new() };
        let rest = [
            DiffRow::Same("kept".to_owned()),
            without_parts,
            DiffRow::Removed("nothing of this".to_owned()),
            DiffRow::Added("all is other here".to_owned()),
        ];
        assert_eq!(rows[1..], rest);
        assert_eq!(diff(old, new).counts(), diff_outline(old, new, 1).counts());
    }
}
