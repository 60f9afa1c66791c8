//! What a daemon must not forget in; the same after any crash out. One SQLite file holds sources,
//! hosts, what was learnt, observations, versions of content and the change log. SQL lives here
//! alone. Knows no engine, no fetching and no reading of documents: their records are bytes to it.
//!
//! All times are milliseconds since 1970 (UTC) as `i64`, and always an argument.
//!
//! ```
//! use freshet_store::{Batch, Fetched, NewSource, Outcome, Store};
//!
//! # fn main() -> Result<(), freshet_store::StoreError> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("freshet.db");
//! let mut store = Store::open(&path, 0)?;
//! let added = store.add(&[NewSource::new("https://example.com/", "example.com", 0)])?;
//! let fetch = Fetched::new(added[0].id, 1_000, Outcome::Unchanged);
//! store.record(&Batch { fetches: vec![fetch], ..Batch::default() })?;
//! assert_eq!(store.history(added[0].id, 10)?.len(), 1);
//! # Ok(())
//! # }
//! ```

mod add;
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
mod pulse;
mod reader;
mod record;
mod retention;
mod schema;
mod signal_source;
mod source;
mod store;
mod subscription;
mod token;
mod version;
mod watch;

pub use add::{AddResult, ImportResult};
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
pub use pulse::StatsBucket;
pub use reader::Reader;
pub use record::{Batch, FetchRecord, LearnedState, RecordResult};
pub use retention::{PruneResult, Retention};
pub use signal_source::{
    AddSignalSourceResult, LatestSignal, NewSignalSource, RemoveSignalSourcesResult, SignalEntry,
    SignalHistory, SignalSource, SignalSourceKind, SignalSourceOrigin, SignalSourceQuery,
    SignalSourceUpdate, SourceMatch,
};
pub use source::{NewSource, Source, SourcePatch};
pub use store::Store;
pub use subscription::{Subscription, SubscriptionIntent};
pub use token::Token;
pub use version::{CompressedContent, NewVersion, Version, VersionMeta};
pub use watch::{AlertScan, AlertThresholds};
