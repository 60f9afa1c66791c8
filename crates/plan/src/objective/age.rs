//! Age: the time since the first missed change. `k(t) = t − (1 − e^(−ct))/c`.

use super::step::{SMOOTH_FROM, slots_waited, unfetched, waiting_for};
use super::{Definition, Measure, MeasureForm};
use crate::exponential::{Exp, cube_root_start, polynomial};
use crate::options::{Observed, Rule, Timing};
use crate::response::{Blocks, Demand, Power, Response, Worth};
use crate::root::{Root, RootResult, by_root, finish};
use crate::series;

pub(crate) struct Age;

impl Definition for Age {
    const NAME: &'static str = "age";
    const POWER: Power = Power::Two;
    const MEASURES: &'static [Measure] =
        &[Measure { key: "age", label: "age", unit: "days", form: MeasureForm::Mean }];

    fn polled(timing: Timing) -> &'static dyn Blocks {
        match timing {
            Timing::Periodic => &Periodic,
            Timing::Poisson => &Poisson,
            Timing::Slots => &Slots,
        }
    }

    fn observed(observed: Observed, timing: Timing) -> &'static dyn Blocks {
        match (observed, timing) {
            (Observed::Threshold, Timing::Slots) => &SlotWait,
            (Observed::Threshold, _) => &Wait,
            (Observed::Random, Timing::Slots) => &Random::<true>,
            (Observed::Random, _) => &Random::<false>,
        }
    }

    const THRESHOLD: Rule = Rule::Wait;

    fn observed_cost(rule: Rule, timing: Timing, s: f64, c: f64) -> f64 {
        let slots = timing == Timing::Slots;
        match rule {
            Rule::Wait if slots => SlotWait::cost(s, c),
            Rule::Wait => Wait::cost(s, c),
            // In slots, the fetch is in the slot of the change, which saves 1 − s slots.
            Rule::Count if slots => counting(s, c) - (1.0 - s).max(0.0),
            Rule::Count => counting(s, c),
            Rule::Chance if slots => Random::<true>::cost(s, c),
            Rule::Chance => Random::<false>::cost(s, c),
        }
    }

    fn random_order(x: f64, c: f64) -> f64 {
        let scale_free = if x < 1.0 {
            series::random_order(x, 2, |_| 1.0)
        } else if x.is_finite() {
            let mean = Exp::exp_neg(x).complement() / (x * x);
            x * (1.0 / 3.0 + (0.5 - 1.0 / x) * (0.5 - 1.0 / x) - mean * mean)
        } else {
            f64::INFINITY
        };
        scale_free / c
    }
}

/// Worth `x²/2 − 1 + e^(−x)(1 + x)` with `x = cτ`.
struct Periodic;

impl Root for Periodic {
    #[inline(always)]
    fn start(y: f64) -> f64 {
        // x = q·√R(q) with q = ∛(3y): x → q for small y, √(2y) for large; 2e-4 off at most.
        let q = cube_root_start(3.0 * y);
        let near = if q < 1e30 { q } else { 1e30 };
        let top = 0.031_185_151_288_433_7;
        let numerator = polynomial(
            near,
            &[
                1.0,
                0.492_423_248_078_977,
                0.186_930_422_229_88,
                0.044_250_179_838_343_4,
                top * (2.0 / 3.0),
            ],
        );
        let denominator =
            polynomial(near, &[1.0, 0.246_170_716_165_627, 0.067_347_381_551_113_3, top]);
        // Beyond the clamp the ratio continues proportionally.
        let over = if q < 1e30 { 1.0 } else { q * 1e-30 };
        q * (numerator * over / denominator).sqrt()
    }

    #[inline(always)]
    fn residual(start: f64, y: f64) -> (f64, f64) {
        let e = Exp::exp_neg(start);
        (e.age_value() - y, e.complement())
    }

    #[inline(always)]
    fn finish(start: f64, (residual, rise): (f64, f64), y: f64) -> RootResult {
        let decay = 1.0 - rise;
        let second = start.mul_add(decay, rise);
        let derivatives = [start * rise, second, (2.0 - start) * decay, (start - 3.0) * decay];
        finish(start, residual, y, derivatives)
    }
}

impl Response for Periodic {
    by_root!();

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(Exp::exp_neg(1.0 / s).age_value())
    }

    fn cost(s: f64, c: f64) -> f64 {
        let x = 1.0 / s;
        if x < 1e100 { Exp::exp_neg(x).age_sum() / (x * c) } else { x / (2.0 * c) }
    }
}

/// Worth `(1 + 2s)/(s(1 + s))²`.
struct Poisson;

