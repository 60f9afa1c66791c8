//! Value of a fetch, averaged over the belief about the change rate.

mod interval;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::divided_difference::{
    NEAR, age_difference_near_zero, first_difference, second_difference_near_zero,
};
use crate::quadrature::integrate;

/// Cost of a stale copy.
///
/// A source with change rate `c` costs `k(t)` at `t` days after its last fetch. A fetch after `τ`
/// days is worth `v(τ) = ∫₀^τ t k′(t) dt`, and the source is due when that reaches the price.
/// Because `c` is uncertain, both are averaged over the belief and never evaluated at its mean,
/// which would starve the sources with an uncertain rate. All are per unit of importance.
///
/// With the belief Gamma(a, b), `L = ln(1 + τ/b)` and `φ(p) = (e^(pL) − 1)/p`:
///
/// | penalty | `k(t)` | `v(τ)` | averaged |
/// | --- | --- | --- | --- |
/// | harmonic | `Ein(ct)` | `τ − (1 − e^(−cτ))/c` | `τ − b φ(1−a)` |
/// | freshness | `1 − e^(−ct)` | `(1 − e^(−cτ)(1 + cτ))/c` | `b φ(1−a) − τ e^(−aL)` |
/// | age | `t − (1 − e^(−ct))/c` | `τ²/2 − (1 − e^(−cτ)(1 + cτ))/c²` | `τ²/2 − b²(φ(2−a) − φ(1−a))` |
///
/// Where these cancel, they are computed as divided differences of the exponential: accurate to
/// 1e-12 for every shape from 1e-3 to 1e9 and every `τ/b` from 1e-9 to 1e9. As `a` grows with `a/b`
/// fixed, they tend to `v` at the rate `a/b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Penalty {
    /// Harmonic number of the missed changes: each further one costs less.
    Harmonic,
    /// 1 while at least one change is missed.
    Freshness,
    /// Days since the first missed change.
    Age,
}

/// Changes of a source with complete observations that were signalled and not yet fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendingChanges {
    /// Number of pending changes.
    pub count: u32,
    /// Days since the first of them.
    pub age_days: f64,
}

impl Penalty {
    /// Value of a fetch `days` after the last one, per unit of importance. 0 for days that are not
    /// positive; the [maximum](Self::max_value) for infinite days.
    #[must_use]
    #[inline]
    pub fn fetch_value(self, belief: Belief, days: f64) -> f64 {
        if days.is_nan() || days <= 0.0 {
            return 0.0;
        }
        let (a, b) = (belief.shape(), belief.days());
        let u = days / b;
        if u == f64::INFINITY {
            return self.max_value(belief);
        }
        let l = u.ln_1p();
        match self {
            Self::Harmonic => b * harmonic_value(a, l, u),
            Self::Freshness => b * freshness_value(a, l, u),
            Self::Age => b * b * age_value(a, l, u),
        }
    }

    /// Upper limit of the fetch value, long after the last fetch: `b/(a − 1)` for freshness if `a >
    /// 1` (a price above it is never reached), infinite otherwise.
    #[must_use]
    pub fn max_value(self, belief: Belief) -> f64 {
        match self {
            Self::Freshness => expected_change_interval(belief),
            Self::Harmonic | Self::Age => f64::INFINITY,
        }
    }

    /// Returns the days after which a fetch is worth `price` per unit of importance: the inverse of
    /// [`fetch_value`](Self::fetch_value), to about 1e-13. 0 for prices of 0 and less; infinite if
    /// the price is never reached, is NaN, or is reached after more days than an `f64` can hold.
    #[must_use]
    #[inline]
    pub fn interval_at_price(self, belief: Belief, price: f64) -> f64 {
        let (a, b) = (belief.shape(), belief.days());
        if price <= 0.0 {
            return 0.0;
        }
        if price.is_nan() || price == f64::INFINITY {
            return f64::INFINITY;
        }
        match self {
            Self::Harmonic => b * interval::harmonic_interval(a, price / b),
            Self::Freshness => b * interval::freshness_interval(a, price / b),
            Self::Age => b * interval::age_interval(a, price / b / b),
        }
    }

