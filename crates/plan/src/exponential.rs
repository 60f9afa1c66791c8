//! The exponential and its remainders, without cancellation and without branches.
//!
//! Every fixed-interval formula consists of `e^(−x)` minus its first Taylor terms. Evaluated directly,
//! these differences lose all digits for small `x`. Here each is assembled from one polynomial and is
//! accurate to a few units in the last place for every `x ≥ 0`.

/// Logarithm of 2 in two parts. The first has so few bits that integer multiples are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding this number rounds to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Above this, `e^(−x)` is negligible in every sum.
const MAX_EXPONENT: f64 = 700.0;

/// `e^(−x) = scale · (1 − rest + rest²/2 − rest³ · tail)`, with `|rest| ≤ ln 2 / 2`; for small `x`
/// the scale is exactly 1 and the rest exactly `x`, which is what makes the differences exact.
#[derive(Clone, Copy)]
pub(crate) struct Exp {
    x: f64,
    scale: f64,
    rest: f64,
    tail: f64,
}

impl Exp {
    /// Prepares `e^(−x)` for `x ≥ 0`.
    #[inline(always)]
    pub(crate) fn exp_neg(x: f64) -> Self {
        let near = if x < MAX_EXPONENT { x } else { MAX_EXPONENT };
        let rounded = near.mul_add(std::f64::consts::LOG2_E, ROUND);
        let k = rounded - ROUND;
        let rest = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, near));
        let scale = f64::from_bits(1023_u64.wrapping_sub(rounded.to_bits()) << 52);
        Self { x, scale, rest, tail: tail(rest) }
    }

    /// `rest²·(1/2 − rest·tail)`, which is `e^(−rest) − 1 + rest`.
    #[inline(always)]
    fn second(self) -> f64 {
        self.rest * self.rest * self.rest.mul_add(-self.tail, 0.5)
    }

    /// `e^(−x)`.
    #[inline(always)]
    pub(crate) fn value(self) -> f64 {
        self.scale * (1.0 - (self.rest - self.second()))
    }

    /// `1 − e^(−x)`.
    #[inline(always)]
    pub(crate) fn complement(self) -> f64 {
        self.scale.mul_add(self.rest - self.second(), 1.0 - self.scale)
    }

    /// `x − 1 + e^(−x)`: expected stale time, in units of the mean time between changes.
    #[inline(always)]
    pub(crate) fn stale_time(self) -> f64 {
        let linear = (self.scale - 1.0) + self.scale.mul_add(-self.rest, self.x);
        self.scale.mul_add(self.second(), linear)
    }

    /// `1 − e^(−x)(1 + x)`: the probability of at least two changes.
    #[inline(always)]
    pub(crate) fn two_or_more(self) -> f64 {
        let Self { x, scale, rest, .. } = self;
        let linear = scale.mul_add(rest - x, 1.0 - scale);
        scale.mul_add(rest.mul_add(x, -self.second() * (1.0 + x)), linear)
    }

    /// `x²/2 − 1 + e^(−x)(1 + x)`.
    #[inline(always)]
    pub(crate) fn age_value(self) -> f64 {
        let Self { x, scale, rest, tail } = self;
        let square = (0.5 * (x * x) + 0.5 * (scale * rest * rest)) - scale * rest * x;
        let cubic = scale * rest * rest * (0.5 * x - rest * tail * (1.0 + x));
        (square - ((1.0 - scale) + scale * (rest - x))) + cubic
    }

    /// `x²/2 − x + 1 − e^(−x)`: age summed over an interval.
    #[inline(always)]
    pub(crate) fn age_sum(self) -> f64 {
        let Self { x, scale, rest, tail } = self;
        let square = 0.5 * (x * x) - 0.5 * (scale * rest * rest);
        let cubic = scale * rest * rest * rest * tail;
        cubic + (square - ((scale - 1.0) + (x - scale * rest)))
    }
}

/// `(1 − r + r²/2 − e^(−r)) / r³`, close to `Σ (−r)^j / (j + 3)!`: the polynomial that meets it at
/// the Chebyshev nodes of `|r| ≤ ln 2 / 2`, 1e-16 off at most.
#[inline(always)]
fn tail(r: f64) -> f64 {
    const C: [f64; 10] = [
        0.166_666_666_666_666_69,
        -0.041_666_666_666_666_664,
        0.008_333_333_333_330_065,
        -0.001_388_888_888_888_655_4,
        0.000_198_412_698_630_405_59,
        -2.480_158_731_713_517_4e-5,
        2.755_726_848_028_971_6e-6,
        -2.755_728_298_404_137e-7,
        2.510_037_584_222_37e-8,
        -2.091_122_973_665_872e-9,
    ];
    let r2 = r * r;
    let r4 = r2 * r2;
    let pair = |at: usize| r.mul_add(C[at + 1], C[at]);
    let low = r2.mul_add(pair(2), pair(0));
    let mid = r2.mul_add(pair(6), pair(4));
    r4.mul_add(r4.mul_add(pair(8), mid), low)
}

