//! Why fetches are made.

use freshet_engine::Engine;
use freshet_store::{Decision, Reason};

use super::Core;

impl Core {
    /// A fetch is handed out.
    pub(super) fn decided(&mut self, id: u32, reason: Reason) {
        let mut decision = decision(&self.engine, id, reason);
        if let Some(before) = self.flow.decided.get(&id).filter(|_| reason == Reason::Retry) {
            // It was put off before it was made: it is still made for what it was to be made for.
            decision.reason = before.reason;
        }
        self.flow.decided.insert(id, decision);
    }

    /// Why a fetch was made that is over, and what is believed before the engine is told of it.
    pub(super) fn was_decided(&mut self, id: u32) -> Option<Decision> {
        let decision = self.flow.decided.remove(&id)?;
        Some(Decision { believed: believed(&self.engine, id), ..decision })
    }
}

/// Why a source is fetched now.
pub(crate) fn decision(engine: &Engine, id: u32, reason: Reason) -> Decision {
    let is_new = engine.learnt(id).is_none_or(|learnt| learnt.fetched().is_none());
    let worth = engine.worth_at(id, engine.now()).filter(|worth| worth.is_finite() && !is_new);
    let price = engine.price_of(id).filter(|price| *price > 0.0);
    Decision { reason, worth, price, believed: believed(engine, id), learnt: None }
}

/// Changes a day, as far as is believed.
pub(crate) fn believed(engine: &Engine, id: u32) -> Option<f64> {
    engine.known(id).map(|known| known.rate).filter(|rate| rate.is_finite())
}

/// What the engine says, as the store knows it.
pub(crate) fn known(reason: freshet_engine::Reason) -> Reason {
    match reason {
        freshet_engine::Reason::New => Reason::New,
        freshet_engine::Reason::Worth => Reason::Worth,
        freshet_engine::Reason::Pending => Reason::Pending,
        freshet_engine::Reason::Overdue => Reason::Overdue,
        freshet_engine::Reason::Retry => Reason::Retry,
        freshet_engine::Reason::Spare => Reason::Spare,
    }
}
