//! A fixed number of fetchers: the M/M/1/K queue.
//!
//! With the load ρ = nλ/μ and x = ln ρ, let E(x) be the mean queue. Both terms of the cost have simple
//! slopes: P₀′ = −E P₀ and (ρP_K)′ = (K+1−E) ρP_K. So the cost is least where
//!
//! ```text
//! (K+1) x + ln((K+1−E)/E) = ln(γ/μ)
//! ```
//!
//! The left side rises: its slope is (K+1)(1 − V/(E(K+1−E))), and the variance V of a number between 0
//! and K is at most E(K−E). So there is one minimum, and bisection finds it for any K. The powers of ρ
//! in (1.4) and (1.7) never appear.

use crate::{CrewError, Setting};

/// Largest exact whole number.
const COUNTABLE: f64 = 9_007_199_254_740_992.0;
/// Number of bisection steps that is enough for every bracket.
const HALVINGS: usize = 200;

/// Measures of a fixed number of fetchers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// Number of fetchers n, always active.
    pub fetchers: u64,
    /// ρ = nλ/μ.
    pub load: f64,
    /// γ × starvation + loss rate.
    pub cost: f64,
    /// Share of time in which the queue is empty.
    pub starvation: f64,
    /// Pages lost per unit of time.
    pub loss_rate: f64,
}

/// Evaluates n fetchers: (1.4), C = (1−ρ)(γ + μρ^(K+1))/(1−ρ^(K+1)).
#[must_use]
pub fn fixed(setting: &Setting, fetchers: u64) -> Fixed {
    let (fetch, process) = (setting.fetch_rate(), setting.process_rate());
    let n = fetchers as f64;
    let load = n * fetch / process;
    // Near 1, the distance of the load from 1 is more accurate, because a large buffer raises the load to a high power.
    let log = match load {
        0.5..=2.0 => (n.mul_add(fetch, -process) / process).ln_1p(),
        _ => load.ln(),
    };
    let starvation = if fetchers == 0 { 1.0 } else { empty(log, setting.buffer()) };
    let full = if fetchers == 0 { 0.0 } else { empty(-log, setting.buffer()) };
    let loss_rate = load * full * process;
    let cost = setting.starvation_weight() * starvation + loss_rate;
    Fixed { fetchers, load, cost, starvation, loss_rate }
}

/// Returns the number of fetchers with the lowest cost (Proposition 1), from 1 to the available number.
pub fn best_fixed(setting: &Setting, available: Option<u32>) -> Result<Fixed, CrewError> {
    if available == Some(0) {
        return Err(CrewError::NoFetchers);
    }
    let wanted = best_load(setting) / setting.fetched();
    let most = available.map_or(COUNTABLE, f64::from);
    if wanted > COUNTABLE && available.is_none() {
        return Err(CrewError::Uncountable { fetchers: wanted });
    }
    let whole = |number: f64| fixed(setting, number.clamp(1.0, most) as u64);
    let (less, more) = (whole(wanted.floor()), whole(wanted.ceil()));
    Ok(if more.cost < less.cost { more } else { less })
}

/// Returns ρ(γ, K), the load with the lowest cost if fetchers were divisible (Lemma 1); 0 if γ = 0.
#[must_use]
pub fn best_load(setting: &Setting) -> f64 {
    let goal = setting.weight().ln();
    if goal == f64::NEG_INFINITY {
        return 0.0;
    }
    let buffer = setting.buffer();
    let room = f64::from(buffer) + 1.0;
    // K times the root is within these bounds.
    let width = (goal.abs() + 2.0 * room.ln()) / f64::from(buffer) + 1.0;
    let (mut low, mut high) = (-width, width);
    for _ in 0..HALVINGS {
        let x = 0.5 * (low + high);
        let balance = room * x + ((1.0 + mean_queue(-x, buffer)) / mean_queue(x, buffer)).ln();
        if balance < goal {
            low = x;
        } else {
            high = x;
        }
    }
    (0.5 * (low + high)).exp()
}

/// Returns the number of fetchers by the rule for large buffers (1.12): as many as keep the processor busy, rounded up if
/// the loss then costs no more than the starvation with one less; at least one. It holds for a
/// starvation weight above 0; otherwise a single fetcher is best.
#[must_use]
pub fn large_buffer_rule(setting: &Setting) -> u64 {
    let busy = setting.process_rate() / setting.fetch_rate();
    let (less, more) = (busy.floor(), busy.ceil());
    let lost = more / busy - 1.0;
    let starved = setting.weight() * (1.0 - less / busy);
    (if lost <= starved { more } else { less }).max(1.0) as u64
}

/// Returns P₀ = (1−ρ)/(1−ρ^(K+1)) of (1.3); P_K is P₀ at 1/ρ.
fn empty(log: f64, buffer: u32) -> f64 {
    let all = (f64::from(buffer) + 1.0) * log;
    if log == 0.0 {
        1.0 / (f64::from(buffer) + 1.0)
    } else if log < 0.0 {
        log.exp_m1() / all.exp_m1()
    } else {
        log.exp_m1() * (-all).exp() / -(-all).exp_m1()
    }
}

