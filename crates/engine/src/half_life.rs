//! Selection of the half-life after which evidence loses half its weight.

use std::collections::BTreeMap;

use freshet_estimate::{Belief, Prior};
use serde::{Deserialize, Serialize};

/// Half-lives that are tried, in days.
const HALF_LIVES: [f64; 4] = [2000.0, 700.0, 250.0, 80.0];
/// Maximum number of sources on which they are tried.
const MAX_SAMPLED_SOURCES: usize = 4096;
/// Fetches after which the evidence about half-lives loses half its weight.
const LIKELIHOOD_HALF_LIFE: f64 = 200_000.0;
/// Log likelihood ratio required to switch to another half-life.
const SWITCH_MARGIN: f64 = 20.0;

/// Tries several half-lives on a sample of the sources and selects the one that best predicts the
/// results of fetches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HalfLifeSelector {
    sampled: BTreeMap<u32, [(f64, f64); HALF_LIVES.len()]>,
    /// Log likelihood of the observed results under each half-life.
    log_likelihoods: [f64; HALF_LIVES.len()],
    best: usize,
}

impl Default for HalfLifeSelector {
    fn default() -> Self {
        Self { sampled: BTreeMap::new(), log_likelihoods: [0.0; HALF_LIVES.len()], best: 0 }
    }
}

/// Part of the selector that a checkpoint keeps.
#[derive(Serialize, Deserialize)]
pub(crate) struct HalfLifeCheckpoint {
    log_likelihoods: [f64; HALF_LIVES.len()],
    best: usize,
}

impl From<HalfLifeCheckpoint> for HalfLifeSelector {
    fn from(HalfLifeCheckpoint { log_likelihoods, best }: HalfLifeCheckpoint) -> Self {
        Self { sampled: BTreeMap::new(), log_likelihoods, best: best.min(HALF_LIVES.len() - 1) }
    }
}

impl HalfLifeSelector {
    pub(crate) fn checkpoint(&self) -> HalfLifeCheckpoint {
        HalfLifeCheckpoint { log_likelihoods: self.log_likelihoods, best: self.best }
    }

    pub(crate) fn half_life(&self) -> f64 {
        HALF_LIVES[self.best]
    }

    /// True if a source belongs to the sample, given the number of sources.
    pub(crate) fn is_sampled(id: u32, sources: usize) -> bool {
        let share = (sources / (2 * MAX_SAMPLED_SOURCES)) as u32;
        share <= 1 || id.wrapping_mul(0x9e37_79b1) < u32::MAX / share
    }

    /// Records whether a fetch of a source found a change after `days`.
    pub(crate) fn observe_fetch(&mut self, id: u32, prior: Prior, days: f64, changed: bool) {
        let has_room = self.sampled.len() < MAX_SAMPLED_SOURCES;
        let evidence = match self.sampled.entry(id) {
            std::collections::btree_map::Entry::Occupied(it) => it.into_mut(),
            std::collections::btree_map::Entry::Vacant(it) if has_room => {
                it.insert([(0.0, 0.0); HALF_LIVES.len()])
            }
            std::collections::btree_map::Entry::Vacant(_) => return,
        };
        let decay = (-1.0 / LIKELIHOOD_HALF_LIFE).exp2();
        for (at, half_life) in HALF_LIVES.into_iter().enumerate() {
            let remaining = (-days / half_life).exp2();
            let (changes, time) = evidence[at];
            let belief = decayed_belief(prior, changes * remaining, time * remaining);
            let no_change = belief.no_change_probability(days);
            let chance = if changed { 1.0 - no_change } else { no_change };
            self.log_likelihoods[at] = decay * self.log_likelihoods[at] + chance.max(1e-12).ln();
            let belief =
                if changed { belief.observe_change(days) } else { belief.observe_no_change(days) };
            let before = prior.belief();
            evidence[at] = (
                (belief.shape() - before.shape()).max(0.0),
                (belief.days() - before.days()).max(0.0),
            );
        }
        let best = (0..HALF_LIVES.len())
            .max_by(|&a, &b| self.log_likelihoods[a].total_cmp(&self.log_likelihoods[b]))
            .unwrap_or(self.best);
        if self.log_likelihoods[best] > self.log_likelihoods[self.best] + SWITCH_MARGIN {
            self.best = best;
        }
    }

    pub(crate) fn forget(&mut self, id: u32) {
        self.sampled.remove(&id);
    }
}

/// Returns the belief with the remaining evidence on top of the prior.
fn decayed_belief(prior: Prior, changes: f64, days: f64) -> Belief {
    let prior = prior.belief();
    Belief::new(prior.shape() + changes, prior.days() + days).unwrap_or(prior)
}
