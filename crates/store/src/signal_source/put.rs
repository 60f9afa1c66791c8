//! Heralds come and go.

use rusqlite::{OptionalExtension, Transaction, params};

use super::signal_history;
use super::{SignalSourceKind, SignalSourceOrigin};
use crate::add;
use crate::edit;
use crate::error::StoreError;
use crate::source::{NewSource, SIGNAL_SOURCE, SourcePatch};
use crate::store::Store;

/// Somebody who is listened to from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSignalSource {
    /// What it is.
    pub kind: SignalSourceKind,
    /// The URL of what is read, or the name of who speaks.
    pub name: String,
    /// The name of the host that it is read from; `None` if it speaks by itself.
    pub host: Option<String>,
    /// How it is known.
    pub origin: SignalSourceOrigin,
    /// The one that it is a part of.
    pub parent: Option<u32>,
    /// What is to be done with what it says.
    pub settings: String,
    /// What is given of the source that is read.
    pub settings_patch: SourcePatch,
    /// The shortest and the longest time between two reads, in days, of one that is new and has none
    /// given.
    pub intervals: Option<(f64, f64)>,
    /// When it is added.
    pub created_at: i64,
}

impl NewSignalSource {
    /// One that is read at a URL of a host, and of which nothing else is given.
    pub fn polled(
        kind: SignalSourceKind,
        url: impl Into<String>,
        host: impl Into<String>,
        made: i64,
    ) -> Self {
        Self { host: Some(host.into()), ..Self::pushing(kind, url, made) }
    }

    /// One that speaks by itself.
    pub fn pushing(kind: SignalSourceKind, name: impl Into<String>, made: i64) -> Self {
        Self {
            kind,
            name: name.into(),
            host: None,
            origin: SignalSourceOrigin::Owner,
            parent: None,
            settings: String::new(),
            settings_patch: SourcePatch::default(),
            intervals: None,
            created_at: made,
        }
    }
}

/// What became of a herald that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddSignalSourceResult {
    /// Its number.
    pub id: u32,
    /// The source that is read, if it is read.
    pub source: Option<u32>,
    /// Whether it was not known before.
    pub is_new: bool,
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveSignalSourcesResult {
    /// Heralds: those that were named, and their parts.
    pub signal_sources: Vec<u32>,
    /// The sources that were read to hear them.
    pub sources: Vec<u32>,
}

impl Store {
    /// Adds heralds, all or none. One of a kind and a name that is known keeps its number and what was
    /// learnt of it; what it is to others does not change it, what its owner says does.
    pub fn add_signal_sources(
        &mut self,
        heralds: &[NewSignalSource],
    ) -> Result<Vec<AddSignalSourceResult>, StoreError> {
        for it in heralds {
            if it.name.is_empty() {
                let (url, value) = (it.kind.name().to_owned(), "empty".to_owned());
                return Err(StoreError::InvalidValue { url, field: "name", value });
            }
            it.settings_patch.check(&it.name)?;
        }
        if self.next_source_id()?.checked_add(heralds.len() as u32).is_none() {
            return Err(StoreError::IdsExhausted { path: self.path.clone() });
        }
        self.write(|transaction| {
            let mut free = free(transaction, heralds.len())?.into_iter();
            let mut added = Vec::with_capacity(heralds.len());
            for it in heralds {
                added.push(put(transaction, it, &mut free)?);
            }
            Ok(added)
        })
    }

