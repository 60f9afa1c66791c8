//! What a fetch of a source is worth as time goes by.

use crate::engine::Engine;
use crate::explain::Explanation;
use crate::source::{Source, State};

/// Points of a curve, beside those at which something happens.
const POINTS: u32 = 60;
/// How far past the day on which it is due the curve goes, as a share of the wait.
const PAST: f64 = 1.3;
/// The same past today.
const AHEAD: f64 = 0.05;
/// Of a source that is never due, the times between two changes that the curve goes.
const CHANGES: f64 = 3.0;
/// Days that a curve goes at least and most.
const SHORTEST: f64 = 10.0 / 86_400.0;
const LONGEST: f64 = 3650.0;

impl Engine {
    /// What a fetch of a source is worth on a day for each unit of cost, if nothing happens until then;
    /// of a day in the past, what it was by what is believed now. `None` if there is no such source.
    #[must_use]
    pub fn worth_at(&self, id: u32, day: f64) -> Option<f64> {
        let source = self.sources.get(id as usize).filter(|it| it.state != State::Absent)?;
        Some(self.worth_of(source, day))
    }

    fn worth_of(&self, source: &Source, day: f64) -> f64 {
        let is_announced = !source.is_observed() || day >= source.first();
        if day < source.last || !is_announced { 0.0 } else { self.worth(day, source) }
    }

    /// What a fetch of a source must be worth now. `None` if there is no such source.
    #[must_use]
    pub fn price_of(&self, id: u32) -> Option<f64> {
        let source = self.sources.get(id as usize).filter(|it| it.state != State::Absent)?;
        Some(self.price_at(source.host))
    }

    /// The curve on which the worth of a fetch climbs to the price, as days and worths: from the last
    /// fetch that was answered to past the day on which it is due; of a source that is never due, as
    /// long as a few changes take. Empty if there is no such source.
    #[must_use]
    pub fn value_curve(&self, it: &Explanation) -> Vec<(f64, f64)> {
        let source = self.sources.get(it.id as usize).filter(|it| it.state != State::Absent);
        let Some(source) = source else { return Vec::new() };
        let from = source.last;
        let wait =
            if it.due.is_finite() { PAST * (it.due - from) } else { CHANGES / it.belief.mean() };
        let so_far = (1.0 + AHEAD) * (it.now - from);
        let length = wait.max(so_far).clamp(SHORTEST, LONGEST.max(so_far));
        let mut days: Vec<f64> =
            (0..=POINTS).map(|at| from + length * f64::from(at) / f64::from(POINTS)).collect();
        days.extend([it.now, it.due]);
        let first = self.heralds.first_heard(source.ear()).filter(|ear| ear.count > 0);
        let first = first.map(|ear| source.last + f64::from(ear.first_after));
        if let Some(first) = first.or((source.announced_changes() > 0).then(|| source.first())) {
            // It jumps when the first change is announced.
            days.extend([first.next_down(), first]);
        }
        days.retain(|day| (from..=from + length).contains(day));
        days.sort_by(f64::total_cmp);
        days.dedup();
        days.into_iter().map(|day| (day, self.worth_of(source, day))).collect()
    }
}
