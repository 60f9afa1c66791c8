//! Adds, changes and removes signal sources.

use rusqlite::{OptionalExtension, Transaction, params};

use super::signal_history;
use super::{SignalSourceKind, SignalSourceOrigin};
use crate::add;
use crate::edit;
use crate::error::StoreError;
use crate::source::{NewSource, SIGNAL_SOURCE, SourcePatch};
use crate::store::Store;

/// Signal source to add.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSignalSource {
    /// Kind.
    pub kind: SignalSourceKind,
    /// URL to poll, or the name of the pusher.
    pub name: String,
    /// Name of the host to poll; `None` if it pushes.
    pub host: Option<String>,
    /// Origin.
    pub origin: SignalSourceOrigin,
    /// Signal source that it is a part of.
    pub parent: Option<u32>,
    /// Discovery rule and other settings, opaque to the store.
    pub settings: String,
    /// Settings of the source that is fetched to read it.
    pub settings_patch: SourcePatch,
    /// Default minimum and maximum time between two reads, in days, for a new signal source whose patch has none.
    pub default_intervals: Option<(f64, f64)>,
    /// Time of the addition.
    pub created_at: i64,
}

impl NewSignalSource {
    /// Creates one that is polled at a URL of a host, with default settings.
    pub fn new_polled(
        kind: SignalSourceKind,
        url: impl Into<String>,
        host: impl Into<String>,
        created_at: i64,
    ) -> Self {
        Self { host: Some(host.into()), ..Self::new_pushing(kind, url, created_at) }
    }

    /// Creates one that pushes, with default settings.
    pub fn new_pushing(kind: SignalSourceKind, name: impl Into<String>, created_at: i64) -> Self {
        Self {
            kind,
            name: name.into(),
            host: None,
            origin: SignalSourceOrigin::Owner,
            parent: None,
            settings: String::new(),
            settings_patch: SourcePatch::default(),
            default_intervals: None,
            created_at,
        }
    }
}

/// Result of adding a signal source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddSignalSourceResult {
    /// Id of the signal source.
    pub id: u32,
    /// Source that is fetched to read it, if it is polled.
    pub source: Option<u32>,
    /// True if it did not exist before.
    pub is_new: bool,
}

/// Result of removing signal sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveSignalSourcesResult {
    /// Removed signal sources: the requested ones and their parts.
    pub signal_sources: Vec<u32>,
    /// Removed sources that were fetched to read them.
    pub sources: Vec<u32>,
}

impl Store {
    /// Adds signal sources, all or none. One whose kind and name exist keeps its id and learned state; its settings change
    /// only if the new origin is the user or the configuration.
    pub fn add_signal_sources(
        &mut self,
        signal_sources: &[NewSignalSource],
    ) -> Result<Vec<AddSignalSourceResult>, StoreError> {
        for it in signal_sources {
            if it.name.is_empty() {
                let (url, value) = (it.kind.name().to_owned(), "empty".to_owned());
                return Err(StoreError::InvalidValue { url, field: "name", value });
            }
            it.settings_patch.check(&it.name)?;
        }
        if self.next_source_id()?.checked_add(signal_sources.len() as u32).is_none() {
            return Err(StoreError::IdsExhausted { path: self.path.clone() });
        }
        self.write(|transaction| {
            let mut free_ids = free_ids(transaction, signal_sources.len())?.into_iter();
            let mut added = Vec::with_capacity(signal_sources.len());
            for it in signal_sources {
                added.push(upsert(transaction, it, &mut free_ids)?);
            }
            Ok(added)
        })
    }

