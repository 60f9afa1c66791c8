//! The index in constant time.
//!
//! In the place `u`, `α` times the days in which an expected penalty is reached without signals, the
//! index is `V(u) = ∫₀^u ψ(z) k′(z) dz`: `k′ = e^(−z)` for freshness and `(1 − e^(−z))/z` for harmonic,
//! and `ψ(z)` the expected days until `z` is reached from 0, when time moves at speed `α` and signals
//! jump ahead. The jumps are followed for the first signals. Past them `ψ` is close to a line.

use super::pending::{EULER, ein, exponent};
use super::{Channel, Counted};
use crate::difference::{NEAR, near_two, ratio};
use crate::quadrature::{NODES, panel};

/// Signals that are followed for freshness.
const FOLLOWED: u32 = 4;
/// Below it only the first powers of the place count.
const SMALL: f64 = 1e-4;

/// `∫ψ(z) k′(z) dz` between two places past the first signals.
///
/// Freshness: a signal is a jump by `κ`, so `ψ = (z + γκ²/2(α + γκ))/(α + γκ)`, the line that renewal
/// theory gives. Harmonic: `ψ = (z + (πγ/c)(π/2)·z/(e^z − 1))/c`, because a jump is by `π` of the mean and
/// two states with the same mean and so many changes from signals differ by the rest.
pub(super) fn between(channel: Channel, penalty: Counted, from: f64, to: f64) -> f64 {
    let Channel { missed, signals, precision } = channel;
    match penalty {
        Counted::Freshness => {
            let weight = channel.weight();
            let speed = missed + signals * weight;
            let over = 0.5 * signals * weight * (weight / speed);
            if to < SMALL {
                let near = |z: f64| z * (z * (0.5 - z / 3.0) + over);
                return (near(to) - near(from)) / speed;
            }
            let rest = |z: f64| if z < 700.0 { (-z).exp() * (z + 1.0 + over) } else { 0.0 };
            (rest(from) - rest(to)) / speed
        }
        Counted::Harmonic => {
            let changes = channel.changes();
            let over = 0.5 * signals * precision * (precision / changes);
            let fallen = (-from).exp() * -(from - to).exp_m1();
            let line = if to < SMALL { short(to) - short(from) } else { (to - from) - fallen };
            (line + over * fallen) / changes
        }
    }
}

/// `x − 1 + e^(−x)` for a small `x`.
fn short(x: f64) -> f64 {
    0.5 * x * x * (1.0 - x / 3.0)
}

/// Freshness: the closed terms of the first signals, and the line.
pub(super) fn freshness(channel: Channel, days: f64, signals: f64) -> f64 {
    let changes = channel.changes();
    if changes == 0.0 {
        return 0.0;
    }
    let place = exponent(channel, days, signals);
    if place > 700.0 {
        return 1.0 / changes;
    }
    if channel.signals == 0.0 {
        return stage(channel, 0, place);
    }
    let weight = channel.weight();
    let followed = place.min(f64::from(FOLLOWED) * weight);
    let mut sum = 0.0;
    let mut told = 0.0;
    for i in 0..FOLLOWED {
        if told >= followed {
            break;
        }
        sum += (-told).exp() * stage(channel, i, followed - told);
        told += weight;
    }
    if place > followed {
        sum += between(channel, Counted::Freshness, followed, place);
    }
    sum.min(1.0 / changes)
}

/// `∫₀^t (1/γ)P(i+1, γs) α e^(−αs) ds` for `t = place/α`, infinite for a source with no missed changes.
fn stage(channel: Channel, i: u32, place: f64) -> f64 {
    let Channel { missed, signals, .. } = channel;
    if missed == 0.0 {
        return -(-place).exp_m1() / signals;
    }
    let days = place / missed;
    let (x, both) = (signals * days, (signals + missed) * days);
    if i == 0 {
        return place * days * first(place, both);
    }
    let count = f64::from(i) + 1.0;
    if place < SMALL {
        let (came, after) = erlang(i, x);
        return missed * (days * came - after * count / signals).max(0.0) / signals;
    }
    let share = (signals / (signals + missed)).powi(i as i32 + 1);
    (share * erlang(i, both).0 - (-place).exp() * erlang(i, x).0).max(0.0) / signals
}

