//! Events in; fetches out. One loop that learns, prices and decides, driven by the caller: it has no
//! clock, does no input or output, and the same events give the same actions.

mod bucket;
mod calendar;
mod chunks;
mod climb;
mod engine;
mod event;
mod explain;
mod heap;
mod herald;
mod heralds;
mod host;
mod known;
mod measure;
mod memory;
mod piles;
mod price;
mod ranked;
mod recall;
mod settings;
mod sight;
mod snapshot;
mod source;
mod survey;
mod value;

pub use engine::Engine;
pub use event::{Action, Alarm, Blame, Event, Outcome, Reason};
pub use explain::{Because, Explanation, HostState, Standing};
pub use herald::{Announced, EarMemory, Herald, HeraldMemory, HeraldReport, Said, Signal};
pub use known::Known;
pub use measure::Measured;
pub use recall::{HostMemory, Learnt};
pub use settings::{InvalidSetting, Profile, Settings};
pub use sight::{Glance, Sight};
pub use snapshot::SnapshotError;
pub use source::{Description, Goal};
