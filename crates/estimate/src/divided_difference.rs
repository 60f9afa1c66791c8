//! Divided differences of the exponential function.
//!
//! `exp[x₀, …, xₙ]` is the integral of `e^t` over the simplex spanned by the points: positive,
//! smooth, and independent of their order. With two points it is `(e^y − e^x)/(y − x)`. Every value
//! of a [`Penalty`](crate::Penalty) is a divided difference, so it has no singularities even where
//! its closed form does.

/// Points at most this far from 0 are summed as a power series.
pub(crate) const NEAR: f64 = 0.25;

/// `exp[0, x] = (e^x − 1)/x`, 1 at 0.
#[inline]
pub(crate) fn first_difference(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// `exp[0, x, y]` for `|x|, |y| ≤ NEAR`: `Σ hₙ(x, y)/(n + 2)!` with the complete homogeneous
/// polynomials `hₙ = y hₙ₋₁ + xⁿ`.
#[inline]
pub(crate) fn second_difference_near_zero(x: f64, y: f64) -> f64 {
    let (mut power, mut h, mut sum) = (1.0, 1.0, 0.5);
    for inverse in &INVERSE_FACTORIALS[3..15] {
        power *= x;
        h = y.mul_add(h, power);
        sum = h.mul_add(*inverse, sum);
    }
    sum
}

/// `exp[−l, −d, 0, l] + exp[−l, −d, l−d, l]` for `l, d ≤ NEAR`. The complete homogeneous
/// polynomials of `−l` and `l` alone are `lⁿ` for even `n` and 0 for odd.
#[inline]
pub(crate) fn age_difference_near_zero(l: f64, d: f64) -> f64 {
    let (square, last) = (l * l, l - d);
    let (mut power, mut three, mut third_difference, mut sum) = (1.0, 1.0, 1.0, 1.0 / 3.0);
    for pair in INVERSE_FACTORIALS[4..16].chunks_exact(2) {
        three *= -d;
        third_difference = last.mul_add(third_difference, three);
        sum = (three + third_difference).mul_add(pair[0], sum);
        power *= square;
        three = d.mul_add(-three, power);
        third_difference = last.mul_add(third_difference, three);
        sum = (three + third_difference).mul_add(pair[1], sum);
    }
    sum
}

const INVERSE_FACTORIALS: [f64; 16] = {
    let mut inverses = [1.0; 16];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < 16 {
        factorial *= n as f64;
        inverses[n] = 1.0 / factorial;
        n += 1;
    }
    inverses
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::integrate;

    #[track_caller]
    fn check(label: &str, got: f64, expect: f64) {
        assert!((got / expect - 1.0).abs() < 4e-15, "{label}: {got}, expected {expect}");
    }

    #[test]
    fn integrals_over_the_simplex() {
        for (x, y) in
            [(0.25, -0.25), (0.25, 0.25), (-0.25, -0.25), (0.0, 0.0), (1e-9, -0.1), (0.1, 0.2)]
        {
            check("ratio", first_difference(x), integrate(1.0, 2.0, |s| (x * s).exp()));
            let inner = |s: f64| s * integrate(1.0, 2.0, |t| (s * (x + t * (y - x))).exp());
            check("two", second_difference_near_zero(x, y), integrate(1.0, 2.0, inner));
        }
        for (l, d) in [(0.25, 0.25), (0.25, 0.0), (0.0, 0.25), (0.1, 0.2), (1e-9, 0.1)] {
            check(
                "age",
                age_difference_near_zero(l, d),
                third_difference([-l, -d, 0.0, l]) + third_difference([-l, -d, l - d, l]),
            );
        }
    }

    /// `exp[w, x, y, z]` by the Hermite–Genocchi formula.
    fn third_difference([w, x, y, z]: [f64; 4]) -> f64 {
        integrate(1.0, 2.0, |s| {
            let inner = |t: f64| {
                let point = |v: f64| w + s * ((x - w) + t * ((y - x) + v * (z - y)));
                t * integrate(1.0, 2.0, |v| point(v).exp())
            };
            s * s * integrate(1.0, 2.0, inner)
        })
    }
}
