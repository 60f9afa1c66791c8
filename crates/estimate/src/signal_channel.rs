//! Value of a fetch when the source sends unreliable signals.

mod approximate;
mod belief_average;
mod exact;
mod interval;
mod pending_changes;

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::penalty::Penalty;

/// Noisy signal channel of a source: changes without a signal, at rate `α`; signals, at rate `γ`;
/// and the precision `π`, the share of the signals that stand for a change.
///
/// A source that changes at rate `c`, signals a change with probability `r` (recall) and sends
/// false signals at rate `ν` has `α = (1 − r)c`, `γ = rc + ν` and `π = rc/γ` (precision). All three
/// streams are Poisson and independent, so the days `τ` and the number `n` of signals since the
/// last fetch are sufficient: the times of the signals do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalChannel {
    unsignalled_rate: f64,
    signal_rate: f64,
    precision: f64,
}

/// Error of an invalid [`SignalChannel`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidSignalChannel {
    /// A rate is negative or not finite.
    Rate(f64),
    /// A share is not between 0 and 1.
    Share(f64),
}

impl fmt::Display for InvalidSignalChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "rate is negative or not finite: {rate}"),
            Self::Share(share) => write!(f, "share is not between 0 and 1: {share}"),
        }
    }
}

impl Error for InvalidSignalChannel {}

/// Penalty that depends only on the number of pending changes.
///
/// The age penalty is excluded: it depends on when the signals arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeCountPenalty {
    /// Harmonic number of the pending changes.
    Harmonic,
    /// 1 while at least one change is pending.
    Freshness,
}

impl ChangeCountPenalty {
    /// Converts a penalty; `None` if it is not a function of the number of pending changes.
    #[must_use]
    pub fn from_penalty(penalty: Penalty) -> Option<Self> {
        match penalty {
            Penalty::Harmonic => Some(Self::Harmonic),
            Penalty::Freshness => Some(Self::Freshness),
            Penalty::Age => None,
        }
    }

    /// The corresponding [`Penalty`] of a source without signals.
    #[must_use]
    pub fn penalty(self) -> Penalty {
        match self {
            Self::Harmonic => Penalty::Harmonic,
            Self::Freshness => Penalty::Freshness,
        }
    }
}

/// Signals since the last fetch: the state that the value of a fetch depends on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalsSinceFetch {
    /// Days since the last fetch.
    pub days: f64,
    /// Number of signals since the last fetch. Not an integer if some are
    /// [discounted](signal_weight).
    pub count: f64,
}

impl SignalsSinceFetch {
    /// Replaces negative numbers and NaN by 0.
    fn checked(self) -> Self {
        let at_least_0 = |x: f64| if x > 0.0 { x } else { 0.0 };
        Self { days: at_least_0(self.days), count: at_least_0(self.count).min(MAX_SIGNALS) }
    }
}

/// Larger counts make no difference to any result.
const MAX_SIGNALS: f64 = 1e9;

/// Weight of a signal received this number of days after a fetch, if signals arrive `delay` days late on
/// average: the probability `1 − e^(−s/d)` that the change it stands for was after the fetch, for
/// an exponentially distributed delay. 1 without delay.
#[must_use]
pub fn signal_weight(days_after_fetch: f64, delay: f64) -> f64 {
    match (days_after_fetch > 0.0, delay > 0.0) {
        (_, false) => 1.0,
        (true, true) => -(-days_after_fetch / delay).exp_m1(),
        (false, true) => 0.0,
    }
}

impl SignalChannel {
    /// Returns the channel with these rates of unsignalled changes and of signals, both per day,
    /// and this precision.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidSignalChannel`] if a rate is negative or not finite, or the precision is
    /// not between 0 and 1.
    pub fn new(
        unsignalled_rate: f64,
        signal_rate: f64,
        precision: f64,
    ) -> Result<Self, InvalidSignalChannel> {
        for rate in [unsignalled_rate, signal_rate] {
            if !(rate >= 0.0 && rate.is_finite()) {
                return Err(InvalidSignalChannel::Rate(rate));
            }
        }
        if !(0.0..=1.0).contains(&precision) {
            return Err(InvalidSignalChannel::Share(precision));
        }
        Ok(Self { unsignalled_rate, signal_rate, precision })
    }

    /// Skips validation, for parameters that are valid by construction.
    pub(crate) const fn from_parts(
        unsignalled_rate: f64,
        signal_rate: f64,
        precision: f64,
    ) -> Self {
        Self { unsignalled_rate, signal_rate, precision }
    }

