//! Distribution of the number of pending changes, and the expected penalty: the sum of a Poisson
//! number of unsignalled changes and a binomial number of signalled ones.
//!
//! All harmonic quantities follow from `E[uᴺ]` at `u = 1 − v`, `g(v) = e^(−ατv)(1 − πv)ⁿ`: `E[H(N)]
//! = ∫₀¹ (1 − g)/v dv` and `E[1/(N + 1)] = ∫₀¹ g dv`.

use super::{ChangeCountPenalty, SignalChannel};
use crate::quadrature::panel;

/// Point in units of `1/E[N]` beyond which `g` is negligible.
const EXPONENT_CUTOFF: f64 = 40.0;
/// Euler's constant.
pub(super) const EULER: f64 = 0.577_215_664_901_532_9;
/// Below this argument the power series of `Ein` keeps its precision.
const EIN_SERIES_LIMIT: f64 = 4.0;

/// `ατ + κn`; without signals the second term is 0 even if `κ` is infinite.
pub(super) fn exponent(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let signalled = if signals > 0.0 { channel.signal_exponent() * signals } else { 0.0 };
    let unsignalled =
        if channel.unsignalled_rate > 0.0 { channel.unsignalled_rate * days } else { 0.0 };
    unsignalled + signalled
}

/// Expected penalty.
pub(super) fn expected_penalty(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    days: f64,
    signals: f64,
) -> f64 {
    match penalty {
        ChangeCountPenalty::Freshness => -(-exponent(channel, days, signals)).exp_m1(),
        ChangeCountPenalty::Harmonic => expected_harmonic_number(channel, days, signals),
    }
}

/// Growth of the expected penalty per day while no signal arrives: freshness `α·P(N = 0)`, harmonic
/// `α·E[1/(N + 1)]`.
pub(super) fn penalty_growth(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    days: f64,
    signals: f64,
) -> f64 {
    if channel.unsignalled_rate == 0.0 {
        return 0.0;
    }
    channel.unsignalled_rate
        * match penalty {
            ChangeCountPenalty::Freshness => (-exponent(channel, days, signals)).exp(),
            ChangeCountPenalty::Harmonic => expected_inverse_count(channel, days, signals),
        }
}

/// `ln g(v)`.
fn log_generating_function(channel: SignalChannel, unsignalled: f64, signals: f64, v: f64) -> f64 {
    let signalled = if signals > 0.0 { signals * (-channel.precision * v).ln_1p() } else { 0.0 };
    signalled - unsignalled * v
}

/// `E[H(N)]`.
fn expected_harmonic_number(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let unsignalled = exponent(channel, days, 0.0);
    let mean = unsignalled + channel.precision * signals;
    if mean == 0.0 || mean.is_infinite() {
        return mean;
    }
    if signals == 0.0 {
        return ein(unsignalled);
    }
    let share = |v: f64| -log_generating_function(channel, unsignalled, signals, v).exp_m1() / v;
    let (mut from, mut sum) = (0.0, 0.0);
    while from < 1.0 && mean * from < EXPONENT_CUTOFF {
        let to = (2.0 * from).max(EIN_SERIES_LIMIT / mean).min(1.0);
        sum += panel(from, to, share);
        from = to;
    }
    // From here to v = 1, g is 0.
    sum - from.ln()
}

/// `E[1/(N + 1)]`.
fn expected_inverse_count(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let unsignalled = exponent(channel, days, 0.0);
    if signals == 0.0 {
        return crate::divided_difference::first_difference(-unsignalled);
    }
    let mean = unsignalled + channel.precision * signals;
    if mean.is_infinite() {
        return 0.0;
    }
    let g = |v: f64| log_generating_function(channel, unsignalled, signals, v).exp();
    let (mut from, mut sum) = (0.0, 0.0);
    while from < 1.0 && mean * from < EXPONENT_CUTOFF {
        let to = (from + 2.0 * EIN_SERIES_LIMIT / mean).min(1.0);
        sum += panel(from, to, g);
        from = to;
    }
    sum
}

