//! Search for the price at which demand meets the budget.
//!
//! Demand falls as the price rises. One pass builds a sketch of the demand curve, which determines the
//! price to many digits. Where the sketch is not exact enough (sources that are given up, limits),
//! full passes with Newton's method on logarithms follow. Then the sources are split: most are
//! smooth and share one slope; a few are *rough* (a step, a kink, a source
//! about to be given up) and are evaluated one by one, down to two adjacent floating-point prices
//! that bracket the budget. If demand jumps between the two, the rough sources share the remainder:
//! each takes the same fraction of its own jump. The budget is therefore met exactly even if
//! no price meets it.

use rayon::prelude::*;

use crate::memory;
use crate::pass::{Totals, Written};
use crate::problem::Problem;
use crate::sketch::Sketch;
use crate::tracked_sources::TrackedSources;

/// Relative residuals above this are reported as [`SearchEnd::Inexact`].
pub(crate) const TOLERANCE: f64 = 1e-9;
/// Relative residual at which the search ends.
const ACCEPTED_RESIDUAL: f64 = 1e-10;
/// Range over which the common slope is used if all sources are smooth, in logarithms.
const SMOOTH_WINDOW: f64 = 0.02;
/// Largest number of sources for which all are evaluated one by one.
const SMALL_TABLE: usize = 512;
const MAX_PASSES: u32 = 300;
/// Bounds of all prices that valid columns and budgets can lead to.
const LOWEST_PRICE: f64 = 1e-300;
const HIGHEST_PRICE: f64 = 1e300;

/// End of a price search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchEnd {
    /// Demand meets the budget at the price.
    Met,
    /// Demand stays below the budget even at a price of zero.
    Unspent,
    /// The residuals are above the tolerance.
    Inexact,
}

pub(crate) struct Outcome {
    pub(crate) rates: Vec<f64>,
    pub(crate) price: f64,
    pub(crate) spent: f64,
    pub(crate) ending: SearchEnd,
    pub(crate) budget_gap: f64,
    pub(crate) kkt_gap: f64,
    pub(crate) passes: u32,
}

/// Finds the price at which `problem` takes `budget`, which must not be below the sum of the minimum
/// rates. The rates are written to `memory` if it has the right length.
pub(crate) fn solve(problem: &Problem<'_>, budget: f64, memory: Vec<f64>) -> Outcome {
    let least = problem.min_spend();
    if budget <= least {
        return at_min_rates(problem, budget, least);
    }
    let most = problem.max_spend();
    if most <= budget {
        return at_max_rates(problem, most);
    }
    let mut search = Search { rates: memory, ..Search::new(problem, budget) };
    if problem.len() <= SMALL_TABLE {
        search.search_one_by_one();
    } else {
        search.t = equal_rates_guess(problem, budget);
        let sketch = problem.polled.is_scale_free().then(|| Sketch::new(problem));
        search.passes += u32::from(sketch.is_some());
        let sketch = sketch.filter(|sketch| sketch.outliers() <= SMALL_TABLE);
        if !sketch.as_ref().is_some_and(|sketch| search.search_on_sketch(sketch)) {
            search.run(sketch.as_ref());
        }
    }
    search.finish()
}

/// Every source at its minimum rate; the price is the worth of the next fetch.
fn at_min_rates(problem: &Problem<'_>, budget: f64, least: f64) -> Outcome {
    let n = problem.len();
    let rates: Vec<f64> = problem.min_rate.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
    let price = (0..n)
        .into_par_iter()
        .filter(|&i| rates[i] < problem.max_rate_at_zero_price(i))
        .map(|i| problem.price_of(i, rates[i]))
        .reduce(|| 0.0, f64::max);
    let budget_gap = if least > 0.0 { (budget / least - 1.0).abs() } else { 0.0 };
    Outcome {
        rates,
        price,
        spent: least,
        ending: SearchEnd::Met,
        budget_gap,
        kkt_gap: 0.0,
        passes: 1,
    }
}

/// Every source at the rate above which nothing is gained.
fn at_max_rates(problem: &Problem<'_>, most: f64) -> Outcome {
    let rates =
        (0..problem.len()).into_par_iter().map(|i| problem.max_rate_at_zero_price(i)).collect();
    Outcome {
        rates,
        price: 0.0,
        spent: most,
        ending: SearchEnd::Unspent,
        budget_gap: 0.0,
        kkt_gap: 0.0,
        passes: 1,
    }
}

