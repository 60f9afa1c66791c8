//! What the objectives share: waiting for the k-th pending change, and slots.

/// The number of pending changes to wait for at `s = 1/x` fetches per change, and whether `s` lies
/// on it (otherwise `k` and `k + 1` share the time).
#[inline]
pub(crate) fn waiting_for(s: f64) -> (f64, bool) {
    let x = 1.0 / s;
    if x >= SMOOTH_FROM {
        return (x, false);
    }
    let nearest = x.round();
    if (x - nearest).abs() <= 1e-12 * x { (nearest.max(1.0), true) } else { (x.floor(), false) }
}

/// Above it neighbouring thresholds differ by less than rounding, and demand is taken as smooth.
pub(crate) const SMOOTH_FROM: f64 = 1e12;

/// The chance that a slot goes by without a fetch; none if rounding is all that is left of it.
pub(crate) fn unfetched(chance: f64) -> f64 {
    if chance >= 1.0 - 4.0 * f64::EPSILON { 0.0 } else { 1.0 - chance }
}
