//! A prior for signals from the sources that they are about.

use serde::{Deserialize, Serialize};

use super::{PRECISIONS, Trust};

/// Fetches that say little about all sources together.
const FEW: f64 = 20.0;
/// The chance that all sources have one precision.
const ALIKE: f64 = 0.95;

/// Sums over the sources that one signal source speaks of, from which the prior of a new one follows:
/// how their precisions are spread, each source counted by the chances that it has for each.
///
/// The beliefs are to be formed under one prior. One such step from it to the next is a step of
/// expectation and maximisation, and never lowers the likelihood. The rates have a [`Fit`](crate::Fit) of
/// their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Siblings {
    sources: f64,
    chances: [f64; PRECISIONS],
    /// How likely all that was seen is if one precision is that of all, as logarithms.
    together: [f64; PRECISIONS],
    /// The fetches that this is from.
    fetches: f64,
}

impl Siblings {
    /// Adds a source.
    pub fn add(&mut self, trust: &Trust) {
        self.sources += 1.0;
        for (sum, chance) in self.chances.iter_mut().zip(trust.chances()) {
            *sum += chance;
        }
    }

    /// Learns from a fetch of a source, by what was believed of it before and after: how likely what was
    /// seen is if all sources have one precision. Of so many fetches of late.
    pub fn learn(&mut self, before: &Trust, after: &Trust, of_late: f64) {
        let kept = 1.0 - 1.0 / of_late.max(1.0);
        for (at, log) in self.together.iter_mut().enumerate() {
            *log = kept * *log + f64::from(after.weights[at]) - f64::from(before.weights[at]);
        }
        self.fetches = kept * self.fetches + 1.0;
        let top = self.together.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.together.iter_mut().for_each(|log| *log = (*log - top).max(f64::from(super::LEAST)));
    }

    /// Counts what was added as this share of what it was.
    pub fn fade(&mut self, share: f64) {
        let share = share.clamp(0.0, 1.0);
        self.sources *= share;
        self.chances.iter_mut().for_each(|sum| *sum *= share);
    }

    /// Whether its numbers can be meant: of one that was read from somewhere.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let positive = |it: f64| it >= 0.0 && it.is_finite();
        positive(self.sources)
            && positive(self.fetches)
            && self.chances.iter().all(|it| positive(*it))
            && self.together.iter().all(|it| *it <= 0.0 && it.is_finite())
    }

    /// Adds the sources of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.sources += other.sources;
        for (sum, more) in self.chances.iter_mut().zip(other.chances) {
            *sum += more;
        }
        for (log, more) in self.together.iter_mut().zip(other.together) {
            *log += more;
        }
        self.fetches += other.fetches;
    }

    /// How many sources were added.
    #[must_use]
    pub fn sources(&self) -> u64 {
        self.sources as u64
    }

    /// What is believed of the signals about a new source: as in `towards`, with the precisions of the
    /// siblings and of `strength` imaginary ones that are spread as in `towards`. A strength of 0 or less,
    /// which would rule out what no sibling has, counts as 1.
    #[must_use]
    pub fn finish(&self, towards: &Trust, strength: f64) -> Trust {
        let strength = if strength > 0.0 && strength.is_finite() { strength } else { 1.0 };
        let mut trust = *towards;
        let spread = towards.spread();
        // They are all alike, or each has its own.
        let mut alike = self.together.map(f64::exp);
        alike.iter_mut().zip(spread).for_each(|(one, share)| *one *= share);
        let total: f64 = alike.iter().sum();
        let all = self.sources + strength;
        let is_alike = ALIKE * self.fetches / (self.fetches + FEW);
        for (at, weight) in trust.weights.iter_mut().enumerate() {
            let own = (self.chances[at] + strength * spread[at]) / all;
            *weight = (is_alike * alike[at] / total + (1.0 - is_alike) * own).ln() as f32;
        }
        trust.balance();
        trust
    }
}
