//! Interval after which a fetch is worth its price: the values inverted, in units of the belief's
//! days.

use super::{age_value, freshness_value, harmonic_value};

/// A value at a point, the slope of its logarithm in the logarithm of the point, and the same slope
/// of its derivative.
struct LogDerivatives {
    value: f64,
    slope: f64,
    curvature: f64,
}

/// Finds the point at which a value reaches `price`, from a start within reach of it.
///
/// In logarithms all three values are nearly straight, with slopes between known bounds. Each step
/// is Halley's, clamped to the steps that the bounds allow.
#[inline]
fn solve(start: f64, price: f64, slopes: (f64, f64), at: impl Fn(f64) -> LogDerivatives) -> f64 {
    let mut point = start;
    for _ in 0..MAX_STEPS {
        let LogDerivatives { value, slope, curvature } = at(point);
        let over = (value / price).ln();
        let newton = -over / slope;
        let halley = newton / (1.0 + 0.5 * newton * (1.0 + curvature - slope));
        let (one, other) = (-over / slopes.0, -over / slopes.1);
        let step = halley.max(one.min(other)).min(one.max(other));
        point *= step.exp();
        if over.abs() < LOG_VALUE_TOLERANCE || !point.is_finite() {
            break;
        }
    }
    point
}

/// Each step about cubes the error: a few are enough.
const MAX_STEPS: usize = 60;
/// Distance in the logarithm of the value from which one step is enough.
const LOG_VALUE_TOLERANCE: f64 = 5e-5;

/// Returns the `τ/b` at which the harmonic value is `price·b`.
#[inline]
pub(super) fn harmonic_interval(a: f64, price: f64) -> f64 {
    let small = (2.0 * price * a).sqrt();
    let start = if a >= 1.0 {
        // x − 1 + e^(−x) = y at x = y + √(2y) + … for small y, y + 1 for large.
        price + small / (a * (1.0 + small * (2.0 / 3.0 + small)).sqrt())
    } else {
        price + (small / a).min(price / (a * (price / a).ln_1p()))
    };
    solve(start, price, (1.0, 2.0), |u| {
        let l = u.ln_1p();
        let stale = -(-a * l).exp_m1();
        let value = harmonic_value(a, l, u);
        let curvature = a * (1.0 - stale) * u / (stale * (1.0 + u));
        LogDerivatives { value, slope: u * stale / value, curvature }
    })
}

/// Returns the `τ/b` at which the age value is `price·b²`.
#[inline]
pub(super) fn age_interval(a: f64, price: f64) -> f64 {
    let start = if a >= 1.0 {
        // x²/2 − 1 + e^(−x)(1 + x) = y at x² = 2y + 2 for large y, x = ∛(3y) + … for small.
        let small = (3.0 * price * a * a).cbrt();
        let square = small * small;
        let rest = square / (1.0 + small * (5.0 / 6.0) + 0.25 * square * square).sqrt();
        (2.0 * price + rest / (a * a)).sqrt()
    } else {
        let large = 2.0 * price / (a * (2.0 * price / a).sqrt().ln_1p());
        (2.0 * price).sqrt() + (3.0 * price / a).cbrt().min(large.sqrt())
    };
    solve(start, price, (2.0, 3.0), |u| {
        let l = u.ln_1p();
        let stale = -(-a * l).exp_m1();
        let value = age_value(a, l, u);
        let curvature = 1.0 + a * (1.0 - stale) * u / (stale * (1.0 + u));
        LogDerivatives { value, slope: u * (u / value) * stale, curvature }
    })
}

/// Returns the `τ/b` at which the freshness value is `price·b`, infinite from `1/(a − 1)` on.
#[inline]
pub(super) fn freshness_interval(a: f64, price: f64) -> f64 {
    let over = a - 1.0;
    let share = price * over;
    if share >= 1.0 {
        return f64::INFINITY;
    }
    if share >= 0.5 {
        return freshness_interval_near_limit(over, share);
    }
    // In ξ = ((1 + u)^(1−a) − 1)/(1 − a), the expected fresh time, for which dF/dξ = a(1 − e^(−L)).
    let logarithm = |xi: f64| {
        let z = -over * xi;
        if z == 0.0 { xi } else { z.ln_1p() / -over }
    };
    let start = price / a + (2.0 * price / a).sqrt();
    let start = if over > 0.0 { start.min(0.9 / over) } else { start };
    let xi = solve(start, price, (1.0, 4.0), |xi| {
        let l = logarithm(xi);
        let u = l.exp_m1();
        let seen = -(-l).exp_m1();
        let value = freshness_value(a, l, u);
        let curvature = xi * (1.0 - seen) / (seen * (1.0 - over * xi));
        LogDerivatives { value, slope: xi * a * seen / value, curvature }
    });
    logarithm(xi).exp_m1()
}

/// Solves for prices from half the limit on, by Newton's method on the logarithm of the distance to
/// the limit: `ln(1 + (a−1)(1 − e^(−L))) − (a−1)L = ln(1 − share)`. The function is concave, so
/// after one step all iterates approach from above.
#[inline]
fn freshness_interval_near_limit(over: f64, share: f64) -> f64 {
    let missing = -(-share).ln_1p();
    let mut l = (missing + (2.0 * missing).sqrt()) / over;
    for _ in 0..MAX_STEPS {
        let seen = -(-l).exp_m1();
        let bulk = over * seen;
        let excess = (missing - over * l) + bulk.ln_1p();
        let step = excess * (1.0 + bulk) / (over * (1.0 + over) * seen);
        l += step;
        if step.abs() <= 1e-8 * l {
            break;
        }
    }
    l.exp_m1()
}
