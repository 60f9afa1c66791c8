//! What changed from one text to another, for people: lines, and words within lines.
//!
//! Lines that stand once in both texts are found first and hold the rest in place (Cohen's patience
//! diff). Between them the shortest script is searched (Myers 1986), as far as a fixed amount of work
//! goes; beyond that, what is between is replaced as a whole. So the time is bounded for any two
//! texts.

mod align;
mod cut;
mod show;

use align::{Edit, Work, align};

use crate::similarity::Shared;

/// How one text becomes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// All lines of both texts, in order.
    pub rows: Vec<Row>,
}

/// A line of both texts, or of one, or a line that became another: two sides for two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// In both.
    Same(String),
    /// Only in the old text.
    Removed(String),
    /// Only in the new text.
    Added(String),
    /// A line that became another one, word by word.
    Changed {
        /// The old line.
        old: Vec<Part>,
        /// The new line.
        new: Vec<Part>,
    },
}

/// A run of words in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// With the signs and spaces between them.
    pub text: String,
    /// Whether the other line has them too.
    pub same: bool,
}

/// One of two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The old text.
    Old,
    /// The new text.
    New,
}

/// How the old text becomes the new one.
#[must_use]
pub fn diff(old: &str, new: &str) -> Diff {
    outline(old, new, usize::MAX)
}

/// The same, word by word only until `told` bytes differ. Of the lines after that no parts are told, and
/// for one to count as changed it need not have its words in the same order. That takes a fraction of the
/// time.
#[must_use]
pub fn outline(old: &str, new: &str, told: usize) -> Diff {
    let work = Work::new(old.len() + new.len());
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut pairing = Pairing { work, told, rows: Vec::with_capacity(new.len()) };
    for edit in align(&old, &new, &mut pairing.work) {
        match edit {
            Edit::Same(from, _, count) => {
                let same = old[from..from + count].iter();
                pairing.rows.extend(same.map(|it| Row::Same((*it).to_owned())));
            }
            Edit::Replace(before, after) => pairing.replace(&old[before], &new[after]),
        }
    }
    Diff { rows: pairing.rows }
}

/// Which lines became which.
struct Pairing {
    work: Work,
    /// Bytes that differ and are still to be told.
    told: usize,
    rows: Vec<Row>,
}

impl Pairing {
    /// Lines that are replaced stand side by side if they have words in common.
    fn replace(&mut self, old: &[&str], new: &[&str]) {
        if old.len() != new.len() {
            return self.replace_unequal(old, new);
        }
        for (old, new) in old.iter().zip(new) {
            if let Some(row) = self.changed(old, new) {
                self.push(row);
            } else {
                self.push(Row::Removed((*old).to_owned()));
                self.push(Row::Added((*new).to_owned()));
            }
        }
    }

    /// Of unequal numbers of lines, each new one goes with the first old one left that is like it.
    fn replace_unequal(&mut self, old: &[&str], new: &[&str]) {
        /// How far a line may have moved.
        const REACH: usize = 8;
        let mut next = 0;
        for line in new {
            let reach = old.len().min(next + REACH);
            let found = (next..reach).find_map(|at| Some((at, self.changed(old[at], line)?)));
            match found {
                Some((at, row)) => {
                    self.remove(&old[next..at]);
                    self.push(row);
                    next = at + 1;
                }
                None => self.push(Row::Added((*line).to_owned())),
            }
        }
        self.remove(&old[next..]);
    }

    fn remove(&mut self, lines: &[&str]) {
        for line in lines {
            self.push(Row::Removed((*line).to_owned()));
        }
    }

    fn push(&mut self, row: Row) {
        let told = match &row {
            Row::Same(_) => 0,
            Row::Removed(line) | Row::Added(line) => line.len(),
            Row::Changed { old, new } => {
                let other = old.iter().chain(new).filter(|part| !part.same);
                other.map(|part| part.text.len()).sum()
            }
        };
        self.told = self.told.saturating_sub(told);
        self.rows.push(row);
    }

    /// The row of a line that became another one, if it can have.
    fn changed(&mut self, old: &str, new: &str) -> Option<Row> {
        let (shorter, longer) = (old.len().min(new.len()), old.len().max(new.len()));
        // Of a line of a tenth of the length, a third of the words cannot be there.
        if longer > LONGEST_LINE || shorter * 10 < longer || !self.work.take(old.len() + new.len())
        {
            return None;
        }
        if self.told == 0 {
            let shared = Shared::of(old, new);
            let longest = shared.in_first.max(shared.in_second);
            let is_like = shared.in_both * 3 >= longest;
            return is_like.then(|| Row::Changed { old: Vec::new(), new: Vec::new() });
        }
        let (old, new) = words(old, new, &mut self.work)?;
        Some(Row::Changed { old, new })
    }
}

/// Lines longer than this are not compared word by word.
const LONGEST_LINE: usize = 1 << 16;

/// The parts of two lines, if they have at least a third of their words in common.
fn words(old: &str, new: &str, work: &mut Work) -> Option<(Vec<Part>, Vec<Part>)> {
    let (before, after) = (tokens(old), tokens(new));
    let mut parts = (Vec::new(), Vec::new());
    let mut common = 0;
    for edit in align(&before, &after, work) {
        match edit {
            Edit::Same(from, _, count) => {
                let same = &before[from..from + count];
                common += same.iter().filter(|it| !it.trim().is_empty()).count();
                push(&mut parts.0, same, true);
                push(&mut parts.1, same, true);
            }
            Edit::Replace(from, to) => {
                push(&mut parts.0, &before[from], false);
                push(&mut parts.1, &after[to], false);
            }
        }
    }
    let solid = |list: &[&str]| list.iter().filter(|it| !it.trim().is_empty()).count();
    let longest = solid(&before).max(solid(&after));
    (common * 3 >= longest).then_some(parts)
}

fn push(parts: &mut Vec<Part>, tokens: &[&str], same: bool) {
    if !tokens.is_empty() {
        parts.push(Part { text: tokens.concat(), same });
    }
}

/// Words, and what is between them.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut at = 0;
    for word in crate::sketch::words(line) {
        // Words are parts of the line: their place is how far they are into it.
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
    fn an_outline_tells_the_words_of_the_first_lines_only() {
        let old = "It costs 12 € today.\nkept\nwe open at nine\nnothing of this\n";
        let new = "It costs 13 € today.\nkept\nat ten we open\nall is other here\n";
        let rows = outline(old, new, 1).rows;
        let Row::Changed { old: before, new: after } = &rows[0] else { panic!("{rows:?}") };
        let other = |parts: &[Part]| {
            parts.iter().filter(|part| !part.same).map(|part| part.text.clone()).collect::<String>()
        };
        assert_eq!((other(before), other(after)), ("12".to_owned(), "13".to_owned()));
        let untold = Row::Changed { old: Vec::new(), new: Vec::new() };
        let rest = [
            Row::Same("kept".to_owned()),
            untold,
            Row::Removed("nothing of this".to_owned()),
            Row::Added("all is other here".to_owned()),
        ];
        assert_eq!(rows[1..], rest);
        assert_eq!(diff(old, new).counts(), outline(old, new, 1).counts());
    }
}
