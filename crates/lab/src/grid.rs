//! Grids of numbers for figures.

/// Returns evenly spaced numbers, including both ends.
pub(crate) fn linear(from: f64, to: f64, count: usize) -> Vec<f64> {
    let step = (to - from) / (count.max(2) - 1) as f64;
    (0..count).map(|at| from + step * at as f64).collect()
}

/// Returns numbers with equal ratios, including both ends.
pub(crate) fn logarithmic(from: f64, to: f64, count: usize) -> Vec<f64> {
    linear(from.ln(), to.ln(), count).into_iter().map(f64::exp).collect()
}
