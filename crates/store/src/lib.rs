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
mod herald;
mod history;
mod host;
mod job;
mod lease;
mod list;
mod load;
mod lock;
mod manners;
mod meta;
mod open;
mod outcome;
mod pulse;
mod reader;
mod record;
mod retention;
mod schema;
mod source;
mod store;
mod subscription;
mod token;
mod version;
mod watch;

pub use add::{Added, Imported};
pub use change::{Change, ChangeFilter, NewChange};
pub use check::Health;
pub use checkpoint::Checkpointed;
pub use destination::{Dead, Destination, NewDead, Step};
pub use error::StoreError;
pub use herald::{
    AddedHerald, Ear, Herald, HeraldKind, HeraldOrigin, HeraldQuery, HeraldRecord, Known,
    NewHerald, RemovedHeralds, Said, Voice,
};
pub use history::{Decision, Observation};
pub use host::{Host, HostFilter, HostRecord};
pub use job::{Address, Job, Validators};
pub use lease::Lease;
pub use list::{Page, Query};
pub use load::Scheduled;
pub use manners::{KeptRobots, Manner};
pub use meta::Spent;
pub use outcome::{Kind, Outcome, Reason, State};
pub use pulse::Pulse;
pub use reader::Reader;
pub use record::{Batch, Fetched, Learnt, Recorded};
pub use retention::{Retention, Tidied};
pub use source::{NewSource, Patch, Source};
pub use store::Store;
pub use subscription::{Aim, Subscription};
pub use token::Token;
pub use version::{NewVersion, Packed, Version, VersionMeta};
pub use watch::{Late, Watch};
