//! What is believed of a source and its signals: how far they can be trusted.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use crate::belief::Belief;
use crate::prior::Prior;
use crate::signal::{Channel, Heard};

/// Signals that count at most, in a belief about how many of them are wrong: what is learnt from more
/// weighs no more than this.
const MOST: f64 = 1e6;

/// A belief about a source and its signals: gamma for the rate `α` of the changes without a signal and
/// for the rate `γ` of the signals, beta for the share `q` of the signals that are wrong.
///
/// A fetch after `τ` days with `n` signals finds no change with the chance `e^(−ατ)qⁿ`
/// (`e^(−(ατ+κn))` with `κ = −ln q`). Where it found none, the update is exact: `b + τ` days and `n`
/// more wrong signals. Where it found a change, the density is multiplied by `1 − e^(−ατ)qⁿ`; what
/// follows are the gamma and the beta with the same means and variances. Without signals `α` is the
/// change rate and its belief the [`Belief`] that the source would have anyway. Six numbers, whatever
/// was seen.
///
/// It starts from nothing ([`SCEPTICAL`](Self::SCEPTICAL)) or from the siblings of the source
/// ([`Siblings`]), and [forgets](Self::forget) towards that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    missed: Belief,
    signals: Belief,
    wrong: f64,
    right: f64,
}

impl Trust {
    /// Nearly nothing: the rates of [`Prior::BROAD`], and three signals in ten that stand for a change,
    /// known as if from one signal.
    pub const SCEPTICAL: Self = Self {
        missed: Belief::from_parts(0.5, 3.5),
        signals: Belief::from_parts(0.5, 3.5),
        wrong: 0.7,
        right: 0.3,
    };

    /// The belief about the changes of a source from this prior, with the signals as in this belief.
    #[must_use]
    pub fn with_changes(self, prior: Prior) -> Self {
        Self { missed: prior.belief(), ..self }
    }

    /// What is believed of the changes that are not signalled.
    #[must_use]
    pub fn missed(self) -> Belief {
        self.missed
    }

    /// What is believed of the rate of the signals.
    #[must_use]
    pub fn signals(self) -> Belief {
        self.signals
    }

    /// The expected share of the signals that stand for a change.
    #[must_use]
    pub fn precision(self) -> f64 {
        self.right / (self.wrong + self.right)
    }

    /// The standard deviation of that share.
    #[must_use]
    pub fn precision_deviation(self) -> f64 {
        let total = self.wrong + self.right;
        (self.precision() * (self.wrong / total) / (total + 1.0)).sqrt()
    }

    /// The share of the changes that are signalled, from the expected rates.
    #[must_use]
    pub fn recall(self) -> f64 {
        let told = self.precision() * self.signals.mean();
        told / (told + self.missed.mean())
    }

    /// The channel with the expected rates and share.
    #[must_use]
    pub fn channel(self) -> Channel {
        Channel::from_parts(self.missed.mean(), self.signals.mean(), self.precision())
    }

    /// After a fetch, with what was heard since the one before and whether it found a change.
    ///
    /// Days that are not a positive finite number and signals that are not a number from 0 on tell
    /// nothing. Signals that came just after the fetch before may stand for what that one saw: they
    /// count by their [weight](crate::signal_weight).
    #[must_use]
    pub fn fetched(self, heard: Heard, changed: bool) -> Self {
        let Heard { days, signals } = heard;
        let valid = days > 0.0 && days.is_finite() && signals >= 0.0 && signals.is_finite();
        if !valid {
            return self;
        }
        let rate = Belief::new(self.signals.shape() + signals, self.signals.days() + days);
        let told = Self { signals: rate.unwrap_or(self.signals), ..self };
        match (changed, signals > 0.0) {
            (false, _) => {
                Self { missed: self.missed.unchanged(days), ..told.counted(signals, 0.0) }
            }
            (true, false) => Self { missed: self.missed.changed(days), ..told },
            (true, true) => told.explained(days, signals),
        }
    }

