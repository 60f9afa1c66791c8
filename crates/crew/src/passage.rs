//! First passages to one stair, the anchor: what adds up on the way from every other.
//!
//! Stairs are eliminated one after another, each handing its chances on to those after it. Pivots are
//! sums of chances and nothing is ever subtracted (Grassmann, Taksar & Heyman 1985), so every result
//! keeps its digits. Rows are kept from the diagonal to their last entry: where
//! the curve is flat or falls by one, that is one number.

use std::ops::Range;

use crate::chain::Tally;
use crate::excursion::Landing;

/// So many rows are taken together when they are added to another.
const TOGETHER: usize = 4;

/// A system of which the first stairs are eliminated.
pub(crate) struct Passage {
    anchor: usize,
    /// Where the anchor leads.
    cycle: Landing,
    /// Chances from each stair to later ones, one row after another.
    later: Vec<f64>,
    /// Where each row begins in `later`; it is that of the stairs right after its own.
    begins: Vec<usize>,
    /// Chances to be at the anchor next.
    home: Vec<f64>,
    tallies: Vec<Tally>,
    /// Chances that do not count.
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
            // From the anchor to the anchor nothing adds up.
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
        // Only later stairs are left; before the first of them the row is empty.
        row.truncate(
            row.iter().rposition(|chance| *chance > self.never).map_or(0, |last| last + 1),
        );
        row.drain(..(stair + 1).saturating_sub(first).min(row.len()));
        let gap = first.saturating_sub(stair + 1);
        row.splice(..0, std::iter::repeat_n(0.0, gap));
        self.add(&row, home, tally);
        self.row = row;
    }

    /// Replaces the chances in a row of being at some earlier stairs by where these lead. Returns the
    /// chances. A few stairs are done together, so that the row is gone through only once for them.
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

    /// Adds an eliminated stair: its chances are those of where the chain goes when it leaves.
    fn add(&mut self, later: &[f64], home: f64, tally: Tally) {
        let pivot = home + later.iter().sum::<f64>();
        self.later.extend(later.iter().map(|chance| chance / pivot));
        self.begins.push(self.later.len());
        self.home.push(home / pivot);
        self.tallies.push(tally.times(1.0 / pivot));
    }

    /// What adds up from each stair to the anchor, and from the anchor until the chain is back there.
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
