//! Response of one kind of source to a price.
//!
//! All formulas are scale-free. With change rate `c`, importance `w` and a price `λ` for one
//! fetch, a response depends only on `y = λ·c^p / w` (`p` is the objective's [`Power`]) and returns
//! `s = rate / c`, the number of fetches per change.

use crate::simd;

/// Exponent `p` of the change rate in the scale-free price `y = λ·c^p / w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// `p = 1`: the cost is a number.
    One,
    /// `p = 2`: the cost is a time.
    Two,
}

/// Demand of a source at a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demand {
    /// Fetches per change.
    pub(crate) fetches: f64,
    /// Derivative of `fetches` by `ln y`; zero on a step.
    pub(crate) slope: f64,
}

/// Worth of the next and of the last fetch at a rate. They differ only
/// at a kink of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    /// Worth of slightly more.
    pub(crate) next: f64,
    /// Loss of slightly less.
    pub(crate) last: f64,
}

impl Worth {
    /// Creates the worth at a smooth point of the cost.
    #[inline(always)]
    pub(crate) fn smooth(y: f64) -> Self {
        Self { next: y, last: y }
    }
}

/// Demand, worth and cost of one kind of source under one objective and timing.
///
/// To add one, implement these functions on a unit struct; [`Blocks`], the vectorised form that
/// the solver calls, follows.
pub(crate) trait Response: Sync {
    /// Fetches per change at scale-free price `y` and change rate `c`: the rate at which
    /// worth equals price. Must be non-increasing in `y`, never NaN for `1e-300 ≤ y ≤ 1e300`.
    fn demand(y: f64, c: f64) -> Demand;

    /// `demand` for a block of sources.
    #[inline(always)]
    fn demand_block(y: &[f64], c: &[f64], fetches: &mut [f64], slope: &mut [f64]) {
        simd::map2(
            y,
            c,
            fetches,
            slope,
            #[inline(always)]
            |y, c| {
                let demand = Self::demand(y, c);
                (demand.fetches, demand.slope)
            },
        );
    }

    /// Returns the scale-free prices at which `s` fetches per change are right: the inverse of `demand`.
    fn worth(s: f64, c: f64) -> Worth;

    /// Cost per unit of importance at `s ≥ 0` fetches per change, `c > 0`.
    fn cost(s: f64, c: f64) -> f64;

    /// One minus the cost, for costs that are shares: accurate where the cost is close to 1.
    fn saved(s: f64, c: f64) -> f64 {
        1.0 - Self::cost(s, c)
    }

    /// Demand at a price of zero, in fetches per change.
    fn max_fetches(_c: f64) -> f64 {
        f64::INFINITY
    }

    /// `demand` for a block of polled sources, and the deviation of `worth` from `y`, relative to
    /// `y`. The cost has no kinks, but a source may be given up.
    #[inline(always)]
    fn checked_block(y: &[f64], c: &[f64], fetches: &mut [f64], off: &mut [f64]) {
        Self::demand_block(y, c, fetches, off);
        simd::run(
            #[inline(always)]
            || {
                for i in 0..y.len() {
                    let over = Self::worth(fetches[i], c[i]).next - y[i];
                    let given_up = (fetches[i] == 0.0) & (over < 0.0);
                    off[i] = if given_up { 0.0 } else { over.abs() / y[i] };
                }
            },
        );
    }

    /// True if demand depends on the change rate only through the scale-free price.
    const SCALE_FREE: bool = true;

    /// True if demand has steps, kinks or places too steep to follow.
    const ROUGH: bool = false;

    /// Returns true if demand is smooth for all prices between `low` and `high`.
    #[inline(always)]
    fn is_smooth(_low: f64, _high: f64, _c: f64) -> bool {
        true
    }

    /// Slope of a smooth curve through the steps, for demand that moves in steps.
    fn trend(_y: f64) -> f64 {
        0.0
    }
}

/// Object-safe form of [`Response`] that works on blocks.
pub(crate) trait Blocks: Sync {
    fn demand_block(&self, y: &[f64], c: &[f64], fetches: &mut [f64], slope: &mut [f64]);
    fn checked_block(&self, y: &[f64], c: &[f64], fetches: &mut [f64], off: &mut [f64]);
    fn worth_block(&self, s: &[f64], c: &[f64], next: &mut [f64], last: &mut [f64]);
    fn demand_one(&self, y: f64, c: f64) -> Demand;
    fn worth_one(&self, s: f64, c: f64) -> Worth;
    fn cost_at(&self, s: f64, c: f64) -> f64;
    fn saved_at(&self, s: f64, c: f64) -> f64;
    fn max_fetches_at(&self, c: f64) -> f64;
    fn is_scale_free(&self) -> bool;
    fn is_rough(&self) -> bool;
    #[cfg(test)]
    fn smooth_between(&self, low: f64, high: f64, c: f64) -> bool;
    /// Finds the sources whose demand is rough between `y / spread` and `y · spread`.
    fn find_rough(&self, y: &[f64], c: &[f64], spread: f64, found: &mut Vec<usize>);
    fn trend_at(&self, y: f64) -> f64;
    /// `demand_one` without vector instructions.
    #[cfg(test)]
    fn demand_scalar(&self, y: f64, c: f64) -> Demand;
}

impl<T: Response> Blocks for T {
    fn demand_block(&self, y: &[f64], c: &[f64], fetches: &mut [f64], slope: &mut [f64]) {
        T::demand_block(y, c, fetches, slope);
    }

    fn checked_block(&self, y: &[f64], c: &[f64], fetches: &mut [f64], off: &mut [f64]) {
        T::checked_block(y, c, fetches, off);
    }

    fn worth_block(&self, s: &[f64], c: &[f64], next: &mut [f64], last: &mut [f64]) {
        simd::map2(
            s,
            c,
            next,
            last,
            #[inline(always)]
            |s, c| {
                let worth = T::worth(s, c);
                (worth.next, worth.last)
            },
        );
    }

    fn demand_one(&self, y: f64, c: f64) -> Demand {
        simd::run(
            #[inline(always)]
            || T::demand(y, c),
        )
    }

    fn worth_one(&self, s: f64, c: f64) -> Worth {
        simd::run(
            #[inline(always)]
            || T::worth(s, c),
        )
    }

    fn cost_at(&self, s: f64, c: f64) -> f64 {
        T::cost(s, c)
    }

    fn saved_at(&self, s: f64, c: f64) -> f64 {
        T::saved(s, c)
    }

    fn max_fetches_at(&self, c: f64) -> f64 {
        T::max_fetches(c)
    }

    fn is_scale_free(&self) -> bool {
        T::SCALE_FREE
    }

    fn is_rough(&self) -> bool {
        T::ROUGH
    }

    #[cfg(test)]
    fn smooth_between(&self, low: f64, high: f64, c: f64) -> bool {
        T::is_smooth(low, high, c)
    }

    fn find_rough(&self, y: &[f64], c: &[f64], spread: f64, found: &mut Vec<usize>) {
        let below = 1.0 / spread;
        simd::run(
            #[inline(always)]
            || {
                for (at, (&y, &c)) in y.iter().zip(c).enumerate() {
                    if !T::is_smooth(y * below, y * spread, c) {
                        found.push(at);
                    }
                }
            },
        );
    }

    fn trend_at(&self, y: f64) -> f64 {
        T::trend(y)
    }

    #[cfg(test)]
    fn demand_scalar(&self, y: f64, c: f64) -> Demand {
        T::demand(y, c)
    }
}