/// Returns the logarithm of what a fetch would be worth if all sources were fetched equally often.
fn equal_rates_guess(problem: &Problem<'_>, budget: f64) -> f64 {
    let n = problem.len();
    let each = budget / n as f64;
    let (mut total, mut count) = (0.0, 0.0);
    for i in (0..n).step_by(n.div_ceil(2048)) {
        let price = problem.price_of(i, each / problem.cost_of(i));
        if price > LOWEST_PRICE && price < HIGHEST_PRICE {
            total += price.ln();
            count += 1.0;
        }
    }
    if count > 0.0 { total / count } else { 0.0 }
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    budget: f64,
    /// Logarithm of the next price to try.
    t: f64,
    /// Highest price with demand above the budget, and lowest price with demand not above it.
    low: f64,
    high: f64,
    passes: u32,
    rates: Vec<f64>,
    settled: Option<WrittenPlan>,
    settled_passes: u32,
}

#[derive(Clone, Copy)]
struct WrittenPlan {
    price: f64,
    spent: f64,
    budget_gap: f64,
    kkt_gap: f64,
}

/// Demand near a price: smooth sources by their slope, rough ones exactly.
struct LocalDemand<'a> {
    price: f64,
    smooth: f64,
    elasticity: f64,
    curvature: Option<f64>,
    rough: TrackedSources<'a>,
}