/// `Ein(x) = ∫₀^x (1 − e^(−t))/t dt`, the expected harmonic number of a Poisson number.
pub(super) fn ein(x: f64) -> f64 {
    if x < EIN_SERIES_LIMIT {
        // Σ (−1)^(k+1) x^k/(k·k!)
        let (mut term, mut sum) = (x, x);
        for k in 2..40 {
            let k = f64::from(k);
            term *= -x / k;
            sum += term / k;
            if term.abs() < 1e-18 * sum {
                break;
            }
        }
        return sum;
    }
    if x > EXPONENT_CUTOFF {
        return x.ln() + EULER;
    }
    // E₁ as a continued fraction, by Lentz's method.
    let mut b = x + 1.0;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut fraction = d;
    for i in 1..60 {
        let i = f64::from(i);
        b += 2.0;
        d = 1.0 / (b - i * i * d);
        c = b - i * i / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    x.ln() + EULER + fraction * (-x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, got: f64, expect: f64) {
        let close = got == expect || (got / expect - 1.0).abs() < 1e-13;
        assert!(close, "{label}: {got:e}, expected {expect:e}");
    }

    /// `E[f(N)]` by the sum over both numbers.
    fn summed(unsignalled: f64, signals: i32, precision: f64, f: impl Fn(u32) -> f64) -> f64 {
        let mut binomial = vec![0.0; signals as usize + 1];
        binomial[0] = 1.0;
        for _ in 0..signals {
            for at in (0..binomial.len()).rev() {
                let below = if at > 0 { binomial[at - 1] } else { 0.0 };
                binomial[at] = binomial[at] * (1.0 - precision) + below * precision;
            }
        }
        let (mut poisson, mut sum) = ((-unsignalled).exp(), 0.0);
        for unseen in 0..200 {
            let with = |(signalled, probability): (usize, &f64)| {
                probability * f(unseen + signalled as u32)
            };
            sum += poisson * binomial.iter().enumerate().map(with).sum::<f64>();
            poisson *= unsignalled / f64::from(unseen + 1);
        }
        sum
    }

    #[test]
    fn known_values_of_ein() {
        // Abramowitz & Stegun, table 5.1: E₁ + ln x + γ.
        check("1", ein(1.0), 0.796_599_599_297_053_1);
        for x in [1e-12, 0.5, 3.999_999, 4.000_001, 17.0, 39.9, 41.0] {
            let by_hand = crate::quadrature::integrate(x, 1.0, |t| -(-t).exp_m1() / t);
            check(&format!("{x}"), ein(x), by_hand);
        }
    }

    #[test]
    fn expected_penalties_match_the_double_sum() {
        let number = |n: u32| (1..=n).map(|i| 1.0 / f64::from(i)).sum::<f64>();
        for (unsignalled, signals, precision) in
            [(0.0, 1, 1.0), (0.0, 7, 1.0), (0.3, 0, 0.4), (2.5, 3, 0.2), (30.0, 40, 0.9)]
        {
            let channel = SignalChannel::new(1.0, 1.0, precision).unwrap();
            let n = f64::from(signals);
            let label = format!("{unsignalled}, {signals}, {precision}");
            let expect = summed(unsignalled, signals, precision, number);
            check(
                &label,
                expected_penalty(channel, ChangeCountPenalty::Harmonic, unsignalled, n),
                expect,
            );
            let expect = summed(unsignalled, signals, precision, |n| 1.0 / f64::from(n + 1));
            check(
                &label,
                penalty_growth(channel, ChangeCountPenalty::Harmonic, unsignalled, n),
                expect,
            );
            let expect = 1.0 - summed(unsignalled, signals, precision, |n| f64::from(n == 0));
            check(
                &label,
                expected_penalty(channel, ChangeCountPenalty::Freshness, unsignalled, n),
                expect,
            );
        }
    }
}
