//! One pass over all sources at a price.
//!
//! Work is cut into chunks of fixed size whose sums are added in order, so the result does not
//! depend on how many threads there are.

use rayon::prelude::*;

use crate::response::{Blocks, Power};
use crate::simd;

const CHUNK: usize = 1 << 14;
/// Sources that are worked on together: their numbers stay in the nearest cache.
pub(crate) const BLOCK: usize = 256;
/// Scale-free prices are kept within these; beyond them rates are out of range anyway.
const LOWEST: f64 = 1e-280;
const HIGHEST: f64 = 1e280;

/// Sources, and how they respond: what the price solver sees of a plan.
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

/// What a pass adds up.
#[derive(Default)]
pub(crate) struct Totals {
    /// What all sources together take from the budget.
    pub(crate) spend: f64,
    /// Its derivative by the logarithm of the price.
    pub(crate) slope: f64,
    /// The same for demand that moves in steps, smoothed.
    pub(crate) trend: f64,
    /// The part of `spend` that the rough sources below take.
    pub(crate) rough_spend: f64,
    /// The part of `slope` that is theirs.
    pub(crate) rough_slope: f64,
    /// Sources whose demand cannot be followed by its slope across the window.
    pub(crate) rough: Vec<u32>,
}

/// Some sources, packed together to be asked often.
pub(crate) struct Followed<'a> {
    problem: &'a Problem<'a>,
    /// First the polled ones, then the observed.
    rows: Vec<u32>,
    polled: usize,
    /// `c/w`, change rate and cost of each.
    ratio: Vec<f64>,
    change_rate: Vec<f64>,
    cost: Vec<f64>,
}

impl<'a> Followed<'a> {
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

    /// What they take at a price.
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
            // Rounds exactly as it does for all sources together.
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

/// What is known about rates that were written down.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    pub(crate) spend: f64,
    /// The largest relative difference between a price and what the source at it is worth.
    pub(crate) violation: f64,
}

/// What is known about a block of sources at a price.
struct Scratch {
    y: [f64; BLOCK],
    /// Fetches per change, before limits.
    fetches: [f64; BLOCK],
    rate: [f64; BLOCK],
    slope: [f64; BLOCK],
    next: [f64; BLOCK],
    last: [f64; BLOCK],
    observed: Observed,
    /// Whether every source of the block can gain by being fetched.
    all_live: bool,
    /// Places in the block.
    found: Vec<usize>,
}

/// The observed sources of a block, packed together.
struct Observed {
    places: [u16; BLOCK],
    count: usize,
    x: [f64; BLOCK],
    c: [f64; BLOCK],
    a: [f64; BLOCK],
    b: [f64; BLOCK],
}

impl Scratch {
    fn new() -> Self {
        let zero = [0.0; BLOCK];
        Self {
            y: zero,
            fetches: zero,
            rate: zero,
            slope: zero,
            next: zero,
            last: zero,
            observed: Observed { places: [0; BLOCK], count: 0, x: zero, c: zero, a: zero, b: zero },
            all_live: false,
            found: Vec::new(),
        }
    }
}

/// Writes down the places of what is true, and gives their number.
#[inline]
pub(crate) fn mark(flags: &[bool], places: &mut [u16; BLOCK]) -> usize {
    let mut count = 0_usize;
    for (place, &flag) in flags.iter().enumerate() {
        // Without a branch, because flags cannot be guessed.
        places[count % BLOCK] = place as u16;
        count += usize::from(flag);
    }
    count
}

impl Observed {
    fn find(&mut self, complete: &[bool]) {
        self.count = mark(complete, &mut self.places);
    }

    /// Puts `(a, b)[place] = f(x[place], c[place])` for the observed sources, where `f` works on
    /// packed columns.
    fn replace(
        &mut self,
        (x, c): (&[f64], &[f64]),
        (a, b): (&mut [f64], &mut [f64]),
        f: impl FnOnce(&[f64], &[f64], &mut [f64], &mut [f64]),
    ) {
        let n = self.count;
        for (i, &place) in self.places[..n].iter().enumerate() {
            (self.x[i], self.c[i]) = (x[place as usize], c[place as usize]);
        }
        f(&self.x[..n], &self.c[..n], &mut self.a[..n], &mut self.b[..n]);
        for (i, &place) in self.places[..n].iter().enumerate() {
            (a[place as usize], b[place as usize]) = (self.a[i], self.b[i]);
        }
    }
}