impl Root for Poisson {
    #[inline(always)]
    fn start(y: f64) -> f64 {
        // s² = b³/2·R(b) with b = ∛(2/y): s → b for small y, 1/√y for large; 2e-4 off at most.
        let b = cube_root_start(2.0 / y);
        let near = if b < 1e30 { b } else { 1e30 };
        let top = 1.934_970_041_149_351;
        let numerator = polynomial(near, &[1.0, 1.638_124_761_921_233, top]);
        let denominator =
            polynomial(near, &[1.0, 1.651_106_360_054_27, 1.795_993_473_033_457, top * 0.5]);
        b * (0.5 * near * numerator / denominator).sqrt()
    }

    #[inline(always)]
    fn residual(start: f64, y: f64) -> (f64, f64) {
        (poisson_newton(start, y), 0.0)
    }

    #[inline(always)]
    fn finish(_start: f64, (near, _): (f64, f64), y: f64) -> RootResult {
        let s = poisson_newton(near, y);
        let off = (poisson_worth(s) - y).abs() / y;
        RootResult { demand: Demand { fetches: s, slope: poisson_slope(s) }, off }
    }
}

impl Response for Poisson {
    by_root!();

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(poisson_worth(s))
    }

    fn cost(s: f64, c: f64) -> f64 {
        1.0 / (s * (1.0 + s) * c)
    }
}

/// One step of Newton's method for `s(1 + s) = (1 + 2s)/(y·s(1 + s))`.
#[inline(always)]
fn poisson_newton(s: f64, y: f64) -> f64 {
    let (product, two) = (s * (1.0 + s), 1.0 + 2.0 * s);
    let other = two / (y * product);
    s - (product - other) / (two + other * (two / product - 2.0 / two))
}

#[inline(always)]
fn poisson_worth(s: f64) -> f64 {
    let product = s * (1.0 + s);
    (1.0 + 2.0 * s) / product / product
}

#[inline(always)]
fn poisson_slope(s: f64) -> f64 {
    0.5 / (1.0 / (1.0 + 2.0 * s) - 1.0 / s - 1.0 / (1.0 + s))
}

/// Age in discrete time: `(1 − F)(1 − p)/p` slots, with `F` Azar's freshness and `p = cs` the
/// probability of a fetch.
struct Slots;

impl Slots {
    fn worth_at(s: f64, c: f64) -> f64 {
        let growth = s * (1.0 + (1.0 - c) * s);
        (1.0 - c * s).max(0.0) * (1.0 + (2.0 - c) * s) / growth / growth
    }
}

impl Response for Slots {
    const SCALE_FREE: bool = false;

    #[inline(always)]
    fn demand(y: f64, c: f64) -> Demand {
        // The worth falls from infinity at 0 to zero at p = 1. Newton's steps on its logarithm,
        // kept within shrinking bounds.
        let (mut low, mut high) = (0.0_f64, 1.0 / c);
        let mut s = Poisson::demand(y, c).fetches.min(0.5 * high);
        let mut log_slope = -1.0;
        for _ in 0..100 {
            let worth = Self::worth_at(s, c);
            if worth > y {
                low = s
            } else {
                high = s
            }
            let a = 1.0 - c;
            log_slope = (2.0 - c) / (1.0 + (2.0 - c) * s)
                - c / (1.0 - c * s)
                - 2.0 / s
                - 2.0 * a / (1.0 + a * s);
            let next = s - (worth / y).ln() / log_slope;
            if (next - s).abs() <= 4e-16 * s {
                break;
            }
            s = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        Demand { fetches: s, slope: 1.0 / log_slope }
    }

    #[inline(always)]
    fn worth(s: f64, c: f64) -> Worth {
        // Close to 1, the worth has only as many digits as 1 minus the probability.
        let slack = 4.0 * f64::EPSILON;
        let (more, less) = (s * (1.0 + slack), s * (1.0 - slack));
        Worth { next: Self::worth_at(more, c), last: Self::worth_at(less, c) }
    }

    fn cost(s: f64, c: f64) -> f64 {
        let unfetched = unfetched(s * c);
        unfetched * unfetched / ((s + unfetched) * c * s)
    }
}

/// Observed changes, fetched a time `T` after the first pending one: a cycle of `1/c + T` days
/// with a total age of `T²/2`. This is optimal: a fetch saves
/// the present age, so there is an age at which to fetch. With `x = 1/s = 1 + cT` the
/// age is `(x − 1)²/2cx` and the worth `(x² − 1)/2`.
struct Wait;

impl Response for Wait {
    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        let s = 1.0 / 2.0_f64.mul_add(y, 1.0).sqrt();
        Demand { fetches: s, slope: -y * s * s * s }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        // (1 − s)(1 + s) keeps the digits of a short wait; the shortest waits have none left.
        let at = |s: f64| ((1.0 - s) * (1.0 + s)).max(0.0) / (2.0 * s * s);
        let slack = 4.0 * f64::EPSILON;
        Worth { next: at(s * (1.0 + slack)), last: at(s * (1.0 - slack)) }
    }

