//! Maximum likelihood over irregular intervals.

use crate::observation::Observation;

/// Days of the two imaginary observations, one with and one without a change, that keep the
/// smoothed estimate finite and positive.
const SMOOTHING_DAYS: f64 = 0.5;

/// More than any history needs: convergence is quadratic and takes tens of steps at most.
const MAX_STEPS: usize = 100;
/// Relative step at which only rounding error is left.
const CONVERGENCE_TOLERANCE: f64 = 1e-15;

/// Maximum likelihood estimate of the changes per day over irregular intervals `a`: the root `Δ` of
/// `Σ_changed a/(e^(aΔ) − 1) = Σ_unchanged a` (Kolobov et al. 2019, eq. 10).
///
/// Ignores intervals that are not positive numbers. 0 if no fetch found a change, and so without
/// observations; infinite if every fetch found one.
#[must_use]
pub fn maximum_likelihood_rate(observations: &[Observation]) -> f64 {
    solve_likelihood(observations, 0.0)
}

/// Maximum likelihood estimate of the changes per day, smoothed by one imaginary half-day with a
/// change and one without (Kolobov et al. 2019, Alg. 4): the root of `Σ_changed a/(e^(aΔ) − 1) +
/// 0.5/(e^(0.5Δ) − 1) = Σ_unchanged a + 0.5`.
///
/// Ignores intervals that are not positive numbers. Returns `2 ln 2` without observations. To
/// estimate from a suffix of the history as in Alg. 4, take the suffix with
/// [`last_observations`](crate::last_observations) or
/// [`observations_in_last_days`](crate::observations_in_last_days).
#[must_use]
pub fn smoothed_rate(observations: &[Observation]) -> f64 {
    solve_likelihood(observations, SMOOTHING_DAYS)
}

/// Finds the root by Newton's method on the logarithm of the left side.
///
/// Each term `a/(e^(aΔ) − 1)` is a sum of exponentials and so log-convex in `Δ`, and so is their
/// sum: started left of the root, every step stays on the left. `1/Δ − a/2 ≤ a/(e^(aΔ) − 1)` gives
/// a start on the left.
fn solve_likelihood(observations: &[Observation], smoothing_days: f64) -> f64 {
    let valid = || observations.iter().filter(|observation| observation.is_valid());
    let (mut count, mut changed, mut unchanged) = (0.0, smoothing_days, smoothing_days);
    for observation in valid() {
        if observation.changed {
            count += 1.0;
            changed += observation.days;
        } else {
            unchanged += observation.days;
        }
    }
    if smoothing_days > 0.0 {
        count += 1.0;
    }
    if count == 0.0 {
        return 0.0;
    }
    if unchanged == 0.0 {
        return f64::INFINITY;
    }
    let mut rate = count / (unchanged + changed / 2.0);
    for _ in 0..MAX_STEPS {
        let (mut left, mut slope) = (0.0, 0.0);
        let mut add = |days: f64| {
            let x = days * rate;
            let term = days * (-x).exp() / -(-x).exp_m1();
            left += term;
            slope += term * (term + days);
        };
        if smoothing_days > 0.0 {
            add(smoothing_days);
        }
        for observation in valid().filter(|observation| observation.changed) {
            add(observation.days);
        }
        let step = (left / unchanged).ln() * (left / slope);
        if !step.is_finite() {
            break;
        }
        rate += step;
        if step <= CONVERGENCE_TOLERANCE * rate {
            break;
        }
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn observations(history: &[(f64, bool)]) -> Vec<Observation> {
        history.iter().map(|&(days, changed)| Observation { days, changed }).collect()
    }

    #[track_caller]
    fn check(history: &[(f64, bool)], rate: fn(&[Observation]) -> f64, expect: f64) {
        let rate = rate(&observations(history));
        let close = rate == expect || (rate / expect - 1.0).abs() < 1e-13;
        assert!(close, "{rate}, expected {expect}");
    }

    /// Finds the same root by bisection on the bits of a positive number.
    fn bisected(history: &[Observation], smoothing_days: f64) -> f64 {
        let mut all = history.to_vec();
        if smoothing_days > 0.0 {
            all.push(Observation { days: smoothing_days, changed: true });
            all.push(Observation { days: smoothing_days, changed: false });
        }
        let excess = |rate: f64| -> f64 {
            let term = |o: &Observation| {
                if o.changed { o.days / (o.days * rate).exp_m1() } else { -o.days }
            };
            all.iter().map(term).sum()
        };
        let (mut low, mut high) = (1e-300_f64, 1e300_f64);
        loop {
            let middle = f64::from_bits(u64::midpoint(low.to_bits(), high.to_bits()));
            if middle <= low || middle >= high {
                return low;
            }
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
    }

    #[test]
    fn equal_intervals_have_a_closed_form() {
        // With X changes in N intervals of half a day, including the imaginary ones: e^(−Δ/2) = (N
        // − X)/N.
        let closed = |x: f64, n: f64| -2.0 * (-x / n).ln_1p();
        check(&[], smoothed_rate, closed(1.0, 2.0));
        check(&[(0.5, true)], smoothed_rate, closed(2.0, 3.0));
        check(&[(0.5, false); 8], smoothed_rate, closed(1.0, 10.0));
        check(&[(0.5, true), (0.5, false), (0.5, true)], smoothed_rate, closed(3.0, 5.0));
        check(&[(0.5, true), (0.5, false)], maximum_likelihood_rate, closed(1.0, 2.0));
        let mut long = vec![(0.5, true); 4999];
        long.push((0.5, false));
        check(&long, maximum_likelihood_rate, closed(4999.0, 5000.0));
    }

    #[test]
    fn degenerate_histories_give_zero_or_infinity() {
        check(&[], maximum_likelihood_rate, 0.0);
        check(&[(1.0, false)], maximum_likelihood_rate, 0.0);
        check(&[(1.0, true)], maximum_likelihood_rate, f64::INFINITY);
        check(
            &[(-1.0, false), (f64::NAN, true), (1.0, true)],
            maximum_likelihood_rate,
            f64::INFINITY,
        );
        let always = smoothed_rate(&[Observation { days: 1.0, changed: true }; 1000]);
        let never = smoothed_rate(&[Observation { days: 365.0, changed: false }; 10]);
        assert!(always.is_finite() && always > 5.0);
        assert!(never > 0.0 && never < 1e-3);
    }

    #[test]
    fn extreme_intervals_do_not_give_nan() {
        for (long, short) in [(1e300, 1e-300), (1e-320, 1e-320), (5e-324, 1e308), (1e308, 1e308)] {
            let rate = maximum_likelihood_rate(&observations(&[(long, true), (short, false)]));
            assert!(rate >= 0.0, "{long:e} changed, {short:e} unchanged: {rate}");
        }
    }

    proptest! {
        #[test]
        fn estimates_match_bisection_for_mixed_intervals(
            logarithms in prop::collection::vec((-11.5_f64..8.0, any::<bool>()), 1..60)
        ) {
            let history: Vec<Observation> = logarithms
                .iter()
                .map(|&(logarithm, changed)| Observation { days: logarithm.exp(), changed })
                .collect();
            let smoothed = smoothed_rate(&history);
            prop_assert!((smoothed / bisected(&history, 0.5) - 1.0).abs() < 1e-12);
            if history.iter().any(|o| o.changed) && history.iter().any(|o| !o.changed) {
                let rate = maximum_likelihood_rate(&history);
                prop_assert!((rate / bisected(&history, 0.0) - 1.0).abs() < 1e-12);
            }
        }
    }
}