    /// The update by a change that was missed or signalled.
    fn explained(self, days: f64, signals: f64) -> Self {
        let quiet = self.missed.no_change(days).ln();
        let false_all = self.all_wrong(0.0, signals);
        let neither = quiet + false_all;
        let seen = -neither.exp_m1();
        if !(seen > 0.0) {
            return self;
        }
        // E[q | change] and E[q² | change] from E[qʲ] and E[qⁿ⁺ʲ].
        let quiet = quiet.exp();
        let power = |j: f64| {
            (self.all_wrong(0.0, j).exp() - quiet * self.all_wrong(0.0, signals + j).exp()) / seen
        };
        let (mean, square) = (power(1.0), power(2.0));
        let strength = (mean - square) / (square - mean * mean);
        let (wrong, right) = (mean * strength, (1.0 - mean) * strength);
        let valid = |x: f64| x > 0.0 && x.is_finite();
        let missed = self.missed.changed_unless(days, false_all.exp());
        if valid(wrong) && valid(right) {
            Self { missed, wrong, right, ..self }.bounded()
        } else {
            Self { missed, ..self }
        }
    }

    /// `ln E[q^(from+n)] − ln E[q^from]`.
    fn all_wrong(self, from: f64, n: f64) -> f64 {
        let (wrong, total) = (self.wrong + from, self.wrong + self.right + from);
        if n == 1.0 {
            return (wrong / total).ln();
        }
        if n == 2.0 {
            return (wrong / total).ln() + ((wrong + 1.0) / (total + 1.0)).ln();
        }
        ln_gamma(wrong + n) - ln_gamma(wrong) + ln_gamma(total) - ln_gamma(total + n)
    }

    /// After as many signals that were seen to be wrong and right.
    fn counted(self, wrong: f64, right: f64) -> Self {
        Self { wrong: self.wrong + wrong, right: self.right + right, ..self }.bounded()
    }

    fn bounded(self) -> Self {
        let scale = (MOST / (self.wrong + self.right)).min(1.0);
        Self { wrong: self.wrong * scale, right: self.right * scale, ..self }
    }

    /// Forgets towards `prior` for `days`: what was learnt loses half its weight in `half_life` days, as
    /// in [`Belief::forget`].
    #[must_use]
    pub fn forget(self, prior: Self, days: f64, half_life: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let kept = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let mix = |own: f64, prior: f64| kept * own + (1.0 - kept) * prior;
        Self {
            missed: self.missed.forget(Prior::from(prior.missed), days, half_life),
            signals: self.signals.forget(Prior::from(prior.signals), days, half_life),
            wrong: mix(self.wrong, prior.wrong),
            right: mix(self.right, prior.right),
        }
    }
}

/// Sums over the sources that one signal source speaks of, from which the prior of a new one follows.
///
/// The share of wrong signals is spread among siblings with the mean of their expected shares, and with
/// the mean of their variances and the variance of their means together. Siblings that had no signal
/// add nothing but what they were started from. The rates have a [`Fit`](crate::Fit) of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Siblings {
    sources: f64,
    means: f64,
    squares: f64,
    variances: f64,
}

impl Siblings {
    /// Adds a source.
    pub fn add(&mut self, trust: Trust) {
        let (mean, deviation) = (trust.precision(), trust.precision_deviation());
        self.sources += 1.0;
        self.means += mean;
        self.squares += mean * mean;
        self.variances += deviation * deviation;
    }

    /// Adds the sources of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.sources += other.sources;
        self.means += other.means;
        self.squares += other.squares;
        self.variances += other.variances;
    }

    /// What is believed of the signals about a new source: as in `towards`, with the share of wrong ones
    /// spread as among the siblings and `strength` imaginary ones that are spread as in `towards`. Never
    /// surer than as if from 100 signals.
    #[must_use]
    pub fn finish(&self, towards: Trust, strength: f64) -> Trust {
        let mut all = *self;
        let (mean, deviation) = (towards.precision(), towards.precision_deviation());
        let strength = if strength > 0.0 && strength.is_finite() { strength } else { 0.0 };
        all.sources += strength;
        all.means += strength * mean;
        all.squares += strength * mean * mean;
        all.variances += strength * deviation * deviation;
        if all.sources == 0.0 {
            return towards;
        }
        let mean = all.means / all.sources;
        let spread = (all.squares / all.sources - mean * mean).max(0.0);
        let variance = spread + all.variances / all.sources;
        let total = (mean * (1.0 - mean) / variance - 1.0).clamp(0.1, SUREST);
        let (wrong, right) = ((1.0 - mean) * total, mean * total);
        if wrong > 0.0 && right > 0.0 { Trust { wrong, right, ..towards } } else { towards }
    }
}

/// Signals that siblings count for at most.
const SUREST: f64 = 100.0;
