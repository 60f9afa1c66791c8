//! What a fetch is worth when the source sends signals that are not to be trusted blindly.

mod average;
mod due;
mod exact;
mod pending;
mod quick;

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::penalty::Penalty;

/// How a source changes and what its signals say of it: changes without a signal, at rate `α`;
/// signals, at rate `γ`; and the share `π` of the signals that stand for a change.
///
/// A source that changes at rate `c`, signals a change with chance `r` (recall) and sends false
/// signals at rate `ν` has `α = (1 − r)c`, `γ = rc + ν` and `π = rc/γ` (precision). All three
/// streams are Poisson and independent of each other, so that what is known since the last fetch is
/// the days `τ` and the number `n` of signals: when they came does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    missed: f64,
    signals: f64,
    precision: f64,
}

/// Why three numbers are not a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidChannel {
    /// A rate is negative or not a finite number.
    Rate(f64),
    /// A share is not between 0 and 1.
    Share(f64),
}

impl fmt::Display for InvalidChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "rate is not a number from 0 on: {rate}"),
            Self::Share(share) => write!(f, "share is not between 0 and 1: {share}"),
        }
    }
}

impl Error for InvalidChannel {}

/// A penalty that depends on nothing but how many changes are pending.
///
/// The penalty for age is none: it depends on when the signals came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Counted {
    /// The harmonic number of the pending changes.
    Harmonic,
    /// 1 while there is a change pending.
    Freshness,
}

impl Counted {
    /// The penalty of this name, if it counts changes.
    #[must_use]
    pub fn new(penalty: Penalty) -> Option<Self> {
        match penalty {
            Penalty::Harmonic => Some(Self::Harmonic),
            Penalty::Freshness => Some(Self::Freshness),
            Penalty::Age => None,
        }
    }

    /// The same penalty where there are no signals.
    #[must_use]
    pub fn penalty(self) -> Penalty {
        match self {
            Self::Harmonic => Penalty::Harmonic,
            Self::Freshness => Penalty::Freshness,
        }
    }
}

/// What is known of a source since its last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Days since the last fetch.
    pub days: f64,
    /// Signals since the last fetch. Not a whole number where some were
    /// [discounted](signal_weight).
    pub signals: f64,
}

impl Heard {
    /// Numbers that are negative or none are 0, so that the rest can rely on it.
    fn checked(self) -> Self {
        let at_least_0 = |x: f64| if x > 0.0 { x } else { 0.0 };
        Self { days: at_least_0(self.days), signals: at_least_0(self.signals).min(MOST_SIGNALS) }
    }
}

/// More pending signals than this make no difference to anything.
const MOST_SIGNALS: f64 = 1e9;

/// How much of a signal counts that came so many days after a fetch, where signals come `delay`
/// days late on average: the chance `1 − e^(−s/d)` that the change it stands for was after the
/// fetch, with a delay that is spread exponentially. 1 without delay.
#[must_use]
pub fn signal_weight(days_after_fetch: f64, delay: f64) -> f64 {
    match (days_after_fetch > 0.0, delay > 0.0) {
        (_, false) => 1.0,
        (true, true) => -(-days_after_fetch / delay).exp_m1(),
        (false, true) => 0.0,
    }
}

impl Channel {
    /// The channel with changes that are not signalled, signals, both per day, and the share of the
    /// signals that stand for a change.
    ///
    /// # Errors
    ///
    /// If a rate is negative or not finite, or the share not between 0 and 1.
    pub fn new(missed: f64, signals: f64, precision: f64) -> Result<Self, InvalidChannel> {
        for rate in [missed, signals] {
            if !(rate >= 0.0 && rate.is_finite()) {
                return Err(InvalidChannel::Rate(rate));
            }
        }
        if !(0.0..=1.0).contains(&precision) {
            return Err(InvalidChannel::Share(precision));
        }
        Ok(Self { missed, signals, precision })
    }

    /// For numbers that are rates and a share by the way they were computed.
    pub(crate) const fn from_parts(missed: f64, signals: f64, precision: f64) -> Self {
        Self { missed, signals, precision }
    }

