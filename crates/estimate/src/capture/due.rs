//! When a fetch captures as much as its price, for updates that live until so many further changes
//! have come. In units of the belief's days.

use super::changes::{Place, captured};
use super::decay::{Fading, GONE};

/// `u` at which `E[min(N, n)]` is `price`.
pub(super) fn lasting(n: u32, a: f64, price: f64) -> f64 {
    let limit = f64::from(n);
    if price >= limit {
        return f64::INFINITY;
    }
    let start = soonest(n, a, price);
    if n == 1 { start } else { solve((start, f64::INFINITY), price, limit, |u| captured(n, a, u)) }
}

/// `u` at which what is captured of fading updates is `price`.
pub(super) fn fading(fading: Fading, price: f64) -> f64 {
    let Fading { changes, shape, decay } = fading;
    // As if there were no further changes.
    let share = price * decay / shape;
    if share >= 1.0 || price >= f64::from(changes) {
        return f64::INFINITY;
    }
    let limit = fading.between(0.0, f64::INFINITY);
    if price >= limit {
        return f64::INFINITY;
    }
    let start = soonest(changes, shape, price).max(-(-share).ln_1p() / decay);
    let mut last = (0.0, 0.0);
    solve((start, GONE / decay), price, limit, |u| {
        let more = if u > last.0 { fading.between(last.0, u) } else { -fading.between(u, last.0) };
        last = (u, last.1 + more);
        let Place { slope, curve, .. } = captured(changes, shape, u);
        let left = (-decay * u).exp();
        Place { value: last.1, slope: left * slope, curve: left * (curve - decay * slope) }
    })
}

/// No later than `u`, by `E[min(N, n)] ≤ E[N] = a u` and `≤ n P(N ≥ 1)`. For one change it is `u`.
fn soonest(n: u32, a: f64, price: f64) -> f64 {
    let some = (-(-price / f64::from(n)).ln_1p() / a).exp_m1();
    if n == 1 { some } else { some.max(price / a) }
}

/// The point between two at which a value reaches `price`, from the lower one.
///
/// In logarithms of the value and the point by Halley's method, which there has little to do; with
/// more than half the limit, in the logarithm of what is missing of it. The slope of the first
/// falls and that of the second grows along the points, so that Newton's method would be safe;
/// what leaves the bracket is replaced by the middle.
fn solve(
    (mut low, mut high): (f64, f64),
    price: f64,
    limit: f64,
    mut at: impl FnMut(f64) -> Place,
) -> f64 {
    let mut point = low;
    for _ in 0..STEPS {
        if !point.is_finite() || high <= low * (1.0 + f64::EPSILON) {
            break;
        }
        let Place { value, slope, curve } = at(point);
        if (value - price).abs() <= f64::EPSILON * price {
            break;
        }
        if value < price {
            low = point
        } else {
            high = point
        }
        let (over, pace) = if price > 0.5 * limit && value > 0.5 * limit {
            let missing = limit - value;
            ((missing / (limit - price)).ln(), -point * slope / missing)
        } else {
            ((value / price).ln(), point * slope / value)
        };
        let newton = -over / pace;
        let bend = point * curve / slope;
        let step = newton / (0.5 * newton).mul_add(1.0 + bend - pace, 1.0).max(0.25);
        let next = point * step.exp();
        if step.abs() < CLOSE {
            return next;
        }
        point = if next > low && next < high {
            next
        } else if high < f64::INFINITY {
            low.sqrt() * high.sqrt()
        } else {
            4.0 * low
        };
    }
    point
}

/// A handful is needed, more only where the value hardly grows.
const STEPS: usize = 80;
/// After a step this short, in the logarithm of the point, the next would be below rounding.
const CLOSE: f64 = 1e-6;
