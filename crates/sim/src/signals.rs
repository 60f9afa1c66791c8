//! Signals: somebody says that sources have changed, truly or not.

mod spelling;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use freshet_model::History;

pub use spelling::InvalidSignals;
pub(crate) use stream::Speech;

use crate::error::SimError;
use crate::web::{Origin, Web};

/// Who says that sources have changed, and how well. Nothing is said of sources whose changes are all
/// announced.
#[derive(Clone, Debug, PartialEq)]
pub enum Signals {
    /// Some changes have a signal, and there are false ones.
    Drawn(Quality),
    /// All sources are said to have changed, every so many days.
    Liar {
        /// Days from lie to lie.
        every: f64,
    },
    /// What was really said: the times of a record, for sources of the same names.
    Recorded(Arc<History>),
}

/// How good signals are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The chance that a change has a signal.
    pub recall: f64,
    /// The share of the signals of a source that stand for a change. False ones come at random times,
    /// at the same rate all the time.
    pub precision: f64,
    /// Days from a change to its signal, on average; exponentially spread.
    pub delay: f64,
}

impl Quality {
    /// Every change has a signal at once, and there are no others.
    pub const PERFECT: Self = Self { recall: 1.0, precision: 1.0, delay: 0.0 };

    /// False signals a day about a source that changes so often.
    fn false_rate(&self, changes: f64) -> f64 {
        self.recall * changes * (1.0 - self.precision) / self.precision
    }
}

/// Signals in a web.
#[derive(Clone, Debug)]
pub(crate) struct Signalled {
    signals: Signals,
    /// Where each source of the web is in the record; `u32::MAX` if it is not.
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
                return Err(SimError::Strangers { signals: said.len(), sources: history.len() });
            }
        }
        Ok(Self { signals: signals.clone(), places })
    }

    /// Signals a day to be expected about all sources together.
    pub(crate) fn a_day(&self, web: &Web, days: f64) -> f64 {
        match &self.signals {
            Signals::Drawn(quality) => {
                web.most_changes() * quality.recall / quality.precision.max(1e-300)
            }
            Signals::Liar { every } => web.population.len() as f64 / every,
            Signals::Recorded(said) => said.total() as f64 / days,
        }
    }

    /// Whether it may speak of a source.
    fn knows(&self, source: usize) -> bool {
        self.places.get(source).is_none_or(|&place| place != u32::MAX)
    }
}

impl Web {
    /// The same with signals. Its changes stay what they are.
    ///
    /// # Errors
    /// If the signals are a record of other sources.
    pub fn with_signals(mut self, signals: &Signals, origin: &Origin) -> Result<Self, SimError> {
        self.heralded = Some(Signalled::new(signals, origin)?);
        Ok(self)
    }

    /// Whether signals about a source may come that are not sure to be true.
    #[must_use]
    pub fn is_signalled(&self, source: usize) -> bool {
        !self.population.complete[source]
            && self.heralded.as_ref().is_some_and(|heralded| heralded.knows(source))
    }
}
