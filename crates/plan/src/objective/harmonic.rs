//! Harmonic: the n-th missed change costs `1/n`. `k(t) = E[H(N)] = Ein(ct)`.

use super::step::{SMOOTH_FROM, slots_waited, unfetched, waiting_for};
use super::{Definition, Measure, MeasureForm};
use crate::exponential::{Exp, polynomial};
use crate::options::{Observed, Rule, Timing};
use crate::response::{Blocks, Demand, Power, Response, Worth};
use crate::root::{Root, RootResult, by_root, finish};
use crate::series;

pub(crate) struct Harmonic;

impl Definition for Harmonic {
    const NAME: &'static str = "harmonic";
    const POWER: Power = Power::One;
    const MEASURES: &'static [Measure] = &[Measure {
        key: "harmonic_cost",
        label: "harmonic cost",
        unit: "",
        form: MeasureForm::Sum,
    }];

    fn polled(timing: Timing) -> &'static dyn Blocks {
        match timing {
            Timing::Periodic => &Periodic,
            Timing::Poisson => &Poisson,
            Timing::Slots => &Slots,
        }
    }

    fn observed(observed: Observed, _: Timing) -> &'static dyn Blocks {
        match observed {
            Observed::Threshold => &Threshold,
            Observed::Random => &Random,
        }
    }

    const THRESHOLD: Rule = Rule::Count;

    fn observed_cost(rule: Rule, timing: Timing, s: f64, c: f64) -> f64 {
        match rule {
            Rule::Count => Threshold::cost(s, c),
            Rule::Chance => Random::cost(s, c),
            Rule::Wait if timing == Timing::Slots => slot_waiting(s, c),
            Rule::Wait => waiting(s),
        }
    }

    fn random_order(x: f64, _c: f64) -> f64 {
        if x < 1.0 {
            series::random_order(x, 1, |m| 1.0 / f64::from(m))
        } else if x.is_finite() {
            // ∫∫∫ Ein, up to terms that the second difference removes (NOTES §3), over x³ so that
            // nothing overflows.
            let third = |t: f64| {
                let e = (-t).exp();
                let low =
                    0.5 / t - 0.5 / (t * t) + (1.0 / 3.0 - e * (t * t - t + 2.0) / 6.0) / t.powi(3);
                series::ein(t) / 6.0 - 11.0 / 36.0 + low
            };
            8.0 * third(2.0 * x) - 2.0 * third(x)
        } else {
            f64::INFINITY
        }
    }
}

/// Worth `x − 1 + e^(−x)`, the expected stale time, with `x = cτ`.
struct Periodic;

impl Root for Periodic {
    #[inline(always)]
    fn start(y: f64) -> f64 {
        // x = y + z with z = 1 − e^(−x): a rational start for z in u = √(2y), 9e-5 off at most.
        let u = (2.0 * y).sqrt();
        let u = if u < 1e3 { u } else { 1e3 };
        let top = 0.025_568_852_995_681_6;
        let numerator =
            polynomial(u, &[1.0, -0.021_486_928_830_126_3, 0.045_923_816_075_219_7, top]);
        let denominator = polynomial(
            u,
            &[1.0, 0.309_980_557_088_742, 0.133_112_011_712_492, 0.034_848_956_771_178_7, top],
        );
        y + u * numerator / denominator
    }

    #[inline(always)]
    fn residual(start: f64, y: f64) -> (f64, f64) {
        let e = Exp::exp_neg(start);
        (e.stale_time() - y, e.complement())
    }

    #[inline(always)]
    fn finish(start: f64, (residual, rise): (f64, f64), y: f64) -> RootResult {
        let decay = 1.0 - rise;
        finish(start, residual, y, [rise, decay, -decay, decay])
    }
}

impl Response for Periodic {
    by_root!();

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(Exp::exp_neg(1.0 / s).stale_time())
    }

    fn cost(s: f64, _c: f64) -> f64 {
        let x = 1.0 / s;
        if x < 3.0 {
            series::periodic(x, 1, |m| 1.0 / f64::from(m))
        } else {
            series::ein(x) - 1.0 + Exp::exp_neg(x).complement() / x
        }
    }
}

/// Worth `1/(s(1 + s))` (Kolobov et al. 2019, Problem 1).
struct Poisson;

impl Response for Poisson {
    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        let s = 2.0 / (y + y.sqrt() * (y + 4.0).sqrt());
        Demand { fetches: s, slope: -s * (1.0 + s) / (1.0 + 2.0 * s) }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(1.0 / (s * (1.0 + s)))
    }

    fn cost(s: f64, _c: f64) -> f64 {
        (1.0 / s).ln_1p()
    }
}

/// Worth `1/(s(1 + (1 − c)s))`: the number of changes missed is geometric, as in continuous time,
/// so its mean harmonic number is minus the logarithm of Azar's freshness.
struct Slots;