    /// Replaces the settings of a signal source. Next time it and its parts are read completely, even if they have not
    /// changed. Returns whether the signal source exists.
    pub fn set_signal_source_settings(
        &mut self,
        id: u32,
        settings: &str,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            drop_validators_if_changed(transaction, id, settings)?;
            let sql = "UPDATE herald SET settings = ?2 WHERE number = ?1";
            Ok(transaction.prepare_cached(sql)?.execute(params![id, settings])? > 0)
        })
    }

    /// Removes signal sources with their parts, the sources that were fetched to read them, and their signals, all or
    /// none. Sources that they discovered stay.
    pub fn remove_signal_sources(
        &mut self,
        ids: &[u32],
    ) -> Result<RemoveSignalSourcesResult, StoreError> {
        self.write(|transaction| {
            let mut removed = RemoveSignalSourcesResult::default();
            let mut pending = ids.to_vec();
            while let Some(id) = pending.pop() {
                let sql = "DELETE FROM herald WHERE number = ?1 RETURNING source";
                let found = transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0));
                let Some(source) = found.optional()? else { continue };
                let source: Option<u32> = source;
                removed.signal_sources.push(id);
                let sql = "SELECT number FROM herald WHERE parent = ?1";
                let mut parts = transaction.prepare_cached(sql)?;
                let parts = parts.query_map([id], |row| row.get(0))?;
                pending.extend(parts.collect::<rusqlite::Result<Vec<u32>>>()?);
                signal_history::remove_signals(transaction, id)?;
                if let Some(source) = source {
                    edit::remove_unindexed(transaction, source)?;
                    removed.sources.push(source);
                }
            }
            Ok(removed)
        })
    }
}

fn upsert(
    transaction: &Transaction<'_>,
    it: &NewSignalSource,
    free_ids: &mut impl Iterator<Item = u32>,
) -> rusqlite::Result<AddSignalSourceResult> {
    let sql = "SELECT number, source FROM herald WHERE kind = ?1 AND name = ?2";
    let existing = transaction.prepare_cached(sql)?.query_row(params![it.kind, it.name], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, Option<u32>>(1)?))
    });
    if let Some((id, source)) = existing.optional()? {
        if it.origin.is_configured() {
            drop_validators_if_changed(transaction, id, &it.settings)?;
            let sql = "UPDATE herald SET origin = ?2, settings = ?3, parent = NULL
                WHERE number = ?1";
            let row = params![id, it.origin, it.settings];
            transaction.prepare_cached(sql)?.execute(row)?;
        }
        if let Some(source) =
            source.filter(|_| it.origin.is_configured() && !it.settings_patch.is_empty())
        {
            edit::apply(transaction, source, &it.settings_patch)?;
        }
        return Ok(AddSignalSourceResult { id, source, is_new: false });
    }
    let Some(id) = free_ids.next() else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    let source = match &it.host {
        Some(host) => {
            let mut source = NewSource::new(it.name.as_str(), host.as_str(), it.created_at);
            source.patch = it.settings_patch.clone();
            if let Some((min, max)) = it.default_intervals {
                let max = source.patch.max_interval.unwrap_or(max);
                let min = source.patch.min_interval.unwrap_or(min).min(max);
                (source.patch.min_interval, source.patch.max_interval) = (Some(min), Some(max));
            }
            Some(add::insert_unindexed(transaction, &source, SIGNAL_SOURCE)?)
        }
        None => None,
    };
    let sql = "INSERT INTO herald (number, kind, name, source, parent, origin, settings, made)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let (kind, name, parent, origin) = (it.kind, &it.name, it.parent, it.origin);
    let row = params![id, kind, name, source, parent, origin, it.settings, it.created_at];
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(AddSignalSourceResult { id, source, is_new: true })
}

/// Removes the validators of a signal source and its parts if its settings change: entries that were read before must
/// be read again.
fn drop_validators_if_changed(
    transaction: &Transaction<'_>,
    id: u32,
    settings: &str,
) -> rusqlite::Result<()> {
    let sql = "UPDATE source SET etag = NULL, last_modified = NULL WHERE id IN (
        WITH RECURSIVE below (number, source) AS (
            SELECT number, source FROM herald WHERE number = ?1 AND settings != ?2
            UNION SELECT h.number, h.source FROM herald h JOIN below b ON h.parent = b.number)
        SELECT source FROM below WHERE source IS NOT NULL)";
    transaction.prepare_cached(sql)?.execute(params![id, settings])?;
    Ok(())
}

/// Returns the smallest ids that no signal source has, and that have no rows left in `ear`.
fn free_ids(transaction: &Transaction<'_>, count: usize) -> rusqlite::Result<Vec<u32>> {
    let sql = "SELECT number FROM herald UNION SELECT number FROM dismissed ORDER BY number";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut free = Vec::with_capacity(count);
    let mut next: u32 = 0;
    while let Some(row) = rows.next()? {
        let taken: u32 = row.get(0)?;
        while next < taken && free.len() < count {
            free.push(next);
            next += 1;
        }
        next = taken + 1;
    }
    while free.len() < count {
        free.push(next);
        next += 1;
    }
    Ok(free)
}
