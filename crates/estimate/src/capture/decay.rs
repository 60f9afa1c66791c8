//! Updates that stay available until a number of further changes has occurred and lose value with
//! the delay: `∫ a P(M < n) e^(−ds) ds`, an incomplete confluent hypergeometric function, by
//! quadrature.

use super::change_lifetime::captured_updates;
use crate::divided_difference::first_difference;
use crate::quadrature::panel;

/// Parameters of the integral, in units of the belief's days.
#[derive(Clone, Copy)]
pub(super) struct DecayingCapture {
    /// Number of further changes after which an update is lost.
    pub(super) changes: u32,
    /// Shape of the belief.
    pub(super) shape: f64,
    /// Decay rate of the value of an update, per unit of time.
    pub(super) decay: f64,
}

impl DecayingCapture {
    /// Returns the captured value of the updates whose age at the fetch is between `from` and `to`;
    /// `to` may be infinite.
    ///
    /// `P(M < n)` falls from 1 to 0 around `n/(a+1)`, with a relative width of `√(1/n + 1/(a+1))`.
    /// Before the fall there is a closed form; during it the panels are a few widths long; after it
    /// they grow until the remainder is negligible. No panel is long compared with the decay or
    /// with the distance to the pole at −1.
    pub(super) fn value_between(self, from: f64, to: f64) -> f64 {
        let Self { changes, shape, decay } = self;
        let to = to.min(EXPONENT_CUTOFF / decay);
        let place = f64::from(changes) / (shape + 1.0);
        let width = place * (1.0 / f64::from(changes) + 1.0 / (shape + 1.0)).sqrt();
        let mut sum = 0.0;
        let mut from = from;
        let whole = (place - 8.0 * width).min(to) - from;
        if whole > 0.0 {
            sum = shape * (-decay * from).exp() * whole * first_difference(-decay * whole);
            from += whole;
        }
        while from < to {
            let fallen = from > place + 8.0 * width;
            let fall = if fallen { from.max(2.5 * width) } else { 2.5 * width };
            let step = fall.min(from.max(6.0 / decay)).min(1.0 + from);
            let next = (from + step).min(to);
            sum += panel(from, next, |s| self.density_at_age(s));
            from = next;
            if self.density_at_age(from) * (to - from).min(1.0 / decay) < RELATIVE_CUTOFF * sum {
                break;
            }
        }
        sum
    }

    /// Integrand at the given age.
    pub(super) fn density_at_age(self, s: f64) -> f64 {
        captured_updates(self.changes, self.shape, s).slope * (-self.decay * s).exp()
    }
}

/// After this many multiples of `1/decay` the integrand is below rounding.
pub(super) const EXPONENT_CUTOFF: f64 = 36.0;
/// Relative size below which the remainder is dropped.
const RELATIVE_CUTOFF: f64 = 1e-16;
