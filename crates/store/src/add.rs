//! Adds sources: one, or ten million.
//!
//! A batch is looked up and inserted in the order of its hashes, so that each page of the URL index is touched once
//! per batch, however large the index is.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, params};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::edit;
use crate::error::StoreError;
use crate::meta::{counter, set_counter};
use crate::source::{NewSource, join_tags};
use crate::store::Store;

/// Limits on a batch of an import: sources, and bytes of text.
const MAX_BATCH_SOURCES: usize = 1_000_000;
const MAX_BATCH_BYTES: usize = 64 << 20;

/// Result of adding a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddResult {
    /// Id of the source.
    pub id: u32,
    /// True if the source did not exist before.
    pub is_new: bool,
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Number of new sources.
    pub added: u64,
    /// Number of sources that existed already, or that the import contains more than once.
    pub existing: u64,
}

impl Store {
    /// Adds sources, all or none. A source whose URL exists keeps its id and all settings that are not in the patch.
    pub fn add_sources(&mut self, sources: &[NewSource]) -> Result<Vec<AddResult>, StoreError> {
        for source in sources {
            source.check()?;
        }
        let next = self.run(|connection| counter(connection, "next_source"))?;
        if next + sources.len() as i64 > i64::from(u32::MAX) {
            return Err(StoreError::IdsExhausted { path: self.path.clone() });
        }
        self.write(|transaction| upsert(transaction, sources))
    }

    /// Adds any number of sources in bounded memory. After a crash or an error some batches are stored and others are not:
    /// repeating the import adds the rest.
    pub fn import_sources(
        &mut self,
        sources: impl IntoIterator<Item = NewSource>,
    ) -> Result<ImportResult, StoreError> {
        let mut imported = ImportResult::default();
        let mut sources = sources.into_iter();
        let mut batch = Vec::new();
        loop {
            batch.clear();
            let mut bytes = 0;
            while batch.len() < MAX_BATCH_SOURCES && bytes < MAX_BATCH_BYTES {
                let Some(source) = sources.next() else { break };
                bytes += text_bytes(&source);
                batch.push(source);
            }
            if batch.is_empty() {
                return Ok(imported);
            }
            let added = self.add_sources(&batch)?;
            let new = added.iter().filter(|added| added.is_new).count() as u64;
            imported.added += new;
            imported.existing += added.len() as u64 - new;
        }
    }
}

fn text_bytes(source: &NewSource) -> usize {
    let patch = &source.patch;
    let texts = [&patch.settings, &patch.goal];
    let tags: usize = patch.tags.iter().flatten().map(String::len).sum();
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    source.url.len() + source.host.len() + tags + texts
}

/// Hashes a URL for the URL index.
pub(crate) fn hash_url(url: &str, salt: i64) -> i64 {
    xxh3_64_with_seed(url.as_bytes(), salt as u64) as i64
}

/// Returns the id of the source with a URL.
pub(crate) fn find_by_url(connection: &Connection, url: &str) -> rusqlite::Result<Option<u32>> {
    let hash = hash_url(url, counter(connection, "salt")?);
    let sql = "SELECT id FROM url_hash CROSS JOIN source ON id = url_hash.source
        WHERE hash = ?1 AND url = ?2";
    connection.prepare_cached(sql)?.query_row(params![hash, url], |row| row.get(0)).optional()
}

fn upsert(
    transaction: &Transaction<'_>,
    sources: &[NewSource],
) -> rusqlite::Result<Vec<AddResult>> {
    let next = counter(transaction, "next_source")?;
    let hosts = assign_host_ids(transaction, sources)?;
    let AssignedIds { added, hashes } = assign_ids(transaction, sources, next)?;

    let mut inserts = InsertStatements::prepare(transaction)?;
    let mut new_by_host = Vec::new();
    let mut last = next;
    for (source, added) in sources.iter().zip(&added) {
        let host = hosts[source.host.as_str()];
        // A URL that is twice in the batch is new at its first occurrence only.
        if added.is_new {
            last = i64::from(added.id) + 1;
            new_by_host.push((host, added.id));
            inserts.insert(source, added.id, host, 0)?;
            edit::insert_tags(transaction, added.id, source.patch.tags.as_deref())?;
        } else {
            if !source.patch.is_empty() {
                edit::apply(transaction, added.id, &source.patch)?;
            }
            edit::move_to_host(transaction, added.id, host)?;
        }
    }

    let mut by_hash =
        transaction.prepare_cached("INSERT INTO url_hash (hash, source) VALUES (?1, ?2)")?;
    for (hash, place) in hashes {
        let added = added[place as usize];
        if added.is_new {
            by_hash.execute(params![hash, added.id])?;
        }
    }
    new_by_host.sort_unstable();
    let mut by_host =
        transaction.prepare_cached("INSERT INTO host_source (host, source) VALUES (?1, ?2)")?;
    for (host, id) in new_by_host {
        by_host.execute(params![host, id])?;
    }
    set_counter(transaction, "next_source", last)?;
    let before = counter(transaction, "sources")?;
    set_counter(transaction, "sources", before + last - next)?;
    Ok(added)
}

/// Adds a source that is not a page: it has `flags` and is in none of the indexes.
pub(crate) fn insert_unindexed(
    transaction: &Transaction<'_>,
    source: &NewSource,
    flags: i64,
) -> rusqlite::Result<u32> {
    let next = counter(transaction, "next_source")?;
    let hosts = assign_host_ids(transaction, std::slice::from_ref(source))?;
    let (id, host) = (next as u32, hosts[source.host.as_str()]);
    InsertStatements::prepare(transaction)?.insert(source, id, host, flags)?;
    set_counter(transaction, "next_source", next + 1)?;
    Ok(id)
}

