//! The engine's view of one source over time, beside the truth.

use freshet_engine::{Explanation, FetchReason};

use crate::error::SimError;
use crate::experiment::Experiment;
use crate::policy::{Outcome, PolicyKind, SourceRecorder};
use crate::run::run;

/// Events of a source, and the engine's view after each.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceStory {
    /// Events in order of time.
    pub moments: Vec<Moment>,
    /// The engine's explanation at the end; `None` if it no longer has the source.
    pub end: Option<Explanation>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The day.
    pub day: f64,
    /// The event.
    pub what: MomentKind,
    /// State before the event, on which a decision was based.
    pub before: Option<DecisionState>,
    /// True number of changes that the copy lacks after it.
    pub missed: u32,
    /// True change rate; for a trace, in hindsight.
    pub rate: f64,
    /// The engine's explanation after it; `None` if it does not have the source.
    pub after: Option<Explanation>,
}

/// State of a source at a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionState {
    /// Age of the copy in days; `None` without a copy.
    pub age: Option<f64>,
    /// Value of a fetch.
    pub worth: f64,
    /// Price of a fetch.
    pub price: f64,
}

impl DecisionState {
    pub(crate) fn of(it: &Explanation, day: f64) -> Self {
        Self { age: it.last_fetch.map(|last| day - last), worth: it.value, price: it.price }
    }
}

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MomentKind {
    /// The source was added, with a copy.
    Described,
    /// The source was removed, and the engine is informed.
    Removed,
    /// The source has changed; the engine is not informed.
    Changed,
    /// The source has changed and announces it.
    Announced,
    /// A signal says that the source has changed; it may be wrong.
    Signalled,
    /// A fetch has finished.
    Fetched {
        /// Reason of the fetch.
        reason: FetchReason,
        /// The day.
        asked: f64,
        /// Outcome of the fetch.
        outcome: Outcome,
    },
    /// The source has been gone for so long that it is no longer fetched.
    GivenUp,
    /// The engine considers the host unreachable.
    HostDown,
    /// The host answers again.
    HostBack,
    /// The budget changed.
    Budget(f64),
    /// The change rate was multiplied.
    Rate(f64),
    /// No event for some time.
    Waits,
    /// The simulation has ended.
    End,
}

impl Experiment {
    /// Runs the engine on the first seed and records one source. The run is the same as in
    /// [`run`](Self::run).
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn explain(&self, source: u32) -> Result<SourceStory, SimError> {
        let (calendar, web, budget) = self.first()?;
        if source as usize >= web.population.len() {
            return Ok(SourceStory { moments: Vec::new(), end: None });
        }
        let engine = self.policies.iter().find(|choice| choice.kind == PolicyKind::Engine);
        let setting = self.setting(&web, budget, &calendar, 0);
        let variant = engine.and_then(|choice| choice.variant());
        let mut witness = SourceRecorder::new(&setting, variant, source);
        run(&web, &mut witness, calendar, self.objective.capture());
        Ok(witness.close(calendar.days))
    }
}