/// `−ln(1 − y)` for `0 ≤ y < 1`, to about eight digits: accurate enough as the start of a root search.
#[inline(always)]
pub(crate) fn minus_ln_1m(y: f64) -> f64 {
    let rest = 1.0 - y;
    let (exponent, mantissa) = split(rest);
    let small = y < 0.5;
    let numerator = if small { y } else { 1.0 - mantissa };
    let denominator = if small { 2.0 - y } else { 1.0 + mantissa };
    let base = if small { 0.0 } else { -exponent * std::f64::consts::LN_2 };
    let z = numerator / denominator;
    let z2 = z * z;
    let series =
        polynomial(z2, &[1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0]);
    base + 2.0 * z * series
}

/// Returns the cube root of a positive normal number, to about six digits: accurate enough as the start of a root search.
#[inline(always)]
pub(crate) fn cube_root_start(a: f64) -> f64 {
    let (exponent, mantissa) = split(a);
    let over = mantissa - 1.0;
    let logarithm = over.mul_add(over.mul_add(-1.0 / 3.0, 4.0 / 3.0), exponent);
    let third = logarithm * (1.0 / 3.0);
    let rounded = third + ROUND;
    let f = third - (rounded - ROUND);
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let guess = power * polynomial(f, &[1.0, 0.693, 0.24]);
    let cube = guess * guess * guess;
    guess * (a.mul_add(2.0, cube) / cube.mul_add(2.0, a))
}

/// Exponent and mantissa in `[1, 2)` of a positive normal number.
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let bits = a.to_bits();
    let exponent = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - TWO_52 - 1023.0;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    (exponent, mantissa)
}

/// Returns a polynomial by Horner's rule, the constant term first.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut value = coefficients[N - 1];
    for at in (0..N - 1).rev() {
        value = x.mul_add(value, coefficients[at]);
    }
    value
}

/// Fourth-order step towards a nearby root of `f`: the inverse Taylor series with
/// the first three derivatives. Returns the step and the inverse of the derivative at its end.
#[inline(always)]
pub(crate) fn inverse_step(f: f64, f1: f64, f2: f64, f3: f64) -> (f64, f64) {
    let inverse = 1.0 / f1;
    let t = -f * inverse;
    let a = f2 * inverse;
    let b = f3 * inverse;
    let third = (0.5 * a).mul_add(a, b * (-1.0 / 6.0));
    let step = t * t.mul_add(-t.mul_add(-third, 0.5 * a), 1.0);
    (step, inverse * a.mul_add(-step, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the same differences as alternating series, which need no subtraction of large
    /// numbers for `x < 1`.
    fn series(x: f64, from: i32, coefficient: impl Fn(i32) -> f64) -> f64 {
        let mut factorial: f64 = (1..from).map(f64::from).product();
        let mut sum = 0.0;
        for m in from..30 {
            factorial *= f64::from(m);
            sum += coefficient(m) * x.powi(m) / factorial;
        }
        sum
    }

    fn sign(m: i32) -> f64 {
        if m % 2 == 0 { 1.0 } else { -1.0 }
    }

    #[track_caller]
    fn check(x: f64, what: &str, got: f64, expect: f64) {
        let error = (got / expect - 1.0).abs();
        assert!(error < 2e-14, "{what} at x = {x}: {got:e}, expected {expect:e}, off by {error:e}");
    }

    #[test]
    fn remainders_keep_their_digits_at_every_size() {
        for i in 0..400 {
            let x = 10f64.powf(-12.0 + f64::from(i) * 0.05);
            let e = Exp::exp_neg(x);
            check(x, "e^-x", e.value().max(1e-300), (-x).exp().max(1e-300));
            check(x, "1 - e^-x", e.complement(), -(-x).exp_m1());
            if x < 1.0 {
                check(x, "x - 1 + e^-x", e.stale_time(), series(x, 2, sign));
                check(
                    x,
                    "1 - e^-x(1+x)",
                    e.two_or_more(),
                    series(x, 2, |m| sign(m) * f64::from(m - 1)),
                );
                check(
                    x,
                    "x²/2 - 1 + e^-x(1+x)",
                    e.age_value(),
                    series(x, 3, |m| -sign(m) * f64::from(m - 1)),
                );
                check(x, "x²/2 - x + 1 - e^-x", e.age_sum(), series(x, 3, |m| -sign(m)));
            } else {
                let y = (-x).exp();
                check(x, "x - 1 + e^-x", e.stale_time(), x - 1.0 + y);
                check(x, "1 - e^-x(1+x)", e.two_or_more(), 1.0 - y * (1.0 + x));
                check(x, "x²/2 - 1 + e^-x(1+x)", e.age_value(), x * x / 2.0 - 1.0 + y * (1.0 + x));
                check(x, "x²/2 - x + 1 - e^-x", e.age_sum(), x * x / 2.0 - x + 1.0 - y);
            }
        }
    }

    #[test]
    fn starts_are_close() {
        for i in 0..600 {
            let a = 10f64.powf(-280.0 + f64::from(i) * 0.93);
            assert!((cube_root_start(a) / a.cbrt() - 1.0).abs() < 1e-6, "cube root of {a:e}");
            let y = 1.0 - 2f64.powf(-f64::from(i) * 0.08 - 1e-3);
            if y < 1.0 {
                let expect = -(-y).ln_1p();
                assert!((minus_ln_1m(y) / expect - 1.0).abs() < 1e-6, "-ln(1 - {y})");
            }
        }
    }
}
