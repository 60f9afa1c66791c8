//! Signal sources: sitemaps and feeds, which are polled, and hubs and clients that push.

mod signal_history;
mod update;

use rusqlite::{Row, Transaction, params};

pub use self::signal_history::{LatestSignal, SignalEntry, SignalHistory, SourceMatch};
pub(crate) use self::signal_history::{prune_dismissed, remove_source_signals, save_signals};
pub use self::update::{AddSignalSourceResult, NewSignalSource, RemoveSignalSourcesResult};
use crate::error::StoreError;
use crate::outcome::stored_as_number;
use crate::reader::Reader;

/// Kind of a signal source. The numbers are stored and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalSourceKind {
    /// Sitemap, polled.
    Sitemap,
    /// Feed, polled.
    Feed,
    /// WebSub hub, which pushes updates of a feed.
    WebSub,
    /// IndexNow: site owners report changes of their own pages.
    IndexNow,
    /// Clients of the HTTP API.
    Api,
    /// `HEAD` requests.
    Head,
}

impl SignalSourceKind {
    /// All variants.
    pub const ALL: [Self; 6] =
        [Self::Sitemap, Self::Feed, Self::WebSub, Self::IndexNow, Self::Api, Self::Head];

    /// Returns the name used in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::WebSub => "websub",
            Self::IndexNow => "indexnow",
            Self::Api => "api",
            Self::Head => "head",
        }
    }

    /// Returns the kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Origin of a signal source. The numbers are stored and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalSourceOrigin {
    /// Added by the user.
    Owner,
    /// Named in the configuration.
    Config,
    /// Named in a robots.txt.
    Robots,
    /// Named in another signal source, as a part of it.
    Parent,
    /// It has pushed a signal.
    Push,
}

impl SignalSourceOrigin {
    /// All variants.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Config, Self::Robots, Self::Parent, Self::Push];

    /// Returns the name used in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "given",
            Self::Config => "file",
            Self::Robots => "robots",
            Self::Parent => "part",
            Self::Push => "heard",
        }
    }

    /// True if the user or the configuration names it.
    #[must_use]
    pub fn is_configured(self) -> bool {
        matches!(self, Self::Owner | Self::Config)
    }
}

stored_as_number!(SignalSourceKind);
stored_as_number!(SignalSourceOrigin);

/// Stored signal source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalSource {
    /// Id: the smallest one that was free when it was added.
    pub id: u32,
    /// Kind.
    pub kind: SignalSourceKind,
    /// URL to poll, or the name of the pusher: unique for the kind.
    pub name: String,
    /// Source that is fetched to read it.
    pub source: Option<u32>,
    /// Signal source that it is a part of.
    pub parent: Option<u32>,
    /// Origin.
    pub origin: SignalSourceOrigin,
    /// Discovery rule and other settings, opaque to the store.
    pub settings: String,
    /// Number of sources that were discovered by it.
    pub sources_added: u64,
    /// Time of the addition.
    pub created_at: i64,
    /// Time at which it was last read or last pushed.
    pub last_signal_at: Option<i64>,
    /// Report on the last read or push, opaque to the store; empty if there is none.
    pub outcome: String,
    /// State learned by the engine; empty if there is none.
    pub learned: Vec<u8>,
}

/// Filter for signal sources. A field that is `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalSourceQuery {
    /// Kind.
    pub kind: Option<SignalSourceKind>,
    /// Origin.
    pub origin: Option<SignalSourceOrigin>,
    /// Signal source that it is a part of.
    pub parent: Option<u32>,
    /// True to omit parts of others.
    pub top_level_only: bool,
    /// Substring of the name.
    pub name_contains: Option<String>,
    /// Only larger ids: the last id of the previous page.
    pub after: Option<u32>,
    /// Maximum number; 0 for 100.
    pub limit: usize,
}

/// Update of a signal source. A field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalSourceUpdate {
    /// Signal source id.
    pub signal_source: u32,
    /// State learned by the engine.
    pub learned: Option<Vec<u8>>,
    /// Time at which it was read or pushed.
    pub last_signal_at: Option<i64>,
    /// Report on that.
    pub outcome: Option<String>,
    /// Number of newly discovered sources, added to the present one.
    pub sources_added: u32,
}

const COLUMNS: &str =
    "SELECT number, kind, name, source, parent, origin, settings, found, made, heard,
    outcome, learnt FROM herald";

fn read(row: &Row<'_>) -> rusqlite::Result<SignalSource> {
    Ok(SignalSource {
        id: row.get(0)?,
        kind: row.get(1)?,
        name: row.get(2)?,
        source: row.get(3)?,
        parent: row.get(4)?,
        origin: row.get(5)?,
        settings: row.get(6)?,
        sources_added: row.get::<_, i64>(7)? as u64,
        created_at: row.get(8)?,
        last_signal_at: row.get(9)?,
        outcome: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
        learned: row.get::<_, Option<Vec<u8>>>(11)?.unwrap_or_default(),
    })
}

impl Reader {
    /// Returns a signal source by its id.
    pub fn signal_source(&self, id: u32) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE number = ?1"), [id], read)
    }

    /// Returns a signal source by its kind and name.
    pub fn find_signal_source(
        &self,
        kind: SignalSourceKind,
        name: &str,
    ) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE kind = ?1 AND name = ?2"), params![kind, name], read)
    }

    /// Returns the signal source that a source is fetched for.
    pub fn signal_source_of_source(&self, source: u32) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE source = ?1"), [source], read)
    }

    /// Returns the signal sources that match a query, in order of ids.
    pub fn signal_sources(
        &self,
        query: &SignalSourceQuery,
    ) -> Result<Vec<SignalSource>, StoreError> {
        let limit = if query.limit == 0 { 100 } else { query.limit };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let after = query.after.map_or(-1, i64::from);
        let values =
            params![query.kind, query.origin, query.parent, query.name_contains, after, limit];
        // Parts are found by their index, all others by id.
        let parent_condition = match query.parent {
            Some(_) => "parent = ?3",
            None if query.top_level_only => "?3 IS NULL AND parent IS NULL",
            None => "?3 IS NULL",
        };
        let sql = format!(
            "{COLUMNS} WHERE {parent_condition} AND (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR origin = ?2)
            AND (?4 IS NULL OR instr(name, ?4) > 0) AND number > ?5 ORDER BY number LIMIT ?6"
        );
        self.rows(&sql, values, read)
    }

    /// Returns the number of parts of a signal source.
    pub fn count_child_signal_sources(&self, parent: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM herald WHERE parent = ?1";
        let count = self.row(sql, [parent], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// Returns the number of signal sources, and the number of those that are parts of others.
    pub fn count_signal_sources(&self) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT count(*), count(parent) FROM herald";
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(|it| it as u64);
        let counts = self.row(sql, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
        Ok(counts.unwrap_or_default())
    }
}

/// Applies updates of signal sources.
pub(crate) fn update(
    transaction: &Transaction<'_>,
    updates: &[SignalSourceUpdate],
) -> rusqlite::Result<()> {
    let sql = "UPDATE herald SET learnt = coalesce(?2, learnt), heard = coalesce(?3, heard),
        outcome = coalesce(?4, outcome), found = found + ?5 WHERE number = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    for it in updates {
        statement.execute(params![
            it.signal_source,
            it.learned,
            it.last_signal_at,
            it.outcome,
            it.sources_added
        ])?;
    }
    Ok(())
}
