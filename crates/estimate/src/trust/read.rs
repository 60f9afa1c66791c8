//! What a belief about signals says.

use super::{PRECISIONS, STEP, Trust, odds, share};
use crate::belief::Belief;
use crate::signal::Channel;

/// From this spread of the odds on, in steps, sums over the steps are as good as integrals.
const WIDE: f64 = 0.7;

/// Where the odds are, if they are known to less than a step.
struct Peak {
    /// The likeliest step, and how much past it.
    at: usize,
    past: f64,
    deviation: f64,
}

impl Trust {
    /// What is believed of the rate of the signals.
    #[must_use]
    pub fn signals(&self) -> Belief {
        self.signals.belief()
    }

    /// The expected share of the signals that stand for a change.
    #[must_use]
    pub fn precision(&self) -> f64 {
        match self.peak() {
            Some(Peak { at, past, .. }) => share(odds(at) + STEP * past),
            None => self.mean(|at| share(odds(at))),
        }
    }

    /// The standard deviation of that share.
    #[must_use]
    pub fn precision_deviation(&self) -> f64 {
        if let Some(Peak { at, past, deviation }) = self.peak() {
            let share = share(odds(at) + STEP * past);
            return share * (1.0 - share) * STEP * deviation;
        }
        let mean = self.precision();
        let square = |at: usize| (share(odds(at)) - mean) * (share(odds(at)) - mean);
        self.mean(square).sqrt()
    }

    /// What is believed of the changes that are not signalled: the gamma with the mean and the variance
    /// over all precisions.
    #[must_use]
    pub fn missed(&self) -> Belief {
        if let Some(Peak { at, past, .. }) = self.peak() {
            let other = if past > 0.0 { at + 1 } else { at - 1 };
            let (here, there) = (self.missed[at].belief(), self.missed[other].belief());
            let between = |one: f64, two: f64| one * (two / one).powf(past.abs());
            let shape = between(here.shape(), there.shape());
            return Belief::new(shape, between(here.days(), there.days())).unwrap_or(here);
        }
        let mean = self.mean(|at| self.missed[at].belief().mean());
        let variance = self.mean(|at| {
            let missed = self.missed[at].belief();
            let off = missed.mean() - mean;
            missed.variance() + off * off
        });
        Belief::new(mean * (mean / variance), mean / variance).unwrap_or(self.missed[0].belief())
    }

    /// The share of the changes that are signalled, from the expected rates.
    #[must_use]
    pub fn recall(&self) -> f64 {
        self.channel().recall()
    }

    /// The channel with the expected rates and share.
    #[must_use]
    pub fn channel(&self) -> Channel {
        Channel::from_parts(self.missed().mean(), self.signals().mean(), self.precision())
    }

    /// The chances of the precisions.
    pub(super) fn chances(&self) -> [f64; PRECISIONS] {
        let chances = self.weights.map(|weight| f64::from(weight).exp());
        let total: f64 = chances.iter().sum();
        chances.map(|chance| chance / total)
    }

    fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.chances().iter().enumerate().map(|(at, chance)| chance * f(at)).sum()
    }

    /// The top of the parabola through the largest weight and its neighbours, if it is narrow and none
    /// of them is the first or the last.
    fn peak(&self) -> Option<Peak> {
        let largest = |a: &usize, b: &usize| self.weights[*a].total_cmp(&self.weights[*b]);
        let at = (0..PRECISIONS).max_by(largest)?;
        if at == 0 || at + 1 == PRECISIONS {
            return None;
        }
        let [below, top, above] =
            [self.weights[at - 1], self.weights[at], self.weights[at + 1]].map(f64::from);
        let bend = 2.0 * top - below - above;
        let deviation = 1.0 / bend.sqrt();
        (deviation < WIDE).then(|| Peak { at, past: 0.5 * (above - below) / bend, deviation })
    }
}
