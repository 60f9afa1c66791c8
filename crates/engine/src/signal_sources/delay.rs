//! Delay between changes and their signals.

use freshet_estimate::{SignalEstimate, signal_weight};
use serde::{Deserialize, Serialize};

/// Discrete mean delays in days: none, 1, 5 and 30 minutes, 2 and 8 hours, 1, 3 and 10 days.
const DELAYS: [f64; 9] =
    [0.0, 1.0 / 1440.0, 5.0 / 1440.0, 1.0 / 48.0, 1.0 / 12.0, 1.0 / 3.0, 1.0, 3.0, 10.0];
/// Prior difference in log weight between neighbouring delays.
const PRIOR_LOG_STEP: f32 = 0.3;
/// Lower bound of a log weight, from which decay can recover.
const MIN_LOG_WEIGHT: f32 = -50.0;
/// Decay factor of the evidence per fetch.
const DECAY: f32 = 0.999;
/// Number of stated change times from which on their mean is used.
const MIN_STATED_DELAYS: f64 = 3.0;

/// Belief about the delay from a change to its signal.
///
/// A signal soon after a fetch that found a change may refer to that change, and then carries no
/// information. How often such signals are followed by no change shows the delay. If signals state
/// the time of the change, the delay is known directly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DelayEstimate {
    weights: [f32; DELAYS.len()],
    /// Number of stated change times and the sum of their delays, both with decay.
    stated_count: f64,
    days: f64,
}

impl Default for DelayEstimate {
    fn default() -> Self {
        let mut weights = [0.0; DELAYS.len()];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = -PRIOR_LOG_STEP * at as f32;
        }
        Self { weights, stated_count: 0.0, days: 0.0 }
    }
}

impl DelayEstimate {
    /// Records the delay of a signal that states the time of its change.
    pub(crate) fn record_stated_delay(&mut self, days: f64) {
        let decay = f64::from(DECAY);
        self.stated_count = decay * self.stated_count + 1.0;
        self.days = decay * self.days + days.clamp(0.0, 1e4);
    }

    /// True if all numbers are valid.
    pub(crate) fn is_valid(&self) -> bool {
        let weights = self.weights.iter().all(|value| (MIN_LOG_WEIGHT..=1.0).contains(value));
        weights
            && self.stated_count >= 0.0
            && self.stated_count.is_finite()
            && self.days >= 0.0
            && self.days.is_finite()
    }

    /// Weight of a signal received this number of days after a fetch that found a change.
    pub(crate) fn weight(&self, days: f64) -> f64 {
        self.mean_of(|delay| signal_weight(days, delay))
    }

    fn mean_of(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (&delay, &weight) in DELAYS.iter().zip(&self.weights) {
            let probability = f64::from(weight).exp();
            sum += probability * f(delay);
            all += probability;
        }
        sum / all
    }

    /// Estimated days from a change to its signal; `None` without observations.
    pub(crate) fn mean(&self) -> Option<f64> {
        if self.stated_count >= MIN_STATED_DELAYS {
            return Some(self.days / self.stated_count);
        }
        (*self != Self { stated_count: self.stated_count, days: self.days, ..Self::default() })
            .then(|| self.mean_of(|delay| delay))
    }

    /// Updates the belief with a fetch that follows one that found a change, with the signals in
    /// between.
    pub(crate) fn observe_fetch(
        &mut self,
        estimate: &SignalEstimate,
        days: f64,
        since_fetch: &SignalTimes,
        changed: bool,
    ) {
        let no_unsignalled_change = estimate.unsignalled_belief().no_change_probability(days);
        let precision = estimate.precision();
        let mut top = f32::NEG_INFINITY;
        let start = Self::default();
        for (at, &delay) in DELAYS.iter().enumerate() {
            let no_change = no_unsignalled_change
                * since_fetch.product(|after| 1.0 - precision * signal_weight(after, delay));
            let probability = if changed { 1.0 - no_change } else { no_change };
            let decayed = DECAY * self.weights[at] + (1.0 - DECAY) * start.weights[at];
            self.weights[at] = (decayed + probability.max(1e-9).ln() as f32).max(MIN_LOG_WEIGHT);
            top = top.max(self.weights[at]);
        }
        for weight in &mut self.weights {
            *weight = (*weight - top).max(MIN_LOG_WEIGHT);
        }
    }
}

/// Times of the signals since a fetch, as if evenly spaced from the first to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalTimes {
    pub(crate) count: u32,
    pub(crate) first: f64,
    pub(crate) last: f64,
}

/// Maximum number of signals that are evaluated one by one.
const MAX_PRODUCT_TERMS: u32 = 8;

impl SignalTimes {
    fn product(&self, f: impl Fn(f64) -> f64) -> f64 {
        let terms = self.count.clamp(1, MAX_PRODUCT_TERMS);
        let share = |at: u32| if terms > 1 { f64::from(at) / f64::from(terms - 1) } else { 0.0 };
        let product_of_terms: f64 =
            (0..terms).map(|at| f(self.first + share(at) * (self.last - self.first))).product();
        product_of_terms.max(0.0).powf(f64::from(self.count) / f64::from(terms))
    }
}
