//! Updates that live until so many further changes have come, and are worth less the later they
//! are captured: `∫ a P(M < n) e^(−ds) ds`, an incomplete confluent hypergeometric function, by
//! quadrature.

use super::changes::captured;
use crate::difference::ratio;
use crate::quadrature::panel;

/// A belief and a fading worth, in units of the belief's days.
#[derive(Clone, Copy)]
pub(super) struct Fading {
    /// The further changes that end an update.
    pub(super) changes: u32,
    /// The shape of the belief.
    pub(super) shape: f64,
    /// The share of its worth that an update loses per unit of time.
    pub(super) decay: f64,
}

impl Fading {
    /// What is captured of the updates that are between `from` and `to` old at the fetch; `to` may
    /// be infinite.
    ///
    /// `P(M < n)` falls from 1 to 0 around `n/(a+1)`, over a width which is `√(1/n + 1/(a+1))` of
    /// that. Before the fall there is a closed form; during it the panels are a few widths; after
    /// it they grow until the rest is lost in the sum. Nowhere are they long against the decay,
    /// nor against the distance to the pole at −1.
    pub(super) fn between(self, from: f64, to: f64) -> f64 {
        let Self { changes, shape, decay } = self;
        let to = to.min(GONE / decay);
        let place = f64::from(changes) / (shape + 1.0);
        let width = place * (1.0 / f64::from(changes) + 1.0 / (shape + 1.0)).sqrt();
        let mut sum = 0.0;
        let mut from = from;
        let whole = (place - 8.0 * width).min(to) - from;
        if whole > 0.0 {
            sum = shape * (-decay * from).exp() * whole * ratio(-decay * whole);
            from += whole;
        }
        while from < to {
            let fallen = from > place + 8.0 * width;
            let fall = if fallen { from.max(2.5 * width) } else { 2.5 * width };
            let step = fall.min(from.max(6.0 / decay)).min(1.0 + from);
            let next = (from + step).min(to);
            sum += panel(from, next, |s| self.at(s));
            from = next;
            if self.at(from) * (to - from).min(1.0 / decay) < LOST * sum {
                break;
            }
        }
        sum
    }

    /// What updates of that age add.
    pub(super) fn at(self, s: f64) -> f64 {
        captured(self.changes, self.shape, s).slope * (-self.decay * s).exp()
    }
}

/// After so many times `1/decay` nothing is left that the sum could hold.
pub(super) const GONE: f64 = 36.0;
/// What is small enough to leave out.
const LOST: f64 = 1e-16;
