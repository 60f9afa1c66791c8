use std::iter::repeat;

use super::NOTHING;
use super::counted::Counted;

/// Largest window that is a single block.
const SHORT: usize = 64;

/// Change window of n within a time window without decay: E[min(X + Y, n)], where X and Y
/// are the numbers of changes in the older and the newer instants of the window.
///
/// Two stacks as in [`Window`](super::window::Window). Of X there are the chances P(X > q), q < n,
/// for each place at which the window may begin, so no chance has to be taken out of a distribution
/// again: that would divide by 1 − π. They are made for a block of places at a time, from marks
/// between the blocks: w instants take some n√w numbers.
#[derive(Clone, Debug)]
pub(super) struct CountedWindow {
    limit: usize,
    /// Number of instants of the window besides the present one.
    instants: usize,
    /// Once the window is full, the newest first; the older ones come before the newer ones. Until
    /// then in order.
    chances: Vec<f64>,
    older: usize,
    /// Y: part q is P(Y > q).
    newer: Counted,
    /// X for the places of the last block, the one that has all older instants last. Each row has
    /// P(X > q) for q from 0 up, and then their sum, E[min(X, n)].
    rows: Vec<f64>,
    /// The length of a row without its sum.
    width: usize,
    /// P(X > q) after each whole block of older instants.
    marks: Vec<f64>,
    block: usize,
    worth: f64,
}

impl CountedWindow {
    pub(super) fn new(limit: u32, instants: u32) -> Self {
        Self {
            limit: limit as usize,
            instants: instants as usize,
            chances: Vec::new(),
            older: 0,
            newer: Counted::new(limit, 1.0),
            rows: Vec::new(),
            width: 0,
            marks: Vec::new(),
            block: 1,
            worth: 0.0,
        }
    }

    pub(super) fn pass(&mut self, chance: f64) -> f64 {
        if chance <= NOTHING && self.chances.is_empty() {
            return 0.0;
        }
        if self.chances.len() <= self.instants {
            self.chances.push(chance);
            if self.chances.len() > self.instants {
                self.chances.reverse();
            }
        } else {
            self.drop_oldest();
            self.chances[self.older] = chance;
        }
        self.newer.pass(chance);
        self.worth = self.joint();
        if self.worth <= NOTHING {
            self.clear();
        }
        self.worth
    }

    fn drop_oldest(&mut self) {
        if self.older == 0 {
            self.turn();
        }
        self.older -= 1;
        self.rows.truncate(self.rows.len() - self.width - 1);
        if self.rows.is_empty() && self.older > 0 {
            self.fill();
        }
    }

    /// Moves the newer instants to the older ones.
    fn turn(&mut self) {
        self.older = self.chances.len();
        self.width = self.newer.parts().len();
        self.block = self.older.isqrt().max(SHORT);
        self.newer.clear();
        if self.older > self.block {
            for block in self.chances.chunks(self.block) {
                block.iter().for_each(|&chance| _ = self.newer.pass(chance));
                add(&mut self.marks, self.newer.parts(), self.width);
            }
            self.newer.clear();
        }
        self.fill();
    }

    /// Computes the rows of the last block, whose mark is then no longer needed.
    fn fill(&mut self) {
        let before = (self.older - 1) / self.block;
        self.marks.truncate(before * self.width);
        let mark = &self.marks[before.saturating_sub(1) * self.width..];
        let mut count = Counted::of(self.limit, 1.0, mark);
        for &chance in &self.chances[before * self.block..self.older] {
            count.pass(chance);
            add(&mut self.rows, count.parts(), self.width);
            self.rows.push(count.worth());
        }
    }

    /// E[min(X + Y, n)] = E[min(X, n)] + E[min(Y, n)] − Σ P(X > q) · P(Y ≥ n − q), q = 0, …, n−1.
    ///
    /// It is at least the larger of the first two, so the difference costs one bit. Mostly there is
    /// nothing to subtract: X + Y reaches n only if pages change that often.
    fn joint(&self) -> f64 {
        let (newer, both) = (self.newer.parts(), self.newer.worth());
        let Some((&sum, rows)) = self.rows.split_last() else { return both };
        let older = &rows[rows.len() - self.width..];
        let over = older.iter().skip(self.limit - newer.len()).zip(newer.iter().rev());
        sum + both - over.map(|(x, y)| x * y).sum::<f64>()
    }

    pub(super) fn worth(&self) -> f64 {
        self.worth
    }

    pub(super) fn clear(&mut self) {
        self.chances.clear();
        self.newer.clear();
        self.rows.clear();
        self.marks.clear();
        (self.older, self.width, self.worth) = (0, 0, 0.0);
    }
}

/// Appends the first `width` parts, padded with zeros. Sums in another order may have one negligible
/// part more or less.
fn add(to: &mut Vec<f64>, parts: &[f64], width: usize) {
    to.extend(parts.iter().copied().chain(repeat(0.0)).take(width));
}