    /// The channel of a source that changes `changes` times a day, signals a change with the chance
    /// `recall` and sends so many false signals a day.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn from_recall(
        changes: f64,
        recall: f64,
        false_signals: f64,
    ) -> Result<Self, InvalidChannel> {
        if !(0.0..=1.0).contains(&recall) {
            return Err(InvalidChannel::Share(recall));
        }
        let told = recall * changes;
        let signals = told + false_signals;
        let precision = if signals > 0.0 { told / signals } else { 0.0 };
        Self::new((1.0 - recall) * changes, signals, precision.min(1.0))
    }

    /// Changes per day without a signal, `α`.
    #[must_use]
    pub fn missed(self) -> f64 {
        self.missed
    }

    /// Signals per day, `γ`.
    #[must_use]
    pub fn signals(self) -> f64 {
        self.signals
    }

    /// The share of the signals that stand for a change, `π`.
    #[must_use]
    pub fn precision(self) -> f64 {
        self.precision
    }

    /// Changes per day, `c = α + πγ`.
    #[must_use]
    pub fn changes(self) -> f64 {
        self.missed + self.precision * self.signals
    }

    /// The share of the changes that have a signal, `r = πγ/c`; 0 if nothing changes.
    #[must_use]
    pub fn recall(self) -> f64 {
        let changes = self.changes();
        if changes > 0.0 { self.precision * self.signals / changes } else { 0.0 }
    }

    /// False signals per day, `ν = (1 − π)γ`.
    #[must_use]
    pub fn false_signals(self) -> f64 {
        (1.0 - self.precision) * self.signals
    }

    /// What a signal adds to the exponent of the chance of no change, `κ = −ln(1 − π)`; infinite if
    /// there are no false ones.
    pub(crate) fn weight(self) -> f64 {
        -(-self.precision).ln_1p()
    }

    /// The chance that nothing changed: `e^(−ατ)(1 − π)ⁿ`.
    #[must_use]
    pub fn no_change(self, heard: Heard) -> f64 {
        let Heard { days, signals } = heard.checked();
        (-pending::exponent(self, days, signals)).exp()
    }

    /// The expected penalty now, from what is known: freshness `1 − e^(−ατ)(1 − π)ⁿ`; harmonic
    /// `E[H(N)]` for `N` the sum of a Poisson number with mean `ατ` and a binomial one of `n` with
    /// chance `π`.
    #[must_use]
    pub fn expected(self, penalty: Counted, heard: Heard) -> f64 {
        let Heard { days, signals } = heard.checked();
        pending::cost(self, penalty, days, signals)
    }

    /// What a fetch is worth now, per unit of importance: the index
    /// `V(s) = ∫₀^∞ E[(k(s) − k(sₜ))⁺] dt`, with `k` the [expected](Self::expected) penalty and `sₜ` what
    /// will be known `t` days after a fetch. To fetch when it reaches the price is the best that can
    /// be done (`docs/theory.md`).
    ///
    /// Without signals it is [`Penalty::value`] at the rate `c`; with `r = 1`, `ν = 0` it is `n/c`
    /// for harmonic and `1/c` for freshness. Numerically to about 1e-9, in tenths of a millisecond: see
    /// [`quick_value`](Self::quick_value) for daily use. Past [`TERMS`](Self::TERMS) signals the sum gives way to
    /// its asymptote, within `1/TERMS` of the value for freshness and `1/(π TERMS − 0.6)` for harmonic by proof,
    /// and within 1e-5 where it was computed.
    #[must_use]
    pub fn value(self, penalty: Counted, heard: Heard) -> f64 {
        let Heard { days, signals } = heard.checked();
        exact::value(self, penalty, days, signals)
    }

    /// [`value`](Self::value) in constant time: the first signals as they are, the others as their
    /// average.
    ///
    /// Over recalls of 0.01–1, precisions of 0.01–1 and times from moments to 40 times the mean time between
    /// changes, it is within 1.5 % for freshness and within 8 % for harmonic, for half of the cases within 1e-6 and
    /// 0.2 %. A policy that goes by it costs at most 0.1 % more than the best one at the same price, where
    /// that was computed (`tests/signal.rs`).
    #[must_use]
    pub fn quick_value(self, penalty: Counted, heard: Heard) -> f64 {
        let Heard { days, signals } = heard.checked();
        match penalty {
            Counted::Freshness => quick::freshness(self, days, signals),
            Counted::Harmonic => quick::harmonic(self, days, signals),
        }
    }
}

#[cfg(test)]
mod tests;
