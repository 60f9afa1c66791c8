//! Observations of a source and suffixes of its history.

/// Result of one fetch: the days since the previous fetch, and whether the source had changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Days since the previous fetch.
    pub days: f64,
    /// True if there was at least one change in that time.
    pub changed: bool,
}

impl Observation {
    /// True if the interval is a positive number. Estimators ignore the others.
    pub(crate) fn is_valid(&self) -> bool {
        self.days.is_finite() && self.days > 0.0
    }
}

/// Returns the last `fetches` observations of a history in time order, or all if there are fewer:
/// `obs_hist[S]` of Kolobov et al. 2019, Alg. 4, with the length counted in observations.
#[must_use]
pub fn last_observations(history: &[Observation], fetches: usize) -> &[Observation] {
    &history[history.len().saturating_sub(fetches)..]
}

/// Returns the observations made in the last `days` of a history in time order that ends with its
/// last fetch: `obs_hist[S]` of Kolobov et al. 2019, Alg. 4, with the length in time.
///
/// An observation counts at the time of its fetch, so the interval of the first one may begin
/// earlier. A fetch exactly `days` before the last one is excluded. Intervals that are not positive
/// numbers take no time. Empty if `days` is not positive or NaN.
#[must_use]
pub fn observations_in_last_days(history: &[Observation], days: f64) -> &[Observation] {
    let mut age = 0.0;
    let mut start = history.len();
    for observation in history.iter().rev() {
        if age >= days || days.is_nan() {
            break;
        }
        start -= 1;
        if observation.is_valid() {
            age += observation.days;
        }
    }
    &history[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(days: f64, expect: usize) {
        let history: Vec<Observation> = [4.0, 2.0, f64::NAN, 1.0]
            .iter()
            .map(|&days| Observation { days, changed: false })
            .collect();
        assert_eq!(observations_in_last_days(&history, days).len(), expect, "{days} days");
    }

    #[test]
    fn an_observation_counts_if_its_fetch_is_within_the_days() {
        // Fetches were made 7 (the start), 3, 1, 1 and 0 days before the end.
        check(0.0, 0);
        check(f64::NAN, 0);
        check(0.5, 1);
        check(1.0, 1);
        check(1.5, 3);
        check(3.0, 3);
        check(3.5, 4);
        check(f64::INFINITY, 4);
    }

    #[test]
    fn a_suffix_is_never_longer_than_the_history() {
        let history = [Observation { days: 1.0, changed: true }; 3];
        assert_eq!(last_observations(&history, 2).len(), 2);
        assert_eq!(last_observations(&history, 9).len(), 3);
        assert!(last_observations(&[], 9).is_empty());
    }
}
