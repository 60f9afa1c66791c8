//! Durable state of the daemon: the same after a crash at any moment.
//!
//! One SQLite file holds sources, hosts, learned state, observations, versions of content and the change log. All
//! SQL of the workspace is in this crate. Records in, records out. Not here: the engine, fetching and parsing;
//! what they store is opaque bytes.
//!
//! All times are milliseconds since 1970 (UTC) as `i64`, and are always arguments.
//!
//! ```
//! use freshet_store::{Batch, FetchRecord, NewSource, Store, StoredOutcome};
//!
//! # fn main() -> Result<(), freshet_store::StoreError> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("freshet.db");
//! let mut store = Store::open(&path, 0)?;
//! let added = store.add_sources(&[NewSource::new("https://example.com/", "example.com", 0)])?;
//! let fetch = FetchRecord::new(added[0].id, 1_000, StoredOutcome::Unchanged);
//! store.record_batch(&Batch { fetches: vec![fetch], ..Batch::default() })?;
//! assert_eq!(store.history(added[0].id, 10)?.len(), 1);
//! # Ok(())
//! # }
//! ```

mod add;
mod alert;
mod backup;
mod change;
mod check;
mod checkpoint;
mod destination;
mod edit;
mod error;
mod history;
mod host;
mod host_cooldown;
mod job;
mod lease;
mod list;
mod load;
mod lock;
mod meta;
mod open;
mod outcome;
mod reader;
mod record;
mod retention;
mod schema;
mod signal_source;
mod source;
mod stats;
mod store;
mod subscription;
mod token;
mod version;

pub use add::{AddResult, ImportResult};
pub use alert::{AlertScan, AlertThresholds};
pub use change::{Change, ChangeFilter, NewChange};
pub use check::IntegrityReport;
pub use checkpoint::CheckpointResult;
pub use destination::{DeadLetter, DeliveryStep, Destination, NewDeadLetter};
pub use error::StoreError;
pub use history::{Decision, Observation};
pub use host::{Host, HostFilter, HostRecord};
pub use host_cooldown::{HostCooldown, RobotsRecord};
pub use job::{FetchJob, SourceAddress, StoredValidators};
pub use lease::Lease;
pub use list::{SourcePage, SourceQuery};
pub use load::ScheduleRow;
pub use meta::LedgerEntry;
pub use outcome::{ChangeKind, SourceState, StoredOutcome, StoredReason};
pub use reader::Reader;
pub use record::{Batch, FetchRecord, LearnedState, RecordResult};
pub use retention::{PruneResult, Retention};
pub use signal_source::{
    AddSignalSourceResult, LatestSignal, NewSignalSource, RemoveSignalSourcesResult, SignalEntry,
    SignalHistory, SignalSource, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery,
    SignalSourceUpdate, SourceMatch,
};
pub use source::{NewSource, Source, SourcePatch};
pub use stats::StatsBucket;
pub use store::Store;
pub use subscription::{Subscription, SubscriptionIntent};
pub use token::Token;
pub use version::{CompressedContent, NewVersion, Version, VersionMeta};
