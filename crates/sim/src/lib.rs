//! Webs and policies in; what the policies made of them out. One seed replays a whole run, on any
//! number of threads. Knows no file, socket or clock: time is virtual, in days.
//!
//! A web changes, a policy is told what it can know and says what to fetch, and a ledger keeps what
//! the copies were worth in the meantime. The changes of a source are drawn from its own random
//! numbers, so that all policies meet the same ones.
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

mod aim;
mod policy;
mod setting;

mod experiment;
mod report;
mod story;

mod error;

pub use freshet_engine::{Because, Explanation, Reason, Standing};

pub use aim::Aim;
pub use distribution::{Distribution, InvalidDistribution};
pub use error::{SimError, UnknownName};
pub use experiment::{Experiment, Progress};
pub use fault::{Fault, FaultKind, InvalidFault};
pub use ledger::{Calendar, Ledger, Sums};
pub use policy::{Choice, Event, Outcome, Policy, PolicyKind};
pub use population::{Population, Presence, Synthetic};
pub use process::{Process, Stream, WebKind};
pub use report::{Measured, PolicyReport, Report, Series, Spread};
pub use run::{Run, run};
pub use scenario::{Allowance, Happening, InvalidTurn, Scenario, ScenarioEvent, Which};
pub use setting::Setting;
pub use signals::{InvalidSignals, Quality, Signals};
pub use story::{Moment, Standpoint, Story, What};
pub use web::{Origin, Web};
