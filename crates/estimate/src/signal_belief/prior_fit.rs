//! Fits a prior for the precision of one signal source from the sources it signals.

use serde::{Deserialize, Serialize};

use super::{PRECISIONS, SignalBelief};

/// Fetches at which the shared precision has half of its final weight.
const FETCHES_FOR_HALF_WEIGHT: f64 = 20.0;
/// Prior probability that all sources have the same precision.
const SHARED_PRECISION_PROBABILITY: f64 = 0.95;

/// Sums over the sources that one signal source reports on, from which the prior of a new one
/// follows: the distribution of their precisions, each source weighted by its posterior.
///
/// The beliefs must be formed under one prior. One pass from it to the next is a step of
/// expectation-maximisation and never lowers the likelihood. The rates have a
/// [`PriorFit`](crate::PriorFit) of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalPriorFit {
    sources: f64,
    precision_sums: [f64; PRECISIONS],
    /// Log likelihood of all observations if all sources share one precision.
    shared_log_likelihoods: [f64; PRECISIONS],
    /// Effective number of fetches behind it.
    fetches: f64,
}

impl SignalPriorFit {
    /// Adds the belief about one source.
    pub fn add(&mut self, belief: &SignalBelief) {
        self.sources += 1.0;
        for (sum, probability) in
            self.precision_sums.iter_mut().zip(belief.precision_probabilities())
        {
            *sum += probability;
        }
    }

    /// Updates the shared likelihood after a fetch of one source, from its belief before and after.
    /// Forgets exponentially over `recent_fetches`.
    pub fn observe_fetch(
        &mut self,
        before: &SignalBelief,
        after: &SignalBelief,
        recent_fetches: f64,
    ) {
        let remaining = 1.0 - 1.0 / recent_fetches.max(1.0);
        for (index, log) in self.shared_log_likelihoods.iter_mut().enumerate() {
            *log = remaining * *log + f64::from(after.weights[index])
                - f64::from(before.weights[index]);
        }
        self.fetches = remaining * self.fetches + 1.0;
        let top = self.shared_log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.shared_log_likelihoods
            .iter_mut()
            .for_each(|log| *log = (*log - top).max(f64::from(super::MIN_LOG_WEIGHT)));
    }

    /// Scales the sums over sources by a share between 0 and 1.
    pub fn scale_sources(&mut self, share: f64) {
        let share = share.clamp(0.0, 1.0);
        self.sources *= share;
        self.precision_sums.iter_mut().for_each(|sum| *sum *= share);
    }

    /// True if the sums are valid. Checks a fit read from storage.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let positive = |it: f64| it >= 0.0 && it.is_finite();
        positive(self.sources)
            && positive(self.fetches)
            && self.precision_sums.iter().all(|it| positive(*it))
            && self.shared_log_likelihoods.iter().all(|it| *it <= 0.0 && it.is_finite())
    }

    /// Adds the sources of another fit.
    pub fn merge(&mut self, other: &Self) {
        self.sources += other.sources;
        for (sum, more) in self.precision_sums.iter_mut().zip(other.precision_sums) {
            *sum += more;
        }
        for (log, more) in self.shared_log_likelihoods.iter_mut().zip(other.shared_log_likelihoods)
        {
            *log += more;
        }
        self.fetches += other.fetches;
    }

    /// Number of sources added.
    #[must_use]
    pub fn sources(&self) -> u64 {
        self.sources as u64
    }

    /// Returns the prior for a new source: `target` with the precisions of the added sources and of
    /// `strength` imaginary ones distributed as in `target`. A strength of 0 or less would rule out
    /// precisions that no source has, and counts as 1.
    #[must_use]
    pub fn prior(&self, target: &SignalBelief, strength: f64) -> SignalBelief {
        let strength = if strength > 0.0 && strength.is_finite() { strength } else { 1.0 };
        let mut belief = *target;
        let spread = target.prior_precision_probabilities();
        // A mixture: all sources share one precision, or each has its own.
        let mut alike = self.shared_log_likelihoods.map(f64::exp);
        alike.iter_mut().zip(spread).for_each(|(one, share)| *one *= share);
        let total: f64 = alike.iter().sum();
        let all = self.sources + strength;
        let is_alike =
            SHARED_PRECISION_PROBABILITY * self.fetches / (self.fetches + FETCHES_FOR_HALF_WEIGHT);
        for (index, weight) in belief.weights.iter_mut().enumerate() {
            let own = (self.precision_sums[index] + strength * spread[index]) / all;
            *weight = (is_alike * alike[index] / total + (1.0 - is_alike) * own).ln() as f32;
        }
        belief.normalize_weights();
        belief
    }
}
