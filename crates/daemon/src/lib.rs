//! Configuration and store in, fresh copies and a change log out. Runs the engine, the fetcher, the
//! detector and the store in one event loop on a real clock. Does not parse command lines.

mod budget_plan;
mod byte_budget;
mod change_summary;
mod claim;
mod clock;
mod config;
mod control;
mod daemon;
mod destination;
mod detectors;
mod duration_text;
mod engine_loader;
mod event_loop;
mod fetch_concurrency;
mod fetch_context;
mod goal;
mod head_requests;
mod host_filter;
mod host_permits;
mod host_status;
mod indexnow;
mod judged_fetch;
mod offline;
mod polite_fetch;
mod reported_fetch;
mod settings_overrides;
mod signal_sources;
mod source_edit;
mod source_explanation;
mod status;
mod stored_reading;
mod websub;
mod writer;

pub use budget_plan::{BudgetPlan, SourceSnapshotPage};
pub use claim::{
    Claim, ClaimedSource, FetchReport, InvalidLeaseId, LeaseId, ReportResult, ReportedOutcome,
};
pub use clock::{Clock, ClockJump, Millis, WallClock, days_from_millis, millis_from_days};
pub use config::{
    ConcurrencySetting, Config, ConfigError, MailConfig, MailTls, MissingSecrets, NotifyConfig,
    ReadLimits, ServerConfig, SignalsConfig,
};
pub use control::{
    ControlClient, ControlError, ControlRequest, ControlResponse, ControlServer, socket_path,
};
pub use daemon::{Daemon, DaemonError, DaemonHandle};
pub use destination::{DestinationEdit, DestinationError, apply_destination_edit};
pub use detectors::DetectionRules;
pub use duration_text::{format_days, parse_days};
pub use fetch_concurrency::ConcurrencyStatus;
pub use fetch_context::parse_source_url;
pub use freshet_engine::{
    PendingSignals, SignalSourceReport, SourceBelief, SourcePhase, SourceSnapshot, SourceStatus,
};
pub use goal::parse_goal;
pub use host_filter::{InvalidHost, parse_host_filter};
pub use host_status::{HostStatus, RobotsSummary, read_robots};
pub use indexnow::{IndexNowRequest, IndexNowResult};
pub use offline::{
    FetchPreview, OfflineFetcher, explain_each_offline, explain_offline,
    signal_source_reports_offline,
};
pub use settings_overrides::{EffectiveSettings, InvalidOverride, SettingsOverrides};
pub use signal_sources::{
    DiscoveryRule, NewSignalSourceRequest, SignalReport, SignalSourceError, SignalSourcePatch,
    SignalSourceReadResult, SignalSourceState, add_signal_source_offline, defect_description,
    remove_signal_source_offline,
};
pub use source_edit::{
    EditError, EditResult, NewSourceRequest, SourceEdit, SourceSelector, SourceSettings, apply_edit,
};
pub use source_explanation::{SignalExplanation, SourceExplanation};
pub use status::DaemonStatus;
pub use websub::{HubCallResult, HubMode, HubOffer, PushResult, Subscriber, SubscriptionStatus};
