//! Maximum likelihood over irregular intervals.

/// What one fetch told: the days since the fetch before, and whether the source had changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Days since the fetch before.
    pub days: f64,
    /// Whether there was at least one change in them.
    pub changed: bool,
}

/// Days of the two imaginary observations, one with and one without a change, that keep the
/// estimate finite and positive.
const SMOOTHING_DAYS: f64 = 0.5;

/// Changes per day by maximum likelihood, smoothed by one imaginary half-day with a change and
/// one without (Kolobov et al. 2019, Alg. 4): the root of
/// `Σ_changed a/(e^(aΔ) − 1) + 0.5/(e^(0.5Δ) − 1) = Σ_unchanged a + 0.5`.
///
/// Intervals that are not positive numbers are passed over. No observations give `2 ln 2`.
#[must_use]
pub fn smoothed_rate(observations: &[Observation]) -> f64 {
    let valid = |observation: &&Observation| observation.days.is_finite() && observation.days > 0.0;
    let unchanged: f64 = observations
        .iter()
        .filter(valid)
        .filter(|observation| !observation.changed)
        .map(|observation| observation.days)
        .sum();
    let right = unchanged + SMOOTHING_DAYS;
    let term = |days: f64, rate: f64| days / (days * rate).exp_m1();
    let excess = |rate: f64| {
        let changed = observations.iter().filter(valid).filter(|observation| observation.changed);
        let left: f64 = changed.map(|observation| term(observation.days, rate)).sum();
        left + term(SMOOTHING_DAYS, rate) - right
    };
    // The left side falls from infinity to zero: close in on the bits of a positive number.
    let (mut low, mut high) = (1e-300_f64, 1e300_f64);
    loop {
        let middle = f64::from_bits(u64::midpoint(low.to_bits(), high.to_bits()));
        if middle <= low || middle >= high {
            return low;
        }
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(history: &[(f64, bool)], expect: f64) {
        let history: Vec<Observation> =
            history.iter().map(|&(days, changed)| Observation { days, changed }).collect();
        let rate = smoothed_rate(&history);
        assert!((rate / expect - 1.0).abs() < 1e-12, "{rate}, expected {expect}");
    }

    #[test]
    fn equal_intervals_have_a_closed_form() {
        // With X changes in N intervals of half a day, the two imaginary ones included:
        // e^(−Δ/2) = (N − X)/N.
        let closed = |x: f64, n: f64| -2.0 * ((n - x) / n).ln();
        check(&[], closed(1.0, 2.0));
        check(&[(0.5, true)], closed(2.0, 3.0));
        check(&[(0.5, false); 8], closed(1.0, 10.0));
        check(&[(0.5, true), (0.5, false), (0.5, true)], closed(3.0, 5.0));
    }

    #[test]
    fn every_fetch_or_none_finding_a_change_stays_finite() {
        let always = smoothed_rate(&[Observation { days: 1.0, changed: true }; 1000]);
        let never = smoothed_rate(&[Observation { days: 365.0, changed: false }; 10]);
        assert!(always.is_finite() && always > 5.0);
        assert!(never > 0.0 && never < 1e-3);
    }
}
