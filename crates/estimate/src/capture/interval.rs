//! Interval after which a fetch captures as much as its price, for updates that stay available
//! until a number of further changes has occurred. In units of the belief's days.

use super::change_lifetime::{CaptureDerivatives, captured_updates};
use super::decay::{DecayingCapture, EXPONENT_CUTOFF};

/// Returns the `u` at which `E[min(N, n)]` equals `price`.
pub(super) fn interval_without_decay(n: u32, a: f64, price: f64) -> f64 {
    let limit = f64::from(n);
    if price >= limit {
        return f64::INFINITY;
    }
    let start = interval_lower_bound(n, a, price);
    if n == 1 {
        start
    } else {
        solve((start, f64::INFINITY), price, limit, |u| captured_updates(n, a, u))
    }
}

/// Returns the `u` at which the captured value of decaying updates equals `price`.
pub(super) fn interval_with_decay(capture: DecayingCapture, price: f64) -> f64 {
    let DecayingCapture { changes, shape, decay } = capture;
    // The result if no further change ended an update.
    let share = price * decay / shape;
    if share >= 1.0 || price >= f64::from(changes) {
        return f64::INFINITY;
    }
    let limit = capture.value_between(0.0, f64::INFINITY);
    if price >= limit {
        return f64::INFINITY;
    }
    let start = interval_lower_bound(changes, shape, price).max(-(-share).ln_1p() / decay);
    let mut last = (0.0, 0.0);
    solve((start, EXPONENT_CUTOFF / decay), price, limit, |u| {
        let more = if u > last.0 {
            capture.value_between(last.0, u)
        } else {
            -capture.value_between(u, last.0)
        };
        last = (u, last.1 + more);
        let CaptureDerivatives { slope, curvature, .. } = captured_updates(changes, shape, u);
        let left = (-decay * u).exp();
        CaptureDerivatives {
            value: last.1,
            slope: left * slope,
            curvature: left * (curvature - decay * slope),
        }
    })
}

/// Lower bound on `u` from `E[min(N, n)] ≤ E[N] = a u` and `≤ n P(N ≥ 1)`. Exact for one change.
fn interval_lower_bound(n: u32, a: f64, price: f64) -> f64 {
    let from_first_change = (-(-price / f64::from(n)).ln_1p() / a).exp_m1();
    if n == 1 { from_first_change } else { from_first_change.max(price / a) }
}

/// Finds the point in a bracket at which a value reaches `price`, starting from the lower end.
///
/// Halley's method in the logarithms of the value and the point; above half of the limit, in the
/// logarithm of the distance to the limit. The slope of the first falls and that of the second
/// rises along the points, so Newton's method would converge too. A step that leaves the bracket is
/// replaced by bisection.
fn solve(
    (mut low, mut high): (f64, f64),
    price: f64,
    limit: f64,
    mut at: impl FnMut(f64) -> CaptureDerivatives,
) -> f64 {
    let mut point = low;
    for _ in 0..MAX_STEPS {
        if !point.is_finite() || high <= low * (1.0 + f64::EPSILON) {
            break;
        }
        let CaptureDerivatives { value, slope, curvature } = at(point);
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
        let bend = point * curvature / slope;
        let step = newton / (0.5 * newton).mul_add(1.0 + bend - pace, 1.0).max(0.25);
        let next = point * step.exp();
        if step.abs() < LOG_STEP_TOLERANCE {
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

/// A few steps are enough, more only where the value hardly grows.
const MAX_STEPS: usize = 80;
/// Step in the logarithm of the point below which the next step would be below rounding.
const LOG_STEP_TOLERANCE: f64 = 1e-6;
