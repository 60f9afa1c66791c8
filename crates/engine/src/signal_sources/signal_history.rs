//! Signal history: the signals of one signal source about one source.

use freshet_estimate::{SignalEstimate, SignalsSinceFetch};
use serde::{Deserialize, Serialize};

/// Fetches during which signals are only counted and the source shows its change rate.
pub(crate) const TRIAL_FETCHES: u8 = 3;
/// Signals per change from which on they are noise.
const NOISE_RATIO: f64 = 16.0;
/// Growth of the signal weight that makes the due day worth computing again.
const MIN_NEW_SIGNAL_SHARE: f32 = 0.15;

/// Signals about a source since its last fetch, and the estimate of their reliability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SignalHistory {
    pub(crate) source: u32,
    pub(crate) signal_source: u32,
    pub(crate) generation: u32,
    /// Place of the source's next history, plus 1.
    next: u32,
    /// Signals since the last fetch, and those received while a fetch was in flight.
    pub(crate) count: u32,
    pub(crate) in_flight_count: u32,
    /// Weights of these signals.
    pub(crate) signals: f32,
    pub(crate) in_flight_signals: f32,
    /// Weight at which the due day was last computed.
    pub(crate) evaluated_signals: f32,
    /// Times of the first and the last signal, in days after the last fetch.
    pub(crate) first_signal_after: f32,
    pub(crate) last_signal_after: f32,
    /// Compact estimate of the reliability.
    pub(crate) estimate: SignalEstimate,
    /// Value of a fetch just after one signal, per unit of importance.
    pub(crate) value_after_signal: f32,
    /// Log likelihood of its predictions of fetch results, with decay: the closer to 0 the better.
    pub(crate) score: f32,
    /// Contribution to the value of reading the signal source, and its rate class.
    pub(crate) read_value_share: f32,
    pub(crate) rate_class: u8,
    /// Observed fetches, up to the end of the trial.
    pub(crate) fetches: u8,
    /// True if the last fetch found a change, which the next signal may refer to.
    pub(crate) changed: bool,
}

impl SignalHistory {
    /// Upper bound of the places, exclusive.
    pub(crate) const PLACE_LIMIT: u32 = 1 << 30;

    pub(crate) fn new(
        source: u32,
        signal_source: u32,
        generation: u32,
        estimate: SignalEstimate,
    ) -> Self {
        Self {
            source,
            signal_source,
            generation,
            next: 0,
            count: 0,
            in_flight_count: 0,
            signals: 0.0,
            in_flight_signals: 0.0,
            evaluated_signals: 0.0,
            first_signal_after: 0.0,
            last_signal_after: 0.0,
            estimate,
            value_after_signal: 0.0,
            score: 0.0,
            read_value_share: 0.0,
            rate_class: 0,
            fetches: 0,
            changed: false,
        }
    }

    /// True while signals are only counted.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.fetches < TRIAL_FETCHES
    }

    /// True if signals are so much more frequent than changes that the possible gain is below the
    /// cost of a wrong estimate, even if every change is signalled.
    pub(crate) fn is_noise(&self) -> bool {
        self.estimate.signal_rate() > NOISE_RATIO * self.estimate.change_belief().mean()
    }

    /// Place of the source's next history.
    pub(crate) fn next(&self) -> Option<u32> {
        self.next.checked_sub(1)
    }

    pub(crate) fn set_next(&mut self, place: Option<u32>) {
        self.next = place.map_or(0, |place| place + 1);
    }

    /// Records a signal received this number of days after the last fetch.
    pub(crate) fn record_signal(&mut self, days: f64, weight: f64, is_in_flight: bool) {
        self.last_signal_after = days as f32;
        if self.count == 0 {
            self.first_signal_after = self.last_signal_after;
        }
        self.count = self.count.saturating_add(1);
        self.signals += weight as f32;
        if is_in_flight {
            self.in_flight_count = self.in_flight_count.saturating_add(1);
            self.in_flight_signals += weight as f32;
        }
    }

    /// True if the signal weight has grown enough to compute the due day again.
    pub(crate) fn is_new_information(&mut self) -> bool {
        let is_new_information =
            self.signals > (1.0 + MIN_NEW_SIGNAL_SHARE) * self.evaluated_signals;
        if is_new_information {
            self.evaluated_signals = self.signals;
        }
        is_new_information
    }

    /// Marks the start of a fetch: later signals may refer to changes that the copy lacks.
    pub(crate) fn mark_fetch_started(&mut self) {
        (self.in_flight_count, self.in_flight_signals) = (0, 0.0);
    }

    /// Records a copy made this number of days after the previous one. Keeps only signals received while
    /// the fetch was in flight.
    pub(crate) fn record_copy(&mut self, days: f64) {
        (self.count, self.signals) = (self.in_flight_count, self.in_flight_signals);
        self.evaluated_signals = self.signals;
        self.mark_fetch_started();
        let after = |days_after: f32| {
            if self.count > 0 { (f64::from(days_after) - days).max(0.0) as f32 } else { 0.0 }
        };
        (self.first_signal_after, self.last_signal_after) =
            (after(self.first_signal_after), after(self.last_signal_after));
        if self.count > 0 {
            self.first_signal_after = 0.0;
        }
    }

    /// Signals since the last fetch, after this number of days.
    pub(crate) fn since_fetch(&self, days: f64) -> SignalsSinceFetch {
        SignalsSinceFetch { days, count: f64::from(self.signals) }
    }
}

/// Active signals of a source: everything that its value depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveSignals {
    pub(crate) estimate: SignalEstimate,
    pub(crate) signals: f32,
    pub(crate) first_signal_after: f32,
    pub(crate) last_signal_after: f32,
    pub(crate) value_after_signal: f32,
}

impl From<&SignalHistory> for ActiveSignals {
    fn from(history: &SignalHistory) -> Self {
        let SignalHistory {
            estimate,
            signals,
            first_signal_after,
            last_signal_after,
            value_after_signal,
            ..
        } = *history;
        Self { estimate, signals, first_signal_after, last_signal_after, value_after_signal }
    }
}

impl ActiveSignals {
    /// Signals since the last fetch, after this number of days.
    pub(crate) fn since_fetch(&self, days: f64) -> SignalsSinceFetch {
        // Before the first signal there was none.
        let signals = if days < f64::from(self.first_signal_after) { 0.0 } else { self.signals };
        SignalsSinceFetch { days, count: f64::from(signals) }
    }

    /// Returns the same state without the signals.
    pub(crate) fn without_signals(self) -> Self {
        Self { signals: 0.0, ..self }
    }
}
