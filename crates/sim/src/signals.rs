//! Signals that sources have changed, which may be wrong.

mod spelling;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use freshet_model::ChangeTrace;

pub use spelling::InvalidSignals;
pub(crate) use stream::SignalFeed;

use crate::error::SimError;
use crate::web::{Origin, Web};

/// Simulated signal source. Sources whose changes are all announced have no
/// signals.
#[derive(Clone, Debug, PartialEq)]
pub enum Signals {
    /// Some changes have a signal, and some signals are false.
    Drawn(Quality),
    /// Every source is signalled at a fixed interval.
    Liar {
        /// Interval in days.
        every: f64,
    },
    /// Recorded signals, for sources of the same names.
    Recorded(Arc<ChangeTrace>),
}

/// Quality of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Probability that a change has a signal.
    pub recall: f64,
    /// Share of the signals of a source that stand for a change. False signals come at random times
    /// at a constant rate.
    pub precision: f64,
    /// Mean number of days from a change to its signal; exponentially distributed.
    pub delay: f64,
}

impl Quality {
    /// Every change has a signal at once, and there are no false ones.
    pub const PERFECT: Self = Self { recall: 1.0, precision: 1.0, delay: 0.0 };

    /// Returns the rate of false signals about a source with the given change rate.
    fn false_rate(&self, changes: f64) -> f64 {
        self.recall * changes * (1.0 - self.precision) / self.precision
    }
}

/// Signals in a web.
#[derive(Clone, Debug)]
pub(crate) struct Signalled {
    signals: Signals,
    /// Index of each source in the record, or `u32::MAX`.
    places: Vec<u32>,
}

impl Signalled {
    pub(crate) fn new(signals: &Signals, origin: &Origin) -> Result<Self, SimError> {
        let mut places = Vec::new();
        if let Signals::Recorded(said) = signals {
            let Origin::Recorded(history, _) = origin else {
                return Err(SimError::NoRecord);
            };
            let known: HashMap<&str, u32> = said.ids.iter().zip(0..).collect();
            places = history.ids.iter().map(|id| *known.get(id).unwrap_or(&u32::MAX)).collect();
            if places.iter().all(|&place| place == u32::MAX) {
                return Err(SimError::UnknownSources {
                    signals: said.len(),
                    sources: history.len(),
                });
            }
        }
        Ok(Self { signals: signals.clone(), places })
    }

    /// Expected signals per day about all sources.
    pub(crate) fn a_day(&self, web: &Web, days: f64) -> f64 {
        match &self.signals {
            Signals::Drawn(quality) => {
                web.most_changes() * quality.recall / quality.precision.max(1e-300)
            }
            Signals::Liar { every } => web.population.len() as f64 / every,
            Signals::Recorded(said) => said.change_count() as f64 / days,
        }
    }

    /// Returns true if a source can have signals.
    fn knows(&self, source: usize) -> bool {
        self.places.get(source).is_none_or(|&place| place != u32::MAX)
    }
}

impl Web {
    /// Returns the web with signals. Its changes stay the same.
    ///
    /// # Errors
    /// Returns an error if the signals are a record of other sources.
    pub fn with_signals(mut self, signals: &Signals, origin: &Origin) -> Result<Self, SimError> {
        self.heralded = Some(Signalled::new(signals, origin)?);
        Ok(self)
    }

    /// Returns true if a source can have signals that may be wrong.
    #[must_use]
    pub fn is_signalled(&self, source: usize) -> bool {
        !self.population.complete[source]
            && self.heralded.as_ref().is_some_and(|heralded| heralded.knows(source))
    }
}
