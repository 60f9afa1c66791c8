//! The index in constant time.
//!
//! Let the *level* `u` of a state be `α` times the days in which its expected penalty is reached
//! without signals. The index is `V(u) = ∫₀^u ψ(z) k′(z) dz`, with `k′ = e^(−z)` for freshness and
//! `(1 − e^(−z))/z` for harmonic, and `ψ(z)` the expected days until the level `z` is reached from
//! 0, when time advances it at speed `α` and signals make it jump. The jumps of the first signals
//! are followed exactly. Beyond them `ψ` is close to a straight line.

use super::pending_changes::{EULER, ein, exponent};
use super::{ChangeCountPenalty, SignalChannel};
use crate::divided_difference::{NEAR, first_difference, second_difference_near_zero};
use crate::quadrature::{NODES, panel};

/// Number of signals that are followed exactly for freshness.
const EXACT_SIGNALS: u32 = 4;
/// Below this level a power series replaces the closed form.
const SERIES_THRESHOLD: f64 = 1e-4;

/// `∫ψ(z) k′(z) dz` between two levels beyond the first signals.
///
/// Freshness: a signal is a jump by `κ`, so `ψ = (z + γκ²/2(α + γκ))/(α + γκ)`, the line given by
/// renewal theory. Harmonic: `ψ = (z + (πγ/c)(π/2)·z/(e^z − 1))/c`, because a jump adds `π` to the
/// mean, and two states with the same mean and different shares of signalled changes differ by the
/// rest.
pub(super) fn value_between(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    from: f64,
    to: f64,
) -> f64 {
    let SignalChannel { unsignalled_rate: unsignalled, signal_rate: signals, precision } = channel;
    match penalty {
        ChangeCountPenalty::Freshness => {
            let weight = channel.signal_exponent();
            let speed = unsignalled + signals * weight;
            let over = 0.5 * signals * weight * (weight / speed);
            if to < SERIES_THRESHOLD {
                let near = |z: f64| z * (z * (0.5 - z / 3.0) + over);
                return (near(to) - near(from)) / speed;
            }
            let rest = |z: f64| if z < 700.0 { (-z).exp() * (z + 1.0 + over) } else { 0.0 };
            (rest(from) - rest(to)) / speed
        }
        ChangeCountPenalty::Harmonic => {
            let changes = channel.change_rate();
            let over = 0.5 * signals * precision * (precision / changes);
            let fallen = (-from).exp() * -(from - to).exp_m1();
            let line = if to < SERIES_THRESHOLD {
                linear_excess_series(to) - linear_excess_series(from)
            } else {
                (to - from) - fallen
            };
            (line + over * fallen) / changes
        }
    }
}

/// `x − 1 + e^(−x)` for small `x`.
fn linear_excess_series(x: f64) -> f64 {
    0.5 * x * x * (1.0 - x / 3.0)
}

/// Freshness: the closed terms of the first signals, then the line.
pub(super) fn freshness(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let changes = channel.change_rate();
    if changes == 0.0 {
        return 0.0;
    }
    let level = exponent(channel, days, signals);
    if level > 700.0 {
        return 1.0 / changes;
    }
    if channel.signal_rate == 0.0 {
        return signal_stage_integral(channel, 0, level);
    }
    let weight = channel.signal_exponent();
    let followed = level.min(f64::from(EXACT_SIGNALS) * weight);
    let mut sum = 0.0;
    let mut signalled = 0.0;
    for i in 0..EXACT_SIGNALS {
        if signalled >= followed {
            break;
        }
        sum += (-signalled).exp() * signal_stage_integral(channel, i, followed - signalled);
        signalled += weight;
    }
    if level > followed {
        sum += value_between(channel, ChangeCountPenalty::Freshness, followed, level);
    }
    sum.min(1.0 / changes)
}

/// `∫₀^t (1/γ)P(i+1, γs) α e^(−αs) ds` for `t = level/α`, infinite for a source without
/// unsignalled changes.
fn signal_stage_integral(channel: SignalChannel, i: u32, level: f64) -> f64 {
    let SignalChannel { unsignalled_rate: unsignalled, signal_rate: signals, .. } = channel;
    if unsignalled == 0.0 {
        return -(-level).exp_m1() / signals;
    }
    let days = level / unsignalled;
    let (x, both) = (signals * days, (signals + unsignalled) * days);
    if i == 0 {
        return level * days * decreasing_difference(level, both);
    }
    let count = f64::from(i) + 1.0;
    if level < SERIES_THRESHOLD {
        let (came, after) = erlang_probabilities(i, x);
        return unsignalled * (days * came - after * count / signals).max(0.0) / signals;
    }
    let share = (signals / (signals + unsignalled)).powi(i as i32 + 1);
    (share * erlang_probabilities(i, both).0 - (-level).exp() * erlang_probabilities(i, x).0)
        .max(0.0)
        / signals
}