impl Response for Slots {
    const SCALE_FREE: bool = false;

    #[inline(always)]
    fn demand(y: f64, c: f64) -> Demand {
        let a = 1.0 - c;
        let s = 2.0 / (y + y.sqrt() * (y + 4.0 * a).sqrt());
        Demand { fetches: s, slope: -s * (1.0 + a * s) / (1.0 + 2.0 * a * s) }
    }

    #[inline(always)]
    fn worth(s: f64, c: f64) -> Worth {
        Worth::smooth(1.0 / (s * (1.0 + (1.0 - c) * s)))
    }

    fn cost(s: f64, c: f64) -> f64 {
        (unfetched(s * c) / s).ln_1p()
    }
}

/// Observed changes, fetched when the k-th is pending: cost `H(k) − 1` at `1/k` fetches per change.
struct Threshold;

impl Response for Threshold {
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        let (k, slope) = if y < SMOOTH_FROM { (y.ceil().max(1.0), 0.0) } else { (y, -1.0 / y) };
        Demand { fetches: 1.0 / k, slope }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        if s >= 1.0 {
            return Worth { next: 0.0, last: if s > 1.0 { 0.0 } else { 1.0 } };
        }
        let (k, on_it) = waiting_for(s);
        Worth { next: if on_it { k - 1.0 } else { k }, last: k }
    }

    fn cost(s: f64, _c: f64) -> f64 {
        if s >= 1.0 {
            return 0.0;
        }
        if s == 0.0 {
            return f64::INFINITY;
        }
        let (k, on_it) = waiting_for(s);
        series::harmonic_number(k) - if on_it { 1.0 } else { k * s }
    }

    fn max_fetches(_c: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, _c: f64) -> bool {
        low.ceil().max(1.0) == high.ceil().max(1.0) || low >= SMOOTH_FROM
    }

    fn trend(y: f64) -> f64 {
        if y < SMOOTH_FROM { -y / ((y + 0.5) * (y + 0.5)) } else { 0.0 }
    }
}

/// Observed changes, each fetched with chance `s` (Kolobov et al. 2019, Problem 2): cost `−ln s`.
struct Random;

impl Response for Random {
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        let kept = y > 1.0;
        let s = 1.0 / y;
        Demand { fetches: if kept { s } else { 1.0 }, slope: if kept { -s } else { 0.0 } }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        let last = if s > 1.0 { 0.0 } else { 1.0 / s };
        Worth { next: if s >= 1.0 { 0.0 } else { last }, last }
    }

    fn cost(s: f64, _c: f64) -> f64 {
        (1.0 / s).ln().max(0.0)
    }

    fn max_fetches(_c: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, _c: f64) -> bool {
        low > 1.0 || high < 1.0
    }
}

/// Observed changes, fetched a time `T` after the first that is pending. With `X = cT = 1/s − 1` and
/// `E[H(1 + N)] = Ein(u) + (1 − e^(−u))/u` at `u = ct`, the cost is
/// `Ein(X) − (X − 1 + e^(−X))/(1 + X)`.
fn waiting(s: f64) -> f64 {
    let x = ((1.0 - s) / s).max(0.0);
    if x.is_finite() {
        series::ein(x) - Exp::exp_neg(x).stale_time() / (1.0 + x)
    } else {
        f64::INFINITY
    }
}

/// The same in slots: `t` whole ones after the first pending change, or `t` and `t + 1` in turns.
fn slot_waiting(s: f64, c: f64) -> f64 {
    if s == 0.0 {
        return f64::INFINITY;
    }
    let (t, whole) = slots_waited(s, c);
    let mean = if whole { t } else { (1.0 / s - 1.0) / c };
    let more = if mean > t { (mean - t) * slot_growth(t, c) } else { 0.0 };
    (slot_sum(t, c) + more) / (1.0 / c + mean)
}

/// `E[H(1 + N)]` after `t` slots with `N` changes in them, binomial: what the next slot adds.
/// `∫ (1 − (1 − v)(1 − cv)^t)/v dv` over `0…1`.
fn slot_growth(t: f64, c: f64) -> f64 {
    series::integrate_unit(c * t, |v| {
        let lost = -(t * (-c * v).ln_1p()).exp_m1();
        (lost + v * (1.0 - lost)) / v
    })
}

/// Returns the sum of [`slot_growth`] over `t` slots: `∫ (t − (1 − v)(1 − (1 − cv)^t)/cv)/v dv` over `0…1`.
fn slot_sum(t: f64, c: f64) -> f64 {
    if t == 0.0 {
        return 0.0;
    }
    series::integrate_unit(c * t, |v| {
        let kept = -(t * (-c * v).ln_1p()).exp_m1() / (c * v);
        (t - (1.0 - v) * kept) / v
    })
}
