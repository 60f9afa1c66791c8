//! Belief about the changes of a source and the reliability of its signals.

mod estimate;
mod prior_fit;
mod summary;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::prior::Prior;
use crate::signal_channel::SignalsSinceFetch;

pub use estimate::SignalEstimate;
pub use prior_fit::SignalPriorFit;

/// Number of discrete precisions: their odds are `e^−6`, `e^−5.5`, … `e^6`.
const PRECISIONS: usize = 25;
/// Lower bound of a log weight. Finite, so that decay can restore a precision that seemed
/// impossible.
const MIN_LOG_WEIGHT: f32 = -1e6;

/// Smallest initial share of the changes that have no signal.
const MIN_UNSIGNALLED_SHARE: f64 = 0.1;

/// Belief about a source and its signals: the rate `γ` of the signals, their precision `π` (the
/// share that stands for a change), and the rate `α` of the changes without a signal.
///
/// A fetch after `τ` days with `n` signals finds no change with probability `e^(−ατ)(1 − π)ⁿ`, or
/// `e^(−(ατ+κn))` with `κ = −ln(1 − π)`. The two terms are hard to tell apart where signals are
/// many and arrive at an even rate, so independent beliefs about them do not work. Instead, each of
/// 25 precisions from 0.25 % to 99.75 % has a weight and a gamma belief about `α` conditional on
/// that precision. A fetch multiplies the weight by the probability of the observation and updates
/// the belief: exactly if there was no change, and by matching mean and variance if there was one.
/// Between the precisions the weights are interpolated. The state is 77 `f32`, whatever was
/// observed.
///
/// Without signals, all 25 beliefs equal the [`Belief`] that the source would have anyway.
///
/// The belief starts uninformed ([`SCEPTICAL`](Self::SCEPTICAL)) or from similar sources
/// ([`SignalPriorFit`]), and [decays](Self::decay_towards) towards that prior. No precision is ever
/// ruled out and none is 1: no signal is trusted blindly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalBelief {
    signals: CompactBelief,
    /// Usual change rate per day, with or without signals. Much higher rates are unlikely.
    typical_change_rate: f32,
    weights: [f32; PRECISIONS],
    unsignalled: [CompactBelief; PRECISIONS],
}

/// Gamma belief in 8 bytes: a large site may have one of these per page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CompactBelief {
    shape: f32,
    days: f32,
}

impl CompactBelief {
    fn new(belief: Belief) -> Self {
        Self { shape: to_positive_f32(belief.shape()), days: to_positive_f32(belief.days()) }
    }

    fn belief(self) -> Belief {
        Belief::from_parts(f64::from(self.shape), f64::from(self.days))
    }
}

/// Converts to a positive `f32`.
fn to_positive_f32(x: f64) -> f32 {
    x.clamp(1e-36, 1e36) as f32
}

/// Distance of neighbouring precisions in log odds.
const STEP: f64 = 0.5;

/// Log odds of a discrete precision.
const fn log_odds(index: usize) -> f64 {
    STEP * index as f64 - 6.0
}

