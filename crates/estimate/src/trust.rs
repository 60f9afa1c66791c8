//! What is believed of a source and its signals: how far they can be trusted.

mod read;
mod reading;
mod siblings;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::prior::Prior;
use crate::signal::Heard;

pub use reading::Reading;
pub use siblings::Siblings;

/// Precisions that are told apart: their odds are `e^−6`, `e^−5.5`, … `e^6`.
const PRECISIONS: usize = 25;
/// A precision less likely than this, in logarithms, is as good as impossible; kept a number so that
/// forgetting can bring it back.
const LEAST: f32 = -1e6;

/// The share of the changes that are not signalled, at least, before anything was learnt of that.
const LEFT: f64 = 0.1;

/// A belief about a source and its signals: the rate `γ` of the signals, the share `π` of them that
/// stand for a change, and the rate `α` of the changes that have none.
///
/// A fetch after `τ` days with `n` signals finds no change with the chance `e^(−ατ)(1 − π)ⁿ`, or
/// `e^(−(ατ+κn))` with `κ = −ln(1 − π)`. The two are hard to tell apart where signals are many and come
/// at an even rate, so their beliefs cannot be kept side by side. For each of 25 precisions, from 0.25 % to
/// 99.75 %, there are its weight and the gamma belief about `α` that holds if it is the true one. A fetch
/// multiplies the weight by the chance of what was seen, and updates the belief: exactly if there was no
/// change, and with the same mean and variance if there was one. Between the precisions the weights are
/// interpolated. 77 short numbers, whatever was seen.
///
/// Without signals all 25 beliefs are the [`Belief`] that the source would have anyway.
///
/// It starts from nothing ([`SCEPTICAL`](Self::SCEPTICAL)) or from the siblings of the source
/// ([`Siblings`]), and [forgets](Self::forget) towards that. No precision is ever ruled out, and none is 1:
/// no signal is trusted blindly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    signals: Short,
    /// Changes a day that would surprise nobody, signalled or not.
    usual: f32,
    weights: [f32; PRECISIONS],
    missed: [Short; PRECISIONS],
}

/// A belief in half the bytes: there may be one of these for each page of a large site.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Short {
    shape: f32,
    days: f32,
}

impl Short {
    fn new(belief: Belief) -> Self {
        Self { shape: short(belief.shape()), days: short(belief.days()) }
    }

    fn belief(self) -> Belief {
        Belief::from_parts(f64::from(self.shape), f64::from(self.days))
    }
}

/// A positive number in half the bytes, positive all the same.
fn short(x: f64) -> f32 {
    x.clamp(1e-36, 1e36) as f32
}

/// The step from one to the next, in the logarithm of the odds.
const STEP: f64 = 0.5;

/// The logarithm of the odds of a precision that is told apart.
const fn odds(at: usize) -> f64 {
    STEP * at as f64 - 6.0
}