    /// Expected penalty `E[k(t)]`, `days` after the last fetch; 0 for days that are not positive.
    ///
    /// Freshness: `1 − (b/(b+t))ᵃ`. Age: `t − b φ(1−a)`. Harmonic: `∫₀^L (1 − e^(−ax))/(1 − e^(−x))
    /// dx`, integrated numerically (microseconds, not nanoseconds).
    #[must_use]
    pub fn expected_penalty(self, belief: Belief, days: f64) -> f64 {
        if days.is_nan() || days <= 0.0 {
            return 0.0;
        }
        if days == f64::INFINITY {
            return if self == Self::Freshness { 1.0 } else { f64::INFINITY };
        }
        let a = belief.shape();
        let l = (days / belief.days()).ln_1p();
        match self {
            Self::Freshness => -(-a * l).exp_m1(),
            Self::Age => Self::Harmonic.fetch_value(belief, days),
            Self::Harmonic => {
                // Above the middle the numerator is 1 and the integral elementary.
                let middle = (40.0 / a).min(l);
                let near =
                    integrate(middle, (1.0 / a).min(1.0), |x| (-a * x).exp_m1() / (-x).exp_m1());
                let logarithm = |x: f64| x + (-(-x).exp_m1()).ln();
                near + if middle < l { logarithm(l) - logarithm(middle) } else { 0.0 }
            }
        }
    }

    /// Value of a fetch with changes pending, for a source whose every change is observed and whose
    /// belief has counted them. With `n` changes, the first `T` days old, and `E[1/c] = b/(a − 1)`:
    /// harmonic `n E[1/c]`, freshness `E[1/c]`, age `T²/2 + T E[1/c]`; 0 with none.
    ///
    /// A fetch now instead of at the next change saves the penalty until then, which takes `E[1/c]`
    /// in expectation; so `E[1/c]`, and not `1/E[c]`, counts, as in the limit of freshness when
    /// polled. For freshness this is exactly optimal, because what is learned does not depend on the
    /// fetches. For the other two it is the right point for the rule "fetch at the same number
    /// (age) again", and optimal once the rate is known. A belief that has counted a change has `a
    /// > 1`; if decay has reduced it below, `E[1/c]` is infinite and the source is fetched.
    #[must_use]
    pub fn pending_value(self, belief: Belief, pending: PendingChanges) -> f64 {
        if pending.count == 0 {
            return 0.0;
        }
        let interval = expected_change_interval(belief);
        match self {
            Self::Harmonic => f64::from(pending.count) * interval,
            Self::Freshness => interval,
            Self::Age if pending.age_days > 0.0 => {
                pending.age_days * (0.5 * pending.age_days + interval)
            }
            Self::Age => 0.0,
        }
    }
}

/// `E[1/c]`: `b/(a − 1)`, infinite for `a ≤ 1`.
fn expected_change_interval(belief: Belief) -> f64 {
    let over = belief.shape() - 1.0;
    if over > 0.0 { belief.days() / over } else { f64::INFINITY }
}

/// `∫₀^L e^x (1 − e^(−ax)) dx = a L² exp[0, (1−a)L, L]`, with `u = e^L − 1`.
#[inline]
fn harmonic_value(a: f64, l: f64, u: f64) -> f64 {
    let (al, rest) = (a * l, (1.0 - a) * l);
    if al >= NEAR {
        u - l * first_difference(rest)
    } else if l >= NEAR {
        al * ((1.0 + u) * (-al).exp() * first_difference(al) - first_difference(rest))
    } else {
        al * l * second_difference_near_zero(rest, l)
    }
}

/// `a ∫₀^L (e^x − 1) e^(−ax) dx = a L² exp[0, −aL, (1−a)L]`, with `u = e^L − 1`.
#[inline]
fn freshness_value(a: f64, l: f64, u: f64) -> f64 {
    let (al, rest) = (a * l, (1.0 - a) * l);
    if al < NEAR && l < NEAR {
        al * l * second_difference_near_zero(-al, rest)
    } else if a < 2.0 && l >= NEAR {
        al * (first_difference(rest) - first_difference(-al))
    } else {
        l * first_difference(rest) - u * (-al).exp()
    }
}

/// `∫₀^L (e^x − 1) e^x (1 − e^(−ax)) dx = L² (exp[0, L, 2L] − exp[0, (1−a)L, (2−a)L])`, with `u =
/// e^L − 1`; with one more divided difference, `a L³ (exp[0, (1−a)L, L, 2L] + exp[0, (1−a)L,
/// (2−a)L, 2L])`.
#[inline]
fn age_value(a: f64, l: f64, u: f64) -> f64 {
    let (al, one, two) = (a * l, (1.0 - a) * l, (2.0 - a) * l);
    if al >= NEAR {
        let less = if l < NEAR && one > -NEAR {
            l * l * second_difference_near_zero(one, two)
        } else if a < 3.0 && l >= NEAR {
            l * (first_difference(two) - first_difference(one))
        } else {
            (l * first_difference(two) - u * one.exp()) / (a - 1.0)
        };
        0.5 * u * u - less
    } else if l >= NEAR {
        let shared = (1.0 + u) * (-al).exp() * first_difference(al);
        let first = 0.5 * ((1.0 + u) * shared - first_difference(two));
        al * (first - (shared - first_difference(one)))
    } else {
        (1.0 + u) * al * l * l * age_difference_near_zero(l, al)
    }
}

#[cfg(test)]
mod tests;
