//! A configuration and a store in; sources kept fresh and a log of their changes out. The engine, the
//! fetcher, the detector and the store in one loop, on a real clock. Knows no command line.

mod adjust;
mod bytes;
mod claim;
mod clock;
mod config;
mod control;
mod core;
mod daemon;
mod destination;
mod detectors;
mod edit;
mod explained;
mod fetch_concurrency;
mod goal;
mod heads;
mod host;
mod hosts;
mod indexnow;
mod judge;
mod kept;
mod load;
mod offline;
mod permits;
mod plan;
mod polite_fetch;
mod report;
mod signal_sources;
mod span;
mod status;
mod summary;
mod websub;
mod work;
mod writer;

pub use adjust::{Adjusted, InForce, Unfit};
pub use claim::{Claim, Claimed, InvalidLease, Lease, Report, Seen, Taken};
pub use clock::{Clock, Jump, Millis, Wall, days, millis};
pub use config::{
    ConcurrencySetting, Config, ConfigError, Mail, MailTls, Notify, ReadLimits, Secrets, Server,
    Signals,
};
pub use control::{Answer, Call, Client, Control, ControlError, socket_of};
pub use daemon::{Daemon, DaemonError, Handle};
pub use destination::{DestinationEdit, DestinationError, edit_destination};
pub use detectors::Rules;
pub use edit::{Applied, Edit, EditError, NewSourceRequest, SourceSettings, Which, apply};
pub use explained::{Explained, SignalsNow};
pub use fetch_concurrency::CrewState;
pub use freshet_engine::{
    PendingSignals, SignalSourceReport, SourceBelief, SourceSnapshot, SourceStatus, Standing,
};
pub use goal::goal;
pub use host::{InvalidHost, host_filter};
pub use hosts::{HostNow, RobotsRead, robots};
pub use indexnow::{Accepted, Announcement};
pub use offline::{Alone, Looked, beliefs, explain, herald_reports};
pub use plan::{Plan, SourceSnapshots};
pub use signal_sources::{
    DiscoveryRule, NewSignalSourceRequest, SignalReport, SignalSourceError, SignalSourcePatch,
    SignalSourceRead, SignalSourceState, add_herald, defect_about, remove_herald,
};
pub use span::{days_in, span};
pub use status::Status;
pub use websub::{Confirmed, Mode, Offer, Pushed, Subscribed, Subscriber};
pub use work::host_of;
