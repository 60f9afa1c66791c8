//! Demand as the root of an equation.

use crate::exponential::inverse_step;
use crate::response::Demand;
use crate::simd;

/// A root `x = 1/s`, found in three steps: a start value, the residual there, and one fourth-order
/// step.
///
/// A processor looks about 250 instructions ahead, less than one root takes. On blocks,
/// each step is a separate loop, so that many sources are computed at once.
pub(crate) trait Root {
    /// Returns a value close to the root.
    fn start(y: f64) -> f64;
    /// Returns the residual at `start` and a further number for the last step.
    fn residual(start: f64, y: f64) -> (f64, f64);
    /// Returns the demand at the root.
    fn finish(start: f64, residual: (f64, f64), y: f64) -> RootResult;
}

/// Result of a root search.
#[derive(Clone, Copy)]
pub(crate) struct RootResult {
    pub(crate) demand: Demand,
    /// Deviation of the worth from the price at the root, relative to the price.
    pub(crate) off: f64,
}

/// Sources in a block of [`root_block`].
const ROOTS: usize = 256;

/// [`crate::response::Response::demand`] by a [`Root`].
#[inline(always)]
pub(crate) fn root<R: Root>(y: f64) -> Demand {
    let start = R::start(y);
    R::finish(start, R::residual(start, y), y).demand
}

/// [`crate::response::Response::demand_block`] by a [`Root`].
#[inline(always)]
pub(crate) fn root_block<R: Root>(y: &[f64], fetches: &mut [f64], slope: &mut [f64]) {
    root_blocks::<R>(y, fetches, slope, |found| (found.demand.fetches, found.demand.slope));
}

/// [`crate::response::Response::checked_block`] by a [`Root`].
#[inline(always)]
pub(crate) fn root_checked_block<R: Root>(y: &[f64], fetches: &mut [f64], off: &mut [f64]) {
    root_blocks::<R>(y, fetches, off, |found| (found.demand.fetches, found.off));
}

#[inline(always)]
fn root_blocks<R: Root>(
    y: &[f64],
    a: &mut [f64],
    b: &mut [f64],
    keep: impl Fn(RootResult) -> (f64, f64),
) {
    let mut start = [0.0; ROOTS];
    for ((y, a), b) in y.chunks(ROOTS).zip(a.chunks_mut(ROOTS)).zip(b.chunks_mut(ROOTS)) {
        let n = y.len();
        let (start, a, b) = (&mut start[..n], &mut a[..n], &mut b[..n]);
        simd::run(
            #[inline(always)]
            || (0..n).for_each(|i| start[i] = R::start(y[i])),
        );
        simd::run(
            #[inline(always)]
            || (0..n).for_each(|i| (a[i], b[i]) = R::residual(start[i], y[i])),
        );
        simd::run(
            #[inline(always)]
            || {
                for i in 0..n {
                    (a[i], b[i]) = keep(R::finish(start[i], (a[i], b[i]), y[i]));
                }
            },
        );
    }
}

/// Returns the last step where `x = 1/s` is a root of `f`, whose value and first four derivatives at
/// `start` are given. The residual after the step follows from the same numbers by Taylor's
/// theorem, up to rounding, because the step is small.
#[inline(always)]
pub(crate) fn finish(start: f64, f: f64, y: f64, [f1, f2, f3, f4]: [f64; 4]) -> RootResult {
    let (step, inverse) = inverse_step(f, f1, f2, f3);
    let s = 1.0 / (start + step);
    let third = (step * 0.25).mul_add(f4, f3);
    let second = (step * (1.0 / 3.0)).mul_add(third, f2);
    let left = step.mul_add((step * 0.5).mul_add(second, f1), f);
    RootResult { demand: Demand { fetches: s, slope: -s * s * y * inverse }, off: left.abs() / y }
}

/// The functions of a [`crate::response::Response`] that follow from a [`Root`].
macro_rules! by_root {
    () => {
        #[inline(always)]
        fn demand(y: f64, _c: f64) -> Demand {
            crate::root::root::<Self>(y)
        }

        #[inline(always)]
        fn demand_block(y: &[f64], _c: &[f64], fetches: &mut [f64], slope: &mut [f64]) {
            crate::root::root_block::<Self>(y, fetches, slope);
        }

        #[inline(always)]
        fn checked_block(y: &[f64], _c: &[f64], fetches: &mut [f64], off: &mut [f64]) {
            crate::root::root_checked_block::<Self>(y, fetches, off);
        }
    };
}
pub(crate) use by_root;
