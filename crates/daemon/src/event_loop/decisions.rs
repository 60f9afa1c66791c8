//! Reasons for fetches.

use freshet_engine::Engine;
use freshet_store::{Decision, StoredReason};

use super::EventLoop;

impl EventLoop {
    /// Remembers why a fetch is handed out.
    pub(super) fn remember_decision(&mut self, id: u32, reason: StoredReason) {
        let mut decision = make_decision(&self.engine, id, reason);
        if let Some(before) =
            self.in_flight.decisions.get(&id).filter(|_| reason == StoredReason::Retry)
        {
            // A retry of a postponed fetch keeps the original reason.
            decision.reason = before.reason;
        }
        self.in_flight.decisions.insert(id, decision);
    }

    /// Takes the reason of a finished fetch and adds the belief held before its result.
    pub(super) fn take_decision(&mut self, id: u32) -> Option<Decision> {
        let decision = self.in_flight.decisions.remove(&id)?;
        Some(Decision { rate_before: believed_rate(&self.engine, id), ..decision })
    }
}

/// Returns the decision to fetch a source now.
pub(crate) fn make_decision(engine: &Engine, id: u32, reason: StoredReason) -> Decision {
    let is_new = engine.learned_state(id).is_none_or(|learned| learned.last_fetch().is_none());
    let worth = engine.value_on_day(id, engine.now()).filter(|worth| worth.is_finite() && !is_new);
    let (price, believed) = (known_price(engine, id), believed_rate(engine, id));
    Decision { reason, value: worth, price, rate_before: believed, rate_after: None }
}

/// Returns the price that applies to a source, if one is known yet.
fn known_price(engine: &Engine, id: u32) -> Option<f64> {
    engine.source_price(id).filter(|price| *price > 0.0)
}

/// Returns the estimated changes per day.
pub(crate) fn believed_rate(engine: &Engine, id: u32) -> Option<f64> {
    engine.source_belief(id).map(|known| known.change_rate).filter(|rate| rate.is_finite())
}

/// Maps the engine's reason to the store's.
pub(super) fn stored_reason(
    engine: &Engine,
    id: u32,
    reason: freshet_engine::FetchReason,
) -> StoredReason {
    match reason {
        freshet_engine::FetchReason::New => StoredReason::New,
        // The first fetch with a value sets the first price; this one had no value.
        freshet_engine::FetchReason::Value if known_price(engine, id).is_none() => {
            StoredReason::Spare
        }
        freshet_engine::FetchReason::Value => StoredReason::Value,
        freshet_engine::FetchReason::PendingChanges => StoredReason::Pending,
        freshet_engine::FetchReason::Overdue => StoredReason::Overdue,
        freshet_engine::FetchReason::Retry => StoredReason::Retry,
        freshet_engine::FetchReason::SpareBudget => StoredReason::Spare,
    }
}

#[cfg(test)]
mod tests {
    use freshet_engine::{Action, EngineSettings, Event, FetchResult, SourceDescription};

    use super::*;

    /// Fetches one source on each of `days`. Returns the engine's reasons and the stored decisions.
    fn reasons(days: &[f64]) -> Vec<(freshet_engine::FetchReason, Decision)> {
        let settings = EngineSettings { budget: 1e6, host_gap: 0.0, ..EngineSettings::default() };
        let mut engine = Engine::new(0.0, settings);
        engine.step(0.0, Event::SourcesDescribed(vec![SourceDescription::new(0)]), &mut Vec::new());
        let mut all = Vec::new();
        for &day in days {
            let mut actions = Vec::new();
            engine.step(day, Event::CapacityAdded(1), &mut actions);
            for action in actions {
                let Action::Fetch { id, reason } = action else { continue };
                all.push((reason, make_decision(&engine, id, stored_reason(&engine, id, reason))));
                engine.step(
                    day,
                    Event::FetchFinished { id, outcome: FetchResult::Unchanged },
                    &mut Vec::new(),
                );
            }
        }
        all
    }

    #[test]
    fn a_fetch_without_a_known_price_counts_as_spare() {
        // Two fetches at the same moment: nothing can have changed by the second, and there is no
        // price yet.
        let all = reasons(&[1.0, 1.0, 2.0]);
        let stored: Vec<_> = all.iter().map(|(_, it)| it.reason).collect();
        assert_eq!(stored, [StoredReason::New, StoredReason::Spare, StoredReason::Value]);
        assert_eq!(all[1].0, freshet_engine::FetchReason::Value);
        assert_eq!((all[1].1.value, all[1].1.price), (Some(0.0), None));
        let last = all[2].1;
        assert!(last.value.unwrap() > 0.0 && last.price.unwrap() > 0.0, "{last:?}");
    }
}
