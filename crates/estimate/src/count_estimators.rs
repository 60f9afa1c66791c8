//! Change rate estimators that need only counts.

use crate::observation::Observation;

/// Returns the number of fetches, the changes found, and the days observed.
fn count_totals(observations: &[Observation]) -> (f64, f64, f64) {
    let mut totals = (0.0, 0.0, 0.0);
    for observation in observations.iter().filter(|observation| observation.is_valid()) {
        totals.0 += 1.0;
        totals.1 += f64::from(u8::from(observation.changed));
        totals.2 += observation.days;
    }
    totals
}

/// Naive estimate: changes found per day observed, `X/T`. Biased low when a fetch finds several
/// changes as one (Cho & Garcia-Molina 2003, Estimating frequency of change, §4.1).
///
/// Ignores intervals that are not positive numbers. Returns 0 without observations.
#[must_use]
pub fn naive_rate(observations: &[Observation]) -> f64 {
    let (_, changes, days) = count_totals(observations);
    if changes > 0.0 { changes / days } else { 0.0 }
}

/// Bias-reduced estimate for a source polled at regular intervals: `−ln((N − X + 0.5)/(N + 0.5))/I`
/// for `X` changes in `N` fetches (Cho & Garcia-Molina 2003, Estimating frequency of change, §4.2).
/// `I` is the mean interval.
///
/// Ignores intervals that are not positive numbers. Returns 0 without observations.
#[must_use]
pub fn bias_reduced_rate(observations: &[Observation]) -> f64 {
    let (fetches, changes, days) = count_totals(observations);
    if changes > 0.0 { -(-changes / (fetches + 0.5)).ln_1p() * (fetches / days) } else { 0.0 }
}

/// Change rate of a source whose every change is observed, smoothed by half a change in half a day:
/// `(U + 0.5)/(t + 0.5)` for `U` changes in `t` days (Kolobov et al. 2019, eq. 11 as used in Alg.
/// 4). The smoothing is in days, so the estimate depends on the unit of time.
///
/// Days that are not a positive number count as 0. Returns 1 without observations.
#[must_use]
pub fn observed_rate(changes: u64, days: f64) -> f64 {
    let days = if days.is_finite() && days > 0.0 { days } else { 0.0 };
    (changes as f64 + 0.5) / (days + 0.5)
}

/// Change rate from last-modified dates: `((X − 1) − X/(N ln(1 − X/N)))/T` for `X` changes found in
/// `N` fetches (Cho & Garcia-Molina 2003, Estimating frequency of change, §5). `unchanged_days` is
/// `T`, the sum over fetches of the days without a change just before each fetch: from the last
/// modification to the fetch if there was a change, otherwise the whole interval.
///
/// With a change at every fetch the logarithmic term has the limit 0, and the estimate is `(N −
/// 1)/T`. Returns 0 without fetches or changes; `changes` above `fetches` count as `fetches`.
/// Without unchanged days the estimate is infinite, or 0 with at most one fetch.
#[must_use]
pub fn last_modified_rate(fetches: u64, changes: u64, unchanged_days: f64) -> f64 {
    let (n, x) = (fetches as f64, changes.min(fetches) as f64);
    if x == 0.0 || unchanged_days.is_nan() {
        return 0.0;
    }
    let correction = if x < n { x / n / -(-x / n).ln_1p() } else { 0.0 };
    let corrected = x - 1.0 + correction;
    if corrected > 0.0 { corrected / unchanged_days.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, rate: f64, expect: f64) {
        let close = rate == expect || (rate / expect - 1.0).abs() < 1e-14;
        assert!(close, "{label}: {rate}, expected {expect}");
    }

    fn history(changed: usize, unchanged: usize, days: f64) -> Vec<Observation> {
        let mut history = vec![Observation { days, changed: true }; changed];
        history.extend(vec![Observation { days, changed: false }; unchanged]);
        history
    }

    #[test]
    fn count_estimators_have_known_values() {
        check("naive", naive_rate(&history(3, 7, 2.0)), 3.0 / 20.0);
        check("naive, nothing", naive_rate(&[]), 0.0);
        check("naive, one", naive_rate(&history(1, 0, 0.25)), 4.0);
        // 6 changes in 10 daily fetches: −ln(4.5/10.5).
        check("reduced", bias_reduced_rate(&history(6, 4, 1.0)), (10.5_f64 / 4.5).ln());
        check("reduced, all", bias_reduced_rate(&history(10, 0, 2.0)), 21.0_f64.ln() / 2.0);
        check("reduced, none", bias_reduced_rate(&history(0, 10, 2.0)), 0.0);
        check("reduced, nothing", bias_reduced_rate(&[]), 0.0);
    }

    #[test]
    fn invalid_intervals_are_ignored() {
        let mut polls = history(3, 7, 2.0);
        let (naive, reduced) = (naive_rate(&polls), bias_reduced_rate(&polls));
        for days in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            polls.push(Observation { days, changed: true });
        }
        check("naive", naive_rate(&polls), naive);
        check("reduced", bias_reduced_rate(&polls), reduced);
    }

    #[test]
    fn observed_changes() {
        check("some", observed_rate(10, 4.5), 2.1);
        check("nothing", observed_rate(0, 0.0), 1.0);
        check("no days", observed_rate(1, f64::NAN), 3.0);
    }

    #[test]
    fn last_modified_dates() {
        // X = 1 of N = 2: (0 + 0.5/ln 2)/T.
        check("half", last_modified_rate(2, 1, 3.0), 0.5 / 2.0_f64.ln() / 3.0);
        check("every fetch", last_modified_rate(5, 5, 2.0), 2.0);
        check("more than fetches", last_modified_rate(5, 9, 2.0), 2.0);
        check("one", last_modified_rate(1, 1, 2.0), 0.0);
        check("none", last_modified_rate(5, 0, 2.0), 0.0);
        check("no fetches", last_modified_rate(0, 0, 0.0), 0.0);
        check("at once", last_modified_rate(5, 2, 0.0), f64::INFINITY);
    }
}
