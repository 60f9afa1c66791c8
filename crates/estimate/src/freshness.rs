//! Time for which a copy was up to date between two fetches.

use crate::belief::Belief;
use crate::divided_difference::first_difference;

/// Below this many expected changes the difference of two large numbers is replaced by its series.
const SERIES_MAX_CHANGES: f64 = 0.05;

impl Belief {
    /// Expected time, in the `days` after a fetch, for which the copy equals the source: `∫₀^τ
    /// (b/(b+t))ᵃ dt = (b/(a−1))·(1 − (b/(b+τ))^(a−1))`, and `b ln(1 + τ/b)` for `a = 1`. 0 for
    /// days that are not a positive finite number.
    #[must_use]
    pub fn expected_fresh_days(self, days: f64) -> f64 {
        if !(days > 0.0 && days.is_finite()) {
            return 0.0;
        }
        // With x = (a − 1) ln(1 + τ/b) it is b ln(1 + τ/b)·(1 − e^(−x))/x, which is continuous at a
        // = 1.
        let log = (days / self.days()).ln_1p();
        let x = (self.shape() - 1.0) * log;
        self.days() * log * first_difference(-x)
    }
}

/// Expected days until the first change of a source with change rate `rate`, given at least one
/// change in `days`: `1/c − τ e^(−cτ)/(1 − e^(−cτ))`. Between `τ/2` for a source that hardly
/// changes and `1/c` for one that changes constantly. 0 for days that are not a positive finite
/// number.
#[must_use]
pub fn expected_first_change(rate: f64, days: f64) -> f64 {
    if !(days > 0.0 && days.is_finite()) {
        return 0.0;
    }
    let x = if rate > 0.0 { rate * days } else { 0.0 };
    let share = if x < SERIES_MAX_CHANGES {
        let square = x * x;
        0.5 - x * (1.0 / 12.0 - square * (1.0 / 720.0 - square / 30_240.0))
    } else {
        1.0 / x - 1.0 / x.exp_m1()
    };
    days * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
        assert!((got / expect - 1.0).abs() <= tolerance, "{label}: {got:e}, expected {expect:e}");
    }

    /// Simpson's rule.
    fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
        let steps = 20_000;
        let width = (to - from) / f64::from(steps);
        let sum: f64 = (0..=steps)
            .map(|at| {
                let weight = match at {
                    0 => 1.0,
                    at if at == steps => 1.0,
                    at if at % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * f(from + width * f64::from(at))
            })
            .sum();
        sum * width / 3.0
    }

    #[test]
    fn fresh_days_integrate_the_no_change_probability() {
        for shape in [0.01, 0.5, 0.999_999, 1.0, 1.000_000_1, 2.0, 40.0] {
            for days in [1e-3, 0.1, 1.0, 7.0, 60.0] {
                let belief = Belief::new(shape, 3.0).unwrap();
                let expect = integral(0.0, days, |t| belief.no_change_probability(t));
                check(
                    &format!("a = {shape}, τ = {days}"),
                    belief.expected_fresh_days(days),
                    expect,
                    1e-7,
                );
            }
        }
        let sure = Belief::new(1e9, 1e9).unwrap();
        check("a rate that is known", sure.expected_fresh_days(2.0), 1.0 - (-2.0_f64).exp(), 1e-8);
        let moment = Belief::new(0.3, 3.0).unwrap().expected_fresh_days(1e-12);
        check("a moment", moment, 1e-12, 1e-9);
        assert_eq!(sure.expected_fresh_days(-1.0), 0.0);
        assert_eq!(sure.expected_fresh_days(f64::NAN), 0.0);
    }

    #[test]
    fn the_expected_first_change_matches_its_integral() {
        for rate in [1e-6, 1e-3, 0.049, 0.051, 0.3, 1.0, 5.0, 30.0] {
            let inside = integral(0.0, 1.0, |t| t * rate * (-rate * t).exp());
            let expect = inside / -(-rate).exp_m1();
            check(&format!("c = {rate}"), expected_first_change(rate, 1.0), expect, 1e-9);
        }
        check("hardly ever", expected_first_change(1e-300, 4.0), 2.0, 1e-12);
        check("all the time", expected_first_change(1e9, 4.0), 1e-9, 1e-12);
        assert_eq!(expected_first_change(1.0, 0.0), 0.0);
        assert_eq!(expected_first_change(f64::NAN, 2.0), 1.0);
    }

    #[test]
    fn measured_fresh_time_is_unbiased() {
        // Intervals of randomly changing sources. A copy found unchanged was fresh for the whole
        // interval; one found changed was fresh until the first change, which was not observed.
        for (rate, days) in [(0.2, 1.0), (1.0, 1.5), (3.0, 2.0)] {
            let (mut truth, mut measured) = (0.0, 0.0);
            for at in 0..200_000 {
                let chance = (f64::from(at) + 0.5) / 200_000.0;
                let first = -(-chance).ln_1p() / rate;
                truth += first.min(days);
                measured += if first > days { days } else { expected_first_change(rate, days) };
            }
            check(&format!("c = {rate}"), measured, truth, 1e-4);
        }
    }
}