/// Returns the mean queue E(x) = ρ/(1−ρ) − (K+1)ρ^(K+1)/(1−ρ^(K+1)); E(−x) = K − E(x).
fn mean_queue(x: f64, buffer: u32) -> f64 {
    let (whole, room) = (f64::from(buffer), f64::from(buffer) + 1.0);
    if room * x.abs() < 1.0 {
        // The poles at x = 0 cancel, which leaves two Langevin functions.
        let half = 0.5 * x;
        0.5 * (whole + room * langevin(room * half) - langevin(half))
    } else if x > 0.0 {
        whole - mean_queue(-x, buffer)
    } else {
        1.0 / (-x).exp_m1() - room / (-room * x).exp_m1()
    }
}

/// coth z − 1/z for |z| ≤ 1/2.
fn langevin(z: f64) -> f64 {
    // coth z = cosh z / sinh z; both less their first terms, as power series in z².
    let square = z * z;
    let (mut above, mut below, mut term) = (0.0, 1.0, 1.0);
    for k in 1..12 {
        // term is z^(2k)/(2k+1)!; the numerator's terms are 2k times as much.
        let k = f64::from(2 * k);
        term *= square / (k * (k + 1.0));
        above += k * term;
        below += term;
    }
    if z == 0.0 { 0.0 } else { above / (z * below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(buffer: u32, weight: f64) -> Setting {
        Setting::new(0.01, 1.0, buffer, weight).unwrap()
    }

    #[track_caller]
    fn close(own: f64, expect: f64, tolerance: f64) {
        assert!((own - expect).abs() <= tolerance * expect.abs(), "{own}, expected {expect}");
    }

    #[test]
    fn the_cost_is_that_of_the_stationary_distribution() {
        for buffer in [1, 2, 3, 10, 50] {
            for fetchers in [1_u64, 20, 50, 99, 100, 101, 150, 200, 1000, 30_000] {
                let own = fixed(&setting(buffer, 1.7), fetchers);
                let load = fetchers as f64 * 0.01;
                let weights: Vec<f64> = (0..=buffer).map(|queue| load.powi(queue as i32)).collect();
                let all: f64 = weights.iter().sum();
                close(own.starvation, 1.0 / all, 1e-13);
                close(own.loss_rate, load * weights[buffer as usize] / all, 1e-13);
                close(own.cost, 1.7 * own.starvation + own.loss_rate, 1e-15);
            }
        }
    }

    #[test]
    fn the_mean_queue_is_that_of_the_distribution() {
        for buffer in [1_u32, 2, 7, 40] {
            for x in [-30.0, -3.0, -0.5, -0.03, -1e-6, 0.0, 1e-9, 1e-3, 0.02, 0.2, 1.0, 5.0] {
                let weight = |queue: u32| (f64::from(queue) * x).exp();
                let all: f64 = (0..=buffer).map(weight).sum();
                let mean = (0..=buffer).map(|it| f64::from(it) * weight(it)).sum::<f64>() / all;
                close(mean_queue(x, buffer), mean, 1e-12);
            }
        }
    }

    #[test]
    fn a_million_pages_overflow_nothing() {
        for weight in [1e-6, 0.1, 1.0, 1.000_001, 2.0, 1e6] {
            let setting = setting(1_000_000, weight);
            let load = best_load(&setting);
            assert!((load - 1.0).abs() < 1e-4, "{load}");
            for fetchers in [1, 99, 100, 101, 1_000_000] {
                let own = fixed(&setting, fetchers);
                assert!(own.cost.is_finite() && own.cost >= 0.0, "{own:?}");
                // Processed and lost pages add up to fetched pages.
                let flow = 1.0 - own.starvation + own.loss_rate;
                close(flow, fetchers as f64 * 0.01, 1e-9);
            }
            let best = best_fixed(&setting, None).unwrap();
            assert!((99..=101).all(|near| best.cost <= fixed(&setting, near).cost), "{best:?}");
        }
        close(fixed(&setting(1_000_000, 1.0), 100).cost, 2.0 / 1_000_001.0, 1e-12);
        // ρ^(K+1) overflows, and the cost is that of an infinite queue.
        close(fixed(&setting(1_000_000, 1.0), 150).cost, 0.5, 1e-12);
        close(fixed(&setting(1_000_000, 1.0), 50).cost, 0.5, 1e-12);
    }

    #[test]
    fn no_fetcher_starves_and_loses_nothing() {
        let none = fixed(&setting(5, 1.7), 0);
        assert_eq!((none.starvation, none.loss_rate, none.cost), (1.0, 0.0, 1.7));
    }

    #[test]
    fn extremes_have_an_answer_or_a_reason() {
        let best = |fetch, weight, available| {
            let setting = Setting::new(fetch, 1.0, 10, weight).unwrap();
            best_fixed(&setting, available).map(|best| best.fetchers)
        };
        assert_eq!(best(0.05, 0.0, None), Ok(1));
        assert_eq!(best(1e9, 1.0, None), Ok(1));
        assert_eq!(best(0.05, 1.2, Some(7)), Ok(7));
        assert_eq!(best(0.05, 1.2, Some(0)), Err(CrewError::NoFetchers));
        assert!(matches!(best(1e-9, 1.2, None), Ok(999_000_000..=1_001_000_000)));
        assert!(matches!(best(1e-17, 1.2, None), Err(CrewError::Uncountable { .. })));
        assert_eq!(best(1e-17, 1.2, Some(5)), Ok(5));
    }
}
