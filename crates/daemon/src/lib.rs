//! A configuration and a store in; sources kept fresh and a log of their changes out. The engine, the
//! fetcher, the detector and the store in one loop, on a real clock. Knows no command line.

mod adjust;
mod alone;
mod bytes;
mod claim;
mod clock;
mod config;
mod control;
mod core;
mod crew;
mod daemon;
mod destination;
mod detectors;
mod edit;
mod errand;
mod explained;
mod goal;
mod heads;
mod heralds;
mod host;
mod hosts;
mod indexnow;
mod judge;
mod kept;
mod load;
mod plan;
mod report;
mod span;
mod status;
mod summary;
mod turns;
mod websub;
mod work;
mod writer;

pub use adjust::{Adjusted, InForce, Unfit};
pub use alone::{Alone, Looked, beliefs, explain, herald_reports};
pub use claim::{Claim, Claimed, InvalidLease, Lease, Report, Seen, Taken};
pub use clock::{Clock, Jump, Millis, Wall, days, millis};
pub use config::{
    Config, ConfigError, Crew, Mail, MailTls, Notify, ReadLimits, Secrets, Server, Signals,
};
pub use control::{Answer, Call, Client, Control, ControlError, socket_of};
pub use crew::CrewState;
pub use daemon::{Daemon, Handle, LiveError};
pub use destination::{DestinationEdit, DestinationError, edit_destination};
pub use detectors::Rules;
pub use edit::{Applied, Edit, EditError, Given, Wanted, Which, apply};
pub use explained::{Explained, SignalsNow};
pub use freshet_engine::{Announced, Glance, HeraldReport, Known, Sight, Standing};
pub use goal::goal;
pub use heralds::{
    Hearsay, HeraldError, HeraldGiven, HeraldNow, HeraldRead, HeraldRule, HeraldWanted, add_herald,
    defect_about, remove_herald,
};
pub use host::{InvalidHost, host_filter};
pub use hosts::{HostNow, RobotsRead, robots};
pub use indexnow::{Accepted, Announcement};
pub use plan::{Plan, Sights};
pub use span::{days_in, span};
pub use status::Status;
pub use websub::{Confirmed, Mode, Offer, Pushed, Subscribed, Subscriber};
pub use work::host_of;
