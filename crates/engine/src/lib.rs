//! Events in; fetches out. A state machine that learns change rates, prices fetches and decides
//! what to fetch next, driven by the caller: no clock, no I/O, no randomness. Does not fetch, store
//! or detect anything.

mod bucket_arena;
mod calendar_queue;
mod checkpoint;
mod chunked_vec;
mod due_heap;
mod engine;
mod event;
mod explain;
mod fetch_value;
mod freshness;
mod half_life;
mod host;
mod price;
mod ranked_heap;
mod settings;
mod signal_source;
mod signal_sources;
mod snapshot;
mod source;
mod source_belief;
mod source_snapshot;
mod survey;
mod token_bucket;
mod value_curve;

pub use checkpoint::{HostCheckpoint, LearnedState};
pub use engine::Engine;
pub use event::{Action, Alarm, Event, FailureCause, FetchReason, FetchResult};
pub use explain::{DueReason, Explanation, HostState, SourcePhase};
pub use freshness::FreshnessMeasurement;
pub use settings::{BudgetProfile, EngineSettings, InvalidEngineSetting};
pub use signal_source::{
    PendingSignals, Signal, SignalHistoryCheckpoint, SignalSource, SignalSourceCheckpoint,
    SignalSourceReport, StatedChangeTime,
};
pub use snapshot::SnapshotError;
pub use source::{Goal, SourceDescription};
pub use source_belief::SourceBelief;
pub use source_snapshot::{SourceSnapshot, SourceStatus};
