//! Compressed demand curve of all polled sources, which can be evaluated at any price.
//!
//! Demand depends on a source only through its weight `cost·c` and its scale `r = cost·c^p / w`:
//! it takes `weight · s(price · r)`. Sources are sorted into bins of `r`, 64 per octave, and each
//! bin keeps the first four moments of the weight over its width. At any price, a cubic approximates `s`
//! within a bin, so that one pass over the sources gives the demand at every price, to about
//! eleven digits where `s` is smooth. Observed sources, whose demand moves in steps, are kept
//! individually.

use rayon::prelude::*;

use crate::block::{BLOCK, mark};
use crate::problem::Problem;
use crate::response::{Blocks, Power};
use crate::simd;

/// Bins per octave, as a power of two.
const BITS: u32 = 6;
const LOW_BITS: u32 = 52 - BITS;
/// Octaves on either side of 1.
const OCTAVES: usize = 64;
const BINS: usize = (2 * OCTAVES) << BITS;
const FIRST: u64 = (1023 - OCTAVES as u64) << BITS;
/// Number of sources in a piece of parallel work.
const PIECE: usize = 1 << 20;

/// Chebyshev nodes on `[−1/2, 1/2]`.
const NODES: [f64; 4] = [
    -0.461_939_766_255_643_4,
    -0.191_341_716_182_544_9,
    0.191_341_716_182_544_9,
    0.461_939_766_255_643_4,
];

/// Weight in a bin times the powers 0 to 3 of the place in it, from −1/2 to 1/2.
type Moments = [f64; 4];

/// Demand curve of a problem without its limits.
pub(crate) struct Sketch<'a> {
    problem: &'a Problem<'a>,
    /// Nodes of each used bin, in order.
    polled: Weighted,
    /// Bins: start, end and moments.
    bins: Vec<(f64, f64, Moments)>,
    /// Observed sources, piece by piece.
    observed: Vec<Observed>,
    /// Sample of the observed sources, and its share of the total weight.
    sample: Option<(Weighted, f64)>,
    /// Polled sources beyond the bins.
    outliers: Vec<u32>,
}

/// Scales, and the weight of the demand at each scale.
#[derive(Default)]
struct Weighted {
    scales: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Default)]
struct Observed {
    each: Weighted,
    rows: Vec<u32>,
}

/// Demand at a price.
#[derive(Clone, Copy, Default)]
pub(crate) struct Point {
    pub(crate) spend: f64,
    /// Derivative by the logarithm of the price.
    pub(crate) slope: f64,
}

struct Piece {
    bins: Vec<Moments>,
    /// The bins that are not empty lie in here.
    used: std::ops::Range<usize>,
    observed: Observed,
    outliers: Vec<u32>,
}

impl<'a> Sketch<'a> {
    /// Builds the sketch in one pass over the sources.
    pub(crate) fn new(problem: &'a Problem<'a>) -> Self {
        let starts: Vec<usize> = (0..problem.len()).step_by(PIECE).collect();
        let pieces: Vec<Piece> = starts
            .into_par_iter()
            .map(|start| piece(problem, start, (start + PIECE).min(problem.len())))
            .collect();
        let mut bins = vec![[0.0; 4]; BINS];
        let (mut polled, mut observed, mut outliers) =
            (Weighted::default(), Vec::new(), Vec::new());
        for piece in pieces {
            let used = piece.used.clone();
            for (all, own) in bins[used.clone()].iter_mut().zip(&piece.bins[used]) {
                for power in 0..4 {
                    all[power] += own[power];
                }
            }
            observed.push(piece.observed);
            outliers.extend(piece.outliers);
        }
        let mut used = Vec::new();
        for (bin, moments) in bins.iter().enumerate().filter(|(_, moments)| moments[0] > 0.0) {
            let low = f64::from_bits((FIRST + bin as u64) << LOW_BITS);
            let high = f64::from_bits((FIRST + bin as u64 + 1) << LOW_BITS);
            for (node, place) in NODES.iter().enumerate() {
                polled.scales.push(low + (high - low) * (0.5 + place));
                polled.weights.push(node_weight(node, moments));
            }
            used.push((low, high, *moments));
        }
        let sample = sample_observed(&observed);
        Self { problem, polled, bins: used, observed, sample, outliers }
    }

    /// Returns the number of sources that are not on the curve.
    pub(crate) fn outliers(&self) -> usize {
        self.outliers.len()
    }