    /// Says anew what is to be done with what a herald says: it is read as a whole the next time, with its
    /// parts, also if it is still the same. Says whether there is such a one.
    pub fn set_signal_source_settings(
        &mut self,
        number: u32,
        settings: &str,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            ask_anew(transaction, number, settings)?;
            let sql = "UPDATE herald SET settings = ?2 WHERE number = ?1";
            Ok(transaction.prepare_cached(sql)?.execute(params![number, settings])? > 0)
        })
    }

    /// Removes heralds with their parts, the sources that were read to hear them and what they said, all
    /// or none. Sources that were added because of them stay.
    pub fn remove_signal_sources(
        &mut self,
        numbers: &[u32],
    ) -> Result<RemoveSignalSourcesResult, StoreError> {
        self.write(|transaction| {
            let mut gone = RemoveSignalSourcesResult::default();
            let mut left = numbers.to_vec();
            while let Some(number) = left.pop() {
                let sql = "DELETE FROM herald WHERE number = ?1 RETURNING source";
                let found = transaction.prepare_cached(sql)?.query_row([number], |row| row.get(0));
                let Some(source) = found.optional()? else { continue };
                let source: Option<u32> = source;
                gone.signal_sources.push(number);
                let sql = "SELECT number FROM herald WHERE parent = ?1";
                let mut parts = transaction.prepare_cached(sql)?;
                let parts = parts.query_map([number], |row| row.get(0))?;
                left.extend(parts.collect::<rusqlite::Result<Vec<u32>>>()?);
                signal_history::forget_herald(transaction, number)?;
                if let Some(source) = source {
                    edit::erase(transaction, source)?;
                    gone.sources.push(source);
                }
            }
            Ok(gone)
        })
    }
}

fn put(
    transaction: &Transaction<'_>,
    it: &NewSignalSource,
    free: &mut impl Iterator<Item = u32>,
) -> rusqlite::Result<AddSignalSourceResult> {
    let sql = "SELECT number, source FROM herald WHERE kind = ?1 AND name = ?2";
    let known = transaction.prepare_cached(sql)?.query_row(params![it.kind, it.name], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, Option<u32>>(1)?))
    });
    if let Some((number, source)) = known.optional()? {
        if it.origin.is_configured() {
            ask_anew(transaction, number, &it.settings)?;
            let sql = "UPDATE herald SET origin = ?2, settings = ?3, parent = NULL
                WHERE number = ?1";
            let row = params![number, it.origin, it.settings];
            transaction.prepare_cached(sql)?.execute(row)?;
        }
        if let Some(source) =
            source.filter(|_| it.origin.is_configured() && !it.settings_patch.is_empty())
        {
            edit::apply(transaction, source, &it.settings_patch)?;
        }
        return Ok(AddSignalSourceResult { id: number, source, is_new: false });
    }
    let Some(number) = free.next() else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    let source = match &it.host {
        Some(host) => {
            let mut source = NewSource::new(it.name.as_str(), host.as_str(), it.created_at);
            source.patch = it.settings_patch.clone();
            if let Some((least, most)) = it.intervals {
                let most = source.patch.max_interval.unwrap_or(most);
                let least = source.patch.min_interval.unwrap_or(least).min(most);
                (source.patch.min_interval, source.patch.max_interval) = (Some(least), Some(most));
            }
            Some(add::insert_apart(transaction, &source, SIGNAL_SOURCE)?)
        }
        None => None,
    };
    let sql = "INSERT INTO herald (number, kind, name, source, parent, origin, settings, made)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let (kind, name, parent, origin) = (it.kind, &it.name, it.parent, it.origin);
    let row = params![number, kind, name, source, parent, origin, it.settings, it.created_at];
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(AddSignalSourceResult { id: number, source, is_new: true })
}

/// If there is something else to be done with what a herald says, what it said already matters once more.
fn ask_anew(transaction: &Transaction<'_>, number: u32, settings: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE source SET etag = NULL, last_modified = NULL WHERE id IN (
        WITH RECURSIVE below (number, source) AS (
            SELECT number, source FROM herald WHERE number = ?1 AND settings != ?2
            UNION SELECT h.number, h.source FROM herald h JOIN below b ON h.parent = b.number)
        SELECT source FROM below WHERE source IS NOT NULL)";
    transaction.prepare_cached(sql)?.execute(params![number, settings])?;
    Ok(())
}

/// The smallest numbers that nobody has, and of which nothing is left.
fn free(transaction: &Transaction<'_>, some: usize) -> rusqlite::Result<Vec<u32>> {
    let sql = "SELECT number FROM herald UNION SELECT number FROM dismissed ORDER BY number";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut free = Vec::with_capacity(some);
    let mut next: u32 = 0;
    while let Some(row) = rows.next()? {
        let taken: u32 = row.get(0)?;
        while next < taken && free.len() < some {
            free.push(next);
            next += 1;
        }
        next = taken + 1;
    }
    while free.len() < some {
        free.push(next);
        next += 1;
    }
    Ok(free)
}