impl LocalDemand<'_> {
    fn demand(&self, price: f64) -> f64 {
        let dt = (price / self.price).ln();
        let smooth = if self.smooth > 0.0 {
            let bend = 0.5 * self.curvature.unwrap_or(0.0) * dt;
            self.smooth * (dt * (self.elasticity + bend)).exp()
        } else {
            0.0
        };
        smooth + self.rough.spend(price)
    }

    /// Approximate error of the slope at a distance, in logarithms of the price.
    fn error_at(&self, distance: f64) -> f64 {
        match self.curvature {
            Some(_) => 0.1 * distance * distance * distance,
            None => 4.0 * distance * distance,
        }
    }

    /// Returns two adjacent prices, with demand above the budget at the first and not at the second,
    /// and these demands.
    fn bisect(&self, low: f64, high: f64, budget: f64) -> Option<[(f64, f64); 2]> {
        let (mut low, mut high) = ((low, self.demand(low)), (high, self.demand(high)));
        if !(low.1 > budget && high.1 <= budget) {
            return None;
        }
        for round in 0.. {
            // Regula falsi two times out of three; halving the bits bounds the number of rounds.
            let middle = f64::from_bits(u64::midpoint(low.0.to_bits(), high.0.to_bits()));
            if middle <= low.0 || middle >= high.0 {
                break;
            }
            let part = (low.1 - budget) / (low.1 - high.1);
            let chord = low.0 + (high.0 - low.0) * part.clamp(0.001, 0.999);
            let inside = chord > low.0 && chord < high.0 && round % 3 != 2;
            let next = if inside { chord } else { middle };
            let demand = self.demand(next);
            if demand > budget { low = (next, demand) } else { high = (next, demand) }
        }
        Some([low, high])
    }
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, budget: f64) -> Self {
        Self {
            problem,
            budget,
            t: 0.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            passes: 0,
            rates: Vec::new(),
            settled: None,
            settled_passes: 0,
        }
    }

    /// Evaluates all sources one by one, starting from the widest range of prices.
    fn search_one_by_one(&mut self) {
        let all: Vec<u32> = (0..self.problem.len() as u32).collect();
        let local = LocalDemand {
            price: 1.0,
            smooth: 0.0,
            elasticity: 0.0,
            curvature: None,
            rough: TrackedSources::new(self.problem, &all),
        };
        if let Some(ends) = local.bisect(LOWEST_PRICE, HIGHEST_PRICE, self.budget) {
            self.write_rates(ends, &all, None);
        }
    }

    /// Finds the price from the demand curve and writes the rates. Returns true if they are accurate
    /// enough; otherwise leaves a start price for further passes.
    fn search_on_sketch(&mut self, sketch: &Sketch<'_>) -> bool {
        let problem = self.problem;
        let mut on_curve = Search { t: self.t, ..Search::new(problem, self.budget) };
        let width = on_curve.narrow_down(sketch);
        self.t = on_curve.t;
        if !problem.is_unlimited() || problem.polled.is_rough() {
            return false;
        }
        let price = self.t.exp();
        let window = width.clamp(1e-9, 1e-4);
        let (smooth, rough) = sketch.split(price, window.exp());
        let local = LocalDemand {
            price,
            smooth: smooth.spend.max(0.0),
            elasticity: if smooth.spend > 0.0 { smooth.slope / smooth.spend } else { 0.0 },
            curvature: None,
            rough: TrackedSources::new(problem, &rough),
        };
        let ends = local.bisect(price * (-window).exp(), price * window.exp(), self.budget);
        ends.is_some_and(|ends| self.write_rates(ends, &rough, Some(sketch)))
    }

    /// Newton's method on the demand curve, then bisection where it moves in steps. Returns the
    /// remaining width of the range around `t`.
    fn narrow_down(&mut self, sketch: &Sketch<'_>) -> f64 {
        // A sample of the observed sources represents all of them until the price is roughly known.
        let mut coarse = true;
        for _ in 0..200 {
            let at = self.t;
            let point = sketch.demand(at.exp(), coarse);
            let span = self.high - self.low;
            let wanted = self.step(point.spend, point.slope);
            if coarse {
                if wanted.abs() < 1e-2 || self.high - self.low < 1e-2 {
                    coarse = false;
                    (self.low, self.high) = (f64::NEG_INFINITY, f64::INFINITY);
                }
                continue;
            }
            if wanted.abs() < 1e-8 {
                self.t = at + wanted;
                return 1e-7;
            }
            if self.high - self.low < 1e-6 {
                return self.high - self.low;
            }
            // Steps can mislead the slope: at least halve the range every other time.
            if self.high - self.low > 0.75 * span {
                self.t = 0.5 * (self.low + self.high);
            }
        }
        self.high - self.low
    }

    /// Records the demand at `t` and moves to the next price. Returns the step of Newton's method,
    /// whether or not the bounds allow it.
    fn step(&mut self, spend: f64, slope: f64) -> f64 {
        if spend > self.budget {
            self.low = self.low.max(self.t);
        } else {
            self.high = self.high.min(self.t);
        }
        let wanted = (self.budget / spend).ln() / (slope / spend);
        let wanted = if wanted.is_finite() { wanted } else { f64::NAN };
        // If the slope is useless, unbounded steps double and bounded ones halve.
        let limit = 8.0;
        let next = self.t + wanted.clamp(-limit, limit);
        self.t = if next > self.low && next < self.high {
            next
        } else if self.low.is_finite() && self.high.is_finite() {
            0.5 * (self.low + self.high)
        } else if self.low.is_finite() {
            self.low + limit
        } else {
            self.high - limit
        };
        if wanted.is_nan() { f64::INFINITY } else { wanted }
    }

    /// Runs Newton's method on full passes, starting from the demand `curve` if there
    /// is one; the first pass then corrects the curve.
    fn run(&mut self, curve: Option<&Sketch<'_>>) {
        let smooth_throughout = self.problem.is_smooth();
        let mut curve = curve.filter(|_| self.problem.is_unlimited());
        // Range around `t`, in logarithms, in which the budget is expected. Where sources are given up, the
        // curve has their density and not each of them.
        let few = 1e-2 / (self.problem.len() as f64).sqrt();
        let mut window = if curve.is_some() { few.clamp(1e-6, 1e-3) } else { 0.0 };
        let mut before: Option<(f64, f64)> = None;
        let mut span = f64::INFINITY;
        // Number of times that the budget was outside the expected range.
        let mut misses = 0;
        while self.passes < MAX_PASSES && self.settled_passes < 8 {
            let (t, price) = (self.t, self.t.exp());
            if smooth_throughout {
                window = SMOOTH_WINDOW;
            }
            let spread = if smooth_throughout { 1.0 } else { f64::exp(window) };
            let totals = self.problem.demand(price, spread);
            self.passes += 1;
            let wanted = self.step(totals.spend, totals.slope + totals.trend);
            let local = self.local(&totals, price, before);
            before = Some((t, local.elasticity));
            let ends = local.bisect(price * (-window).exp(), price * window.exp(), self.budget);
            if let Some(ends) = ends {
                let distance = (ends[0].0 / price).ln().abs();
                if local.error_at(distance) < ACCEPTED_RESIDUAL
                    && self.write_rates(ends, &totals.rough, None)
                {
                    return;
                }
                let found = ends[0].0.ln();
                if found > self.low && found < self.high {
                    self.t = found;
                }
                window = (2.0 * local.error_at(distance)).clamp(1e-12, 0.5 * window.max(2e-12));
                misses = 0;
                continue;
            }
            if let Some(curve) = curve.take()
                && wanted.abs() < 1e-2
            {
                let right = self.budget * curve.demand(price, false).spend / totals.spend;
                let mut on_curve = Search { t, ..Search::new(self.problem, right) };
                on_curve.narrow_down(curve);
                self.t = on_curve.t;
                window = (0.2 * wanted.abs()).clamp(1e-9, 1e-4);
                continue;
            }
            // If slopes mislead, halve the range, or extend it to find its other end.
            let span_before = std::mem::replace(&mut span, self.high - self.low);
            if span.is_finite() && span > 0.5 * span_before {
                self.t = 0.5 * (self.low + self.high);
            }
            misses = if window > 0.0 { misses + 1 } else { 0 };
            // Newton's method doubles the digits, except where sources are given up.
            let off = if self.problem.polled.is_rough() { 0.3 } else { 0.5 * wanted.abs() };
            let reach = (off * wanted.abs()).clamp(1e-9, 1e-3) * 16f64.powi((misses - 1).max(0));
            if misses > 1 && span.is_infinite() {
                let out = reach.max(wanted.abs()).min(8.0);
                self.t = if self.low.is_finite() { self.low + out } else { self.high - out };
            }
            window = if wanted.abs() < 0.1 { reach.min(0.02) } else { 0.0 };
            if span < 1e-3 {
                window = span;
            }
        }
    }

    fn local(&self, totals: &Totals, price: f64, before: Option<(f64, f64)>) -> LocalDemand<'a> {
        let smooth = (totals.spend - totals.rough_spend).max(0.0);
        let slope = totals.slope - totals.rough_slope;
        let elasticity = if smooth > 0.0 { slope / smooth } else { 0.0 };
        // Second derivative, if this pass and the previous one saw nearly the same sources.
        let curvature = before
            .map(|(t, then)| (elasticity - then) / (price.ln() - t))
            .filter(|curvature| curvature.abs() < 1.0);
        let rough = TrackedSources::new(self.problem, &totals.rough);
        LocalDemand { price, smooth, elasticity, curvature, rough }
    }

    /// Writes the rates between two adjacent prices. Returns true if they are accurate enough.
    fn write_rates(
        &mut self,
        [low, high]: [(f64, f64); 2],
        rough: &[u32],
        sketch: Option<&Sketch<'_>>,
    ) -> bool {
        let problem = self.problem;
        if self.rates.len() != problem.len() {
            self.rates = memory::zeros(problem.len());
        }
        let price = high.0;
        let Written { spend, violation } = match sketch {
            Some(sketch) => {
                problem.write(price, &mut self.rates, |rows| sketch.observed_within(rows))
            }
            None => {
                let all = problem.observed_rows();
                problem.write(price, &mut self.rates, |rows| within(&all, rows))
            }
        };
        self.passes += 1;
        let jumps: Vec<(usize, f64, f64)> = rough
            .iter()
            .map(|&i| {
                let i = i as usize;
                (i, self.rates[i], problem.rate_of(i, low.0))
            })
            .filter(|(_, at_high, at_low)| at_low > at_high)
            .collect();
        let room: f64 =
            jumps.iter().map(|&(i, at_high, at_low)| problem.cost_of(i) * (at_low - at_high)).sum();
        let missing = self.budget - spend;
        let share = if room > 0.0 { (missing / room).clamp(0.0, 1.0) } else { 0.0 };
        let mut kkt_gap = violation;
        let spent = if share > 0.0 {
            for &(i, at_high, at_low) in &jumps {
                self.rates[i] = at_high + share * (at_low - at_high);
                kkt_gap = kkt_gap.max(problem.violation_of(i, self.rates[i], price));
            }
            problem.sum(|i| problem.cost_of(i) * self.rates[i])
        } else {
            spend
        };
        let budget_gap = (spent / self.budget - 1.0).abs();
        self.settled = Some(WrittenPlan { price, spent, budget_gap, kkt_gap });
        self.settled_passes += 1;
        budget_gap.max(kkt_gap) <= ACCEPTED_RESIDUAL
    }

    fn finish(mut self) -> Outcome {
        if self.settled.is_none() {
            // The search did not converge: write the rates at its last price and report the gap.
            let end = (self.t.exp(), self.budget);
            self.write_rates([end, end], &[], None);
        }
        let settled = self.settled.unwrap_or(WrittenPlan {
            price: f64::NAN,
            spent: f64::NAN,
            budget_gap: f64::INFINITY,
            kkt_gap: f64::INFINITY,
        });
        Outcome {
            rates: self.rates,
            price: settled.price,
            spent: settled.spent,
            ending: if settled.worst() <= TOLERANCE { SearchEnd::Met } else { SearchEnd::Inexact },
            budget_gap: settled.budget_gap,
            kkt_gap: settled.kkt_gap,
            passes: self.passes,
        }
    }
}

/// Returns the part of sorted `rows` that lies in a range.
fn within(rows: &[u32], range: std::ops::Range<usize>) -> &[u32] {
    let before = |row: usize| rows.partition_point(|&other| (other as usize) < row);
    &rows[before(range.start)..before(range.end)]
}

impl WrittenPlan {
    fn worst(&self) -> f64 {
        self.budget_gap.max(self.kkt_gap)
    }
}