    /// Returns what all sources take at a price, with the slope of the polled ones and of a smooth curve
    /// through the steps of the observed ones; `coarse` uses only a sample of the observed ones.
    pub(crate) fn demand(&self, price: f64, coarse: bool) -> Point {
        let smooth = self.polled_demand(price);
        let observed = match &self.sample {
            Some((sample, share)) if coarse => {
                let point = sample.demand(self.problem.observed, price);
                Point { spend: point.spend / share, slope: point.slope / share }
            }
            _ => self.observed_demand(price),
        };
        let outliers: f64 = self.outliers.iter().map(|&row| self.taken_by(row, price)).sum();
        // Across the steps, demand is roughly inversely proportional to the price.
        Point {
            spend: smooth.spend + observed.spend + outliers,
            slope: smooth.slope - 0.8 * observed.spend - 0.5 * outliers,
        }
    }

    /// Returns what the polled sources take. Near `y = 1`, where they are given up, demand is too
    /// steep for a cubic; there it is integrated over the density that the moments describe.
    fn polled_demand(&self, price: f64) -> Point {
        let response = self.problem.polled;
        if !response.is_rough() {
            return self.polled.demand(response, price);
        }
        let from = self.bins.partition_point(|(_, high, _)| price * high < 0.75);
        let to = self.bins.partition_point(|(low, ..)| price * low < 1.0);
        let Weighted { scales, weights } = &self.polled;
        let ends = [0..4 * from, 4 * to..scales.len()];
        let smooth = ends
            .into_iter()
            .map(|range| weighted_demand(response, price, &scales[range.clone()], &weights[range]));
        let steep = self.bins[from..to].iter().map(|bin| steep_demand(response, price, bin));
        smooth.chain(steep).fold(Point::default(), Point::and)
    }

    fn observed_demand(&self, price: f64) -> Point {
        let response = self.problem.observed;
        let points = self.observed.iter().map(|piece| piece.each.demand(response, price));
        points.fold(Point::default(), Point::and)
    }

    /// Splits the demand near a price into that of the smooth sources, with its slope, and the
    /// rows that are rough between `price / spread` and `price · spread`.
    pub(crate) fn split(&self, price: f64, spread: f64) -> (Point, Vec<u32>) {
        let response = self.problem.observed;
        let mut smooth = self.polled_demand(price).and(self.observed_demand(price));
        let mut rough = self.outliers.clone();
        for piece in &self.observed {
            let Weighted { scales, weights } = &piece.each;
            for at in piece.each.find_rough(response, price, spread) {
                let demand = response.demand_one(price * scales[at], 1.0);
                smooth.spend -= weights[at] * demand.fetches;
                smooth.slope -= weights[at] * demand.slope;
                rough.push(piece.rows[at]);
            }
        }
        (smooth, rough)
    }

    /// Returns the rows of the observed sources in a range of rows that does not cross a piece.
    pub(crate) fn observed_within(&self, range: std::ops::Range<usize>) -> &[u32] {
        let Some(piece) = self.observed.get(range.start / PIECE) else { return &[] };
        let before = |row: usize| piece.rows.partition_point(|&other| (other as usize) < row);
        &piece.rows[before(range.start)..before(range.end)]
    }

    fn taken_by(&self, row: u32, price: f64) -> f64 {
        let row = row as usize;
        self.problem.cost_of(row) * self.problem.rate_of(row, price)
    }
}

/// Returns an evenly spaced sample of the observed sources if there are many, and its share of the
/// weight.
fn sample_observed(observed: &[Observed]) -> Option<(Weighted, f64)> {
    const STRIDE: usize = 31;
    let mut sample = Weighted::default();
    let (mut count, mut weight) = (0, 0.0);
    for Observed { each, .. } in observed {
        sample.scales.extend(each.scales.iter().step_by(STRIDE));
        sample.weights.extend(each.weights.iter().step_by(STRIDE));
        count += each.scales.len();
        weight += each.weights.iter().sum::<f64>();
    }
    let share = sample.weights.iter().sum::<f64>() / weight;
    (count > 1000 * STRIDE && share > 0.0).then_some((sample, share))
}

impl Point {
    fn and(self, other: Self) -> Self {
        Self { spend: self.spend + other.spend, slope: self.slope + other.slope }
    }
}

/// Number of scales in a chunk of parallel work.
const CHUNK: usize = 1 << 14;