/// `exp[0, −x, −y]` for `0 ≤ x ≤ y`.
fn first(x: f64, y: f64) -> f64 {
    if y <= NEAR {
        near_two(-x, -y)
    } else if y - x < 1e-5 {
        let middle = 0.5 * (x + y);
        -((-middle).exp() + (-middle).exp_m1() / middle) / middle
    } else {
        (ratio(-x) - ratio(-y)) / (y - x)
    }
}

/// `P(i+1, x)` and `P(i+2, x)`, the chances that so many signals came.
fn erlang(i: u32, x: f64) -> (f64, f64) {
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

/// Harmonic: the first signal as it is, and the line.
pub(super) fn harmonic(channel: Channel, days: f64, signals: f64) -> f64 {
    let changes = channel.changes();
    if changes == 0.0 {
        return 0.0;
    }
    let place = place(channel, days, signals);
    if place == f64::INFINITY {
        return place;
    }
    let jump = first_jump(channel.precision);
    if channel.signals == 0.0 || place <= jump {
        return alone(channel, place);
    }
    alone(channel, jump) + between(channel, Counted::Harmonic, jump, place)
}

/// The place of a state: `x` with `Ein(x) = E[H(N)]`, by one step of third order from the `x` that is
/// right for a small precision. Within 1e-3.
fn place(channel: Channel, days: f64, signals: f64) -> f64 {
    let missed = exponent(channel, days, 0.0);
    if signals == 0.0 || channel.precision == 0.0 || missed == f64::INFINITY {
        return missed;
    }
    let told = channel.precision * signals;
    let mean = missed + told;
    // 1 − m/(e^m − 1), from 0 to 1.
    let bent = if mean < SMALL { 0.5 * mean } else { 1.0 - mean / mean.exp_m1() };
    let start = mean + 0.5 * channel.precision * (told / mean) * bent;
    // k − Ein(start) = ∫₀¹ (e^(−start·v) − g(v))/v dv, nothing past a few 1/m.
    let half = 0.5 * (16.0 / mean).min(1.0);
    let short: f64 = NODES
        .iter()
        .map(|&(node, weight)| {
            let at = |node: f64| {
                let v = half + half * node;
                let g = (signals * (-channel.precision * v).ln_1p() - missed * v).exp();
                ((-start * v).exp() - g) / v
            };
            weight * (at(node) + at(-node))
        })
        .sum::<f64>()
        * half;
    let slope = ratio(-start);
    let step = short / slope;
    // −k″/k′ of Ein.
    let bend = if start < SMALL { 0.5 } else { (slope - (-start).exp()) / (start * slope) };
    start + step * (1.0 + 0.5 * bend * step)
}

/// The place of one signal at once, `x` with `Ein(x) = π`: the power series of the inverse, to 1e-4.
fn first_jump(precision: f64) -> f64 {
    let p = precision;
    let start = p * (1.0 + p * (0.25 + p * (5.0 / 72.0 + p * 0.0174)));
    start + (p - ein(start)) / ratio(-start)
}

/// `∫₀^x (1/γ)(1 − e^(−γz/α))(1 − e^(−z))/z dz`: the value while one signal is enough,
/// `(Ein(x) + Ein(gx) − Ein((1+g)x))/γ` with `g = γ/α`.
fn alone(channel: Channel, x: f64) -> f64 {
    let Channel { missed, signals, .. } = channel;
    if missed == 0.0 {
        return ein(x) / signals;
    }
    if signals == 0.0 {
        return if x < SMALL { short(x) } else { x + (-x).exp_m1() } / missed;
    }
    let g = signals / missed;
    if x <= 8.0 && g * x <= 8.0 {
        return panel(0.0, x, |z| z / missed * ratio(-g * z) * ratio(-z));
    }
    let less = if g * x > 40.0 {
        (1.0 / g).ln_1p()
    } else if g >= 1.0 {
        panel(g * x, (1.0 + g) * x, |z| ratio(-z))
    } else {
        ein((1.0 + g) * x) - ein(g * x)
    };
    let all = if x > 40.0 { x.ln() + EULER } else { ein(x) };
    (all - less).max(0.0) / signals
}
