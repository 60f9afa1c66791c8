//! Measures the freshness of a copy when it is fetched again.

use freshet_estimate::expected_first_change;

use crate::engine::Engine;
use crate::source::{Source, SourceState};

/// State of a copy since its last fetch, in days, each weighted by importance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreshnessMeasurement {
    /// Time for which the copy was held.
    pub held_days: f64,
    /// Time for which it equalled the source: if it was found changed, the expected time until the
    /// first change.
    pub fresh_days: f64,
    /// Time for which it was expected to equal the source.
    pub expected_fresh_days: f64,
}

impl Engine {
    /// Measures the copy that a fetch answered now replaces. Call it before the engine processes
    /// the fetch. `None` if there was no copy or no time has passed.
    #[must_use]
    pub fn measure_freshness(
        &self,
        id: u32,
        now: f64,
        changed: bool,
    ) -> Option<FreshnessMeasurement> {
        let source = self.sources.get(id as usize)?;
        let days = now - source.last;
        let is_time = days > 0.0 && days.is_finite();
        if source.state == SourceState::Absent || source.is_new() || !is_time {
            return None;
        }
        let belief = self.belief(source);
        let fresh = match changed {
            false => days,
            // The time of the first change is known.
            true if source.pending_changes() > 0 => {
                (source.first_pending_day() - source.last).clamp(0.0, days)
            }
            true => expected_first_change(belief.mean(), days),
        };
        let importance = f64::from(source.importance);
        Some(FreshnessMeasurement {
            held_days: importance * days,
            fresh_days: importance * fresh,
            expected_fresh_days: importance * self.expected_days(source, days),
        })
    }

    /// Expected fresh days of a copy out of `days`.
    fn expected_days(&self, source: &Source, days: f64) -> f64 {
        let Some(history) = self.signal_sources.active_history(source.history()) else {
            return self.belief(source).expected_fresh_days(days);
        };
        let missed = history.estimate.unsignalled_belief();
        let all = missed.expected_fresh_days(days);
        if history.count == 0 {
            return all;
        }
        // As if all signals had arrived with the first one.
        let before = missed.expected_fresh_days(f64::from(history.first_signal_after).min(days));
        let none = (1.0 - history.estimate.precision()).powf(f64::from(history.signals));
        before + none * (all - before)
    }
}
