//! Sources come in: a few at a time, or ten million.
//!
//! A batch is looked up and filed in the order of its hashes, so that each page of the index of URLs is
//! touched once for each batch, however large the index has become.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, params};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::edit;
use crate::error::StoreError;
use crate::meta::{counter, set_counter};
use crate::source::{NewSource, join_tags};
use crate::store::Store;

/// Sources in a batch of an import, at most, and bytes of text in it.
const BATCH: usize = 1_000_000;
const BATCH_BYTES: usize = 64 << 20;

/// What became of a source that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddResult {
    /// Its number.
    pub id: u32,
    /// Whether it was not known before.
    pub is_new: bool,
}

/// What an import brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Sources that were not known before.
    pub added: u64,
    /// Sources that were, or that the import names twice.
    pub existing: u64,
}

impl Store {
    /// Adds sources, all or none. Those with a known URL keep their number and all that is not given
    /// anew.
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

    /// Adds any number of sources in memory of a fixed size. After a crash or an error whole batches are
    /// there and others not: the same import again brings the rest.
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
            while batch.len() < BATCH && bytes < BATCH_BYTES {
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
    let given = &source.patch;
    let texts = [&given.settings, &given.goal];
    let tags: usize = given.tags.iter().flatten().map(String::len).sum();
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    source.url.len() + source.host.len() + tags + texts
}

/// The hash of a URL as the index has it.
pub(crate) fn hash(url: &str, salt: i64) -> i64 {
    xxh3_64_with_seed(url.as_bytes(), salt as u64) as i64
}

/// The number of the source with a URL.
pub(crate) fn look_up(connection: &Connection, url: &str) -> rusqlite::Result<Option<u32>> {
    let hash = hash(url, counter(connection, "salt")?);
    let sql = "SELECT id FROM url_hash CROSS JOIN source ON id = url_hash.source
        WHERE hash = ?1 AND url = ?2";
    connection.prepare_cached(sql)?.query_row(params![hash, url], |row| row.get(0)).optional()
}

fn upsert(
    transaction: &Transaction<'_>,
    sources: &[NewSource],
) -> rusqlite::Result<Vec<AddResult>> {
    let next = counter(transaction, "next_source")?;
    let hosts = number_hosts(transaction, sources)?;
    let Numbered { added, hashes } = number(transaction, sources, next)?;

    let mut inserts = Inserts::prepare(transaction)?;
    let mut places = Vec::new();
    let mut last = next;
    for (source, added) in sources.iter().zip(&added) {
        let host = hosts[source.host.as_str()];
        // A URL that the batch names twice is new at its first place only.
        if added.is_new {
            last = i64::from(added.id) + 1;
            places.push((host, added.id));
            inserts.insert(source, added.id, host, 0)?;
            edit::file_under_tags(transaction, added.id, source.patch.tags.as_deref())?;
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
    places.sort_unstable();
    let mut by_host =
        transaction.prepare_cached("INSERT INTO host_source (host, source) VALUES (?1, ?2)")?;
    for (host, id) in places {
        by_host.execute(params![host, id])?;
    }
    set_counter(transaction, "next_source", last)?;
    let before = counter(transaction, "sources")?;
    set_counter(transaction, "sources", before + last - next)?;
    Ok(added)
}

/// Adds a source that is no page: it has flags, and stands in none of the indexes.
pub(crate) fn insert_apart(
    transaction: &Transaction<'_>,
    source: &NewSource,
    flags: i64,
) -> rusqlite::Result<u32> {
    let next = counter(transaction, "next_source")?;
    let hosts = number_hosts(transaction, std::slice::from_ref(source))?;
    let (id, host) = (next as u32, hosts[source.host.as_str()]);
    Inserts::prepare(transaction)?.insert(source, id, host, flags)?;
    set_counter(transaction, "next_source", next + 1)?;
    Ok(id)
}

struct Numbered {
    added: Vec<AddResult>,
    /// Hashes with places in the batch, in order.
    hashes: Vec<(i64, u32)>,
}

/// Finds out which sources are known, and numbers the others in their order.
fn number(
    transaction: &Transaction<'_>,
    sources: &[NewSource],
    next: i64,
) -> rusqlite::Result<Numbered> {
    let salt = counter(transaction, "salt")?;
    let hashed = sources.iter().zip(0_u32..).map(|(source, at)| (hash(&source.url, salt), at));
    let mut hashes: Vec<(i64, u32)> = hashed.collect();
    hashes.sort_unstable();

    let mut find = transaction.prepare_cached("SELECT source FROM url_hash WHERE hash = ?1")?;
    let mut text = transaction.prepare_cached("SELECT url FROM source WHERE id = ?1")?;
    // The number of a known source, or the place of the one that the batch names first.
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
        let found = match known {
            Some(id) => AddResult { id, is_new: false },
            None if same as usize != place => {
                AddResult { id: added[same as usize].id, is_new: false }
            }
            None => {
                next += 1;
                AddResult { id: next - 1, is_new: true }
            }
        };
        added.push(found);
    }
    Ok(Numbered { added, hashes })
}

fn number_hosts<'a>(
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

/// The statements that add a source.
struct Inserts<'a> {
    source: CachedStatement<'a>,
    schedule: CachedStatement<'a>,
}

impl<'a> Inserts<'a> {
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
        let given = &source.patch;
        let tags = given.tags.as_deref().map(join_tags).unwrap_or_default();
        let settings = given.settings.as_deref().unwrap_or_default();
        self.source.execute(params![id, source.url, source.added_at, tags, settings])?;
        self.schedule.execute(params![
            id,
            host,
            given.importance.unwrap_or(1.0),
            given.cost.unwrap_or(1.0),
            given.min_interval.unwrap_or(0.0),
            given.max_interval.filter(|days| days.is_finite()),
            given.flags().1 | flags,
            given.goal.as_deref().filter(|goal| !goal.is_empty()),
            Some(&source.learned).filter(|learnt| !learnt.is_empty()),
        ])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_hash_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("freshet.db"), 0).unwrap();
        let source = |url: &str| NewSource::new(url, "host", 0);
        store.add_sources(&[source("a")]).unwrap();
        let salt = counter(&store.connection, "salt").unwrap();
        // As if `a` had the hash of `b` as well.
        let file = "INSERT INTO url_hash VALUES (?1, 0)";
        store.connection.execute(file, [hash("b", salt)]).unwrap();
        assert_eq!(store.find_source("b").unwrap(), None);
        let added = store.add_sources(&[source("b"), source("a"), source("b")]).unwrap();
        let added: Vec<_> = added.iter().map(|added| (added.id, added.is_new)).collect();
        assert_eq!(added, [(1, true), (0, false), (1, false)]);
        assert_eq!(store.find_source("b").unwrap(), Some(1));
    }
}
