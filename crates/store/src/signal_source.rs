//! Who says that sources have changed: sitemaps and feeds, which are read, and those who speak by
//! themselves.

mod put;
mod signal_history;

use rusqlite::{Row, Transaction, params};

pub use self::put::{AddSignalSourceResult, NewSignalSource, RemoveSignalSourcesResult};
pub use self::signal_history::{LatestSignal, SignalEntry, SignalHistory, SourceMatch};
pub(crate) use self::signal_history::{forget_source, keep as keep_ears, tidy as tidy_ears};
use crate::error::StoreError;
use crate::outcome::stored_as_number;
use crate::reader::Reader;

/// What somebody who says that sources have changed is. The numbers stand in files: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalSourceKind {
    /// A list of the pages of a site, which is read.
    Sitemap,
    /// A list of what is new, which is read.
    Feed,
    /// A hub, which tells of feeds.
    WebSub,
    /// Owners of sites, who tell of their own pages.
    IndexNow,
    /// Whoever tells the service.
    Api,
    /// A look at the headers of a page.
    Head,
}

impl SignalSourceKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Sitemap, Self::Feed, Self::WebSub, Self::IndexNow, Self::Api, Self::Head];

    /// In a word.
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

    /// From a word.
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }
}

/// How it is known. The numbers stand in files: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalSourceOrigin {
    /// Its owner named it.
    Owner,
    /// The configuration names it.
    Config,
    /// A robots.txt names it.
    Robots,
    /// Another one names it as a part of itself.
    Parent,
    /// It has spoken.
    Push,
}

impl SignalSourceOrigin {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Config, Self::Robots, Self::Parent, Self::Push];

    /// In a word.
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

    /// Whether an owner said so.
    #[must_use]
    pub fn is_configured(self) -> bool {
        matches!(self, Self::Owner | Self::Config)
    }
}

stored_as_number!(SignalSourceKind);
stored_as_number!(SignalSourceOrigin);

/// Somebody who says that sources have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalSource {
    /// Its number: the smallest that is free when it comes.
    pub id: u32,
    /// What it is.
    pub kind: SignalSourceKind,
    /// The URL of what is read, or the name of who speaks: its own among those of its kind.
    pub name: String,
    /// The source that is read to hear it.
    pub source: Option<u32>,
    /// The one that it is a part of.
    pub parent: Option<u32>,
    /// How it is known.
    pub origin: SignalSourceOrigin,
    /// What is to be done with what it says, as a text that the store does not look into.
    pub settings: String,
    /// Sources that were added because of it, in all.
    pub sources_added: u64,
    /// When it was added.
    pub created_at: i64,
    /// When it was last read, or last spoke.
    pub last_signal_at: Option<i64>,
    /// What came of that, as a text that the store does not look into; empty if there is nothing to say.
    pub outcome: String,
    /// What the engine has learnt of it; empty if nothing.
    pub learned: Vec<u8>,
}

/// Which of them. What is `None` does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalSourceQuery {
    /// Of this kind.
    pub kind: Option<SignalSourceKind>,
    /// Known in this way.
    pub origin: Option<SignalSourceOrigin>,
    /// A part of this one.
    pub parent: Option<u32>,
    /// No part of another one.
    pub top_level_only: bool,
    /// With this in its name.
    pub text: Option<String>,
    /// With a larger number: where the page before ended.
    pub after: Option<u32>,
    /// At most so many; 0 for 100.
    pub limit: usize,
}

/// What is known of a herald from now on. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalSourceUpdate {
    /// Which.
    pub signal_source: u32,
    /// What the engine has learnt of it.
    pub learned: Option<Vec<u8>>,
    /// When it was read or spoke.
    pub last_signal_at: Option<i64>,
    /// What came of that.
    pub outcome: Option<String>,
    /// Sources that were added because of it, to those before.
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
    /// A herald by its number.
    pub fn signal_source(&self, number: u32) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE number = ?1"), [number], read)
    }

    /// A herald by its kind and name.
    pub fn find_signal_source(
        &self,
        kind: SignalSourceKind,
        name: &str,
    ) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE kind = ?1 AND name = ?2"), params![kind, name], read)
    }

    /// The herald that is heard by reading a source.
    pub fn signal_source_at(&self, source: u32) -> Result<Option<SignalSource>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE source = ?1"), [source], read)
    }

    /// Heralds by number.
    pub fn signal_sources(
        &self,
        query: &SignalSourceQuery,
    ) -> Result<Vec<SignalSource>, StoreError> {
        let limit = if query.limit == 0 { 100 } else { query.limit };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let after = query.after.map_or(-1, i64::from);
        let values = params![query.kind, query.origin, query.parent, query.text, after, limit];
        // Parts are found by their index, all others by number.
        let parent = match query.parent {
            Some(_) => "parent = ?3",
            None if query.top_level_only => "?3 IS NULL AND parent IS NULL",
            None => "?3 IS NULL",
        };
        let sql = format!(
            "{COLUMNS} WHERE {parent} AND (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR origin = ?2)
            AND (?4 IS NULL OR instr(name, ?4) > 0) AND number > ?5 ORDER BY number LIMIT ?6"
        );
        self.rows(&sql, values, read)
    }

    /// How many parts a herald has.
    pub fn count_children(&self, number: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM herald WHERE parent = ?1";
        let count = self.row(sql, [number], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// How many heralds there are, and how many of them are parts of others.
    pub fn count_signal_sources(&self) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT count(*), count(parent) FROM herald";
        let number = |row: &Row<'_>, at| row.get::<_, i64>(at).map(|it| it as u64);
        let counts = self.row(sql, [], |row| Ok((number(row, 0)?, number(row, 1)?)))?;
        Ok(counts.unwrap_or_default())
    }
}

/// Keeps what is known of heralds from now on.
pub(crate) fn keep(
    transaction: &Transaction<'_>,
    records: &[SignalSourceUpdate],
) -> rusqlite::Result<()> {
    let sql = "UPDATE herald SET learnt = coalesce(?2, learnt), heard = coalesce(?3, heard),
        outcome = coalesce(?4, outcome), found = found + ?5 WHERE number = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    for it in records {
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
