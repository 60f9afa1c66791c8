//! Waiting for the k-th pending change: what the objectives have in common there.

/// The number of pending changes to wait for at `s = 1/x` fetches per change, and whether `s` lies
/// on it (otherwise `k` and `k + 1` share the time).
#[inline]
pub(crate) fn waiting_for(s: f64) -> (f64, bool) {
    let x = 1.0 / s;
    let nearest = x.round();
    if (x - nearest).abs() <= 1e-12 * x { (nearest.max(1.0), true) } else { (x.floor(), false) }
}

/// Above it neighbouring thresholds differ by less than rounding, and demand is taken as smooth.
pub(crate) const SMOOTH_FROM: f64 = 1e12;
