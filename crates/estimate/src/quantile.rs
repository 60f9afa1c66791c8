//! Quantiles of the gamma distribution, for shapes of every size.

use statrs::function::erf::erfc_inv;
use statrs::function::gamma::ln_gamma;

/// From this shape on the Cornish–Fisher expansion is accurate to 1e-12.
const EXPANSION_MIN_SHAPE: f64 = 1e4;

/// Returns the `x` with `P(shape, x) = probability`, where `P` is the regularised lower incomplete
/// gamma function: accurate to about 1e-11 relative, for arbitrarily small shapes (where the result
/// may round to 0).
pub(crate) fn gamma_quantile(shape: f64, probability: f64) -> f64 {
    if probability <= 0.0 {
        0.0
    } else if probability.is_nan() || probability >= 1.0 {
        f64::INFINITY
    } else if shape >= EXPANSION_MIN_SHAPE {
        cornish_fisher_quantile(shape, probability)
    } else {
        newton_quantile(shape, probability)
    }
}

/// Cornish–Fisher expansion about the normal distribution, to the order `shape^(−3/2)`.
fn cornish_fisher_quantile(shape: f64, probability: f64) -> f64 {
    let z = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability);
    let (z2, root) = (z * z, shape.sqrt());
    let fifth = z * ((9.0 * z2 + 256.0) * z2 - 433.0) / (38_880.0 * root);
    let fourth = (fifth - ((3.0 * z2 + 7.0) * z2 - 16.0) / 810.0) / root;
    let third = (fourth + z * (z2 - 7.0) / 36.0) / root;
    (shape + z * root + (z2 - 1.0) / 3.0 + third).max(0.0)
}

/// Newton's method in `ln x` on the logarithm of the smaller tail, with a bracket.
fn newton_quantile(shape: f64, probability: f64) -> f64 {
    let scale = ln_gamma(shape + 1.0);
    // P(a, x) ≤ xᵃ/Γ(a + 1) gives a lower bound on the quantile.
    let mut low = (probability.ln() + scale) / shape;
    if low < f64::MIN_POSITIVE.ln() {
        return low.exp();
    }
    let upper = probability > 0.5;
    let target = if upper { (-probability).ln_1p() } else { probability.ln() };
    let mut high = f64::INFINITY;
    let mut logarithm =
        if shape > 10.0 { cornish_fisher_quantile(shape, probability).ln().max(low) } else { low };
    for _ in 0..MAX_STEPS {
        let (below, above, density) = gamma_tails(shape, logarithm, scale);
        // Positive while x is too small, in either tail.
        let (tail, sign) = if upper { (above, -1.0) } else { (below, 1.0) };
        let short = sign * (target - tail.ln());
        if short > 0.0 {
            low = logarithm
        } else {
            high = logarithm
        }
        let newton = logarithm + (short * tail / density).clamp(-2.0, 2.0);
        let next = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            low + 1.0
        };
        let done = (next - logarithm).abs() <= 1e-14 * next.abs().max(1.0);
        logarithm = next;
        if done {
            break;
        }
    }
    logarithm.exp()
}

const MAX_STEPS: usize = 200;

/// Returns `P(a, x)`, `1 − P(a, x)` and `x·P′(a, x)` at `x = e^w`; `scale` is `ln Γ(a + 1)`.
fn gamma_tails(a: f64, w: f64, scale: f64) -> (f64, f64, f64) {
    let x = w.exp();
    let power = (a * w - x - scale).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0, 1.0, a);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let below = (power * sum).min(1.0);
        (below, 1.0 - below, a * power)
    } else {
        // Lentz's continued fraction.
        let mut b = x + 1.0 - a;
        let (mut c, mut d) = (1e300, 1.0 / b);
        let mut fraction = d;
        for i in 1..100_000 {
            let i = f64::from(i);
            let numerator = i * (a - i);
            b += 2.0;
            d = 1.0 / (numerator * d + b);
            c = b + numerator / c;
            fraction *= d * c;
            if (d * c - 1.0).abs() < 1e-16 {
                break;
            }
        }
        let above = a * power * fraction;
        (1.0 - above, above, a * power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: f64, probability: f64, expect: f64) {
        let got = gamma_quantile(shape, probability);
        let close = got == expect || (got / expect - 1.0).abs() < 1e-11;
        assert!(close, "shape {shape}, chance {probability}: {got:e}, expected {expect:e}");
    }

    #[test]
    fn exponential_and_erlang() {
        for probability in [1e-12_f64, 0.025, 0.5, 0.975, 1.0 - 1e-9] {
            check(1.0, probability, -(-probability).ln_1p());
        }
        // P(2, x) = 1 − e^(−x)(1 + x).
        let p = |x: f64| 1.0 - (-x).exp() * (1.0 + x);
        check(2.0, p(0.7), 0.7);
        check(2.0, p(4.0), 4.0);
    }

    #[test]
    fn reference_values() {
        // P(shape, x) inverted in 40 digits.
        check(0.01, 0.025, 3.522_685_997_313_792_4e-161);
        check(0.01, 0.5, 4.465_535_018_910_355e-31);
        check(0.01, 0.975, 0.047_137_958_431_590_334);
        check(0.1, 0.025, 5.791_710_245_521_448e-17);
        check(0.1, 0.5, 0.000_593_391_104_460_226_1);
        check(0.1, 0.975, 0.977_904_799_418_853_1);
        check(0.5, 0.025, 0.000_491_034_558_587_628);
        check(0.5, 0.5, 0.227_468_211_559_786_4);
        check(0.5, 0.975, 2.511_943_093_657_443_6);
        check(3.7, 0.025, 0.940_872_464_377_505_3);
        check(3.7, 0.5, 3.372_538_013_236_415);
        check(3.7, 0.975, 8.312_977_261_150_27);
        check(60.0, 0.025, 45.786_320_950_007_266);
        check(60.0, 0.5, 59.666_997_890_877_92);
        check(60.0, 0.975, 76.105_701_362_575_77);
        check(2_500.0, 0.025, 2_402.952_365_431_124);
        check(2_500.0, 0.5, 2_499.666_674_569_055);
        check(2_500.0, 0.975, 2_598.941_885_961_898_6);
        check(1_000_000.0, 0.025, 998_040.983_340_293_9);
        check(1_000_000.0, 0.5, 999_999.666_666_686_4);
        check(1_000_000.0, 0.975, 1_001_960.910_965_450_3);
    }

    #[test]
    fn probabilities_zero_and_one() {
        check(0.3, 0.0, 0.0);
        check(0.3, -1.0, 0.0);
        check(0.3, 1.0, f64::INFINITY);
        check(1e-3, 0.025, 0.0);
        check(0.3, f64::NAN, f64::INFINITY);
    }

    #[test]
    fn both_methods_agree_where_they_meet() {
        for probability in [1e-6, 0.025, 0.3, 0.5, 0.975] {
            let (one, other) = (
                newton_quantile(EXPANSION_MIN_SHAPE, probability),
                cornish_fisher_quantile(EXPANSION_MIN_SHAPE, probability),
            );
            assert!((one / other - 1.0).abs() < 1e-11, "{probability}: {one} and {other}");
        }
    }
}
