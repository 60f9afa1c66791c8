//! What one fetch told, and the end of a history.

/// What one fetch told: the days since the fetch before, and whether the source had changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Days since the fetch before.
    pub days: f64,
    /// Whether there was at least one change in them.
    pub changed: bool,
}

impl Observation {
    /// Whether the interval is a positive number; estimators pass over the others.
    pub(crate) fn is_valid(&self) -> bool {
        self.days.is_finite() && self.days > 0.0
    }
}

/// The last `fetches` observations of a history in time order, or all if there are fewer:
/// `obs_hist[S]` of Kolobov et al. 2019, Alg. 4, with the length counted in observations.
#[must_use]
pub fn last_fetches(history: &[Observation], fetches: usize) -> &[Observation] {
    &history[history.len().saturating_sub(fetches)..]
}

/// The observations made in the last `days` of a history in time order, which ends with its last
/// fetch: `obs_hist[S]` of Kolobov et al. 2019, Alg. 4, with the length in time.
///
/// An observation counts from the fetch that made it, so the first of the result may look back on
/// an interval that began earlier. A fetch exactly `days` before the last is left out. Intervals
/// that are not positive numbers take no time. None for `days ≤ 0` or not a number.
#[must_use]
pub fn last_days(history: &[Observation], days: f64) -> &[Observation] {
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
        assert_eq!(last_days(&history, days).len(), expect, "{days} days");
    }

    #[test]
    fn a_fetch_counts_when_it_was_made_within_the_days() {
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
        assert_eq!(last_fetches(&history, 2).len(), 2);
        assert_eq!(last_fetches(&history, 9).len(), 3);
        assert!(last_fetches(&[], 9).is_empty());
    }
}
