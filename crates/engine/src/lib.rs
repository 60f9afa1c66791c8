//! Events in; fetches out. One loop that learns, prices and decides, driven by the caller: it has no
//! clock, does no input or output, and the same events give the same actions.

mod bucket;
mod bucket_arena;
mod calendar;
mod chunks;
mod engine;
mod event;
mod explain;
mod heap;
mod host;
mod measure;
mod memory;
mod price;
mod ranked;
mod recall;
mod settings;
mod signal_source;
mod signal_sources;
mod snapshot;
mod source;
mod source_belief;
mod source_snapshot;
mod survey;
mod value;
mod value_curve;

pub use engine::Engine;
pub use event::{Action, Alarm, Blame, Event, Outcome, Reason};
pub use explain::{Because, Explanation, HostState, Standing};
pub use measure::FreshnessMeasurement;
pub use recall::{HostCheckpoint, LearnedState};
pub use settings::{InvalidSetting, Profile, Settings};
pub use signal_source::{
    PendingSignals, Signal, SignalHistoryMemory, SignalReceipt, SignalSource, SignalSourceMemory,
    SignalSourceReport,
};
pub use snapshot::SnapshotError;
pub use source::{Description, Goal};
pub use source_belief::SourceBelief;
pub use source_snapshot::{SourceSnapshot, SourceStatus};
