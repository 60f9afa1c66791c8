//! The pass that writes the rates down, and checks them.

use rayon::prelude::*;

use crate::block::{BLOCK, Scratch, add_up, dot, largest};
use crate::problem::{CHUNK, Problem, violation};
use crate::simd;

/// What is known about rates that were written down.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    pub(crate) spend: f64,
    /// Largest relative difference between a price and what the source at it is worth.
    pub(crate) violation: f64,
}

impl Problem<'_> {
    /// Writes the rates at a price into `rates`. `observed` gives the rows of the observed sources
    /// in a range of rows.
    pub(crate) fn write<'r>(
        &self,
        price: f64,
        rates: &mut [f64],
        observed: impl Fn(std::ops::Range<usize>) -> &'r [u32] + Sync,
    ) -> Written {
        let chunks: Vec<Written> = rates
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, rates)| {
                let start = chunk * CHUNK;
                let rows = observed(start..start + rates.len());
                self.write_chunk(start, price, rates, rows)
            })
            .collect();
        chunks.into_iter().fold(Written::default(), |all, chunk| Written {
            spend: all.spend + chunk.spend,
            violation: all.violation.max(chunk.violation),
        })
    }

    fn write_chunk(&self, start: usize, price: f64, rates: &mut [f64], rows: &[u32]) -> Written {
        let mut k = Scratch::new();
        let mut written = Written::default();
        let plain = self.is_unlimited();
        for (block, rates) in rates.chunks_mut(BLOCK).enumerate() {
            let (at, n) = (start + block * BLOCK, rates.len());
            self.scale_free_block(at, n, price, &mut k);
            let violation = if plain && k.all_live {
                self.plain_block(at, &mut k, rates)
            } else {
                self.respond_to(at, n, &mut k);
                self.clamp(at, n, &mut k);
                rates.copy_from_slice(&k.rate[..n]);
                self.violation_block(at, n, &mut k)
            };
            written.violation = written.violation.max(violation);
        }
        if plain {
            for rows in rows.chunks(BLOCK) {
                let violation = self.write_observed(start, price, rates, rows, &mut k);
                written.violation = written.violation.max(violation);
            }
        }
        for (block, rates) in rates.chunks(BLOCK).enumerate() {
            written.spend += match self.cost {
                None => add_up(rates),
                Some(cost) => dot(rates, &cost[start + block * BLOCK..]),
            };
        }
        written
    }

    /// Rates and how far they are off, as if all were polled and nothing but the price bound them.
    fn plain_block(&self, at: usize, k: &mut Scratch, rates: &mut [f64]) -> f64 {
        let n = rates.len();
        let c = &self.change_rate[at..at + n];
        self.polled.checked_block(&k.y[..n], c, &mut k.fetches[..n], &mut k.slope[..n]);
        let (fetches, off) = (&k.fetches[..n], &k.slope[..n]);
        simd::run(
            #[inline(always)]
            || {
                (0..n).for_each(|i| rates[i] = fetches[i] * c[i]);
                largest(off)
            },
        )
    }

    /// Writes the rates of observed sources over what was written for them as polled ones. Gives
    /// how far they are off.
    fn write_observed(
        &self,
        start: usize,
        price: f64,
        rates: &mut [f64],
        rows: &[u32],
        k: &mut Scratch,
    ) -> f64 {
        let mut worst: f64 = 0.0;
        let n = rows.len();
        let c = &mut k.observed.c[..n];
        for (i, &row) in rows.iter().enumerate() {
            let row = row as usize;
            (c[i], k.y[i]) = (self.change_rate[row], self.scale_free(row, price));
        }
        self.observed.demand_block(&k.y[..n], c, &mut k.fetches[..n], &mut k.slope[..n]);
        self.observed.worth_block(&k.fetches[..n], c, &mut k.next[..n], &mut k.last[..n]);
        for (i, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let rate = if self.is_live(row) { k.fetches[i] * c[i] } else { 0.0 };
            rates[row - start] = rate;
            if self.is_live(row) {
                let bounds = (rate == 0.0, false);
                let off = violation(k.y[i], (k.next[i], k.last[i]), bounds);
                worst = worst.max(off);
            }
        }
        worst
    }

    fn violation_block(&self, at: usize, n: usize, k: &mut Scratch) -> f64 {
        let (w, c) = (&self.importance[at..at + n], &self.change_rate[at..at + n]);
        if !self.is_unlimited() {
            // Limits may have moved the rates.
            simd::run(
                #[inline(always)]
                || (0..n).for_each(|i| k.fetches[i] = k.rate[i] / c[i]),
            );
        }
        self.polled.worth_block(&k.fetches[..n], c, &mut k.next[..n], &mut k.last[..n]);
        if self.complete.is_some() {
            k.observed.replace((&k.fetches, c), (&mut k.next, &mut k.last), |s, c, next, last| {
                self.observed.worth_block(s, c, next, last);
            });
        }
        let Scratch { y, rate, slope, next, last, .. } = k;
        let (y, rate, off) = (&y[..n], &rate[..n], &mut slope[..n]);
        let (next, last) = (&next[..n], &last[..n]);
        let zero = [0.0; BLOCK];
        let infinite = [f64::INFINITY; BLOCK];
        let min = self.min_rate.map_or(&zero[..n], |min| &min[at..at + n]);
        let max = self.max_rate.map_or(&infinite[..n], |max| &max[at..at + n]);
        simd::run(
            #[inline(always)]
            || {
                for i in 0..n {
                    let bounds = (rate[i] <= min[i], rate[i] >= max[i]);
                    let live = (w[i] > 0.0) & (c[i] > 0.0);
                    let far = violation(y[i], (next[i], last[i]), bounds);
                    off[i] = if live { far } else { 0.0 };
                }
                largest(off)
            },
        )
    }
}
