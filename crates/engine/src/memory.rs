//! How long what was learnt stays true.

use std::collections::BTreeMap;

use freshet_estimate::{Belief, Prior};
use serde::{Deserialize, Serialize};

/// Half-lives that are tried, in days.
const HALF_LIVES: [f64; 4] = [2000.0, 700.0, 250.0, 80.0];
/// Sources on which they are tried.
const WATCHED: usize = 4096;
/// Fetches after which what a half-life was good for counts half.
const LONG: f64 = 200_000.0;
/// How much likelier what was seen must be under another half-life, as a logarithm, to take it up.
const CLEARLY: f64 = 20.0;

/// Tries several half-lives on some of the sources, and knows which one foretells best what fetches
/// find.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    watched: BTreeMap<u32, [(f64, f64); HALF_LIVES.len()]>,
    /// The logarithms of how likely it was under each half-life what was seen.
    likely: [f64; HALF_LIVES.len()],
    best: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self { watched: BTreeMap::new(), likely: [0.0; HALF_LIVES.len()], best: 0 }
    }
}

/// What is worth keeping of it: which half-life is best.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    likely: [f64; HALF_LIVES.len()],
    best: usize,
}

impl From<Kept> for Memory {
    fn from(Kept { likely, best }: Kept) -> Self {
        Self { watched: BTreeMap::new(), likely, best: best.min(HALF_LIVES.len() - 1) }
    }
}

impl Memory {
    pub(crate) fn kept(&self) -> Kept {
        Kept { likely: self.likely, best: self.best }
    }

    pub(crate) fn half_life(&self) -> f64 {
        HALF_LIVES[self.best]
    }

    /// Whether a source is among those that are watched if there are so many: any, as far as can be.
    pub(crate) fn is_for(id: u32, sources: usize) -> bool {
        let share = (sources / (2 * WATCHED)) as u32;
        share <= 1 || id.wrapping_mul(0x9e37_79b1) < u32::MAX / share
    }

    /// A fetch of a source found a change in so many days, or none.
    pub(crate) fn learn(&mut self, id: u32, prior: Prior, days: f64, changed: bool) {
        let room = self.watched.len() < WATCHED;
        let learnt = match self.watched.entry(id) {
            std::collections::btree_map::Entry::Occupied(it) => it.into_mut(),
            std::collections::btree_map::Entry::Vacant(it) if room => {
                it.insert([(0.0, 0.0); HALF_LIVES.len()])
            }
            std::collections::btree_map::Entry::Vacant(_) => return,
        };
        let fade = (-1.0 / LONG).exp2();
        for (at, half_life) in HALF_LIVES.into_iter().enumerate() {
            let kept = (-days / half_life).exp2();
            let (changes, time) = learnt[at];
            let belief = faded(prior, changes * kept, time * kept);
            let same = belief.no_change(days);
            let chance = if changed { 1.0 - same } else { same };
            self.likely[at] = fade * self.likely[at] + chance.max(1e-12).ln();
            let belief = if changed { belief.changed(days) } else { belief.unchanged(days) };
            let before = prior.belief();
            learnt[at] = (
                (belief.shape() - before.shape()).max(0.0),
                (belief.days() - before.days()).max(0.0),
            );
        }
        let best = (0..HALF_LIVES.len())
            .max_by(|&a, &b| self.likely[a].total_cmp(&self.likely[b]))
            .unwrap_or(self.best);
        if self.likely[best] > self.likely[self.best] + CLEARLY {
            self.best = best;
        }
    }

    pub(crate) fn forget(&mut self, id: u32) {
        self.watched.remove(&id);
    }
}

/// What is believed when so much of what was learnt is left.
fn faded(prior: Prior, changes: f64, days: f64) -> Belief {
    let prior = prior.belief();
    Belief::new(prior.shape() + changes, prior.days() + days).unwrap_or(prior)
}
