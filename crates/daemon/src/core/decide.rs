//! Why fetches are made.

use freshet_engine::Engine;
use freshet_store::{Decision, StoredReason};

use super::Core;

impl Core {
    /// A fetch is handed out.
    pub(super) fn decided(&mut self, id: u32, reason: StoredReason) {
        let mut decision = decision(&self.engine, id, reason);
        if let Some(before) = self.flow.decided.get(&id).filter(|_| reason == StoredReason::Retry) {
            // It was put off before it was made: it is still made for what it was to be made for.
            decision.reason = before.reason;
        }
        self.flow.decided.insert(id, decision);
    }

    /// Why a fetch was made that is over, and what is believed before the engine is told of it.
    pub(super) fn was_decided(&mut self, id: u32) -> Option<Decision> {
        let decision = self.flow.decided.remove(&id)?;
        Some(Decision { rate_before: believed(&self.engine, id), ..decision })
    }
}

/// Why a source is fetched now.
pub(crate) fn decision(engine: &Engine, id: u32, reason: StoredReason) -> Decision {
    let is_new = engine.learned_state(id).is_none_or(|learnt| learnt.last_fetch().is_none());
    let worth = engine.worth_at(id, engine.now()).filter(|worth| worth.is_finite() && !is_new);
    let (price, believed) = (price(engine, id), believed(engine, id));
    Decision { reason, value: worth, price, rate_before: believed, rate_after: None }
}

/// What a fetch must be worth, if that is known yet.
fn price(engine: &Engine, id: u32) -> Option<f64> {
    engine.price_of(id).filter(|price| *price > 0.0)
}

/// Changes a day, as far as is believed.
pub(crate) fn believed(engine: &Engine, id: u32) -> Option<f64> {
    engine.known(id).map(|known| known.rate).filter(|rate| rate.is_finite())
}

/// Why the engine fetches a source now, as the store knows it.
pub(super) fn known(engine: &Engine, id: u32, reason: freshet_engine::Reason) -> StoredReason {
    match reason {
        freshet_engine::Reason::New => StoredReason::New,
        // The first fetch that is worth something is the first price: this one was worth nothing.
        freshet_engine::Reason::Worth if price(engine, id).is_none() => StoredReason::Spare,
        freshet_engine::Reason::Worth => StoredReason::Value,
        freshet_engine::Reason::Pending => StoredReason::Pending,
        freshet_engine::Reason::Overdue => StoredReason::Overdue,
        freshet_engine::Reason::Retry => StoredReason::Retry,
        freshet_engine::Reason::Spare => StoredReason::Spare,
    }
}

#[cfg(test)]
mod tests {
    use freshet_engine::{Action, Description, Event, Outcome, Settings};

    use super::*;

    /// Why the one source is fetched on each of some days, as the engine says it and as it is kept.
    fn reasons(days: &[f64]) -> Vec<(freshet_engine::Reason, Decision)> {
        let settings = Settings { budget: 1e6, host_gap: 0.0, ..Settings::default() };
        let mut engine = Engine::new(0.0, settings);
        engine.step(0.0, Event::Described(vec![Description::new(0)]), &mut Vec::new());
        let mut all = Vec::new();
        for &day in days {
            let mut actions = Vec::new();
            engine.step(day, Event::Capacity(1), &mut actions);
            for action in actions {
                let Action::Fetch { id, reason } = action else { continue };
                all.push((reason, decision(&engine, id, known(&engine, id, reason))));
                engine.step(
                    day,
                    Event::Fetched { id, outcome: Outcome::Unchanged },
                    &mut Vec::new(),
                );
            }
        }
        all
    }

    #[test]
    fn without_a_price_nothing_is_worth_it() {
        // Twice at the same moment: the second time nothing can have changed, and there is no price yet.
        let all = reasons(&[1.0, 1.0, 2.0]);
        let kept: Vec<_> = all.iter().map(|(_, it)| it.reason).collect();
        assert_eq!(kept, [StoredReason::New, StoredReason::Spare, StoredReason::Value]);
        assert_eq!(all[1].0, freshet_engine::Reason::Worth);
        assert_eq!((all[1].1.value, all[1].1.price), (Some(0.0), None));
        let last = all[2].1;
        assert!(last.value.unwrap() > 0.0 && last.price.unwrap() > 0.0, "{last:?}");
    }
}
