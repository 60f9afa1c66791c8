//! Sources that are evaluated one by one at many prices.

use rayon::prelude::*;

use crate::block::BLOCK;
use crate::problem::{HIGHEST, LOWEST, Problem};
use crate::response::Power;

/// Packed copy of some sources, for repeated evaluation.
pub(crate) struct TrackedSources<'a> {
    problem: &'a Problem<'a>,
    /// Polled sources first, then observed ones.
    rows: Vec<u32>,
    polled: usize,
    /// `c/w`, change rate and cost of each.
    ratio: Vec<f64>,
    change_rate: Vec<f64>,
    cost: Vec<f64>,
}

impl<'a> TrackedSources<'a> {
    pub(crate) fn new(problem: &'a Problem<'a>, rows: &[u32]) -> Self {
        let is_observed =
            |row: u32| problem.complete.is_some_and(|complete| complete[row as usize]);
        let (observed, mut sorted): (Vec<u32>, Vec<u32>) =
            rows.iter().partition(|&&row| is_observed(row));
        let polled = sorted.len();
        sorted.extend(observed);
        let column =
            |of: &dyn Fn(usize) -> f64| sorted.iter().map(|&row| of(row as usize)).collect();
        Self {
            problem,
            polled,
            ratio: column(&|row| problem.change_rate[row] / problem.importance[row]),
            change_rate: column(&|row| problem.change_rate[row]),
            cost: column(&|row| problem.cost_of(row)),
            rows: sorted,
        }
    }

    /// Returns what the sources take from the budget at a price.
    pub(crate) fn spend(&self, price: f64) -> f64 {
        let n = self.rows.len();
        let starts = (0..self.polled).step_by(BLOCK).chain((self.polled..n).step_by(BLOCK));
        let starts: Vec<usize> = starts.collect();
        let block = |&at: &usize| {
            let end = if at < self.polled { self.polled } else { n };
            self.spend_block(at, BLOCK.min(end - at), price)
        };
        let blocks: Vec<f64> = starts.par_iter().with_min_len(16).map(block).collect();
        blocks.into_iter().sum()
    }

    fn spend_block(&self, at: usize, n: usize, price: f64) -> f64 {
        let problem = self.problem;
        let (mut y, mut fetches, mut slope) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (ratio, c) = (&self.ratio[at..at + n], &self.change_rate[at..at + n]);
        let cost = &self.cost[at..at + n];
        for i in 0..n {
            // The rounding is the same as in a pass over all sources.
            let once = price * cost[i] * ratio[i];
            let twice = if problem.power == Power::Two { once * c[i] } else { once };
            y[i] = twice.clamp(LOWEST, HIGHEST);
        }
        let response = if at < self.polled { problem.polled } else { problem.observed };
        response.demand_block(&y[..n], c, &mut fetches[..n], &mut slope[..n]);
        let rate = |i: usize| {
            let row = self.rows[at + i] as usize;
            let free = if problem.is_live(row) { fetches[i] * c[i] } else { 0.0 };
            free.max(problem.min_of(row)).min(problem.max_of(row))
        };
        (0..n).map(|i| cost[i] * rate(i)).sum()
    }
}
