//! What a belief about signals says.

use super::{PRECISIONS, STEP, Trust, odds, share};
use crate::belief::Belief;
use crate::signal::Channel;

/// From this spread of the odds on, in steps, sums over the steps are as good as integrals.
const WIDE: f64 = 0.7;

/// So many times the usual changes a day are rare, and more of them ever more so: the chance falls with
/// this power.
const RARELY: f64 = 3.0;
const TAIL: f64 = 2.0;

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
        shares(self.logs())
    }

    /// The same apart from how many true signals a day are likely.
    pub(super) fn spread(&self) -> [f64; PRECISIONS] {
        shares(self.weights.map(f64::from))
    }

    /// The logarithms of the chances of the precisions, less a constant: what was learnt, and how likely so
    /// many true signals a day are.
    fn logs(&self) -> [f64; PRECISIONS] {
        let often = self.signals().mean() / (RARELY * f64::from(self.usual));
        let mut logs = self.weights.map(f64::from);
        for (at, log) in logs.iter_mut().enumerate() {
            *log -= TAIL * (share(odds(at)) * often).ln_1p();
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.map(|log| log - top)
    }

    fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.chances().iter().enumerate().map(|(at, chance)| chance * f(at)).sum()
    }

    /// The top of the parabola through the largest weight and its neighbours, if it is narrow and none
    /// of them is the first or the last.
    fn peak(&self) -> Option<Peak> {
        let logs = self.logs();
        let largest = |a: &usize, b: &usize| logs[*a].total_cmp(&logs[*b]);
        let at = (0..PRECISIONS).max_by(largest)?;
        if at == 0 || at + 1 == PRECISIONS {
            return None;
        }
        let [below, top, above] = [logs[at - 1], logs[at], logs[at + 1]];
        let bend = 2.0 * top - below - above;
        let deviation = 1.0 / bend.sqrt();
        (deviation < WIDE).then(|| Peak { at, past: 0.5 * (above - below) / bend, deviation })
    }
}

/// The shares of numbers that are known by their logarithms.
fn shares(logs: [f64; PRECISIONS]) -> [f64; PRECISIONS] {
    let all = logs.map(f64::exp);
    let total: f64 = all.iter().sum();
    all.map(|it| it / total)
}