    /// Returns the channel of a source that changes `changes` times a day, signals a change with
    /// probability `recall` and sends `false_signals` false signals a day.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn from_recall(
        changes: f64,
        recall: f64,
        false_signals: f64,
    ) -> Result<Self, InvalidSignalChannel> {
        if !(0.0..=1.0).contains(&recall) {
            return Err(InvalidSignalChannel::Share(recall));
        }
        let signalled = recall * changes;
        let signals = signalled + false_signals;
        let precision = if signals > 0.0 { signalled / signals } else { 0.0 };
        Self::new((1.0 - recall) * changes, signals, precision.min(1.0))
    }

    /// Changes per day without a signal, `α`.
    #[must_use]
    pub fn unsignalled_rate(self) -> f64 {
        self.unsignalled_rate
    }

    /// Signals per day, `γ`.
    #[must_use]
    pub fn signal_rate(self) -> f64 {
        self.signal_rate
    }

    /// Precision `π`: the share of the signals that stand for a change.
    #[must_use]
    pub fn precision(self) -> f64 {
        self.precision
    }

    /// Changes per day, `c = α + πγ`.
    #[must_use]
    pub fn change_rate(self) -> f64 {
        self.unsignalled_rate + self.precision * self.signal_rate
    }

    /// Recall `r = πγ/c`: the share of the changes that have a signal; 0 if nothing changes.
    #[must_use]
    pub fn recall(self) -> f64 {
        let changes = self.change_rate();
        if changes > 0.0 { self.precision * self.signal_rate / changes } else { 0.0 }
    }

    /// False signals per day, `ν = (1 − π)γ`.
    #[must_use]
    pub fn false_signal_rate(self) -> f64 {
        (1.0 - self.precision) * self.signal_rate
    }

    /// Amount that one signal adds to the exponent of the no-change probability, `κ = −ln(1 − π)`;
    /// infinite without false signals.
    pub(crate) fn signal_exponent(self) -> f64 {
        -(-self.precision).ln_1p()
    }

    /// Probability that nothing changed: `e^(−ατ)(1 − π)ⁿ`.
    #[must_use]
    pub fn no_change_probability(self, signals_since_fetch: SignalsSinceFetch) -> f64 {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch.checked();
        (-pending_changes::exponent(self, days, signals)).exp()
    }

    /// Expected penalty now: freshness `1 − e^(−ατ)(1 − π)ⁿ`; harmonic `E[H(N)]` with `N` the sum
    /// of a Poisson number with mean `ατ` and a binomial one of `n` with probability `π`.
    #[must_use]
    pub fn expected_penalty(
        self,
        penalty: ChangeCountPenalty,
        signals_since_fetch: SignalsSinceFetch,
    ) -> f64 {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch.checked();
        pending_changes::expected_penalty(self, penalty, days, signals)
    }

    /// Value of a fetch now, per unit of importance: the index `V(s) = ∫₀^∞ E[(k(s) − k(sₜ))⁺] dt`,
    /// with `k` the [expected penalty](Self::expected_penalty) and `sₜ` the state `t` days after a
    /// fetch. Fetching when it reaches the price is optimal (`docs/theory.md`).
    ///
    /// Without signals it is [`Penalty::fetch_value`] at the rate `c`; with `r = 1`, `ν = 0` it is
    /// `n/c` for harmonic and `1/c` for freshness. Computed numerically to about 1e-9, in tenths of
    /// a millisecond; use [`approximate_fetch_value`](Self::approximate_fetch_value) where speed
    /// matters. Past [`TERMS`](Self::TERMS) signals the sum is replaced by its asymptote, with a
    /// proven relative error of at most `1/TERMS` for freshness and `1/(π TERMS − 0.6)` for
    /// harmonic, and a measured one of 1e-5.
    #[must_use]
    pub fn fetch_value(
        self,
        penalty: ChangeCountPenalty,
        signals_since_fetch: SignalsSinceFetch,
    ) -> f64 {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch.checked();
        exact::value(self, penalty, days, signals)
    }

    /// [`fetch_value`](Self::fetch_value) in constant time: the first signals are treated exactly,
    /// the others by their average.
    ///
    /// For recalls of 0.01–1, precisions of 0.01–1 and times up to 40 times the mean time between
    /// changes, the error is at most 1.5 % for freshness and 8 % for harmonic; the median is 1e-6
    /// and 0.2 %. A policy based on it costs at most 0.1 % more than the optimal one at the same
    /// price, in the cases computed (`tests/signal_channel.rs`).
    #[must_use]
    pub fn approximate_fetch_value(
        self,
        penalty: ChangeCountPenalty,
        signals_since_fetch: SignalsSinceFetch,
    ) -> f64 {
        let SignalsSinceFetch { days, count: signals } = signals_since_fetch.checked();
        match penalty {
            ChangeCountPenalty::Freshness => approximate::freshness(self, days, signals),
            ChangeCountPenalty::Harmonic => approximate::harmonic(self, days, signals),
        }
    }
}

#[cfg(test)]
mod tests;