struct AssignedIds {
    added: Vec<AddResult>,
    /// Hashes with indices in the batch, sorted.
    hashes: Vec<(i64, u32)>,
}

/// Looks up which sources exist, and assigns ids to the others in their order.
fn assign_ids(
    transaction: &Transaction<'_>,
    sources: &[NewSource],
    next: i64,
) -> rusqlite::Result<AssignedIds> {
    let salt = counter(transaction, "salt")?;
    let hashed = sources.iter().zip(0_u32..).map(|(source, at)| (hash_url(&source.url, salt), at));
    let mut hashes: Vec<(i64, u32)> = hashed.collect();
    hashes.sort_unstable();

    let mut find = transaction.prepare_cached("SELECT source FROM url_hash WHERE hash = ?1")?;
    let mut text = transaction.prepare_cached("SELECT url FROM source WHERE id = ?1")?;
    // Id of an existing source, or the index of the first occurrence of its URL in the batch.
    let mut known: Vec<Option<u32>> = vec![None; sources.len()];
    let mut same_as: Vec<u32> = (0..sources.len() as u32).collect();
    let mut urls: HashMap<String, u32> = HashMap::new();
    let mut first: HashMap<&str, u32> = HashMap::new();
    for group in hashes.chunk_by(|a, b| a.0 == b.0) {
        urls.clear();
        if next > 0 {
            let mut rows = find.query([group[0].0])?;
            while let Some(row) = rows.next()? {
                let id = row.get(0)?;
                urls.insert(text.query_row([id], |row| row.get(0))?, id);
            }
        }
        if group.len() == 1 && urls.is_empty() {
            continue;
        }
        first.clear();
        for (_, place) in group {
            let url = sources[*place as usize].url.as_str();
            known[*place as usize] = urls.get(url).copied();
            same_as[*place as usize] = *first.entry(url).or_insert(*place);
        }
    }

    let mut added: Vec<AddResult> = Vec::with_capacity(sources.len());
    let mut next = next as u32;
    for (place, (known, same)) in known.into_iter().zip(same_as).enumerate() {
        let result = match known {
            Some(id) => AddResult { id, is_new: false },
            None if same as usize != place => {
                AddResult { id: added[same as usize].id, is_new: false }
            }
            None => {
                next += 1;
                AddResult { id: next - 1, is_new: true }
            }
        };
        added.push(result);
    }
    Ok(AssignedIds { added, hashes })
}

fn assign_host_ids<'a>(
    transaction: &Transaction<'_>,
    sources: &'a [NewSource],
) -> rusqlite::Result<HashMap<&'a str, u32>> {
    let mut find = transaction.prepare_cached("SELECT id FROM host WHERE name = ?1")?;
    let mut insert = transaction.prepare_cached("INSERT INTO host (id, name) VALUES (?1, ?2)")?;
    let before = counter(transaction, "next_host")?;
    let mut next = before;
    let mut hosts = HashMap::new();
    for source in sources {
        let name = source.host.as_str();
        if hosts.contains_key(name) {
            continue;
        }
        let found = find.query_row([name], |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                insert.execute(params![next, name])?;
                next += 1;
                (next - 1) as u32
            }
        };
        hosts.insert(name, id);
    }
    if next != before {
        set_counter(transaction, "next_host", next)?;
    }
    Ok(hosts)
}

/// Prepared statements that insert a source.
struct InsertStatements<'a> {
    source: CachedStatement<'a>,
    schedule: CachedStatement<'a>,
}

impl<'a> InsertStatements<'a> {
    fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            source: connection.prepare_cached(
                "INSERT INTO source (id, url, added, tags, settings) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            schedule: connection.prepare_cached(
                "INSERT INTO schedule
                (id, host, importance, cost, min_interval, max_interval, flags, goal, learnt)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
        })
    }

    fn insert(
        &mut self,
        source: &NewSource,
        id: u32,
        host: u32,
        flags: i64,
    ) -> rusqlite::Result<()> {
        let patch = &source.patch;
        let tags = patch.tags.as_deref().map(join_tags).unwrap_or_default();
        let settings = patch.settings.as_deref().unwrap_or_default();
        self.source.execute(params![id, source.url, source.added_at, tags, settings])?;
        self.schedule.execute(params![
            id,
            host,
            patch.importance.unwrap_or(1.0),
            patch.cost.unwrap_or(1.0),
            patch.min_interval.unwrap_or(0.0),
            patch.max_interval.filter(|days| days.is_finite()),
            patch.flags().1 | flags,
            patch.goal.as_deref().filter(|goal| !goal.is_empty()),
            Some(&source.learned).filter(|learned| !learned.is_empty()),
        ])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_equal_hashes_are_distinguished() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("freshet.db"), 0).unwrap();
        let source = |url: &str| NewSource::new(url, "host", 0);
        store.add_sources(&[source("a")]).unwrap();
        let salt = counter(&store.connection, "salt").unwrap();
        // As if `a` also had the hash of `b`.
        let sql = "INSERT INTO url_hash VALUES (?1, 0)";
        store.connection.execute(sql, [hash_url("b", salt)]).unwrap();
        assert_eq!(store.find_source("b").unwrap(), None);
        let added = store.add_sources(&[source("b"), source("a"), source("b")]).unwrap();
        let added: Vec<_> = added.iter().map(|added| (added.id, added.is_new)).collect();
        assert_eq!(added, [(1, true), (0, false), (1, false)]);
        assert_eq!(store.find_source("b").unwrap(), Some(1));
    }
}
