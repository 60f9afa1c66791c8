//! Estimates derived from a signal belief.

use super::{PRECISIONS, STEP, SignalBelief, log_odds, probability_from_log_odds};
use crate::belief::Belief;
use crate::signal_channel::SignalChannel;

/// Peaks wider than this many steps are summed over the grid; narrower ones are interpolated.
const MAX_PEAK_WIDTH: f64 = 0.7;

/// Rates above this multiple of the usual change rate are increasingly unlikely, by the power
/// [`RATE_TAIL_EXPONENT`].
const MAX_TYPICAL_RATE_RATIO: f64 = 3.0;
const RATE_TAIL_EXPONENT: f64 = 2.0;

/// Interpolated maximum of the weights, if it is narrower than the grid can resolve.
struct WeightPeak {
    /// Most likely grid point, and the offset of the maximum from it in steps.
    index: usize,
    offset: f64,
    std_dev: f64,
}

impl SignalBelief {
    /// Belief about the rate of the signals.
    #[must_use]
    pub fn signal_rate_belief(&self) -> Belief {
        self.signals.belief()
    }

    /// Expected precision: the share of the signals that stand for a change.
    #[must_use]
    pub fn precision(&self) -> f64 {
        match self.find_peak() {
            Some(WeightPeak { index, offset, .. }) => {
                probability_from_log_odds(log_odds(index) + STEP * offset)
            }
            None => self.mean(|index| probability_from_log_odds(log_odds(index))),
        }
    }

    /// Standard deviation of the precision.
    #[must_use]
    pub fn precision_std_dev(&self) -> f64 {
        if let Some(WeightPeak { index, offset, std_dev }) = self.find_peak() {
            let share = probability_from_log_odds(log_odds(index) + STEP * offset);
            return share * (1.0 - share) * STEP * std_dev;
        }
        let mean = self.precision();
        let square = |index: usize| {
            (probability_from_log_odds(log_odds(index)) - mean)
                * (probability_from_log_odds(log_odds(index)) - mean)
        };
        self.mean(square).sqrt()
    }

    /// Belief about the rate of the unsignalled changes: the gamma with the mean and the variance
    /// over all precisions.
    #[must_use]
    pub fn unsignalled_belief(&self) -> Belief {
        if let Some(WeightPeak { index, offset, .. }) = self.find_peak() {
            let other = if offset > 0.0 { index + 1 } else { index - 1 };
            let (here, there) =
                (self.unsignalled[index].belief(), self.unsignalled[other].belief());
            let between = |one: f64, two: f64| one * (two / one).powf(offset.abs());
            let shape = between(here.shape(), there.shape());
            return Belief::new(shape, between(here.days(), there.days())).unwrap_or(here);
        }
        let mean = self.mean(|index| self.unsignalled[index].belief().mean());
        let variance = self.mean(|index| {
            let unsignalled = self.unsignalled[index].belief();
            let deviation = unsignalled.mean() - mean;
            unsignalled.variance() + deviation * deviation
        });
        Belief::new(mean * (mean / variance), mean / variance)
            .unwrap_or(self.unsignalled[0].belief())
    }

    /// Recall at the expected rates: the share of the changes that have a signal.
    #[must_use]
    pub fn recall(&self) -> f64 {
        self.channel().recall()
    }

    /// Channel with the expected rates and precision.
    #[must_use]
    pub fn channel(&self) -> SignalChannel {
        SignalChannel::from_parts(
            self.unsignalled_belief().mean(),
            self.signal_rate_belief().mean(),
            self.precision(),
        )
    }

    /// Posterior probabilities of the precisions.
    pub(super) fn precision_probabilities(&self) -> [f64; PRECISIONS] {
        normalize_log_weights(self.log_probabilities())
    }

    /// Probabilities of the precisions without the penalty on implausibly many true signals.
    pub(super) fn prior_precision_probabilities(&self) -> [f64; PRECISIONS] {
        normalize_log_weights(self.weights.map(f64::from))
    }

    /// Unnormalised log probabilities of the precisions: the evidence, and the plausibility of that
    /// many true signals per day.
    fn log_probabilities(&self) -> [f64; PRECISIONS] {
        let relative_rate = self.signal_rate_belief().mean()
            / (MAX_TYPICAL_RATE_RATIO * f64::from(self.typical_change_rate));
        let mut logs = self.weights.map(f64::from);
        for (index, log) in logs.iter_mut().enumerate() {
            *log -= RATE_TAIL_EXPONENT
                * (probability_from_log_odds(log_odds(index)) * relative_rate).ln_1p();
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.map(|log| log - top)
    }

    fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.precision_probabilities()
            .iter()
            .enumerate()
            .map(|(index, probability)| probability * f(index))
            .sum()
    }

    /// Returns the vertex of the parabola through the largest weight and its neighbours, if it is
    /// narrow and not at either end of the grid.
    fn find_peak(&self) -> Option<WeightPeak> {
        let logs = self.log_probabilities();
        let largest = |a: &usize, b: &usize| logs[*a].total_cmp(&logs[*b]);
        let index = (0..PRECISIONS).max_by(largest)?;
        if index == 0 || index + 1 == PRECISIONS {
            return None;
        }
        let [below, top, above] = [logs[index - 1], logs[index], logs[index + 1]];
        let curvature = 2.0 * top - below - above;
        let std_dev = 1.0 / curvature.sqrt();
        (std_dev < MAX_PEAK_WIDTH).then(|| WeightPeak {
            index,
            offset: 0.5 * (above - below) / curvature,
            std_dev,
        })
    }
}

/// Normalises log weights to probabilities.
fn normalize_log_weights(logs: [f64; PRECISIONS]) -> [f64; PRECISIONS] {
    let all = logs.map(f64::exp);
    let total: f64 = all.iter().sum();
    all.map(|it| it / total)
}
