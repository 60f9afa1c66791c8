//! Blocks of sources that fit in the first-level cache.

use crate::simd;

/// Number of sources in a block.
pub(crate) const BLOCK: usize = 256;

/// Working memory for one block of sources at one price.
pub(crate) struct Scratch {
    pub(crate) y: [f64; BLOCK],
    /// Fetches per change, before limits.
    pub(crate) fetches: [f64; BLOCK],
    pub(crate) rate: [f64; BLOCK],
    pub(crate) slope: [f64; BLOCK],
    pub(crate) next: [f64; BLOCK],
    pub(crate) last: [f64; BLOCK],
    pub(crate) observed: Observed,
    /// True if every source of the block can gain by being fetched.
    pub(crate) all_live: bool,
    /// Indices of the matching sources in the block.
    pub(crate) found: Vec<usize>,
}

/// The observed sources of a block, packed together.
pub(crate) struct Observed {
    pub(crate) places: [u16; BLOCK],
    pub(crate) count: usize,
    pub(crate) x: [f64; BLOCK],
    pub(crate) c: [f64; BLOCK],
    pub(crate) a: [f64; BLOCK],
    pub(crate) b: [f64; BLOCK],
}

impl Scratch {
    pub(crate) fn new() -> Self {
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

/// Writes the indices of the set flags to `places` and returns their number.
#[inline]
pub(crate) fn mark(flags: &[bool], places: &mut [u16; BLOCK]) -> usize {
    let mut count = 0_usize;
    for (place, &flag) in flags.iter().enumerate() {
        // Branch-free, because the flags are unpredictable.
        places[count % BLOCK] = place as u16;
        count += usize::from(flag);
    }
    count
}

impl Observed {
    pub(crate) fn find(&mut self, complete: &[bool]) {
        self.count = mark(complete, &mut self.places);
    }

    /// Puts `(a, b)[place] = f(x[place], c[place])` for the observed sources, where `f` works on
    /// packed columns.
    pub(crate) fn replace(
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

/// Returns the largest of several non-negative numbers.
#[inline(always)]
pub(crate) fn largest(values: &[f64]) -> f64 {
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

/// Sums in eight lanes.
pub(crate) fn add_up(values: &[f64]) -> f64 {
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

/// Returns the dot product.
pub(crate) fn dot(values: &[f64], factors: &[f64]) -> f64 {
    values.iter().zip(factors).map(|(value, factor)| value * factor).sum()
}
