//! The engine's reasoning about one source over time, beside what is true.

use freshet_engine::{Explanation, Reason};

use crate::error::SimError;
use crate::experiment::Experiment;
use crate::policy::{Outcome, PolicyKind, SourceRecorder};
use crate::run::run;

/// What happened to a source, and what the engine made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// In order of time.
    pub moments: Vec<Moment>,
    /// What the engine says at the end; `None` if it does not know the source any more.
    pub end: Option<Explanation>,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// When.
    pub day: f64,
    /// What.
    pub what: What,
    /// What a decision was made on: how things stood before.
    pub before: Option<Standpoint>,
    /// Changes that the copy lacks after it, in truth.
    pub missed: u32,
    /// The true change rate; of a record, in hindsight.
    pub rate: f64,
    /// What the engine thinks after it, as of its last step; `None` if it knows of no such source.
    pub after: Option<Explanation>,
}

/// How things stood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standpoint {
    /// Days since the copy was made; `None` if there is none.
    pub age: Option<f64>,
    /// What a fetch was worth.
    pub worth: f64,
    /// What it had to be worth.
    pub price: f64,
}

impl Standpoint {
    pub(crate) fn of(it: &Explanation, day: f64) -> Self {
        Self { age: it.last.map(|last| day - last), worth: it.worth, price: it.price }
    }
}

/// What can happen to a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The engine is told of it, with a copy.
    Described,
    /// It is no longer there, and the engine is told.
    Removed,
    /// It has changed. Nobody is told.
    Changed,
    /// It has changed, and says so.
    Announced,
    /// Somebody says that it has changed, truly or not.
    Signalled,
    /// A fetch has come back.
    Fetched {
        /// Why it was asked for.
        reason: Reason,
        /// When.
        asked: f64,
        /// What it brought.
        outcome: Outcome,
    },
    /// It has been gone for so long that it is not asked for any more.
    GivenUp,
    /// Its host does not answer any more, as the engine sees it.
    HostDown,
    /// It does again.
    HostBack,
    /// From now on, so many requests a day for all.
    Budget(f64),
    /// From now on it changes so many times as often.
    Rate(f64),
    /// Nothing for some time.
    Waits,
    /// The simulation is over.
    End,
}

impl Experiment {
    /// Runs the engine on the first seed, with an eye on one source. It is the run that
    /// [`run`](Self::run) makes.
    ///
    /// # Errors
    /// As for a run.
    pub fn explain(&self, source: u32) -> Result<Story, SimError> {
        let (calendar, web, budget) = self.first()?;
        if source as usize >= web.population.len() {
            return Ok(Story { moments: Vec::new(), end: None });
        }
        let engine = self.policies.iter().find(|choice| choice.kind == PolicyKind::Engine);
        let setting = self.setting(&web, budget, &calendar, 0);
        let variant = engine.and_then(|choice| choice.variant());
        let mut witness = SourceRecorder::new(&setting, variant, source);
        run(&web, &mut witness, calendar, self.objective.capture());
        Ok(witness.close(calendar.days))
    }
}
