//! Updates and removes sources.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::add::hash_url;
use crate::error::StoreError;
use crate::history;
use crate::meta::{counter, set_counter};
use crate::signal_source;
use crate::source::{SourcePatch, join_tags, split_tags};
use crate::store::Store;
use crate::version;

impl Store {
    /// Updates the settings of sources, all or none. Returns how many of the sources exist.
    pub fn update_sources(
        &mut self,
        ids: &[u32],
        patch: &SourcePatch,
    ) -> Result<usize, StoreError> {
        patch.check("change")?;
        self.write(|transaction| {
            let mut changed = 0;
            for id in ids {
                changed += usize::from(apply(transaction, *id, patch)?);
            }
            Ok(changed)
        })
    }

    /// Removes sources with their history and versions, all or none. Their entries in the change log stay. Sources of
    /// signal sources are not removed here, but with their signal source. Returns the number of removed sources.
    pub fn remove_sources(&mut self, ids: &[u32]) -> Result<usize, StoreError> {
        self.write(|transaction| {
            let mut removed = 0;
            for id in ids {
                removed += usize::from(remove(transaction, *id)?);
            }
            let remaining = counter(transaction, "sources")? - removed as i64;
            set_counter(transaction, "sources", remaining)?;
            Ok(removed)
        })
    }
}

/// Applies a patch. Returns whether the source exists.
pub(crate) fn apply(
    transaction: &Transaction<'_>,
    id: u32,
    patch: &SourcePatch,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE schedule SET
        importance = coalesce(?2, importance),
        cost = coalesce(?3, cost),
        min_interval = coalesce(?4, min_interval),
        max_interval = nullif(coalesce(?5, max_interval, 9e999), 9e999),
        flags = (flags & ~?6) | ?7,
        goal = nullif(coalesce(?8, goal, ''), '')
        WHERE id = ?1";
    let (flag_mask, flags) = patch.flags();
    let row = params![
        id,
        patch.importance,
        patch.cost,
        patch.min_interval,
        patch.max_interval,
        flag_mask,
        flags,
        patch.goal,
    ];
    if transaction.prepare_cached(sql)?.execute(row)? == 0 {
        return Ok(false);
    }
    if let Some(settings) = &patch.settings {
        let sql = "UPDATE source SET settings = ?2 WHERE id = ?1";
        transaction.prepare_cached(sql)?.execute(params![id, settings])?;
    }
    if let Some(tags) = &patch.tags {
        let sql = "SELECT tags FROM source WHERE id = ?1";
        let before: String = transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
        let after = join_tags(tags);
        if before != after {
            remove_tags(transaction, id, &split_tags(&before))?;
            insert_tags(transaction, id, Some(tags))?;
            let sql = "UPDATE source SET tags = ?2 WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute(params![id, after])?;
        }
    }
    Ok(true)
}

/// Moves a source to another host, whose rate limits apply from now on.
pub(crate) fn move_to_host(
    transaction: &Transaction<'_>,
    id: u32,
    host: u32,
) -> rusqlite::Result<()> {
    let sql = "SELECT host FROM schedule WHERE id = ?1";
    let before: u32 = transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
    if before == host {
        return Ok(());
    }
    let sql = "UPDATE schedule SET host = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute([id, host])?;
    let sql = "DELETE FROM host_source WHERE host = ?2 AND source = ?1";
    transaction.prepare_cached(sql)?.execute([id, before])?;
    let sql = "INSERT INTO host_source (host, source) VALUES (?2, ?1)";
    transaction.prepare_cached(sql)?.execute([id, host]).map(|_| ())
}

pub(crate) fn insert_tags(
    transaction: &Transaction<'_>,
    id: u32,
    tags: Option<&[String]>,
) -> rusqlite::Result<()> {
    let Some(tags) = tags else { return Ok(()) };
    let sql = "INSERT INTO tag_source (tag, source) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut statement = transaction.prepare_cached(sql)?;
    for tag in tags {
        statement.execute(params![tag, id])?;
    }
    Ok(())
}

fn remove_tags(transaction: &Transaction<'_>, id: u32, tags: &[String]) -> rusqlite::Result<()> {
    let sql = "DELETE FROM tag_source WHERE tag = ?1 AND source = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    for tag in tags {
        statement.execute(params![tag, id])?;
    }
    Ok(())
}

fn remove(transaction: &Transaction<'_>, id: u32) -> rusqlite::Result<bool> {
    let sql = "SELECT url, tags, host, last FROM source JOIN schedule USING (id)
        WHERE id = ?1 AND NOT flags & 4";
    let row = transaction.prepare_cached(sql)?.query_row([id], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, u32>(2)?,
            row.get::<_, Option<i64>>(3)?,
        ))
    });
    let Some((url, tags, host, last)) = row.optional()? else { return Ok(false) };
    remove_rows(transaction, id, last)?;
    remove_tags(transaction, id, &split_tags(&tags))?;
    let hash = hash_url(&url, counter(transaction, "salt")?);
    let sql = "DELETE FROM url_hash WHERE hash = ?1 AND source = ?2";
    transaction.prepare_cached(sql)?.execute(params![hash, id])?;
    let sql = "DELETE FROM host_source WHERE host = ?1 AND source = ?2";
    transaction.prepare_cached(sql)?.execute([host, id])?;
    Ok(true)
}

/// Removes a source that is in none of the indexes.
pub(crate) fn remove_unindexed(transaction: &Transaction<'_>, id: u32) -> rusqlite::Result<()> {
    let sql = "SELECT last FROM schedule WHERE id = ?1";
    let last = transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    remove_rows(transaction, id, last.flatten())
}

fn remove_rows(transaction: &Transaction<'_>, id: u32, last: Option<i64>) -> rusqlite::Result<()> {
    history::remove_observations(transaction, id, last)?;
    version::remove_below(transaction, id, i64::MAX)?;
    signal_source::remove_source_signals(transaction, id)?;
    transaction.prepare_cached("DELETE FROM schedule WHERE id = ?1")?.execute([id])?;
    transaction.prepare_cached("DELETE FROM source WHERE id = ?1")?.execute([id]).map(|_| ())
}
