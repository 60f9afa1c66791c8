//! How many changes are pending, and what that costs: the Poisson number that was not signalled and
//! the binomial number that was.
//!
//! All harmonic quantities come from `E[uᴺ]` at `u = 1 − v`, `g(v) = e^(−ατv)(1 − πv)ⁿ`:
//! `E[H(N)] = ∫₀¹ (1 − g)/v dv` and `E[1/(N + 1)] = ∫₀¹ g dv`.

use super::{Channel, Counted};
use crate::quadrature::panel;

/// Where `g` has fallen to nothing, in units of `1/E[N]`.
const GONE: f64 = 40.0;
/// Euler's constant.
pub(super) const EULER: f64 = 0.577_215_664_901_532_9;
/// Below it the power series of `Ein` keeps its digits.
const SERIES: f64 = 4.0;

/// `ατ + κn`, with nothing for no signals even where one would say all.
pub(super) fn exponent(channel: Channel, days: f64, signals: f64) -> f64 {
    let told = if signals > 0.0 { channel.weight() * signals } else { 0.0 };
    let missed = if channel.missed > 0.0 { channel.missed * days } else { 0.0 };
    missed + told
}

/// The expected penalty.
pub(super) fn cost(channel: Channel, penalty: Counted, days: f64, signals: f64) -> f64 {
    match penalty {
        Counted::Freshness => -(-exponent(channel, days, signals)).exp_m1(),
        Counted::Harmonic => harmonic(channel, days, signals),
    }
}

/// How fast the expected penalty grows while no signal comes, per day: freshness `α·P(N = 0)`,
/// harmonic `α·E[1/(N + 1)]`.
pub(super) fn growth(channel: Channel, penalty: Counted, days: f64, signals: f64) -> f64 {
    if channel.missed == 0.0 {
        return 0.0;
    }
    channel.missed
        * match penalty {
            Counted::Freshness => (-exponent(channel, days, signals)).exp(),
            Counted::Harmonic => inverse(channel, days, signals),
        }
}

/// `ln g(v)`.
fn logarithm(channel: Channel, missed: f64, signals: f64, v: f64) -> f64 {
    let told = if signals > 0.0 { signals * (-channel.precision * v).ln_1p() } else { 0.0 };
    told - missed * v
}

/// `E[H(N)]`.
fn harmonic(channel: Channel, days: f64, signals: f64) -> f64 {
    let missed = exponent(channel, days, 0.0);
    let mean = missed + channel.precision * signals;
    if mean == 0.0 || mean.is_infinite() {
        return mean;
    }
    if signals == 0.0 {
        return ein(missed);
    }
    let share = |v: f64| -logarithm(channel, missed, signals, v).exp_m1() / v;
    let (mut from, mut sum) = (0.0, 0.0);
    while from < 1.0 && mean * from < GONE {
        let to = (2.0 * from).max(SERIES / mean).min(1.0);
        sum += panel(from, to, share);
        from = to;
    }
    // From here on g is 0, to the end at v = 1.
    sum - from.ln()
}

/// `E[1/(N + 1)]`.
fn inverse(channel: Channel, days: f64, signals: f64) -> f64 {
    let missed = exponent(channel, days, 0.0);
    if signals == 0.0 {
        return crate::difference::ratio(-missed);
    }
    let mean = missed + channel.precision * signals;
    if mean.is_infinite() {
        return 0.0;
    }
    let g = |v: f64| logarithm(channel, missed, signals, v).exp();
    let (mut from, mut sum) = (0.0, 0.0);
    while from < 1.0 && mean * from < GONE {
        let to = (from + 2.0 * SERIES / mean).min(1.0);
        sum += panel(from, to, g);
        from = to;
    }
    sum
}

/// `Ein(x) = ∫₀^x (1 − e^(−t))/t dt`, the expected harmonic number of a Poisson number.
pub(super) fn ein(x: f64) -> f64 {
    if x < SERIES {
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
    if x > GONE {
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
    fn check(what: &str, got: f64, expect: f64) {
        let close = got == expect || (got / expect - 1.0).abs() < 1e-13;
        assert!(close, "{what}: {got:e}, expected {expect:e}");
    }

    /// `E[f(N)]` by the sum over both numbers.
    fn summed(missed: f64, signals: i32, precision: f64, f: impl Fn(u32) -> f64) -> f64 {
        let mut binomial = vec![0.0; signals as usize + 1];
        binomial[0] = 1.0;
        for _ in 0..signals {
            for at in (0..binomial.len()).rev() {
                let below = if at > 0 { binomial[at - 1] } else { 0.0 };
                binomial[at] = binomial[at] * (1.0 - precision) + below * precision;
            }
        }
        let (mut poisson, mut sum) = ((-missed).exp(), 0.0);
        for unseen in 0..200 {
            let with = |(told, chance): (usize, &f64)| chance * f(unseen + told as u32);
            sum += poisson * binomial.iter().enumerate().map(with).sum::<f64>();
            poisson *= missed / f64::from(unseen + 1);
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
    fn harmonic_numbers_of_a_sum_of_two_numbers() {
        let number = |n: u32| (1..=n).map(|i| 1.0 / f64::from(i)).sum::<f64>();
        for (missed, signals, precision) in
            [(0.0, 1, 1.0), (0.0, 7, 1.0), (0.3, 0, 0.4), (2.5, 3, 0.2), (30.0, 40, 0.9)]
        {
            let channel = Channel::new(1.0, 1.0, precision).unwrap();
            let n = f64::from(signals);
            let what = format!("{missed}, {signals}, {precision}");
            let expect = summed(missed, signals, precision, number);
            check(&what, cost(channel, Counted::Harmonic, missed, n), expect);
            let expect = summed(missed, signals, precision, |n| 1.0 / f64::from(n + 1));
            check(&what, growth(channel, Counted::Harmonic, missed, n), expect);
            let expect = 1.0 - summed(missed, signals, precision, |n| f64::from(n == 0));
            check(&what, cost(channel, Counted::Freshness, missed, n), expect);
        }
    }
}
