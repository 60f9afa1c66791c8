//! First passages to one stair, the anchor: quantities that accumulate on the way from every other stair.
//!
//! Stairs are eliminated one after another, and each passes its probabilities on to later ones. Pivots are
//! sums of probabilities and nothing is subtracted (Grassmann, Taksar & Heyman 1985), so no
//! digits are lost. Rows are stored from the diagonal to their last entry: where
//! the curve is flat or falls by one, that is a single number.

use std::ops::Range;

use crate::chain::Tally;
use crate::excursion::Landing;

/// Number of rows that are added to another row together.
const TOGETHER: usize = 4;

/// System of equations with its first stairs eliminated.
pub(crate) struct Passage {
    anchor: usize,
    /// Landing of the anchor.
    cycle: Landing,
    /// Probabilities from each stair to later ones, row by row.
    later: Vec<f64>,
    /// Start of each row in `later`; a row covers the stairs after its own.
    begins: Vec<usize>,
    /// Probabilities of the anchor as the next stair.
    home: Vec<f64>,
    tallies: Vec<Tally>,
    /// Negligible probability.
    never: f64,
    row: Vec<f64>,
}

impl Passage {
    pub(crate) fn new(anchor: usize, never: f64) -> Self {
        Self {
            anchor,
            cycle: Landing::default(),
            later: Vec::new(),
            begins: vec![0],
            home: Vec::new(),
            tallies: Vec::new(),
            never,
            row: Vec::new(),
        }
    }

    /// Adds the next stair and eliminates it.
    pub(crate) fn push(&mut self, landing: &Landing) {
        let stair = self.home.len();
        if stair == self.anchor {
            self.cycle.clone_from(landing);
            // Nothing accumulates from the anchor to itself.
            self.add(&[], 1.0, Tally::default());
            return;
        }
        let first = landing.first;
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(&landing.chances);
        let own = self.anchor.checked_sub(first).and_then(|at| row.get_mut(at));
        let mut home = own.map_or(0.0, std::mem::take);
        let mut tally = landing.tally;
        let mut earlier = first;
        while earlier < stair && earlier - first < row.len() {
            let next = (earlier + TOGETHER).min(stair);
            let chances = self.hand_on(&mut row, first, earlier..next);
            for (stair, chance) in (earlier..next).zip(chances) {
                home += chance * self.home[stair];
                tally += self.tallies[stair].times(chance);
            }
            earlier = next;
        }
        // Only later stairs remain; before the first of them the row is empty.
        row.truncate(
            row.iter().rposition(|chance| *chance > self.never).map_or(0, |last| last + 1),
        );
        row.drain(..(stair + 1).saturating_sub(first).min(row.len()));
        let gap = first.saturating_sub(stair + 1);
        row.splice(..0, std::iter::repeat_n(0.0, gap));
        self.add(&row, home, tally);
        self.row = row;
    }

    /// Replaces the probabilities of some earlier stairs in a row by the rows of these stairs. Returns the
    /// probabilities. Several stairs are processed together, so that the row is traversed once for them.
    fn hand_on(&self, row: &mut Vec<f64>, first: usize, stairs: Range<usize>) -> [f64; TOGETHER] {
        let mut chances = [0.0; TOGETHER];
        let mut rests = [&[][..]; TOGETHER];
        let end = stairs.end - first;
        for (at, stair) in stairs.enumerate() {
            let place = stair - first;
            let Some(&chance) = row.get(place) else { break };
            let later = &self.later[self.begins[stair]..self.begins[stair + 1]];
            row.resize(row.len().max(place + 1 + later.len()), 0.0);
            let (near, rest) = later.split_at((end - place - 1).min(later.len()));
            for (own, other) in row[place + 1..].iter_mut().zip(near) {
                *own += chance * other;
            }
            (chances[at], rests[at]) = (chance, rest);
        }
        let Some(row) = row.get_mut(end..) else { return chances };
        let common = rests.iter().map(|rest| rest.len()).min().unwrap_or(0);
        let [a, b, c, d] = chances;
        let [x, y, z, w] = rests.map(|rest| &rest[..common]);
        for ((((own, x), y), z), w) in row.iter_mut().zip(x).zip(y).zip(z).zip(w) {
            *own += (a * x + b * y) + (c * z + d * w);
        }
        for (chance, rest) in chances.into_iter().zip(rests) {
            if rest.len() > common {
                for (own, other) in row[common..].iter_mut().zip(&rest[common..]) {
                    *own += chance * other;
                }
            }
        }
        chances
    }

    /// Adds an eliminated stair with the probabilities of its successors.
    fn add(&mut self, later: &[f64], home: f64, tally: Tally) {
        let pivot = home + later.iter().sum::<f64>();
        self.later.extend(later.iter().map(|chance| chance / pivot));
        self.begins.push(self.later.len());
        self.home.push(home / pivot);
        self.tallies.push(tally.times(1.0 / pivot));
    }

    /// Returns the quantities from each stair to the anchor, and of a cycle from the anchor to itself.
    pub(crate) fn finish(mut self) -> (Vec<Tally>, Tally) {
        for stair in (0..self.tallies.len()).rev() {
            let mut tally = self.tallies[stair];
            let later = &self.later[self.begins[stair]..self.begins[stair + 1]];
            for (chance, next) in later.iter().zip(&self.tallies[stair + 1..]) {
                tally += next.times(*chance);
            }
            self.tallies[stair] = tally;
        }
        let mut cycle = self.cycle.tally;
        for (chance, next) in self.cycle.chances.iter().zip(&self.tallies[self.cycle.first..]) {
            cycle += next.times(*chance);
        }
        (self.tallies, cycle)
    }
}