impl Weighted {
    fn demand(&self, response: &dyn Blocks, price: f64) -> Point {
        let chunks: Vec<Point> = self
            .scales
            .par_chunks(CHUNK)
            .zip(self.weights.par_chunks(CHUNK))
            .map(|(scales, weights)| weighted_demand(response, price, scales, weights))
            .collect();
        chunks.into_iter().fold(Point::default(), Point::and)
    }

    /// Finds where demand is rough between `price / spread` and `price · spread`.
    fn find_rough(&self, response: &dyn Blocks, price: f64, spread: f64) -> Vec<usize> {
        let found = self.scales.par_chunks(CHUNK).enumerate().flat_map_iter(|(chunk, scales)| {
            let y: Vec<f64> = scales.iter().map(|scale| price * scale).collect();
            let mut found = Vec::new();
            // The curve is used only for responses that do not depend on the change rate.
            response.find_rough(&y, &vec![1.0; y.len()], spread, &mut found);
            found.into_iter().map(move |at| chunk * CHUNK + at)
        });
        found.collect()
    }
}

fn weighted_demand(response: &dyn Blocks, price: f64, scales: &[f64], weights: &[f64]) -> Point {
    let one = [1.0; BLOCK];
    let (mut y, mut fetches, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    let mut point = Point::default();
    for (scales, weights) in scales.chunks(BLOCK).zip(weights.chunks(BLOCK)) {
        let n = scales.len();
        for (y, scale) in y.iter_mut().zip(scales) {
            *y = (price * scale).clamp(1e-280, 1e280);
        }
        response.demand_block(&y[..n], &one[..n], &mut fetches[..n], &mut slopes[..n]);
        for i in 0..n {
            point.spend += weights[i] * fetches[i];
            point.slope += weights[i] * slopes[i];
        }
    }
    point
}

/// Computes the demand of a bin by the midpoint rule, with the density that has its moments: their expansion in
/// Legendre polynomials.
fn steep_demand(
    response: &dyn Blocks,
    price: f64,
    &(low, high, moments): &(f64, f64, Moments),
) -> Point {
    let [m0, m1, m2, m3] = moments;
    // Moments of the position from −1 to 1.
    let (u1, u2, u3) = (2.0 * m1, 4.0 * m2, 8.0 * m3);
    let expansion = [m0, 3.0 * u1, 2.5 * (3.0 * u2 - m0), 3.5 * (5.0 * u3 - 3.0 * u1)];
    let (mut scales, mut weights) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        let part = (i as f64 + 0.5) / BLOCK as f64;
        let u = 2.0 * part - 1.0;
        let legendre = [1.0, u, 0.5 * (3.0 * u * u - 1.0), 0.5 * u * (5.0 * u * u - 3.0)];
        let density: f64 = expansion.iter().zip(legendre).map(|(a, p)| a * p).sum();
        scales[i] = low + (high - low) * part;
        weights[i] = density / BLOCK as f64;
    }
    weighted_demand(response, price, &scales, &weights)
}

/// Returns the weight of the value at a node: its Lagrange polynomial, integrated over the weight of the bin.
fn node_weight(node: usize, moments: &Moments) -> f64 {
    // Coefficients of Π (d − other)/(node − other).
    let mut polynomial = [1.0, 0.0, 0.0, 0.0];
    for (other, &at) in NODES.iter().enumerate() {
        if other != node {
            let scale = 1.0 / (NODES[node] - at);
            for power in (0..4).rev() {
                let lower = if power > 0 { polynomial[power - 1] } else { 0.0 };
                polynomial[power] = (lower - at * polynomial[power]) * scale;
            }
        }
    }
    polynomial.iter().zip(moments).map(|(coefficient, moment)| coefficient * moment).sum()
}

impl Piece {
    /// Removes the observed sources of a block from the weights.
    fn take_observed(
        &mut self,
        at: usize,
        complete: &[bool],
        scale: &[f64; BLOCK],
        weight: &mut [f64; BLOCK],
    ) {
        let mut places = [0; BLOCK];
        let count = mark(complete, &mut places);
        for &place in &places[..count] {
            let place = place as usize;
            if weight[place] > 0.0 {
                self.observed.each.scales.push(scale[place]);
                self.observed.each.weights.push(weight[place]);
                self.observed.rows.push((at + place) as u32);
                weight[place] = 0.0;
            }
        }
    }
}

