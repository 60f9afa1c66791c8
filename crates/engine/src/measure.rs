//! What a fetch tells of the time before it.

use freshet_estimate::first_change;

use crate::engine::Engine;
use crate::source::{Source, State};

/// How the copy of a source was since its last fetch, in days, each times its importance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreshnessMeasurement {
    /// How long it was held.
    pub held: f64,
    /// How long it was like the source: of one that was found changed until the first change, as far as
    /// is believed.
    pub fresh: f64,
    /// How long it was expected to be.
    pub expected_fresh: f64,
}

impl Engine {
    /// What a fetch that is answered now tells of the copy before it. To be asked before the engine is
    /// told of the fetch. `None` if there was no copy, or no time has passed.
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
        if source.state == State::Absent || source.is_new() || !is_time {
            return None;
        }
        let belief = self.belief(source);
        let fresh = match changed {
            false => days,
            // The first change was announced.
            true if source.announced_changes() > 0 => {
                (source.first() - source.last).clamp(0.0, days)
            }
            true => first_change(belief.mean(), days),
        };
        let importance = f64::from(source.importance);
        Some(FreshnessMeasurement {
            held: importance * days,
            fresh: importance * fresh,
            expected_fresh: importance * self.expected_days(source, days),
        })
    }

    /// The days of so many for which a copy was expected to be like its source.
    fn expected_days(&self, source: &Source, days: f64) -> f64 {
        let Some(ear) = self.heralds.first_heard(source.ear()) else {
            return self.belief(source).fresh_days(days);
        };
        let missed = ear.reading.missed();
        let all = missed.fresh_days(days);
        if ear.count == 0 {
            return all;
        }
        // As if all signals had come with the first.
        let before = missed.fresh_days(f64::from(ear.first_after).min(days));
        let none = (1.0 - ear.reading.precision()).powf(f64::from(ear.signals));
        before + none * (all - before)
    }
}
