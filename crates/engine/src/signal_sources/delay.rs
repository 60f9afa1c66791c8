//! How late signals come.

use freshet_estimate::{Reading, signal_weight};
use serde::{Deserialize, Serialize};

/// Mean delays that are told apart, in days: none, 1 and 5 and 30 minutes, 2 and 8 hours, 1, 3 and 10 days.
const DELAYS: [f64; 9] =
    [0.0, 1.0 / 1440.0, 5.0 / 1440.0, 1.0 / 48.0, 1.0 / 12.0, 1.0 / 3.0, 1.0, 3.0, 10.0];
/// How much less likely each is than the one before, before anything is known.
const RARER: f32 = 0.3;
/// A delay less likely than this is as good as impossible; forgetting can bring it back.
const LEAST: f32 = -50.0;
/// What each fetch leaves of what was learnt.
const KEPT: f32 = 0.999;
/// Moments that were said of changes before their mean is the delay.
const ENOUGH: f64 = 3.0;

/// What is believed of the time from a change to its signal.
///
/// A signal that comes soon after a fetch that found a change may be of that change: it says nothing then.
/// How often such signals are followed by no change tells how late they come. Where moments of changes are
/// said, that is known without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Delay {
    weights: [f32; DELAYS.len()],
    /// Moments that were said, and the days since them, with forgetting.
    said: f64,
    days: f64,
}

impl Default for Delay {
    fn default() -> Self {
        let mut weights = [0.0; DELAYS.len()];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = -RARER * at as f32;
        }
        Self { weights, said: 0.0, days: 0.0 }
    }
}

impl Delay {
    /// A change was told of, so many days after it is said to have been.
    pub(crate) fn said(&mut self, days: f64) {
        let kept = f64::from(KEPT);
        self.said = kept * self.said + 1.0;
        self.days = kept * self.days + days.clamp(0.0, 1e4);
    }

    /// Whether its numbers can be meant.
    pub(crate) fn is_sound(&self) -> bool {
        let weights = self.weights.iter().all(|it| (LEAST..=1.0).contains(it));
        weights
            && self.said >= 0.0
            && self.said.is_finite()
            && self.days >= 0.0
            && self.days.is_finite()
    }

    /// How much of a signal counts that came so many days after a fetch that found a change.
    pub(crate) fn weight(&self, days: f64) -> f64 {
        self.mean_of(|delay| signal_weight(days, delay))
    }

    fn mean_of(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (&delay, &weight) in DELAYS.iter().zip(&self.weights) {
            let chance = f64::from(weight).exp();
            sum += chance * f(delay);
            all += chance;
        }
        sum / all
    }

    /// Days from a change to its signal, as far as is believed; `None` while nothing was learnt.
    pub(crate) fn mean(&self) -> Option<f64> {
        if self.said >= ENOUGH {
            return Some(self.days / self.said);
        }
        (*self != Self { said: self.said, days: self.days, ..Self::default() })
            .then(|| self.mean_of(|delay| delay))
    }

    /// Learns from a fetch after one that found a change: signals came `first` to `last` days after that
    /// one, and it found a change or not.
    pub(crate) fn learn(&mut self, reading: &Reading, days: f64, heard: &After, changed: bool) {
        let quiet = reading.missed().no_change(days);
        let precision = reading.precision();
        let mut top = f32::NEG_INFINITY;
        let start = Self::default();
        for (at, &delay) in DELAYS.iter().enumerate() {
            let none = quiet * heard.product(|after| 1.0 - precision * signal_weight(after, delay));
            let chance = if changed { 1.0 - none } else { none };
            let learnt = KEPT * self.weights[at] + (1.0 - KEPT) * start.weights[at];
            self.weights[at] = (learnt + chance.max(1e-9).ln() as f32).max(LEAST);
            top = top.max(self.weights[at]);
        }
        for weight in &mut self.weights {
            *weight = (*weight - top).max(LEAST);
        }
    }
}

/// Signals after a fetch, as if they had come evenly from the first to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    pub(crate) count: u32,
    pub(crate) first: f64,
    pub(crate) last: f64,
}

/// Signals that are looked at one by one.
const FEW: u32 = 8;

impl After {
    fn product(&self, f: impl Fn(f64) -> f64) -> f64 {
        let few = self.count.clamp(1, FEW);
        let share = |at: u32| if few > 1 { f64::from(at) / f64::from(few - 1) } else { 0.0 };
        let of_few: f64 =
            (0..few).map(|at| f(self.first + share(at) * (self.last - self.first))).product();
        of_few.max(0.0).powf(f64::from(self.count) / f64::from(few))
    }
}
