//! A prior for signals from the sources that they are about.

use serde::{Deserialize, Serialize};

use super::{PRECISIONS, Trust};

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
}

impl Siblings {
    /// Adds a source.
    pub fn add(&mut self, trust: &Trust) {
        self.sources += 1.0;
        for (sum, chance) in self.chances.iter_mut().zip(trust.chances()) {
            *sum += chance;
        }
    }

    /// Takes a source away that was added as it is here.
    pub fn remove(&mut self, trust: &Trust) {
        self.sources = (self.sources - 1.0).max(0.0);
        for (sum, chance) in self.chances.iter_mut().zip(trust.chances()) {
            *sum = (*sum - chance).max(0.0);
        }
    }

    /// Adds the sources of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.sources += other.sources;
        for (sum, more) in self.chances.iter_mut().zip(other.chances) {
            *sum += more;
        }
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
        let spread = towards.chances();
        for (at, weight) in trust.weights.iter_mut().enumerate() {
            *weight = (self.chances[at] + strength * spread[at]).ln() as f32;
        }
        trust.balance();
        trust
    }
}
