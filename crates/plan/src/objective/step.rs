//! Chances that are certain, and waiting for the k-th pending change: what the objectives share.

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

/// Whether a chance is 1, up to rounding.
#[inline(always)]
pub(crate) fn is_certain(chance: f64) -> bool {
    chance >= 1.0 - 4.0 * f64::EPSILON
}
