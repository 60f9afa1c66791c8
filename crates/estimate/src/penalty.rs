//! What a fetch is worth, averaged over what is believed of the source.

mod due;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::difference::{NEAR, near_age, near_two, ratio};
use crate::quadrature::integrate;

/// What a stale copy costs.
///
/// A source with change rate `c` costs `k(t)` at `t` days after its last fetch. A fetch after `τ`
/// days is worth `v(τ) = ∫₀^τ t k′(t) dt`, and it is time to fetch when that reaches the price.
/// Since `c` is only believed, both are averaged over the belief, never taken at its mean: that
/// would starve the sources it is unsure of. All are per unit of importance.
///
/// With the belief Gamma(a, b), `L = ln(1 + τ/b)` and `φ(p) = (e^(pL) − 1)/p`:
///
/// | penalty | `k(t)` | `v(τ)` | averaged |
/// | --- | --- | --- | --- |
/// | harmonic | `Ein(ct)` | `τ − (1 − e^(−cτ))/c` | `τ − b φ(1−a)` |
/// | freshness | `1 − e^(−ct)` | `(1 − e^(−cτ)(1 + cτ))/c` | `b φ(1−a) − τ e^(−aL)` |
/// | age | `t − (1 − e^(−ct))/c` | `τ²/2 − (1 − e^(−cτ)(1 + cτ))/c²` | `τ²/2 − b²(φ(2−a) − φ(1−a))` |
///
/// Where these cancel they are computed as divided differences of the exponential: within 1e-12
/// for every shape from 1e-3 to 1e9 and every `τ/b` from 1e-9 to 1e9. As `a` grows with `a/b` fixed
/// they tend to `v` at the rate `a/b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Penalty {
    /// The harmonic number of the changes missed: each further one costs less.
    Harmonic,
    /// 1 while there is a change missed.
    Freshness,
    /// The days since the first change missed.
    Age,
}

/// Changes of a source with complete observations that were seen and not yet fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pending {
    /// How many.
    pub changes: u32,
    /// Days since the first of them.
    pub days: f64,
}

impl Penalty {
    /// What a fetch is worth `days` after the last, per unit of importance. 0 for days that are not
    /// positive; the [limit](Self::limit) for infinite days.
    #[must_use]
    #[inline]
    pub fn value(self, belief: Belief, days: f64) -> f64 {
        if days.is_nan() || days <= 0.0 {
            return 0.0;
        }
        let (a, b) = (belief.shape(), belief.days());
        let u = days / b;
        if u == f64::INFINITY {
            return self.limit(belief);
        }
        let l = u.ln_1p();
        match self {
            Self::Harmonic => b * harmonic(a, l, u),
            Self::Freshness => b * freshness(a, l, u),
            Self::Age => b * b * age(a, l, u),
        }
    }

    /// What a fetch is worth at most, long after the last: `b/(a − 1)` for freshness if `a > 1`
    /// (a price above it is never reached), infinite otherwise.
    #[must_use]
    pub fn limit(self, belief: Belief) -> f64 {
        match self {
            Self::Freshness => mean_interval(belief),
            Self::Harmonic | Self::Age => f64::INFINITY,
        }
    }

    /// The days after which a fetch is worth `price` per unit of importance: the inverse of
    /// [`value`](Self::value), to about 1e-13. 0 for prices of 0 and less; infinite if the price
    /// is never reached, is not a number, or is reached after more days than there are numbers.
    #[must_use]
    #[inline]
    pub fn due(self, belief: Belief, price: f64) -> f64 {
        let (a, b) = (belief.shape(), belief.days());
        if price <= 0.0 {
            return 0.0;
        }
        if price.is_nan() || price == f64::INFINITY {
            return f64::INFINITY;
        }
        match self {
            Self::Harmonic => b * due::harmonic(a, price / b),
            Self::Freshness => b * due::freshness(a, price / b),
            Self::Age => b * due::age(a, price / b / b),
        }
    }