/// Inverse of the logit: the probability with these log odds.
fn probability_from_log_odds(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

impl SignalBelief {
    /// Nearly uninformative: the rates of [`Prior::BROAD`], and odds from one true signal in 400 to
    /// one false in 400, less likely the higher they are: below 0.2 in six of ten cases, 0.3 on
    /// average.
    pub const SCEPTICAL: Self = {
        let mut weights = [0.0; PRECISIONS];
        let mut index = 0;
        while index < PRECISIONS {
            weights[index] = (-0.15 * (log_odds(index) + 6.0)) as f32;
            index += 1;
        }
        Self {
            signals: CompactBelief { shape: 0.5, days: 3.5 },
            typical_change_rate: 0.5 / 3.5,
            weights,
            unsignalled: [CompactBelief { shape: 0.5, days: 3.5 }; PRECISIONS],
        }
    };

    /// [`SCEPTICAL`](Self::SCEPTICAL) with equal weights for all precisions. The weights then hold
    /// only evidence, and a prior is added by [`with_precision_prior`](Self::with_precision_prior).
    pub const FLAT_PRECISION: Self = Self { weights: [0.0; PRECISIONS], ..Self::SCEPTICAL };

    /// Multiplies the precision weights by those of another belief, which acts as the prior.
    #[must_use]
    pub fn with_precision_prior(mut self, others: &Self) -> Self {
        for (weight, other) in self.weights.iter_mut().zip(others.weights) {
            *weight += other;
        }
        self.normalize_weights();
        self
    }

    /// Sets the rate of the unsignalled changes to this prior.
    #[must_use]
    pub fn with_change_prior(self, prior: Prior) -> Self {
        Self { unsignalled: [CompactBelief::new(prior.belief()); PRECISIONS], ..self }
            .with_typical_change_rate(prior.mean())
    }

    /// Sets the usual change rate. Signals that arrive many times as often cannot all be true.
    #[must_use]
    pub fn with_typical_change_rate(self, changes: f64) -> Self {
        Self { typical_change_rate: to_positive_f32(changes), ..self }
    }

    /// Sets the belief about the unsignalled changes.
    #[must_use]
    pub fn with_unsignalled_belief(self, unsignalled: Belief) -> Self {
        Self { unsignalled: [CompactBelief::new(unsignalled); PRECISIONS], ..self }
    }

    /// Counts the signals before a fetch, without using the result of the fetch.
    #[must_use]
    pub fn observe_signal_count(mut self, signals_since_fetch: SignalsSinceFetch) -> Self {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch;
        if days > 0.0 && days.is_finite() && signals >= 0.0 && signals.is_finite() {
            let rate = self.signals.belief();
            let rate = Belief::new(rate.shape() + signals, rate.days() + days);
            self.signals = rate.map_or(self.signals, CompactBelief::new);
        }
        self
    }

    /// Conditions on a belief about all changes and on the observed signal rate: under each
    /// precision, the unsignalled changes are the total minus the signalled ones. From then on the
    /// belief learns which changes the signals stand for, and a source that has more of both does
    /// not appear to have truer signals.
    #[must_use]
    pub fn with_total_change_belief(mut self, changes: Belief) -> Self {
        let signals = self.signals.belief().mean();
        for index in 0..PRECISIONS {
            let mean = changes.mean();
            let remaining_rate = (mean - probability_from_log_odds(log_odds(index)) * signals)
                .max(MIN_UNSIGNALLED_SHARE * mean);
            let unsignalled = Belief::new(remaining_rate * changes.days(), changes.days());
            self.unsignalled[index] = CompactBelief::new(unsignalled.unwrap_or(changes));
        }
        self.with_typical_change_rate(changes.mean())
    }

    /// Updates the belief after a fetch, with the signals since the previous one and whether it
    /// found a change.
    ///
    /// Ignores days that are not a positive finite number and signal counts that are negative or
    /// not finite. Signals just after the previous fetch may stand for a change that it already
    /// saw: they count by their [weight](crate::signal_weight).
    #[must_use]
    pub fn observe_fetch(mut self, signals_since_fetch: SignalsSinceFetch, changed: bool) -> Self {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch;
        let valid = days > 0.0 && days.is_finite() && signals >= 0.0 && signals.is_finite();
        if !valid {
            return self;
        }
        self = self.observe_signal_count(signals_since_fetch);
        for index in 0..PRECISIONS {
            let unsignalled = self.unsignalled[index].belief();
            // ln(1 − π) at these odds.
            let log_all_false = signals * -log_odds(index).exp().ln_1p();
            let log_no_unsignalled = -unsignalled.shape() * (days / unsignalled.days()).ln_1p();
            self.unsignalled[index] = CompactBelief::new(match (changed, signals > 0.0) {
                (false, _) => unsignalled.observe_no_change(days),
                (true, false) => unsignalled.observe_change(days),
                (true, true) => unsignalled.observe_possible_change(days, log_all_false.exp()),
            });
            let log_probability = if changed {
                (-(log_all_false + log_no_unsignalled).exp_m1()).ln()
            } else {
                log_all_false + log_no_unsignalled
            };
            self.weights[index] += log_probability as f32;
        }
        self.normalize_weights();
        self
    }

    /// Decays the evidence about the precision, and the confidence in the rates: their means stay,
    /// their shapes decay to no less than `changes`.
    #[must_use]
    pub fn decay_confidence(mut self, days: f64, half_life: f64, changes: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let remaining = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let decay = |value: CompactBelief| {
            let (shape, days) = (f64::from(value.shape), f64::from(value.days));
            let remaining = if shape > changes { remaining.max(changes / shape) } else { 1.0 };
            CompactBelief {
                shape: to_positive_f32(remaining * shape),
                days: to_positive_f32(remaining * days),
            }
        };
        self.signals = decay(self.signals);
        for index in 0..PRECISIONS {
            self.weights[index] *= remaining as f32;
            self.unsignalled[index] = decay(self.unsignalled[index]);
        }
        self
    }

    /// True if the parameters are valid. Checks a belief read from storage.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let positive = |value: f32| value > 0.0 && value.is_finite();
        positive(self.typical_change_rate)
            && self
                .unsignalled
                .iter()
                .chain([&self.signals])
                .all(|value| positive(value.shape) && positive(value.days))
            && self.weights.iter().all(|value| (MIN_LOG_WEIGHT..=0.0).contains(value))
    }

    /// Subtracts the largest log weight from all of them.
    fn normalize_weights(&mut self) {
        let top = self.weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for weight in &mut self.weights {
            *weight = (*weight - top).max(MIN_LOG_WEIGHT);
        }
    }

    /// Decays towards `prior` over `days`: the evidence loses half its weight every `half_life`
    /// days, as in [`Belief::decay_towards`].
    #[must_use]
    pub fn decay_towards(mut self, prior: &Self, days: f64, half_life: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let remaining = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let decay = |own: CompactBelief, prior: CompactBelief| {
            CompactBelief::new(own.belief().decay_towards(prior.belief().into(), days, half_life))
        };
        self.signals = decay(self.signals, prior.signals);
        let remaining = remaining as f32;
        for index in 0..PRECISIONS {
            self.weights[index] =
                remaining * self.weights[index] + (1.0 - remaining) * prior.weights[index];
            self.unsignalled[index] = decay(self.unsignalled[index], prior.unsignalled[index]);
        }
        self.normalize_weights();
        self
    }
}
