//! The index as its sum over the signals that come before the expected penalty is reached again.
//!
//! After `i` signals the penalty of a state `s` is reached at the time `tᵢ`, `k(tᵢ, i) = k(s)`, which
//! falls as `i` rises. Until then the state is `(t, i)` with the Poisson chance of `i` at mean `γt`, so
//!
//! ```text
//! V(s) = Σᵢ ∫₀^tᵢ Poisson(i; γt)(k(s) − k(t, i)) dt = Σᵢ ∫₀^tᵢ (1/γ)P(i+1, γt) ∂k/∂t(t, i) dt
//! ```
//!
//! with `P` the regularised incomplete gamma function. The second form (by parts) has nothing that
//! cancels. For freshness each integral has the closed form of `docs/theory.md`, which does cancel.

use statrs::function::gamma::gamma_lr;

use super::pending::{cost, ein, exponent, growth};
use super::{Channel, Counted, quick};
use crate::difference::ratio;
use crate::quadrature::panel;

/// Past so many signals the sum gives way to its asymptote.
const TERMS: u32 = 1000;
/// Standard deviations of a Poisson number past which its distribution is 0 or 1, and what is added
/// for the skew of a small one.
const FAR: f64 = 9.0;
const FURTHER: f64 = 40.0;

impl Channel {
    /// Signals that [`value`](Self::value) follows one by one.
    pub const TERMS: u32 = TERMS;
}

pub(super) fn value(channel: Channel, penalty: Counted, days: f64, signals: f64) -> f64 {
    if channel.changes() == 0.0 {
        return 0.0;
    }
    if days == f64::INFINITY && channel.missed > 0.0 {
        return match penalty {
            Counted::Freshness => 1.0 / channel.changes(),
            Counted::Harmonic => f64::INFINITY,
        };
    }
    let level = Level::of(channel, penalty, days, signals);
    let last = Level::of(channel, penalty, 0.0, f64::from(TERMS));
    if level.cost <= last.cost {
        return sum(channel, penalty, level);
    }
    sum(channel, penalty, last) + quick::between(channel, penalty, last.place, level.place)
}

/// An expected penalty, and where it is reached without signals: `α` times the days.
#[derive(Clone, Copy)]
struct Level {
    cost: f64,
    place: f64,
}

impl Level {
    fn of(channel: Channel, penalty: Counted, days: f64, signals: f64) -> Self {
        let cost = cost(channel, penalty, days, signals);
        let place = match penalty {
            Counted::Freshness => exponent(channel, days, signals),
            Counted::Harmonic => ein_inverse(cost),
        };
        Self { cost, place }
    }
}

fn sum(channel: Channel, penalty: Counted, level: Level) -> f64 {
    let mut sum = 0.0;
    for i in 0..=TERMS {
        let signals = f64::from(i);
        let Some(end) = reached(channel, penalty, level, signals) else { break };
        let term = term(channel, penalty, level, i, end);
        sum += term;
        if channel.signals == 0.0 || end == 0.0 || i > 8 && term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// The days after which the level is reached with so many signals, infinite if never; nothing if
/// they are enough at once.
fn reached(channel: Channel, penalty: Counted, level: Level, signals: f64) -> Option<f64> {
    let missed = channel.missed;
    if penalty == Counted::Freshness {
        let told = exponent(channel, 0.0, signals);
        if told >= level.place {
            return None;
        }
        return Some(if missed > 0.0 { (level.place - told) / missed } else { f64::INFINITY });
    }
    if signals == 0.0 {
        let days = level.place / missed;
        return (level.place > 0.0).then_some(days);
    }
    if cost(channel, penalty, 0.0, signals) >= level.cost {
        return None;
    }
    if missed == 0.0 {
        return Some(f64::INFINITY);
    }
    // The penalty is concave in time: from the left every step of Newton's stays there.
    let mut days = 0.0;
    for _ in 0..60 {
        let short = level.cost - cost(channel, penalty, days, signals);
        let step = short / growth(channel, penalty, days, signals);
        if step.is_nan() || step <= 1e-14 * days {
            break;
        }
        days += step;
    }
    Some(days)
}

/// `∫₀^end (1/γ)P(i+1, γt) ∂k/∂t(t, i) dt`.
fn term(channel: Channel, penalty: Counted, level: Level, i: u32, end: f64) -> f64 {
    let (rate, count) = (channel.signals, f64::from(i) + 1.0);
    let spread = count.sqrt();
    let wait = |days: f64| {
        let x = rate * days;
        if i == 0 {
            days * ratio(-x)
        } else if x > 0.0 {
            gamma_lr(count, x) / rate
        } else {
            0.0
        }
    };
    let signals = f64::from(i);
    let from = ((count - FAR * spread) / rate).max(0.0);
    let to = (count + FAR * spread + FURTHER) / rate;
    let (start, stop) = (if i == 0 { 0.0 } else { from }, to.min(end));
    let (mut at, mut sum) = (start, 0.0);
    // Panels no longer than the two scales on which the factors vary; the penalty grows ever slower.
    let (turn, scale) = (4.0 * spread / rate, 4.0 / channel.missed);
    while at < stop && channel.missed > 0.0 {
        let next = (at + turn.min(scale.max(0.5 * at))).min(stop);
        sum += panel(at, next, |t| wait(t) * growth(channel, penalty, t, signals));
        at = next;
    }
    if to < end {
        // All i + 1 signals have come, so the wait is over, and the rest is the rest of the penalty.
        sum += (level.cost - cost(channel, penalty, to, signals)).max(0.0) / rate;
    }
    sum
}

/// The `x` with `Ein(x) = cost`.
fn ein_inverse(cost: f64) -> f64 {
    if cost == 0.0 || cost.is_infinite() {
        return cost;
    }
    // From the left, as above; e^(cost − γ) is on the right where it is close.
    let mut x = if cost > 4.0 { (cost - super::pending::EULER).exp() } else { cost };
    for _ in 0..60 {
        let step = (cost - ein(x)) / ratio(-x);
        x += step;
        if step.abs() <= 1e-15 * x {
            break;
        }
    }
    x
}