impl Problem<'_> {
    pub(crate) fn len(&self) -> usize {
        self.change_rate.len()
    }

    pub(crate) fn cost_of(&self, i: usize) -> f64 {
        self.cost.map_or(1.0, |cost| cost[i])
    }

    fn min_of(&self, i: usize) -> f64 {
        self.min_rate.map_or(0.0, |min| min[i])
    }

    fn max_of(&self, i: usize) -> f64 {
        self.max_rate.map_or(f64::INFINITY, |max| max[i])
    }

    fn response_of(&self, i: usize) -> &dyn Blocks {
        if self.complete.is_some_and(|complete| complete[i]) { self.observed } else { self.polled }
    }

    /// The rows of the observed sources, in order.
    pub(crate) fn observed_rows(&self) -> Vec<u32> {
        let complete = self.complete.unwrap_or_default();
        let marked = complete.iter().enumerate().filter(|(_, observed)| **observed);
        marked.map(|(row, _)| row as u32).collect()
    }

    /// Whether the source can gain by being fetched.
    fn is_live(&self, i: usize) -> bool {
        self.importance[i] > 0.0 && self.change_rate[i] > 0.0
    }

    /// Whether demand is smooth for every source at every price.
    pub(crate) fn is_smooth(&self) -> bool {
        let observed = self.complete.is_some() && self.observed.is_rough();
        !observed && !self.polled.is_rough() && self.is_unlimited()
    }

    /// Whether nothing but the price bounds the rates.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.min_rate.is_none() && self.max_rate.is_none()
    }

    /// `c^p / w`: what turns a price into a scale-free one.
    fn scale_of(&self, i: usize) -> f64 {
        let c = self.change_rate[i];
        let scale = c / self.importance[i];
        if self.power == Power::Two { scale * c } else { scale }
    }

    /// The scale-free price. Rounds exactly as [`Self::respond`] does: at a step the last bit
    /// decides.
    fn scale_free(&self, i: usize, price: f64) -> f64 {
        let c = self.change_rate[i];
        let y = price * self.cost_of(i) * (c / self.importance[i]);
        let y = if self.power == Power::Two { y * c } else { y };
        y.clamp(LOWEST, HIGHEST)
    }

    /// The rate of one source at a price.
    pub(crate) fn rate_of(&self, i: usize, price: f64) -> f64 {
        self.respond_one(i, price).0
    }

    /// The rate of one source at a price, and its slope.
    fn respond_one(&self, i: usize, price: f64) -> (f64, f64) {
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

    /// The price at which this source would be content with `rate`: what one more fetch a day is
    /// worth to it, for each unit of cost.
    pub(crate) fn price_of(&self, i: usize, rate: f64) -> f64 {
        if !self.is_live(i) {
            return 0.0;
        }
        let c = self.change_rate[i];
        self.response_of(i).worth_one(rate / c, c).next / self.scale_of(i) / self.cost_of(i)
    }

    /// How far the price is from what the source at `rate` is worth, relative to the price.
    pub(crate) fn violation_of(&self, i: usize, rate: f64, price: f64) -> f64 {
        if !self.is_live(i) {
            return 0.0;
        }
        let c = self.change_rate[i];
        let worth = self.response_of(i).worth_one(rate / c, c);
        let bounds = (rate <= self.min_of(i), rate >= self.max_of(i));
        violation(self.scale_free(i, price), (worth.next, worth.last), bounds)
    }

    /// What the sources take at their least rates.
    pub(crate) fn least(&self) -> f64 {
        self.min_rate.map_or(0.0, |_| self.sum(|i| self.cost_of(i) * self.min_of(i)))
    }

    /// What the sources take at a price of zero.
    pub(crate) fn most(&self) -> f64 {
        let most = |i: usize| self.cost_of(i) * self.most_of(i);
        // Usually the first source has no bound already.
        match (0..self.len().min(CHUNK)).find(|&i| most(i) == f64::INFINITY) {
            Some(_) => f64::INFINITY,
            None => self.sum(most),
        }
    }

    /// The rate of one source at a price of zero.
    pub(crate) fn most_of(&self, i: usize) -> f64 {
        let c = self.change_rate[i];
        let free = if self.is_live(i) { c * self.response_of(i).most_at(c) } else { 0.0 };
        free.min(self.max_of(i)).max(self.min_of(i))
    }

    /// A sum over sources, the same on any number of threads.
    pub(crate) fn sum(&self, term: impl Fn(usize) -> f64 + Sync) -> f64 {
        sum(self.len(), term)
    }

    /// Demand at a price, and which sources are rough between `price / spread` and
    /// `price · spread`. A spread of 1 asks for none.
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

    /// Fills in the scale-free price, and rate and slope before limits.
    fn respond(&self, at: usize, n: usize, price: f64, k: &mut Scratch) {
        self.scale_free_block(at, n, price, k);
        self.respond_to(at, n, k);
    }

    /// Fills in rate and slope before limits, at the scale-free price.
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
                // Where there is nothing to gain, it is zero, infinite or not a number.
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

    /// The slope of smooth curves through the steps of a block's observed sources.
    fn trend(&self, at: usize, k: &Scratch) -> f64 {
        let observed = &k.observed.places[..k.observed.count];
        let live = observed.iter().map(|&place| place as usize).filter(|&i| self.is_live(at + i));
        live.map(|i| {
            self.cost_of(at + i) * self.change_rate[at + i] * self.observed.trend_at(k.y[i])
        })
        .sum()
    }

    /// Applies the least and the most rates.
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

    /// Adds the rows of a block whose demand cannot be followed by its slope.
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
            written.spend += match self.cost {
                None => add_up(rates),
                Some(cost) => dot(rates, &cost[at..]),
            };
        }
        if plain {
            for rows in rows.chunks(BLOCK) {
                self.write_observed(start, price, rates, rows, &mut k, &mut written);
            }
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

    /// Writes the rates of observed sources over what was written for them as polled ones.
    fn write_observed(
        &self,
        start: usize,
        price: f64,
        rates: &mut [f64],
        rows: &[u32],
        k: &mut Scratch,
        written: &mut Written,
    ) {
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
            written.spend += self.cost_of(row) * (rate - rates[row - start]);
            rates[row - start] = rate;
            if self.is_live(row) {
                let bounds = (rate == 0.0, false);
                let off = violation(k.y[i], (k.next[i], k.last[i]), bounds);
                written.violation = written.violation.max(off);
            }
        }
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

/// The largest of some numbers that are not negative.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder().iter().fold(0.0, |all, &value| larger(all, value));
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] = larger(lanes[lane], chunk[lane]);
        }
    }
    lanes.iter().fold(rest, |all, &value| larger(all, value))
}

