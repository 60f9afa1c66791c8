//! Compact summary of a signal belief.

use serde::{Deserialize, Serialize};

use super::{CompactBelief, SignalBelief, to_positive_f32};
use crate::belief::Belief;
use crate::signal_channel::SignalsSinceFetch;

/// Point estimate of a [`SignalBelief`]: the rate of the unsignalled changes, as a belief, and the
/// rate and the precision of the signals. The value of a fetch depends on nothing else. 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalEstimate {
    unsignalled_belief: CompactBelief,
    signal_rate: f32,
    precision: f32,
}

impl SignalEstimate {
    /// Belief about the rate of the changes without a signal.
    #[must_use]
    pub fn unsignalled_belief(&self) -> Belief {
        self.unsignalled_belief.belief()
    }

    /// Signals per day.
    #[must_use]
    pub fn signal_rate(&self) -> f64 {
        f64::from(self.signal_rate)
    }

    /// Precision: the share of the signals that stand for a change.
    #[must_use]
    pub fn precision(&self) -> f64 {
        f64::from(self.precision)
    }

    /// Changes per day that have a signal.
    #[must_use]
    pub fn signalled_change_rate(&self) -> f64 {
        self.precision() * self.signal_rate()
    }

    /// Recall: the share of the changes that have a signal.
    #[must_use]
    pub fn recall(&self) -> f64 {
        let signalled = self.signalled_change_rate();
        signalled / (signalled + self.unsignalled_belief().mean())
    }

    /// Belief about all changes, with the confidence of the unsignalled ones.
    #[must_use]
    pub fn change_belief(&self) -> Belief {
        let unsignalled = self.unsignalled_belief();
        let mean = unsignalled.mean() + self.signalled_change_rate();
        Belief::new(mean * unsignalled.days(), unsignalled.days()).unwrap_or(unsignalled)
    }

    /// Mixes in a recall known from elsewhere with the weight of `changes` observed changes. The
    /// total change rate stays the same.
    #[must_use]
    pub fn with_recall(self, recall: f64, changes: f64) -> Self {
        let unsignalled = self.unsignalled_belief();
        let expected_unsignalled = (1.0 - recall.clamp(0.0, 1.0)) * self.change_belief().mean();
        let own = unsignalled.shape();
        let mean = (own * unsignalled.mean() + changes * expected_unsignalled) / (own + changes);
        let unsignalled =
            Belief::new(mean * unsignalled.days(), unsignalled.days()).unwrap_or(unsignalled);
        Self { unsignalled_belief: CompactBelief::new(unsignalled), ..self }
    }

    /// Probability that nothing changed since the last fetch.
    #[must_use]
    pub fn no_change_probability(&self, signals_since_fetch: SignalsSinceFetch) -> f64 {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch;
        let no_unsignalled =
            if days > 0.0 { self.unsignalled_belief().no_change_probability(days) } else { 1.0 };
        if signals > 0.0 {
            no_unsignalled * (1.0 - self.precision()).powf(signals)
        } else {
            no_unsignalled
        }
    }
}

impl SignalBelief {
    /// Returns the point estimate.
    #[must_use]
    pub fn estimate(&self) -> SignalEstimate {
        let precision = self.precision().clamp(0.0, 1.0) as f32;
        let signals = to_positive_f32(self.signal_rate_belief().mean());
        SignalEstimate {
            unsignalled_belief: CompactBelief::new(self.unsignalled_belief()),
            signal_rate: signals,
            precision,
        }
    }
}
