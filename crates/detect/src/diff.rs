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
    let mut work = Work::new(old.len() + new.len());
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut rows = Vec::with_capacity(new.len());
    for edit in align(&old, &new, &mut work) {
        match edit {
            Edit::Same(from, _, count) => {
                rows.extend(old[from..from + count].iter().map(|it| Row::Same((*it).to_owned())));
            }
            Edit::Replace(before, after) => {
                replace(&old[before], &new[after], &mut work, &mut rows);
            }
        }
    }
    Diff { rows }
}

/// Lines that are replaced stand side by side if they have words in common.
fn replace(old: &[&str], new: &[&str], work: &mut Work, rows: &mut Vec<Row>) {
    let paired = if old.len() == new.len() { old.len() } else { 0 };
    for (old, new) in old[..paired].iter().zip(&new[..paired]) {
        match words(old, new, work) {
            Some((old, new)) => rows.push(Row::Changed { old, new }),
            None => {
                rows.push(Row::Removed((*old).to_owned()));
                rows.push(Row::Added((*new).to_owned()));
            }
        }
    }
    if paired == 0 {
        pair_unequal(old, new, work, rows);
    }
}

/// Of unequal numbers of lines, each new one goes with the first old one left that is like it.
fn pair_unequal(old: &[&str], new: &[&str], work: &mut Work, rows: &mut Vec<Row>) {
    /// How far a line may have moved.
    const REACH: usize = 8;
    let mut next = 0;
    for line in new {
        let reach = old.len().min(next + REACH);
        let found = (next..reach).find_map(|at| Some((at, words(old[at], line, work)?)));
        match found {
            Some((at, (before, after))) => {
                rows.extend(old[next..at].iter().map(|it| Row::Removed((*it).to_owned())));
                rows.push(Row::Changed { old: before, new: after });
                next = at + 1;
            }
            None => rows.push(Row::Added((*line).to_owned())),
        }
    }
    rows.extend(old[next..].iter().map(|it| Row::Removed((*it).to_owned())));
}

/// Lines longer than this are not compared word by word.
const LONGEST_LINE: usize = 1 << 16;

/// The parts of two lines, if they have at least a third of their words in common.
fn words(old: &str, new: &str, work: &mut Work) -> Option<(Vec<Part>, Vec<Part>)> {
    let (shorter, longer) = (old.len().min(new.len()), old.len().max(new.len()));
    // Of a line of a tenth of the length, a third of the words cannot be there.
    if longer > LONGEST_LINE || shorter * 10 < longer || !work.take(old.len() + new.len()) {
        return None;
    }
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