/// The share that has these odds.
fn share(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

impl Trust {
    /// Nearly nothing: the rates of [`Prior::BROAD`], and any odds between one true signal in 400 and one
    /// false, the higher the less likely: below 0.2 in six of ten cases, 0.3 on average.
    pub const SCEPTICAL: Self = {
        let mut weights = [0.0; PRECISIONS];
        let mut at = 0;
        while at < PRECISIONS {
            weights[at] = (-0.15 * (odds(at) + 6.0)) as f32;
            at += 1;
        }
        Self {
            signals: Short { shape: 0.5, days: 3.5 },
            usual: 0.5 / 3.5,
            weights,
            missed: [Short { shape: 0.5, days: 3.5 }; PRECISIONS],
        }
    };

    /// The same before anything was learnt of the precision, not even what is usual: what is learnt from here
    /// on is [read among](Self::among) others.
    pub const UNSPOKEN: Self = Self { weights: [0.0; PRECISIONS], ..Self::SCEPTICAL };

    /// The same if precisions are spread as in another belief, besides what was learnt.
    #[must_use]
    pub fn among(mut self, others: &Self) -> Self {
        for (weight, other) in self.weights.iter_mut().zip(others.weights) {
            *weight += other;
        }
        self.balance();
        self
    }

    /// The same with the rate of the changes as in this prior.
    #[must_use]
    pub fn with_changes(self, prior: Prior) -> Self {
        Self { missed: [Short::new(prior.belief()); PRECISIONS], ..self }.with_usual(prior.mean())
    }

    /// The same if so many changes a day would surprise nobody: signals that come many times as often
    /// cannot all be true.
    #[must_use]
    pub fn with_usual(self, changes: f64) -> Self {
        Self { usual: short(changes), ..self }
    }

    /// The same with this belief about the changes that are not signalled.
    #[must_use]
    pub fn with_missed(self, missed: Belief) -> Self {
        Self { missed: [Short::new(missed); PRECISIONS], ..self }
    }

    /// After a fetch of which it is only counted how many signals came.
    #[must_use]
    pub fn counted(mut self, heard: Heard) -> Self {
        let Heard { days, signals } = heard;
        if days > 0.0 && days.is_finite() && signals >= 0.0 && signals.is_finite() {
            let rate = self.signals.belief();
            let rate = Belief::new(rate.shape() + signals, rate.days() + days);
            self.signals = rate.map_or(self.signals, Short::new);
        }
        self
    }

    /// The same if all changes together are known by this belief, and the signals by how many there were: of
    /// each precision, those are not signalled that are left. So what is learnt from here on is which of the
    /// changes signals stand for, and not that a source that has more of both has more changes.
    #[must_use]
    pub fn settled(mut self, changes: Belief) -> Self {
        let signals = self.signals.belief().mean();
        for at in 0..PRECISIONS {
            let mean = changes.mean();
            let left = (mean - share(odds(at)) * signals).max(LEFT * mean);
            let missed = Belief::new(left * changes.days(), changes.days());
            self.missed[at] = Short::new(missed.unwrap_or(changes));
        }
        self.with_usual(changes.mean())
    }

    /// After a fetch, with what was heard since the one before and whether it found a change.
    ///
    /// Days that are not a positive finite number and signals that are not a number from 0 on tell
    /// nothing. Signals that came just after the fetch before may stand for what that one saw: they
    /// count by their [weight](crate::signal_weight).
    #[must_use]
    pub fn fetched(mut self, heard: Heard, changed: bool) -> Self {
        let Heard { days, signals } = heard;
        let valid = days > 0.0 && days.is_finite() && signals >= 0.0 && signals.is_finite();
        if !valid {
            return self;
        }
        self = self.counted(heard);
        for at in 0..PRECISIONS {
            let missed = self.missed[at].belief();
            // ln(1 − π) at these odds.
            let wrong = signals * -odds(at).exp().ln_1p();
            let quiet = -missed.shape() * (days / missed.days()).ln_1p();
            self.missed[at] = Short::new(match (changed, signals > 0.0) {
                (false, _) => missed.unchanged(days),
                (true, false) => missed.changed(days),
                (true, true) => missed.changed_unless(days, wrong.exp()),
            });
            let chance = if changed { (-(wrong + quiet).exp_m1()).ln() } else { wrong + quiet };
            self.weights[at] += chance as f32;
        }
        self.balance();
        self
    }

    /// Forgets for `days` what was learnt of the precision, and how sure the rates are: they stay what they
    /// are, known as if from less, down to so many changes.
    #[must_use]
    pub fn doubt(mut self, days: f64, half_life: f64, changes: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let kept = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let doubt = |it: Short| {
            let (shape, days) = (f64::from(it.shape), f64::from(it.days));
            let kept = if shape > changes { kept.max(changes / shape) } else { 1.0 };
            Short { shape: short(kept * shape), days: short(kept * days) }
        };
        self.signals = doubt(self.signals);
        for at in 0..PRECISIONS {
            self.weights[at] *= kept as f32;
            self.missed[at] = doubt(self.missed[at]);
        }
        self
    }

    /// Whether its numbers can be meant: of one that was read from somewhere.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let positive = |it: f32| it > 0.0 && it.is_finite();
        positive(self.usual)
            && self
                .missed
                .iter()
                .chain([&self.signals])
                .all(|it| positive(it.shape) && positive(it.days))
            && self.weights.iter().all(|it| (LEAST..=0.0).contains(it))
    }

    /// Takes the same from all weights, so that the largest is 0.
    fn balance(&mut self) {
        let top = self.weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for weight in &mut self.weights {
            *weight = (*weight - top).max(LEAST);
        }
    }

    /// Forgets towards `prior` for `days`: what was learnt loses half its weight in `half_life` days, as
    /// in [`Belief::forget`].
    #[must_use]
    pub fn forget(mut self, prior: &Self, days: f64, half_life: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let kept = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let forget = |learnt: Short, prior: Short| {
            Short::new(learnt.belief().forget(prior.belief().into(), days, half_life))
        };
        self.signals = forget(self.signals, prior.signals);
        let kept = kept as f32;
        for at in 0..PRECISIONS {
            self.weights[at] = kept * self.weights[at] + (1.0 - kept) * prior.weights[at];
            self.missed[at] = forget(self.missed[at], prior.missed[at]);
        }
        self.balance();
        self
    }
}
