//! Independent calculation of rates: the value of a fetch in scale-free form, and its inverse.
//!
//! It shares only the formulas with the planner. A price between two adjacent numbers
//! brackets each rate, because all rates fall as the price rises.

/// Bisection steps until two numbers are adjacent, from any bracket.
const HALVINGS: usize = 1100;
/// Beyond this many changes between fetches nothing is left of e^(−x).
const LONG: f64 = 800.0;

/// An objective by its value of a fetch after x expected changes, at fixed intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// 1 − e^(−x)(1 + x)
    Freshness,
    /// x²/2 − 1 + e^(−x)(1 + x)
    Age,
}

impl Index {
    /// Returns the value, per unit of importance and scale of time.
    pub(crate) fn value(self, x: f64) -> f64 {
        let both = if x < 1e-2 {
            x * x * (0.5 - x * (1.0 / 3.0 - x * (1.0 / 8.0 - x * (1.0 / 30.0 - x / 144.0))))
        } else {
            -(-x).exp_m1() - x * (-x).exp()
        };
        match self {
            Self::Freshness => both,
            Self::Age if x < 1e-2 => {
                x * x * x * (1.0 / 3.0 - x * (1.0 / 8.0 - x * (1.0 / 30.0 - x / 144.0)))
            }
            Self::Age => 0.5 * x * x - both,
        }
    }

    /// Returns the x at which that is y; infinite if it never is. By Newton's method, held between bounds
    /// that close in.
    pub(crate) fn inverse(self, y: f64) -> f64 {
        if self == Self::Freshness && y >= 1.0 {
            return f64::INFINITY;
        }
        let (mut low, mut high) = match self {
            Self::Freshness => (0.0, LONG),
            Self::Age => (0.0, (2.0 * (y + 1.0)).sqrt() + 1.0),
        };
        let mut x = match self {
            Self::Freshness if y < 0.3 => (2.0 * y).sqrt(),
            Self::Freshness => 1.0 - (1.0 - y).ln(),
            Self::Age if y < 1.0 => (3.0 * y).cbrt(),
            Self::Age => (2.0 * (y + 1.0)).sqrt(),
        };
        for _ in 0..HALVINGS {
            let error = self.value(x) - y;
            if error > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let slope = match self {
                Self::Freshness => x * (-x).exp(),
                Self::Age => x * -(-x).exp_m1(),
            };
            let step = error / slope;
            if step.abs() <= 4.0 * f64::EPSILON * x {
                return x - step;
            }
            let next = x - step;
            x = if next > low && next < high { next } else { low + 0.5 * (high - low) };
        }
        x
    }

    /// Fetches a day of a source at a price.
    pub(crate) fn rate(self, weight: f64, change: f64, price: f64) -> f64 {
        let scale = match self {
            Self::Freshness => change,
            Self::Age => change * change,
        };
        change / self.inverse(price * scale / weight)
    }

    /// Returns the lowest and the highest that each rate can be, if the rates are best and add up to the
    /// budget.
    pub(crate) fn bracket(self, weights: &[f64], changes: &[f64], budget: f64) -> Vec<(f64, f64)> {
        let rates = |price: f64| -> Vec<f64> {
            let each = weights.iter().zip(changes);
            each.map(|(&weight, &change)| self.rate(weight, change, price)).collect()
        };
        let above = |price: f64| rates(price).iter().sum::<f64>() > budget;
        let (low, high) = bisect(1e-9, 1e9, above);
        // Rounding error of a rate near its root.
        let slack = 1e-10;
        let ends = rates(high).into_iter().zip(rates(low));
        ends.map(|(least, most)| (least * (1.0 - slack), most * (1.0 + slack))).collect()
    }
}

/// Returns the neighbours between which a condition ceases to hold.
pub(crate) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    for _ in 0..HALVINGS {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_smooth_where_the_series_takes_over() {
        for index in [Index::Freshness, Index::Age] {
            let ratio = index.value(0.01 - 1e-9) / index.value(0.01 + 1e-9);
            assert!((ratio - 1.0).abs() < 1e-6, "{index:?}: {ratio}");
        }
    }

    #[test]
    fn inverses_invert() {
        for index in [Index::Freshness, Index::Age] {
            for x in [1e-3, 0.5, 1.793, 12.0] {
                let back = index.inverse(index.value(x));
                assert!((back / x - 1.0).abs() < 1e-9, "{index:?}: {x} and {back}");
            }
        }
        assert_eq!(Index::Freshness.inverse(1.0), f64::INFINITY);
    }

    #[test]
    fn brackets_are_narrow_and_hold_the_budget() {
        let (weights, changes) = ([1.0, 2.0, 0.5], [1.0, 0.3, 4.0]);
        for index in [Index::Freshness, Index::Age] {
            let ends = index.bracket(&weights, &changes, 2.0);
            let (least, most) = ends.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
            assert!(least <= 2.0 && most >= 2.0 && most - least < 1e-9, "{ends:?}");
        }
    }
}