    fn cost(s: f64, c: f64) -> f64 {
        let wait = (1.0 - s).max(0.0);
        wait * wait / (2.0 * s * c)
    }

    fn max_fetches(_c: f64) -> f64 {
        1.0
    }
}

/// As [`Wait`], in slots: `t` whole slots after the first pending change, or a mix of `t` and `t + 1`.
/// The total age is `t(t − 1)/2` over a cycle of `1/c + t` slots.
struct SlotWait;

impl SlotWait {
    /// Returns the scale-free price up to which waiting `t` slots is better than `t + 1`.
    fn price(t: f64, c: f64) -> f64 {
        0.5 * c * c * t * (t + 1.0) + c * t
    }

    /// Returns the slots to wait at a price.
    fn slots(y: f64, c: f64) -> f64 {
        let half = 1.0 + 0.5 * c;
        // Solves price(t) = y, without cancellation for small `y`.
        let root = 2.0 * y / (c * (half + (half * half + 2.0 * y).sqrt()));
        if root >= SMOOTH_FROM {
            return root;
        }
        let mut t = root.ceil();
        if Self::price(t, c) < y {
            t += 1.0;
        }
        if t > 0.0 && Self::price(t - 1.0, c) >= y {
            t -= 1.0;
        }
        t
    }
}

impl Response for SlotWait {
    const SCALE_FREE: bool = false;
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, c: f64) -> Demand {
        Demand { fetches: 1.0 / c.mul_add(Self::slots(y, c), 1.0), slope: 0.0 }
    }

    #[inline(always)]
    fn worth(s: f64, c: f64) -> Worth {
        // As accurate as the rate determines the wait.
        let slack = 4.0 * f64::EPSILON;
        let (shorter, whole) = slots_waited(s * (1.0 + slack), c);
        let (longer, _) = slots_waited(s * (1.0 - slack), c);
        let next = if whole && shorter > 0.0 { shorter - 1.0 } else { shorter };
        Worth { next: Self::price(next, c), last: Self::price(longer, c) }
    }

    fn cost(s: f64, c: f64) -> f64 {
        if s == 0.0 {
            return f64::INFINITY;
        }
        let (t, whole) = slots_waited(s, c);
        let mean = if whole { t } else { (1.0 / s - 1.0) / c };
        // A mix of cycles of `t` and `t + 1` with the given mean wait.
        let short = t + 1.0 - mean;
        0.5 * t * (t + 1.0 - 2.0 * short) / (1.0 / c + mean)
    }

    /// Returns a wait of one slot costs nothing yet.
    fn max_fetches(c: f64) -> f64 {
        1.0 / (1.0 + c)
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, c: f64) -> bool {
        Self::slots(low, c) == Self::slots(high, c)
    }

    fn trend(y: f64) -> f64 {
        Wait::demand(y, 1.0).slope
    }
}

/// Age of observed changes that are fetched when the k-th is pending: `(k − 1)/2c` at `1/k` fetches per
/// change, or a mix of `k` and `k + 1`.
fn counting(s: f64, c: f64) -> f64 {
    if s >= 1.0 {
        return 0.0;
    }
    if s == 0.0 {
        return f64::INFINITY;
    }
    let (k, on_it) = waiting_for(s);
    let waiting = if on_it { 0.5 * (k - 1.0) } else { k - 0.5 * k * (k + 1.0) * s };
    waiting / c
}

/// Observed changes, each fetched with probability `s`: age `(1/s − 1)/c`.
struct Random<const SLOTS: bool>;

impl<const SLOTS: bool> Response for Random<SLOTS> {
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, c: f64) -> Demand {
        let level = if SLOTS { y + c } else { y };
        if level > 1.0 {
            let s = 1.0 / level.sqrt();
            Demand { fetches: s, slope: -0.5 * s * y / level }
        } else {
            Demand { fetches: 1.0, slope: 0.0 }
        }
    }

    #[inline(always)]
    fn worth(s: f64, c: f64) -> Worth {
        let shift = if SLOTS { c } else { 0.0 };
        let last = if s > 1.0 { 0.0 } else { 1.0 / s / s - shift };
        Worth { next: if s >= 1.0 { 0.0 } else { last }, last }
    }

    fn cost(s: f64, c: f64) -> f64 {
        let fetched = if SLOTS { 1.0 - s * c } else { 1.0 };
        (1.0 - s).max(0.0) * fetched / (s * c)
    }

    fn max_fetches(_c: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, c: f64) -> bool {
        let shift = if SLOTS { c } else { 0.0 };
        low + shift > 1.0 || high + shift < 1.0
    }
}
