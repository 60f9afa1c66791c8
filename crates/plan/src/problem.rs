//! The problem that the price search solves: sources and their responses to a price.

use rayon::prelude::*;

use crate::response::{Blocks, Power};

/// Number of sources in a chunk of parallel work.
pub(crate) const CHUNK: usize = 1 << 14;
/// Bounds of scale-free prices; outside them rates are out of range.
pub(crate) const LOWEST: f64 = 1e-280;
pub(crate) const HIGHEST: f64 = 1e280;

/// Sources and their responses to a price.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) importance: &'a [f64],
    pub(crate) change_rate: &'a [f64],
    pub(crate) complete: Option<&'a [bool]>,
    pub(crate) cost: Option<&'a [f64]>,
    pub(crate) min_rate: Option<&'a [f64]>,
    pub(crate) max_rate: Option<&'a [f64]>,
    pub(crate) power: Power,
    pub(crate) polled: &'a dyn Blocks,
    pub(crate) observed: &'a dyn Blocks,
}

impl Problem<'_> {
    pub(crate) fn len(&self) -> usize {
        self.change_rate.len()
    }

    pub(crate) fn cost_of(&self, i: usize) -> f64 {
        self.cost.map_or(1.0, |cost| cost[i])
    }

    pub(crate) fn min_of(&self, i: usize) -> f64 {
        self.min_rate.map_or(0.0, |min| min[i])
    }

    pub(crate) fn max_of(&self, i: usize) -> f64 {
        self.max_rate.map_or(f64::INFINITY, |max| max[i])
    }

    fn response_of(&self, i: usize) -> &dyn Blocks {
        if self.complete.is_some_and(|complete| complete[i]) { self.observed } else { self.polled }
    }

    /// Returns the rows of the observed sources, in order.
    pub(crate) fn observed_rows(&self) -> Vec<u32> {
        let complete = self.complete.unwrap_or_default();
        let marked = complete.iter().enumerate().filter(|(_, observed)| **observed);
        marked.map(|(row, _)| row as u32).collect()
    }

    /// Returns true if the source can gain by being fetched.
    pub(crate) fn is_live(&self, i: usize) -> bool {
        self.importance[i] > 0.0 && self.change_rate[i] > 0.0
    }

    /// Returns true if demand is smooth for every source at every price.
    pub(crate) fn is_smooth(&self) -> bool {
        let observed = self.complete.is_some() && self.observed.is_rough();
        !observed && !self.polled.is_rough() && self.is_unlimited()
    }

    /// Returns true if nothing but the price bounds the rates.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.min_rate.is_none() && self.max_rate.is_none()
    }

    /// Returns `c^p / w`, the factor from a price to a scale-free price.
    fn scale_of(&self, i: usize) -> f64 {
        let c = self.change_rate[i];
        let scale = c / self.importance[i];
        if self.power == Power::Two { scale * c } else { scale }
    }

    /// Returns the scale-free price. The rounding equals that of [`Problem::respond`], because at a step the last bit
    /// decides.
    pub(crate) fn scale_free(&self, i: usize, price: f64) -> f64 {
        let c = self.change_rate[i];
        let y = price * self.cost_of(i) * (c / self.importance[i]);
        let y = if self.power == Power::Two { y * c } else { y };
        y.clamp(LOWEST, HIGHEST)
    }

    /// Returns the rate of one source at a price.
    pub(crate) fn rate_of(&self, i: usize, price: f64) -> f64 {
        self.respond_one(i, price).0
    }

    /// Returns the rate of one source at a price, and its slope.
    pub(crate) fn respond_one(&self, i: usize, price: f64) -> (f64, f64) {
        let (min, max) = (self.min_of(i), self.max_of(i));
        if !self.is_live(i) {
            return (min, 0.0);
        }
        let c = self.change_rate[i];
        let demand = self.response_of(i).demand_one(self.scale_free(i, price), c);
        let free = c * demand.fetches;
        if free < min {
            (min, 0.0)
        } else if free > max {
            (max, 0.0)
        } else {
            (free, c * demand.slope)
        }
    }

    /// Returns the price at which `rate` is right for this source: the worth of one more fetch per day
    /// per unit of cost.
    pub(crate) fn price_of(&self, i: usize, rate: f64) -> f64 {
        if !self.is_live(i) {
            return 0.0;
        }
        let c = self.change_rate[i];
        self.response_of(i).worth_one(rate / c, c).next / self.scale_of(i) / self.cost_of(i)
    }

    /// Returns how far the price is from the worth of the source at `rate`, relative to the price.
    pub(crate) fn violation_of(&self, i: usize, rate: f64, price: f64) -> f64 {
        if !self.is_live(i) {
            return 0.0;
        }
        let c = self.change_rate[i];
        let worth = self.response_of(i).worth_one(rate / c, c);
        let bounds = (rate <= self.min_of(i), rate >= self.max_of(i));
        violation(self.scale_free(i, price), (worth.next, worth.last), bounds)
    }

    /// Returns what the sources take at their minimum rates.
    pub(crate) fn min_spend(&self) -> f64 {
        self.min_rate.map_or(0.0, |_| self.sum(|i| self.cost_of(i) * self.min_of(i)))
    }

    /// Returns what the sources take at a price of zero.
    pub(crate) fn max_spend(&self) -> f64 {
        let most = |i: usize| self.cost_of(i) * self.max_rate_at_zero_price(i);
        // Usually the first source already has no bound.
        match (0..self.len().min(CHUNK)).find(|&i| most(i) == f64::INFINITY) {
            Some(_) => f64::INFINITY,
            None => self.sum(most),
        }
    }

    /// Returns the rate of one source at a price of zero.
    pub(crate) fn max_rate_at_zero_price(&self, i: usize) -> f64 {
        let c = self.change_rate[i];
        let free = if self.is_live(i) { c * self.response_of(i).max_fetches_at(c) } else { 0.0 };
        free.min(self.max_of(i)).max(self.min_of(i))
    }

    /// Returns a sum over sources, the same on any number of threads.
    pub(crate) fn sum(&self, term: impl Fn(usize) -> f64 + Sync) -> f64 {
        sum(self.len(), term)
    }
}

/// Returns how far `y` is outside of the prices from `next` to `last`, relative to `y`. At the least rate
/// only the next fetch counts, at the most only the last.
#[inline(always)]
pub(crate) fn violation(y: f64, (next, last): (f64, f64), (at_min, at_max): (bool, bool)) -> f64 {
    let above = if at_max { 0.0 } else { next - y };
    let below = if at_min { 0.0 } else { y - last };
    let off = if above > below { above } else { below };
    let off = if off > 0.0 { off } else { 0.0 };
    off / y
}

/// Returns a sum over `0..n`, the same on any number of threads.
pub(crate) fn sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let chunks: Vec<f64> = starts
        .into_par_iter()
        .map(|start| (start..(start + CHUNK).min(n)).map(&term).sum())
        .collect();
    chunks.into_iter().sum()
}
