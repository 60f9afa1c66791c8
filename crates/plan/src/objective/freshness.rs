//! Freshness: the copy is up to date or not. `k(t) = 1 − e^(−ct)`.

use super::step::unfetched;
use super::{Definition, Measure, MeasureForm};
use crate::exponential::{Exp, minus_ln_1m, polynomial};
use crate::options::{Observed, Rule, Timing};
use crate::response::{Blocks, Demand, Power, Response, Worth};
use crate::root::{Root, RootResult, by_root, finish};
use crate::series;

pub(crate) struct Freshness;

impl Definition for Freshness {
    const NAME: &'static str = "freshness";
    const POWER: Power = Power::One;
    const MEASURES: &'static [Measure] = &[
        Measure { key: "freshness", label: "freshness", unit: "", form: MeasureForm::OneMinusMean },
        Measure { key: "binary_cost", label: "binary cost", unit: "", form: MeasureForm::Sum },
    ];

    fn polled(timing: Timing) -> &'static dyn Blocks {
        match timing {
            Timing::Periodic => &Periodic,
            Timing::Poisson => &Poisson,
            Timing::Slots => &Slots,
        }
    }

    fn observed(_: Observed, _: Timing) -> &'static dyn Blocks {
        &OnChange
    }

    // Whatever triggers a fetch, the copy is fresh from then until the next change.
    const THRESHOLD: Rule = Rule::Count;

    fn observed_cost(_: Rule, _: Timing, s: f64, c: f64) -> f64 {
        OnChange::cost(s, c)
    }

    fn observed_saved(_: Rule, _: Timing, s: f64, c: f64) -> f64 {
        OnChange::saved(s, c)
    }

    fn random_order(x: f64, c: f64) -> f64 {
        if x < 1.0 {
            series::random_order(x, 1, |_| 1.0)
        } else {
            1.0 - Self::random_order_saved(x, c)
        }
    }

    fn random_order_saved(x: f64, _c: f64) -> f64 {
        let mean = Exp::exp_neg(x).complement() / x;
        (1.0 - mean * mean) / x
    }
}

/// Returns true if `y = 1`, the price at which a source is given up, is not close to the range.
/// Just below it, demand is too steep to be extrapolated by its slope.
#[inline(always)]
fn excludes_giving_up(low: f64, high: f64) -> bool {
    low >= 1.0 || 1.0 - high > (64.0 * (high - low)).max(1e-6)
}

/// Worth `1 − e^(−x)(1 + x)` with `x = cτ`; given up where `y ≥ 1`.
struct Periodic;

impl Root for Periodic {
    #[inline(always)]
    fn start(y: f64) -> f64 {
        let y = if y < 1.0 { y } else { 0.5 };
        // x − ln(1 + x) = −ln(1 − y): a rational start in v = √(2·rhs), 3e-6 off at most.
        let v = (2.0 * minus_ln_1m(y)).sqrt();
        let numerator = polynomial(
            v,
            &[1.0, 0.869_131_558_249_287, 0.275_575_408_705_911, 0.034_564_335_654_459_6],
        );
        let denominator = polynomial(v, &[1.0, 0.535_755_618_235_746, 0.069_395_360_665_839_2]);
        v * numerator / denominator
    }

    #[inline(always)]
    fn residual(start: f64, y: f64) -> (f64, f64) {
        let e = Exp::exp_neg(start);
        let decay = e.value();
        // Near y = 1, only the distance to 1 has digits left.
        let far = (1.0 - y) - decay * (1.0 + start);
        (if y > 0.5 { far } else { e.two_or_more() - y }, decay)
    }

    #[inline(always)]
    fn finish(start: f64, (residual, decay): (f64, f64), y: f64) -> RootResult {
        let derivatives = [start, 1.0 - start, start - 2.0, 3.0 - start].map(|f| f * decay);
        let RootResult { demand, off } = finish(start, residual, y, derivatives);
        let kept = |value: f64| if y < 1.0 { value } else { 0.0 };
        RootResult {
            demand: Demand { fetches: kept(demand.fetches), slope: kept(demand.slope) },
            off: kept(off),
        }
    }
}

impl Response for Periodic {
    const ROUGH: bool = true;

    by_root!();

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        // At 700 changes per fetch, the probability of fewer than two underflows.
        let x = if s > 1.0 / 700.0 { 1.0 / s } else { 700.0 };
        Worth::smooth(Exp::exp_neg(x).two_or_more())
    }

    fn cost(s: f64, _c: f64) -> f64 {
        if s == 0.0 {
            return 1.0;
        }
        let x = 1.0 / s;
        if x.is_finite() { Exp::exp_neg(x).stale_time() / x } else { 1.0 }
    }

    fn saved(s: f64, _c: f64) -> f64 {
        if s > 0.0 { Exp::exp_neg(1.0 / s).complement() * s } else { 0.0 }
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, _c: f64) -> bool {
        excludes_giving_up(low, high)
    }
}

/// Worth `1/(1 + s)²` (Azar et al. 2018, Problem 2).
struct Poisson;

impl Response for Poisson {
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        let root = y.sqrt();
        let kept = y < 1.0;
        let s = (1.0 - y) / (root * (1.0 + root));
        Demand { fetches: if kept { s } else { 0.0 }, slope: if kept { -0.5 / root } else { 0.0 } }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(1.0 / ((1.0 + s) * (1.0 + s)))
    }

    fn cost(s: f64, _c: f64) -> f64 {
        1.0 / (1.0 + s)
    }

    fn saved(s: f64, _c: f64) -> f64 {
        s / (1.0 + s)
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, _c: f64) -> bool {
        excludes_giving_up(low, high)
    }
}

/// Worth `1/(1 + (1 − c)s)²`, where `c` is the probability of a change in one slot and `cs` that of a
/// fetch (Azar et al. 2018, Problem 1).
struct Slots;

impl Response for Slots {
    const SCALE_FREE: bool = false;
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, c: f64) -> Demand {
        let free = Poisson::demand(y, c);
        Demand { fetches: free.fetches / (1.0 - c), slope: free.slope / (1.0 - c) }
    }

    #[inline(always)]
    fn worth(s: f64, c: f64) -> Worth {
        Poisson::worth(s * (1.0 - c), c)
    }

    fn cost(s: f64, c: f64) -> f64 {
        let unfetched = unfetched(s * c);
        unfetched / (s + unfetched)
    }

    fn saved(s: f64, c: f64) -> f64 {
        s / (s + unfetched(s * c))
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, c: f64) -> bool {
        Poisson::is_smooth(low, high, c)
    }
}

/// Observed changes: a fetch at every change keeps the copy fresh, and each skipped change
/// costs the same, so either all or none are fetched, depending on `y = 1`.
struct OnChange;

impl Response for OnChange {
    const ROUGH: bool = true;

    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        Demand { fetches: if y < 1.0 { 1.0 } else { 0.0 }, slope: 0.0 }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth {
            next: if s >= 1.0 { 0.0 } else { 1.0 },
            last: if s > 0.0 { 1.0 } else { f64::INFINITY },
        }
    }

    fn cost(s: f64, _c: f64) -> f64 {
        (1.0 - s).max(0.0)
    }

    fn saved(s: f64, _c: f64) -> f64 {
        s.min(1.0)
    }

    fn max_fetches(_c: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn is_smooth(low: f64, high: f64, _c: f64) -> bool {
        low >= 1.0 || high < 1.0
    }
}
