//! What the objectives share: waiting for the k-th pending change or for a time, and slots.

/// Returns the number of pending changes to wait for at `s = 1/x` fetches per change, and whether `s` lies
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

/// Returns the whole slots waited after the first pending change at `s` fetches per change, and whether they
/// are all (otherwise `t` and `t + 1` share the time).
#[inline]
pub(crate) fn slots_waited(s: f64, c: f64) -> (f64, bool) {
    let t = ((1.0 / s - 1.0) / c).max(0.0);
    let nearest = t.round();
    // 1/s is known to a few units in the last place.
    let whole = (t - nearest).abs() <= 1e-12 * t + 4.0 * f64::EPSILON / (s * c);
    match (whole, t < SMOOTH_FROM) {
        (true, true) => (nearest, true),
        (false, true) => (t.floor(), false),
        (_, false) => (t, false),
    }
}

/// Above it neighbouring thresholds differ by less than rounding, and demand is taken as smooth.
pub(crate) const SMOOTH_FROM: f64 = 1e12;

/// Returns the chance that a slot goes by without a fetch; none if rounding is all that is left of it.
pub(crate) fn unfetched(chance: f64) -> f64 {
    if chance >= 1.0 - 4.0 * f64::EPSILON { 0.0 } else { 1.0 - chance }
}