/// How far `y` is outside of the prices from `next` to `last`, relative to `y`. At the least rate
/// only the next fetch counts, at the most only the last.
#[inline(always)]
fn violation(y: f64, (next, last): (f64, f64), (at_min, at_max): (bool, bool)) -> f64 {
    let above = if at_max { 0.0 } else { next - y };
    let below = if at_min { 0.0 } else { y - last };
    let off = if above > below { above } else { below };
    let off = if off > 0.0 { off } else { 0.0 };
    off / y
}

/// A sum over `0..n`, the same on any number of threads.
pub(crate) fn sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let chunks: Vec<f64> = starts
        .into_par_iter()
        .map(|start| (start..(start + CHUNK).min(n)).map(&term).sum())
        .collect();
    chunks.into_iter().sum()
}

fn add_up(values: &[f64]) -> f64 {
    simd::run(
        #[inline(always)]
        || {
            let mut lanes = [0.0; 8];
            let chunks = values.chunks_exact(8);
            let rest: f64 = chunks.remainder().iter().sum();
            for chunk in chunks {
                for lane in 0..8 {
                    lanes[lane] += chunk[lane];
                }
            }
            lanes.iter().sum::<f64>() + rest
        },
    )
}

fn dot(values: &[f64], factors: &[f64]) -> f64 {
    values.iter().zip(factors).map(|(value, factor)| value * factor).sum()
}
