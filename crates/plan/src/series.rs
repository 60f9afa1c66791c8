//! Power series and the exponential integral, for evaluation.

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// `Σ (−1)^(m+first) a(m) x^m / m! · weight(m)`, from `first` on: alternating, starting positive.
fn alternating(x: f64, first: i32, term: impl Fn(i32) -> f64) -> f64 {
    let mut power = 1.0;
    for m in 1..first {
        power *= x / f64::from(m);
    }
    let (mut sum, mut sign) = (0.0, 1.0);
    for m in first..80 {
        power *= x / f64::from(m);
        let next = term(m) * power;
        sum += sign * next;
        if next <= 1e-18 * sum {
            break;
        }
        sign = -sign;
    }
    sum
}

/// Mean over an interval of `k(t) = Σ ± a(m) t^m / m!`, for small `x`.
pub(crate) fn periodic(x: f64, first: i32, a: impl Fn(i32) -> f64) -> f64 {
    alternating(x, first, |m| a(m) / f64::from(m + 1))
}

/// Mean of the same under random order, where the interval has the triangular density on
/// `[0, 2x]`.
pub(crate) fn random_order(x: f64, first: i32, a: impl Fn(i32) -> f64) -> f64 {
    alternating(x, first, |m| {
        a(m) * (2f64.powi(m + 3) - 2.0) / (f64::from(m + 1) * f64::from(m + 2) * f64::from(m + 3))
    })
}

/// Gauss-Legendre nodes and weights on `−1…1`, of order 16: the positive half.
const LEGENDRE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_59),
    (0.458_016_777_657_227_39, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_8, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_79),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_893),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// Integrates a smooth `f` with a bend at about `1/sharp` over `0…1`, in pieces that double in length
/// from there on.
pub(crate) fn integrate_unit(sharp: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut total) = (0.0, 0.0);
    let mut high = (1.0 / sharp).min(1.0);
    loop {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let pair = |&(node, weight): &(f64, f64)| {
            weight * (f(half.mul_add(node, middle)) + f(half.mul_add(-node, middle)))
        };
        total += half * LEGENDRE.iter().map(pair).sum::<f64>();
        if high >= 1.0 {
            return total;
        }
        (low, high) = (high, (2.0 * high).min(1.0));
    }
}

/// `Ein(x) = ∫₀ˣ (1 − e^(−t))/t dt`, the mean harmonic number of a Poisson count of mean `x`.
pub(crate) fn ein(x: f64) -> f64 {
    if x < 3.0 { alternating(x, 1, |m| 1.0 / f64::from(m)) } else { x.ln() + EULER + e1(x) }
}

/// Returns the exponential integral `E₁(x)` for `x ≥ 3`, by its continued fraction.
fn e1(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    // Lentz's method on e^(−x)/(x + 1 − 1²/(x + 3 − 2²/(x + 5 − …))).
    let mut b = x + 1.0;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..200 {
        let a = -f64::from(i) * f64::from(i);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        let delta = c * d;
        h *= delta;
        if (delta - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h * (-x).exp()
}

/// `H(k)` for a whole number `k ≥ 1`.
pub(crate) fn harmonic_number(k: f64) -> f64 {
    if k < 64.0 {
        let mut sum = 0.0;
        let mut i = k;
        while i >= 1.0 {
            sum += 1.0 / i;
            i -= 1.0;
        }
        sum
    } else {
        let q = 1.0 / (k * k);
        k.ln() + EULER + 0.5 / k - q * (1.0 / 12.0 - q * (1.0 / 120.0 - q / 252.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(got: f64, expect: f64) {
        assert!((got / expect - 1.0).abs() < 1e-14, "{got:e}, expected {expect:e}");
    }

    #[test]
    fn known_values() {
        // Abramowitz & Stegun, tables 5.1 and 5.3: Ein(1), E₁(3), E₁(10).
        check(ein(1.0), 0.796_599_599_297_053_1);
        check(e1(3.0), 0.013_048_381_094_197_037);
        check(e1(10.0), 4.156_968_929_685_324e-6);
        check(harmonic_number(4.0), 25.0 / 12.0);
    }

    #[test]
    fn both_branches_meet() {
        let across = |f: &dyn Fn(f64) -> f64, x: f64| (f(x - 1e-12), f(x + 1e-12));
        let (below, above) = across(&ein, 3.0);
        assert!((below - above).abs() < 1e-11);
        check(harmonic_number(64.0), harmonic_number(63.0) + 1.0 / 64.0);
    }
}
