//! Digamma and trigamma functions.

/// Returns `ψ(x)` and `ψ′(x)` for `x > 0`: recurrence up to 10, then the asymptotic series.
pub(crate) fn digamma_and_trigamma(x: f64) -> (f64, f64) {
    let (mut digamma, mut trigamma, mut z) = (0.0, 0.0, x);
    while z < 10.0 {
        let inverse = 1.0 / z;
        digamma -= inverse;
        trigamma += inverse * inverse;
        z += 1.0;
    }
    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let series = |c: [f64; 7]| c.iter().rev().fold(0.0_f64, |sum, c| sum.mul_add(square, *c));
    // Bernoulli numbers: B₂ₖ/2k and B₂ₖ.
    let first = series([
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
    ]);
    let second = series([
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
    ]);
    digamma += z.ln() - 0.5 * inverse - square * first;
    trigamma += inverse * (1.0 + inverse * (0.5 + inverse * second));
    (digamma, trigamma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[track_caller]
    fn check(x: f64, digamma: f64, trigamma: f64) {
        let got = digamma_and_trigamma(x);
        assert!((got.0 - digamma).abs() < 1e-14 * digamma.abs().max(1.0), "ψ({x}) = {}", got.0);
        assert!((got.1 / trigamma - 1.0).abs() < 1e-14, "ψ′({x}) = {}", got.1);
    }

    #[test]
    fn known_values() {
        // Abramowitz & Stegun 6.3.2, 6.3.3, 6.4.2–6.4.4.
        const GAMMA: f64 = 0.577_215_664_901_532_9;
        check(1.0, -GAMMA, PI * PI / 6.0);
        check(0.5, -GAMMA - 2.0 * 2.0_f64.ln(), PI * PI / 2.0);
        check(3.0, 1.5 - GAMMA, PI * PI / 6.0 - 1.25);
        check(1e-8, -1e8 - GAMMA, 1e16 + PI * PI / 6.0);
        check(1e8, 1e8_f64.ln() - 0.5e-8, 1e-8 + 0.5e-16);
    }
}
