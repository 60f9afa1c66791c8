//! Webs and policies in; measures of each policy out. One seed replays a whole run, on any
//! number of threads. Opens no file or socket and reads no clock: time is virtual, in days.
//!
//! The sources of a web change, a policy receives events and returns sources to fetch, and a ledger accumulates the
//! cost of the copies in between. The changes of a source are drawn from its own random
//! numbers, so that all policies see the same changes.
//!
//! ```
//! use freshet_sim::{Experiment, Origin, Synthetic, WebKind};
//!
//! let web = Synthetic { sources: 200, ..Synthetic::AZAR };
//! let mut experiment = Experiment::new(Origin::Synthetic(web, WebKind::Poisson));
//! experiment.policies = vec!["optimum".parse()?, "uniform".parse()?];
//! let report = experiment.run(&|_| {})?;
//! let freshness = |at: usize| report.policies[at].measured.freshness.mean;
//! assert!(freshness(0) > freshness(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distribution;
mod population;
mod process;
mod seed;

mod fault;
mod scenario;
mod signals;
mod web;

mod backlog;
mod ledger;
mod run;

mod objective;
mod policy;
mod setting;

mod experiment;
mod report;
mod source_story;

mod error;

pub use freshet_engine::{DueReason, Explanation, FetchReason, SourcePhase};

pub use distribution::{Distribution, InvalidDistribution};
pub use error::{SimError, UnknownName};
pub use experiment::{Experiment, Progress};
pub use fault::{Fault, FaultKind, InvalidFault};
pub use ledger::{Calendar, Ledger, Sums};
pub use objective::SimObjective;
pub use policy::{Choice, Event, Outcome, Policy, PolicyKind};
pub use population::{Population, Presence, Synthetic};
pub use process::{Process, Stream, WebKind};
pub use report::{MeanWithInterval, Measured, PolicyReport, Report, Series};
pub use run::{Run, run};
pub use scenario::{
    Allowance, InvalidScenarioEvent, Scenario, ScenarioAction, ScenarioEvent, Selection,
};
pub use setting::Setting;
pub use signals::{InvalidSignals, Quality, Signals};
pub use source_story::{DecisionState, Moment, MomentKind, SourceStory};
pub use web::{Origin, Web};