fn piece(problem: &Problem<'_>, start: usize, end: usize) -> Piece {
    let mut piece = Piece {
        bins: vec![[0.0; 4]; BINS],
        used: 0..0,
        observed: Observed::default(),
        outliers: Vec::new(),
    };
    let mut scale = [0.0; BLOCK];
    let mut weight = [0.0; BLOCK];
    for at in (start..end).step_by(BLOCK) {
        let n = BLOCK.min(end - at);
        scales_and_weights(problem, at, n, &mut scale, &mut weight);
        if let Some(complete) = problem.complete {
            piece.take_observed(at, &complete[at..at + n], &scale, &mut weight);
        }
        fill(&mut piece, at, &scale[..n], &weight[..n]);
    }
    let in_use = |moments: &Moments| moments[0] > 0.0;
    let first = piece.bins.iter().position(in_use).unwrap_or(0);
    let end = piece.bins.iter().rposition(in_use).map_or(0, |last| last + 1);
    piece.used = first..end;
    piece
}

fn scales_and_weights(
    problem: &Problem<'_>,
    at: usize,
    n: usize,
    scale: &mut [f64; BLOCK],
    weight: &mut [f64; BLOCK],
) {
    let (w, c) = (&problem.importance[at..at + n], &problem.change_rate[at..at + n]);
    let square = problem.power == Power::Two;
    simd::run(
        #[inline(always)]
        || {
            for i in 0..n {
                // The weight is 0 if nothing can be gained, whatever the scale.
                weight[i] = if w[i] > 0.0 { c[i] } else { 0.0 };
                scale[i] = c[i] / w[i];
            }
            if square {
                (0..n).for_each(|i| scale[i] *= c[i]);
            }
            if let Some(cost) = problem.cost {
                let cost = &cost[at..at + n];
                for i in 0..n {
                    weight[i] *= cost[i];
                    scale[i] *= cost[i];
                }
            }
        },
    );
}

/// Adds a block of sources to the bins.
fn fill(piece: &mut Piece, at: usize, scale: &[f64], weight: &[f64]) {
    let n = scale.len();
    let (mut bin, mut place) = ([0_u32; BLOCK], [0.0; BLOCK]);
    simd::run(
        #[inline(always)]
        || {
            let (bin, place) = (&mut bin[..n], &mut place[..n]);
            for i in 0..n {
                let bits = scale[i].to_bits();
                let fraction = (bits & ((1 << LOW_BITS) - 1)) << BITS;
                bin[i] = (bits >> LOW_BITS).wrapping_sub(FIRST) as u32;
                place[i] = f64::from_bits(fraction | 0x3ff0_0000_0000_0000) - 1.5;
            }
        },
    );
    let Piece { bins, outliers, .. } = piece;
    let bins = &mut bins[..];
    simd::run(
        #[inline(always)]
        || {
            for i in 0..n {
                let (weight, place) = (weight[i], place[i]);
                if let Some(moments) = bins.get_mut(bin[i] as usize) {
                    let square = place * place;
                    let powers = [1.0, place, square, square * place];
                    for power in 0..4 {
                        moments[power] = weight.mul_add(powers[power], moments[power]);
                    }
                } else if weight > 0.0 {
                    outliers.push((at + i) as u32);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Objective;
    use crate::options::{Observed, Timing};

    #[test]
    fn the_curve_follows_demand_at_every_price() {
        let n = 5000;
        let w: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % 4999).mul_add(0.01, 1e-3)).collect();
        let c: Vec<f64> = (0..n).map(|i| f64::from(i * 104_729 % 4999) * 0.002).collect();
        let cost: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i % 3)).collect();
        for objective in [Objective::Harmonic, Objective::Age] {
            for timing in [Timing::Periodic, Timing::Poisson] {
                let problem = Problem {
                    importance: &w,
                    change_rate: &c,
                    complete: None,
                    cost: Some(&cost),
                    min_rate: None,
                    max_rate: None,
                    power: objective.power(),
                    polled: objective.polled(timing),
                    observed: objective.observed(Observed::Threshold, timing),
                };
                let sketch = Sketch::new(&problem);
                for exponent in -12..12 {
                    let price = 10f64.powi(exponent);
                    let totals = problem.demand(price, 1.0);
                    let Point { spend, slope } = sketch.demand(price, false);
                    assert!(
                        (spend / totals.spend - 1.0).abs() < 1e-9,
                        "{objective} {timing} at {price}"
                    );
                    assert!(
                        (slope / totals.slope - 1.0).abs() < 1e-8,
                        "{objective} {timing} at {price}"
                    );
                }
            }
        }
    }
}
