//! What a belief about signals comes to, in few numbers.

use serde::{Deserialize, Serialize};

use super::{Short, Trust, short};
use crate::belief::Belief;
use crate::signal::Heard;

/// What a [`Trust`] comes to: the rate of the changes that are not signalled, as a belief, and the rate and
/// the precision of the signals. The worth of a fetch depends on nothing else of it. 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    missed: Short,
    signals: f32,
    precision: f32,
}

impl Reading {
    /// What is believed of the changes that are not signalled.
    #[must_use]
    pub fn missed(&self) -> Belief {
        self.missed.belief()
    }

    /// Signals a day.
    #[must_use]
    pub fn signals(&self) -> f64 {
        f64::from(self.signals)
    }

    /// The share of the signals that stand for a change.
    #[must_use]
    pub fn precision(&self) -> f64 {
        f64::from(self.precision)
    }

    /// Changes a day of which there is a signal.
    #[must_use]
    pub fn told(&self) -> f64 {
        self.precision() * self.signals()
    }

    /// The share of the changes of which there is a signal.
    #[must_use]
    pub fn recall(&self) -> f64 {
        let told = self.told();
        told / (told + self.missed().mean())
    }

    /// What is believed of all changes, as if as much was known of those with a signal as of the others.
    #[must_use]
    pub fn changes(&self) -> Belief {
        let missed = self.missed();
        let mean = missed.mean() + self.told();
        Belief::new(mean * missed.days(), missed.days()).unwrap_or(missed)
    }

    /// The same if it is known from elsewhere, as if from so many changes, that this share of all changes has
    /// a signal: all changes together stay as many.
    #[must_use]
    pub fn with_recall(self, recall: f64, changes: f64) -> Self {
        let missed = self.missed();
        let usual = (1.0 - recall.clamp(0.0, 1.0)) * self.changes().mean();
        let own = missed.shape();
        let mean = (own * missed.mean() + changes * usual) / (own + changes);
        let missed = Belief::new(mean * missed.days(), missed.days()).unwrap_or(missed);
        Self { missed: Short::new(missed), ..self }
    }

    /// The chance that nothing changed.
    #[must_use]
    pub fn no_change(&self, heard: Heard) -> f64 {
        let Heard { days, signals } = heard;
        let silent = if days > 0.0 { self.missed().no_change(days) } else { 1.0 };
        if signals > 0.0 { silent * (1.0 - self.precision()).powf(signals) } else { silent }
    }
}

impl Trust {
    /// What it comes to.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let precision = self.precision().clamp(0.0, 1.0) as f32;
        let signals = short(self.signals().mean());
        Reading { missed: Short::new(self.missed()), signals, precision }
    }
}