/// `exp[0, −x, −y]` for `0 ≤ x ≤ y`.
fn decreasing_difference(x: f64, y: f64) -> f64 {
    if y <= NEAR {
        second_difference_near_zero(-x, -y)
    } else if y - x < 1e-5 {
        let middle = 0.5 * (x + y);
        -((-middle).exp() + (-middle).exp_m1() / middle) / middle
    } else {
        (first_difference(-x) - first_difference(-y)) / (y - x)
    }
}

/// `P(i+1, x)` and `P(i+2, x)`: the probabilities of at least that many signals.
fn erlang_probabilities(i: u32, x: f64) -> (f64, f64) {
    let mut term = (-x).exp();
    let mut none = term;
    for j in 1..=i {
        term *= x / f64::from(j);
        none += term;
    }
    let last = term * x / f64::from(i + 1);
    let rest = if x > 700.0 { 0.0 } else { none };
    ((1.0 - rest).max(0.0), if x > 700.0 { 1.0 } else { (1.0 - none - last).max(0.0) })
}

/// Harmonic: the first signal exactly, then the line.
pub(super) fn harmonic(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let changes = channel.change_rate();
    if changes == 0.0 {
        return 0.0;
    }
    let level = level(channel, days, signals);
    if level == f64::INFINITY {
        return level;
    }
    let jump = single_signal_level(channel.precision);
    if channel.signal_rate == 0.0 || level <= jump {
        return single_signal_value(channel, level);
    }
    single_signal_value(channel, jump)
        + value_between(channel, ChangeCountPenalty::Harmonic, jump, level)
}

/// Level of a state: the `x` with `Ein(x) = E[H(N)]`, by one third-order step from the `x` that is
/// exact for small precision. Accurate to 1e-3.
fn level(channel: SignalChannel, days: f64, signals: f64) -> f64 {
    let unsignalled = exponent(channel, days, 0.0);
    if signals == 0.0 || channel.precision == 0.0 || unsignalled == f64::INFINITY {
        return unsignalled;
    }
    let signalled = channel.precision * signals;
    let mean = unsignalled + signalled;
    // 1 − m/(e^m − 1), from 0 to 1.
    let correction = if mean < SERIES_THRESHOLD { 0.5 * mean } else { 1.0 - mean / mean.exp_m1() };
    let start = mean + 0.5 * channel.precision * (signalled / mean) * correction;
    // k − Ein(start) = ∫₀¹ (e^(−start·v) − g(v))/v dv, negligible beyond a few 1/m.
    let half = 0.5 * (16.0 / mean).min(1.0);
    let short: f64 = NODES
        .iter()
        .map(|&(node, weight)| {
            let at = |node: f64| {
                let v = half + half * node;
                let g = (signals * (-channel.precision * v).ln_1p() - unsignalled * v).exp();
                ((-start * v).exp() - g) / v
            };
            weight * (at(node) + at(-node))
        })
        .sum::<f64>()
        * half;
    let slope = first_difference(-start);
    let step = short / slope;
    // −k″/k′ of Ein.
    let curvature =
        if start < SERIES_THRESHOLD { 0.5 } else { (slope - (-start).exp()) / (start * slope) };
    start + step * (1.0 + 0.5 * curvature * step)
}

/// Level of a single signal at time 0, the `x` with `Ein(x) = π`: the power series of the inverse,
/// to 1e-4.
fn single_signal_level(precision: f64) -> f64 {
    let p = precision;
    let start = p * (1.0 + p * (0.25 + p * (5.0 / 72.0 + p * 0.0174)));
    start + (p - ein(start)) / first_difference(-start)
}

/// `∫₀^x (1/γ)(1 − e^(−γz/α))(1 − e^(−z))/z dz`: the value while one signal is enough, `(Ein(x) +
/// Ein(gx) − Ein((1+g)x))/γ` with `g = γ/α`.
fn single_signal_value(channel: SignalChannel, x: f64) -> f64 {
    let SignalChannel { unsignalled_rate: unsignalled, signal_rate: signals, .. } = channel;
    if unsignalled == 0.0 {
        return ein(x) / signals;
    }
    if signals == 0.0 {
        return if x < SERIES_THRESHOLD { linear_excess_series(x) } else { x + (-x).exp_m1() }
            / unsignalled;
    }
    let g = signals / unsignalled;
    if x <= 8.0 && g * x <= 8.0 {
        return panel(0.0, x, |z| {
            z / unsignalled * first_difference(-g * z) * first_difference(-z)
        });
    }
    let less = if g * x > 40.0 {
        (1.0 / g).ln_1p()
    } else if g >= 1.0 {
        panel(g * x, (1.0 + g) * x, |z| first_difference(-z))
    } else {
        ein((1.0 + g) * x) - ein(g * x)
    };
    let all = if x > 40.0 { x.ln() + EULER } else { ein(x) };
    (all - less).max(0.0) / signals
}
