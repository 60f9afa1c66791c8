//! The index as a sum over the signals that arrive before the expected penalty is reached again.
//!
//! After `i` signals the penalty of a state `s` is reached at the time `tᵢ`, `k(tᵢ, i) = k(s)`,
//! which falls as `i` rises. Until then the state is `(t, i)` with the Poisson probability of `i`
//! at mean `γt`, so
//!
//! ```text
//! V(s) = Σᵢ ∫₀^tᵢ Poisson(i; γt)(k(s) − k(t, i)) dt = Σᵢ ∫₀^tᵢ (1/γ)P(i+1, γt) ∂k/∂t(t, i) dt
//! ```
//!
//! with `P` the regularised incomplete gamma function. The second form (by parts) has no
//! cancellation. For freshness each integral has the closed form of `docs/theory.md`, which does
//! cancel.

use statrs::function::gamma::gamma_lr;

use super::pending_changes::{ein, expected_penalty, exponent, penalty_growth};
use super::{ChangeCountPenalty, SignalChannel, approximate};
use crate::divided_difference::first_difference;
use crate::quadrature::panel;

/// Beyond this many signals the sum is replaced by its asymptote.
const TERMS: u32 = 1000;
/// Standard deviations of a Poisson number beyond which its distribution is 0 or 1, and an offset
/// for the skew at small means.
const POISSON_CUTOFF_STD_DEVS: f64 = 9.0;
const POISSON_CUTOFF_OFFSET: f64 = 40.0;

impl SignalChannel {
    /// Number of signals that [`fetch_value`](Self::fetch_value) sums one by one.
    pub const TERMS: u32 = TERMS;
}

pub(super) fn value(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    days: f64,
    signals: f64,
) -> f64 {
    if channel.change_rate() == 0.0 {
        return 0.0;
    }
    if days == f64::INFINITY && channel.unsignalled_rate > 0.0 {
        return match penalty {
            ChangeCountPenalty::Freshness => 1.0 / channel.change_rate(),
            ChangeCountPenalty::Harmonic => f64::INFINITY,
        };
    }
    let level = PenaltyLevel::new(channel, penalty, days, signals);
    let last = PenaltyLevel::new(channel, penalty, 0.0, f64::from(TERMS));
    if level.cost <= last.cost {
        return sum_over_signals(channel, penalty, level);
    }
    sum_over_signals(channel, penalty, last)
        + approximate::value_between(channel, penalty, last.level, level.level)
}

/// Expected penalty, and the level: `α` times the days in which it is reached without signals.
#[derive(Clone, Copy)]
struct PenaltyLevel {
    cost: f64,
    level: f64,
}

impl PenaltyLevel {
    fn new(channel: SignalChannel, penalty: ChangeCountPenalty, days: f64, signals: f64) -> Self {
        let cost = expected_penalty(channel, penalty, days, signals);
        let level = match penalty {
            ChangeCountPenalty::Freshness => exponent(channel, days, signals),
            ChangeCountPenalty::Harmonic => ein_inverse(cost),
        };
        Self { cost, level }
    }
}

fn sum_over_signals(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    level: PenaltyLevel,
) -> f64 {
    let mut sum = 0.0;
    for i in 0..=TERMS {
        let signals = f64::from(i);
        let Some(end) = days_to_level(channel, penalty, level, signals) else { break };
        let term = signal_term(channel, penalty, level, i, end);
        sum += term;
        if channel.signal_rate == 0.0 || end == 0.0 || i > 8 && term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// Returns the days after which the penalty is reached with this many signals, infinite if never;
/// `None` if the signals alone reach it.
fn days_to_level(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    level: PenaltyLevel,
    signals: f64,
) -> Option<f64> {
    let unsignalled = channel.unsignalled_rate;
    if penalty == ChangeCountPenalty::Freshness {
        let signalled = exponent(channel, 0.0, signals);
        if signalled >= level.level {
            return None;
        }
        return Some(if unsignalled > 0.0 {
            (level.level - signalled) / unsignalled
        } else {
            f64::INFINITY
        });
    }
    if signals == 0.0 {
        let days = level.level / unsignalled;
        return (level.level > 0.0).then_some(days);
    }
    if expected_penalty(channel, penalty, 0.0, signals) >= level.cost {
        return None;
    }
    if unsignalled == 0.0 {
        return Some(f64::INFINITY);
    }
    // The penalty is concave in time, so Newton's method from the left stays on the left.
    let mut days = 0.0;
    for _ in 0..60 {
        let short = level.cost - expected_penalty(channel, penalty, days, signals);
        let step = short / penalty_growth(channel, penalty, days, signals);
        if step.is_nan() || step <= 1e-14 * days {
            break;
        }
        days += step;
    }
    Some(days)
}

/// `∫₀^end (1/γ)P(i+1, γt) ∂k/∂t(t, i) dt`.
fn signal_term(
    channel: SignalChannel,
    penalty: ChangeCountPenalty,
    level: PenaltyLevel,
    i: u32,
    end: f64,
) -> f64 {
    let (rate, count) = (channel.signal_rate, f64::from(i) + 1.0);
    let spread = count.sqrt();
    let wait = |days: f64| {
        let x = rate * days;
        if i == 0 {
            days * first_difference(-x)
        } else if x > 0.0 {
            gamma_lr(count, x) / rate
        } else {
            0.0
        }
    };
    let signals = f64::from(i);
    let from = ((count - POISSON_CUTOFF_STD_DEVS * spread) / rate).max(0.0);
    let to = (count + POISSON_CUTOFF_STD_DEVS * spread + POISSON_CUTOFF_OFFSET) / rate;
    let (start, stop) = (if i == 0 { 0.0 } else { from }, to.min(end));
    let (mut at, mut sum) = (start, 0.0);
    // Panels are no longer than the two scales on which the factors vary; the penalty grows ever
    // slower.
    let (turn, scale) = (4.0 * spread / rate, 4.0 / channel.unsignalled_rate);
    while at < stop && channel.unsignalled_rate > 0.0 {
        let next = (at + turn.min(scale.max(0.5 * at))).min(stop);
        sum += panel(at, next, |t| wait(t) * penalty_growth(channel, penalty, t, signals));
        at = next;
    }
    if to < end {
        // All i + 1 signals have arrived, so only the rest of the penalty remains.
        sum += (level.cost - expected_penalty(channel, penalty, to, signals)).max(0.0) / rate;
    }
    sum
}

/// Returns the `x` with `Ein(x) = cost`.
fn ein_inverse(cost: f64) -> f64 {
    if cost == 0.0 || cost.is_infinite() {
        return cost;
    }
    // Newton's method from the left, as above; e^(cost − γ) is on the right only where it is close.
    let mut x = if cost > 4.0 { (cost - super::pending_changes::EULER).exp() } else { cost };
    for _ in 0..60 {
        let step = (cost - ein(x)) / first_difference(-x);
        x += step;
        if step.abs() <= 1e-15 * x {
            break;
        }
    }
    x
}
