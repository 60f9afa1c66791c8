//! Interval after which a fetch is worth its price if no further signal arrives.

use super::{ChangeCountPenalty, SignalChannel, SignalsSinceFetch};

/// Maximum steps of the search: each at least halves the bracket.
const MAX_STEPS: u32 = 100;

impl SignalChannel {
    /// Returns the days after the last fetch at which
    /// [`approximate_fetch_value`](Self::approximate_fetch_value) reaches `price`, with `signals`
    /// pending and no further ones, to 1e-9. 0 if the signals alone are worth the price, infinite
    /// if it is never reached.
    #[must_use]
    pub fn interval_at_price(self, penalty: ChangeCountPenalty, signals: f64, price: f64) -> f64 {
        first_day_at_price(
            price,
            |days| {
                self.approximate_fetch_value(penalty, SignalsSinceFetch { days, count: signals })
            },
            1.0 / self.unsignalled_rate,
            1e-10,
        )
    }
}

/// Returns the first day on which a non-decreasing value reaches a price. `scale` is the first day
/// to try.
pub(super) fn first_day_at_price(
    price: f64,
    value: impl Fn(f64) -> f64,
    scale: f64,
    precision: f64,
) -> f64 {
    if price.is_nan() || value(f64::INFINITY) < price {
        return f64::INFINITY;
    }
    let start = value(0.0);
    if start >= price {
        return 0.0;
    }
    if !(scale > 0.0 && scale.is_finite()) {
        return f64::INFINITY;
    }
    let (mut low, mut below) = (0.0, start - price);
    let mut high = scale;
    let mut above = value(high) - price;
    while above < 0.0 && high < f64::MAX / 4.0 {
        (low, below) = (high, above);
        high *= 4.0;
        above = value(high) - price;
    }
    // False position; the end that stays is halved (Illinois algorithm).
    let mut side = 0;
    for _ in 0..MAX_STEPS {
        if high - low <= precision * high {
            break;
        }
        let secant = low + (high - low) * (below / (below - above));
        let inside = secant > low && secant < high;
        let middle = if inside { secant } else { 0.5 * (low + high) };
        let over = value(middle) - price;
        if over < 0.0 {
            if side == -1 {
                above *= 0.5;
            }
            (low, below, side) = (middle, over, -1);
        } else {
            if over < 0.1 * precision * price {
                return middle;
            }
            if side == 1 {
                below *= 0.5;
            }
            (high, above, side) = (middle, over, 1);
        }
    }
    high
}
