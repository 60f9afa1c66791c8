//! Gauss–Legendre quadrature of smooth functions.

/// `∫₀^end f`, in panels that grow by half, starting from the scale on which `f` varies near 0.
pub(crate) fn integrate(end: f64, scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut from) = (0.0, 0.0);
    while from < end {
        let to = (from * 1.5).max(scale).min(end);
        sum += panel(from, to, &f);
        from = to;
    }
    sum
}

/// `∫ f` over one panel, on which `f` is close to a polynomial of degree 31.
pub(crate) fn panel(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let pair = |(node, weight): (f64, f64)| {
        weight * (f(half.mul_add(node, middle)) + f(half.mul_add(-node, middle)))
    };
    half * NODES.map(pair).iter().sum::<f64>()
}

/// Positive nodes of the 16-point rule and their weights.
pub(crate) const NODES: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_64),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_64),
    (0.458_016_777_657_227_37, 0.169_156_519_395_002_65),
    (0.617_876_244_402_643_8, 0.149_595_988_816_576_7),
    (0.755_404_408_355_003, 0.124_628_971_255_534_07),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_6),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_456),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_176),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(got: f64, expect: f64) {
        assert!((got / expect - 1.0).abs() < 1e-14, "{got:e}, expected {expect:e}");
    }

    #[test]
    fn polynomials_and_exponentials() {
        check(integrate(2.0, 5.0, |x| x.powi(31)), 2.0_f64.powi(27));
        check(integrate(30.0, 1.0, |x| (-x).exp()), 1.0 - (-30.0_f64).exp());
        check(integrate(20.0, 1.0, f64::exp), 20.0_f64.exp_m1());
        assert_eq!(integrate(0.0, 1.0, f64::exp), 0.0);
    }
}
