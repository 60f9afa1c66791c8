//! Value of a fetch as a function of time.

use crate::engine::Engine;
use crate::explain::Explanation;
use crate::source::{Source, SourceState};

/// Evenly spaced points of a curve.
const CURVE_POINTS: u32 = 60;
/// Length of a curve as a multiple of the wait until the due day.
const WAIT_MARGIN: f64 = 1.3;
/// Extension of a curve beyond today, as a share.
const NOW_MARGIN: f64 = 0.05;
/// Length of the curve of a source that is never due, in mean times between changes.
const NEVER_DUE_CHANGES: f64 = 3.0;
/// Bounds on the length of a curve in days.
const MIN_CURVE_DAYS: f64 = 10.0 / 86_400.0;
const MAX_CURVE_DAYS: f64 = 3650.0;

impl Engine {
    /// Value of a fetch of a source on a day, per unit of cost, if nothing happens until then. For
    /// a past day, the value under the current belief. `None` if there is no such source.
    #[must_use]
    pub fn value_on_day(&self, id: u32, day: f64) -> Option<f64> {
        let source = self.sources.get(id as usize).filter(|it| it.state != SourceState::Absent)?;
        Some(self.source_value_on_day(source, day))
    }

    fn source_value_on_day(&self, source: &Source, day: f64) -> f64 {
        let has_value = !source.is_observed() || day >= source.first_pending_day();
        if day < source.last || !has_value { 0.0 } else { self.fetch_value(day, source) }
    }

    /// Price of a fetch of a source now, at its host. `None` if there is no such source.
    #[must_use]
    pub fn source_price(&self, id: u32) -> Option<f64> {
        let source = self.sources.get(id as usize).filter(|it| it.state != SourceState::Absent)?;
        Some(self.host_price(source.host))
    }

    /// Returns the value of a fetch over time, as days and values, from the last answered fetch to
    /// beyond the due day; for a source that is never due, over a few mean times between changes.
    /// Empty if there is no such source.
    #[must_use]
    pub fn value_curve(&self, it: &Explanation) -> Vec<(f64, f64)> {
        let source = self.sources.get(it.id as usize).filter(|it| it.state != SourceState::Absent);
        let Some(source) = source else { return Vec::new() };
        let from = source.last;
        let wait = if it.due_day.is_finite() {
            WAIT_MARGIN * (it.due_day - from)
        } else {
            NEVER_DUE_CHANGES / it.belief.mean()
        };
        let so_far = (1.0 + NOW_MARGIN) * (it.now - from);
        let length = wait.max(so_far).clamp(MIN_CURVE_DAYS, MAX_CURVE_DAYS.max(so_far));
        let mut days: Vec<f64> = (0..=CURVE_POINTS)
            .map(|at| from + length * f64::from(at) / f64::from(CURVE_POINTS))
            .collect();
        days.extend([it.now, it.due_day]);
        let first = self
            .signal_sources
            .active_history(source.history())
            .filter(|history| history.count > 0);
        let first = first.map(|history| source.last + f64::from(history.first_signal_after));
        if let Some(first) =
            first.or((source.pending_changes() > 0).then(|| source.first_pending_day()))
        {
            // The value jumps at the first announced change.
            days.extend([first.next_down(), first]);
        }
        days.retain(|day| (from..=from + length).contains(day));
        days.sort_by(f64::total_cmp);
        days.dedup();
        days.into_iter().map(|day| (day, self.source_value_on_day(source, day))).collect()
    }
}
