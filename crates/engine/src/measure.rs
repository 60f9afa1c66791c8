//! What a fetch tells of the time before it.

use freshet_estimate::first_change;

use crate::engine::Engine;
use crate::source::State;

/// How the copy of a source was since its last fetch, in days, each times its importance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// How long it was held.
    pub held: f64,
    /// How long it was like the source: of one that was found changed until the first change, as far as
    /// is believed.
    pub fresh: f64,
    /// How long it was expected to be.
    pub expected: f64,
}

impl Engine {
    /// What a fetch that is answered now tells of the copy before it. To be asked before the engine is
    /// told of the fetch. `None` if there was no copy, or no time has passed.
    #[must_use]
    pub fn measured(&self, id: u32, now: f64, changed: bool) -> Option<Measured> {
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
            true if source.is_observed() && source.pending > 0 => {
                (source.first() - source.last).clamp(0.0, days)
            }
            true => first_change(belief.mean(), days),
        };
        let importance = f64::from(source.importance);
        Some(Measured {
            held: importance * days,
            fresh: importance * fresh,
            expected: importance * belief.fresh_days(days),
        })
    }
}