    /// The expected penalty `E[k(t)]` now, `days` after the last fetch; 0 for days that are not
    /// positive.
    ///
    /// Freshness: `1 − (b/(b+t))ᵃ`. Age: `t − b φ(1−a)`. Harmonic: `∫₀^L (1 − e^(−ax))/(1 − e^(−x))
    /// dx`, summed numerically (microseconds, not nanoseconds).
    #[must_use]
    pub fn expected(self, belief: Belief, days: f64) -> f64 {
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
            Self::Age => Self::Harmonic.value(belief, days),
            Self::Harmonic => {
                // Past the middle the numerator is 1 and the integral elementary.
                let middle = (40.0 / a).min(l);
                let near =
                    integrate(middle, (1.0 / a).min(1.0), |x| (-a * x).exp_m1() / (-x).exp_m1());
                let logarithm = |x: f64| x + (-(-x).exp_m1()).ln();
                near + if middle < l { logarithm(l) - logarithm(middle) } else { 0.0 }
            }
        }
    }

    /// What a fetch is worth with changes pending, for a source whose every change is observed and
    /// whose belief has counted them: with `n` changes, the first `T` days old, and
    /// `E[1/c] = b/(a − 1)`: harmonic `n E[1/c]`, freshness `E[1/c]`, age `T²/2 + T E[1/c]`; 0 with
    /// none.
    ///
    /// A fetch now instead of at the next change saves the penalty until then, expected to take
    /// `E[1/c]`: so that, and not `1/E[c]`, is what counts, as in the limit of freshness when
    /// polled. For freshness this is exactly optimal, since what is learnt does not depend on the
    /// fetches; for the other two it is where a fetch is right for the rule "fetch at the same
    /// number (age) again", and optimal once the rate is known. A belief that has counted a change
    /// has `a > 1`; if forgetting has taken that away, `E[1/c]` is infinite: fetch.
    #[must_use]
    pub fn pending_value(self, belief: Belief, pending: Pending) -> f64 {
        if pending.changes == 0 {
            return 0.0;
        }
        let interval = mean_interval(belief);
        match self {
            Self::Harmonic => f64::from(pending.changes) * interval,
            Self::Freshness => interval,
            Self::Age if pending.days > 0.0 => pending.days * (0.5 * pending.days + interval),
            Self::Age => 0.0,
        }
    }
}

/// `E[1/c]`: `b/(a − 1)`, infinite for `a ≤ 1`.
fn mean_interval(belief: Belief) -> f64 {
    let over = belief.shape() - 1.0;
    if over > 0.0 { belief.days() / over } else { f64::INFINITY }
}

/// `∫₀^L e^x (1 − e^(−ax)) dx = a L² exp[0, (1−a)L, L]`, with `u = e^L − 1`.
#[inline]
fn harmonic(a: f64, l: f64, u: f64) -> f64 {
    let (al, rest) = (a * l, (1.0 - a) * l);
    if al >= NEAR {
        u - l * ratio(rest)
    } else if l >= NEAR {
        al * ((1.0 + u) * (-al).exp() * ratio(al) - ratio(rest))
    } else {
        al * l * near_two(rest, l)
    }
}

/// `a ∫₀^L (e^x − 1) e^(−ax) dx = a L² exp[0, −aL, (1−a)L]`, with `u = e^L − 1`.
#[inline]
fn freshness(a: f64, l: f64, u: f64) -> f64 {
    let (al, rest) = (a * l, (1.0 - a) * l);
    if al < NEAR && l < NEAR {
        al * l * near_two(-al, rest)
    } else if a < 2.0 && l >= NEAR {
        al * (ratio(rest) - ratio(-al))
    } else {
        l * ratio(rest) - u * (-al).exp()
    }
}

/// `∫₀^L (e^x − 1) e^x (1 − e^(−ax)) dx = L² (exp[0, L, 2L] − exp[0, (1−a)L, (2−a)L])`, with
/// `u = e^L − 1`; as one divided difference more,
/// `a L³ (exp[0, (1−a)L, L, 2L] + exp[0, (1−a)L, (2−a)L, 2L])`.
#[inline]
fn age(a: f64, l: f64, u: f64) -> f64 {
    let (al, one, two) = (a * l, (1.0 - a) * l, (2.0 - a) * l);
    if al >= NEAR {
        let less = if l < NEAR && one > -NEAR {
            l * l * near_two(one, two)
        } else if a < 3.0 && l >= NEAR {
            l * (ratio(two) - ratio(one))
        } else {
            (l * ratio(two) - u * one.exp()) / (a - 1.0)
        };
        0.5 * u * u - less
    } else if l >= NEAR {
        let shared = (1.0 + u) * (-al).exp() * ratio(al);
        let first = 0.5 * ((1.0 + u) * shared - ratio(two));
        al * (first - (shared - ratio(one)))
    } else {
        (1.0 + u) * al * l * l * near_age(l, al)
    }
}

#[cfg(test)]
mod tests;
