//! One pass over all sources at a price.
//!
//! Work is split into chunks of fixed size whose sums are added in order, so the result does not
//! depend on the number of threads.

mod write;

use rayon::prelude::*;

use crate::block::{BLOCK, Scratch, add_up, dot};
use crate::problem::{CHUNK, HIGHEST, LOWEST, Problem};
use crate::response::Power;
use crate::simd;

pub(crate) use write::Written;

/// Sums of one pass.
#[derive(Default)]
pub(crate) struct Totals {
    /// Spending of all sources together.
    pub(crate) spend: f64,
    /// Derivative of the spending by the logarithm of the price.
    pub(crate) slope: f64,
    /// Smoothed derivative for demand that moves in steps.
    pub(crate) trend: f64,
    /// Part of `spend` that is due to rough sources.
    pub(crate) rough_spend: f64,
    /// Part of `slope` that is due to rough sources.
    pub(crate) rough_slope: f64,
    /// Sources whose demand cannot be extrapolated by its slope across the window.
    pub(crate) rough: Vec<u32>,
}

impl Problem<'_> {
    /// Demand at a price, and which sources are rough between `price / spread` and
    /// `price · spread`. A spread of 1 selects none.
    pub(crate) fn demand(&self, price: f64, spread: f64) -> Totals {
        let starts: Vec<usize> = (0..self.len()).step_by(CHUNK).collect();
        let chunks: Vec<Totals> = starts
            .into_par_iter()
            .map(|start| self.demand_chunk(start, (start + CHUNK).min(self.len()), price, spread))
            .collect();
        let mut totals = Totals::default();
        for chunk in chunks {
            totals.spend += chunk.spend;
            totals.slope += chunk.slope;
            totals.trend += chunk.trend;
            totals.rough_spend += chunk.rough_spend;
            totals.rough_slope += chunk.rough_slope;
            totals.rough.extend(chunk.rough);
        }
        totals
    }

    fn demand_chunk(&self, start: usize, end: usize, price: f64, spread: f64) -> Totals {
        let mut k = Scratch::new();
        let mut totals = Totals::default();
        for at in (start..end).step_by(BLOCK) {
            let n = BLOCK.min(end - at);
            self.respond(at, n, price, &mut k);
            if self.complete.is_some() && self.observed.is_rough() {
                totals.trend += self.trend(at, &k);
            }
            if spread > 1.0 {
                self.find_rough(at, n, spread, &mut k, &mut totals.rough);
            }
            self.clamp(at, n, &mut k);
            let (spend, slope) = match self.cost {
                None => (add_up(&k.rate[..n]), add_up(&k.slope[..n])),
                Some(cost) => (dot(&k.rate[..n], &cost[at..]), dot(&k.slope[..n], &cost[at..])),
            };
            totals.spend += spend;
            totals.slope += slope;
        }
        for &i in &totals.rough {
            let (rate, slope) = self.respond_one(i as usize, price);
            totals.rough_spend += self.cost_of(i as usize) * rate;
            totals.rough_slope += self.cost_of(i as usize) * slope;
        }
        totals
    }

    /// Computes the scale-free price, and rate and slope before limits.
    fn respond(&self, at: usize, n: usize, price: f64, k: &mut Scratch) {
        self.scale_free_block(at, n, price, k);
        self.respond_to(at, n, k);
    }

    /// Computes rate and slope before limits, at the scale-free price.
    fn respond_to(&self, at: usize, n: usize, k: &mut Scratch) {
        let (w, c) = (&self.importance[at..at + n], &self.change_rate[at..at + n]);
        self.polled.demand_block(&k.y[..n], c, &mut k.fetches[..n], &mut k.slope[..n]);
        if let Some(complete) = self.complete {
            k.observed.find(&complete[at..at + n]);
            k.observed.replace(
                (&k.y, c),
                (&mut k.fetches, &mut k.slope),
                |y, c, fetches, slope| {
                    self.observed.demand_block(y, c, fetches, slope);
                },
            );
        }
        let all_live = k.all_live;
        let (fetches, rate, slope) = (&k.fetches[..n], &mut k.rate[..n], &mut k.slope[..n]);
        simd::run(
            #[inline(always)]
            || {
                if all_live {
                    for i in 0..n {
                        (rate[i], slope[i]) = (fetches[i] * c[i], slope[i] * c[i]);
                    }
                } else {
                    for i in 0..n {
                        let live = (w[i] > 0.0) & (c[i] > 0.0);
                        rate[i] = if live { fetches[i] * c[i] } else { 0.0 };
                        slope[i] = if live { slope[i] * c[i] } else { 0.0 };
                    }
                }
            },
        );
    }

    fn scale_free_block(&self, at: usize, n: usize, price: f64, k: &mut Scratch) {
        let (w, c) = (&self.importance[at..at + n], &self.change_rate[at..at + n]);
        let y = &mut k.y[..n];
        let square = self.power == Power::Two;
        k.all_live = simd::run(
            #[inline(always)]
            || {
                match (self.cost, square) {
                    (None, false) => (0..n).for_each(|i| y[i] = price * (c[i] / w[i])),
                    (None, true) => (0..n).for_each(|i| y[i] = price * (c[i] / w[i]) * c[i]),
                    (Some(cost), _) => {
                        let cost = &cost[at..at + n];
                        (0..n).for_each(|i| y[i] = price * cost[i] * (c[i] / w[i]));
                        if square {
                            (0..n).for_each(|i| y[i] *= c[i]);
                        }
                    }
                }
                // Without any gain, it is zero, infinite or not a number.
                let all = y.iter().fold(true, |all, &y| all & (y > LOWEST) & (y < HIGHEST));
                if !all {
                    for value in y {
                        let high = if *value < HIGHEST { *value } else { HIGHEST };
                        *value = if high > LOWEST { high } else { LOWEST };
                    }
                }
                all
            },
        );
    }

    /// Returns the slope of smooth curves through the steps of a block's observed sources.
    fn trend(&self, at: usize, k: &Scratch) -> f64 {
        let observed = &k.observed.places[..k.observed.count];
        let live = observed.iter().map(|&place| place as usize).filter(|&i| self.is_live(at + i));
        live.map(|i| {
            self.cost_of(at + i) * self.change_rate[at + i] * self.observed.trend_at(k.y[i])
        })
        .sum()
    }

    /// Applies minimum and maximum rates.
    fn clamp(&self, at: usize, n: usize, k: &mut Scratch) {
        let limit = |k: &mut Scratch, limits: &[f64], beyond: fn(f64, f64) -> bool| {
            let rates = k.rate.iter_mut().zip(&mut k.slope);
            for ((rate, slope), &limit) in rates.zip(&limits[at..at + n]) {
                if beyond(*rate, limit) {
                    (*rate, *slope) = (limit, 0.0);
                }
            }
        };
        if let Some(min) = self.min_rate {
            limit(k, min, |rate, min| rate < min);
        }
        if let Some(max) = self.max_rate {
            limit(k, max, |rate, max| rate > max);
        }
    }

    /// Adds the rows of a block whose demand cannot be extrapolated by its slope.
    fn find_rough(&self, at: usize, n: usize, spread: f64, k: &mut Scratch, rough: &mut Vec<u32>) {
        let found = &mut k.found;
        found.clear();
        let (y, c) = (&k.y[..n], &self.change_rate[at..at + n]);
        if self.polled.is_rough() {
            self.polled.find_rough(y, c, spread, found);
            if let Some(complete) = self.complete {
                found.retain(|&i| !complete[at + i]);
            }
        }
        if self.complete.is_some() && self.observed.is_rough() {
            let places = &k.observed.places[..k.observed.count];
            let (packed_y, packed_c) = (&mut k.observed.x, &mut k.observed.c);
            for (i, &place) in places.iter().enumerate() {
                (packed_y[i], packed_c[i]) = (y[place as usize], c[place as usize]);
            }
            let (from, count) = (found.len(), places.len());
            self.observed.find_rough(&packed_y[..count], &packed_c[..count], spread, found);
            for i in &mut found[from..] {
                *i = places[*i] as usize;
            }
        }
        if !self.is_unlimited() {
            let width = 4.0 * spread.ln();
            let near_limit = |i: usize| {
                let reach = width * k.slope[i].abs() + 1e-12 * k.rate[i];
                // A source that is given up stays at its limit of zero.
                let near = |limit: f64| k.rate[i] > 0.0 && (k.rate[i] - limit).abs() <= reach;
                self.min_rate.is_some_and(|min| near(min[at + i]))
                    || self.max_rate.is_some_and(|max| near(max[at + i]))
            };
            found.extend((0..n).filter(|&i| near_limit(i)));
            found.sort_unstable();
            found.dedup();
        }
        let live = found.iter().filter(|&&i| self.is_live(at + i));
        rough.extend(live.map(|&i| (at + i) as u32));
    }
}
