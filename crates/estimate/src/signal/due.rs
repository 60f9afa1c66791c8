//! When a fetch will be worth its price if no further signal comes.

use super::{Channel, Counted, Heard};

/// Steps of the search: each at least halves what is left, most take the secant's share.
const STEPS: u32 = 100;

impl Channel {
    /// The days after the last fetch at which [`quick_value`](Self::quick_value) reaches `price`, with so many
    /// signals and no further ones; to 1e-9. 0 if the signals alone are worth it, infinite if no time
    /// is.
    #[must_use]
    pub fn due(self, penalty: Counted, signals: f64, price: f64) -> f64 {
        first_day(
            price,
            |days| self.quick_value(penalty, Heard { days, signals }),
            1.0 / self.missed,
            1e-10,
        )
    }
}

/// The first day on which a value that never falls reaches a price, from a scale to start at.
pub(super) fn first_day(price: f64, value: impl Fn(f64) -> f64, scale: f64, precision: f64) -> f64 {
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
    // False position, with the end that stays counted half (Illinois).
    let mut side = 0;
    for _ in 0..STEPS {
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
