//! Versions of content: compressed, and stored once however many sources and versions share them.

use std::cell::RefCell;

use rusqlite::{Row, Transaction, params};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};

use crate::error::StoreError;
use crate::reader::Reader;

/// How hard zstd tries. Pages of 10 KB come out a few per cent larger than at the default, in half the
/// time.
const LEVEL: i32 = 1;

/// Content, compressed. Made where there is time for it: beside the loop that records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressedContent {
    hash: i64,
    size: u64,
    zstd: Vec<u8>,
}

impl CompressedContent {
    /// Compresses content.
    #[must_use]
    pub fn compress(content: &[u8]) -> Self {
        thread_local! {
            static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
        }
        let zstd = COMPRESSOR.with_borrow_mut(|kept| {
            if kept.is_none() {
                *kept = Compressor::new(LEVEL).ok();
            }
            kept.as_mut().and_then(|compressor| compressor.compress(content).ok())
        });
        // Compression fails for want of memory only. The content is then kept as it is.
        let zstd = zstd.unwrap_or_else(|| content.to_vec());
        Self { hash: xxh3_64(content) as i64, size: content.len() as u64, zstd }
    }

    /// Bytes of content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// A version to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// The digest of what counts of it.
    pub digest: [u8; 16],
    /// What kind of content it is, as a text that the store does not look into.
    pub content_kind: String,
    /// The content.
    pub content: CompressedContent,
}

/// What is known of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionMeta {
    /// Its number, from 1 for each source.
    pub number: u32,
    /// When it was first seen.
    pub first_seen_at: i64,
    /// The digest of what counts of it.
    pub digest: [u8; 16],
    /// What kind of content it is.
    pub content_kind: String,
    /// Bytes of content.
    pub size: u64,
}

/// A version with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What is known of it.
    pub meta: VersionMeta,
    /// The content.
    pub content: Vec<u8>,
}

const META: &str = "SELECT v.n, v.at, v.digest, v.kind, c.size
    FROM version v JOIN content c ON c.id = v.content WHERE v.source = ?1";

fn read(row: &Row<'_>) -> rusqlite::Result<VersionMeta> {
    Ok(VersionMeta {
        number: row.get(0)?,
        first_seen_at: row.get(1)?,
        digest: row.get(2)?,
        content_kind: row.get(3)?,
        size: row.get::<_, i64>(4)? as u64,
    })
}

impl Reader {
    /// The versions of a source that are kept, the newest first.
    pub fn versions(&self, id: u32) -> Result<Vec<VersionMeta>, StoreError> {
        self.rows(&format!("{META} ORDER BY v.n DESC"), [id], read)
    }

    /// A version of a source, if it is kept.
    pub fn version(&self, id: u32, n: u32) -> Result<Option<Version>, StoreError> {
        // One statement, so that no tidying comes between the two parts.
        let sql = "SELECT v.n, v.at, v.digest, v.kind, c.size, p.zstd FROM version v
            JOIN content c ON c.id = v.content LEFT JOIN packed p ON p.content = v.content
            WHERE v.source = ?1 AND v.n = ?2";
        let found = self.row(sql, [id, n], |row| {
            let meta = read(row)?;
            let content = row.get_ref(5)?.as_blob_or_null()?.map(|zstd| unpack(zstd, meta.size));
            Ok((meta, content.flatten()))
        })?;
        let Some((meta, content)) = found else { return Ok(None) };
        match content {
            Some(content) => Ok(Some(Version { meta, content })),
            None => Err(StoreError::Corrupt {
                path: self.path.clone(),
                detail: format!("version {n} of source {id} cannot be unpacked"),
            }),
        }
    }
}

fn unpack(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    let unpacked = Decompressor::new().ok()?.decompress(packed, size);
    let unpacked = unpacked.ok().filter(|content| content.len() == size);
    unpacked.or_else(|| (packed.len() == size).then(|| packed.to_vec()))
}

/// Keeps a version under a number.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    source: u32,
    n: u32,
    at: i64,
    version: &NewVersion,
) -> rusqlite::Result<()> {
    let content = share(transaction, &version.content)?;
    let sql = "INSERT INTO version (source, n, at, digest, kind, content)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = params![source, n, at, version.digest, version.content_kind, content];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// The number of this content. The hash only points to candidates: what strangers wrote must not be
/// mistaken for something else of the same hash.
fn share(transaction: &Transaction<'_>, content: &CompressedContent) -> rusqlite::Result<i64> {
    let sql = "SELECT id, zstd FROM content JOIN packed ON content = id
        WHERE hash = ?1 AND size = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query(params![content.hash, content.size as i64])?;
    while let Some(row) = rows.next()? {
        let there = row.get_ref(1)?.as_blob()?;
        if there == content.zstd || same_content(there, content) {
            let id: i64 = row.get(0)?;
            let sql = "UPDATE content SET uses = uses + 1 WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute([id])?;
            return Ok(id);
        }
    }
    let sql = "INSERT INTO content (hash, size, uses) VALUES (?1, ?2, 1)";
    transaction.prepare_cached(sql)?.execute(params![content.hash, content.size as i64])?;
    let id = transaction.last_insert_rowid();
    let sql = "INSERT INTO packed (content, zstd) VALUES (?1, ?2)";
    transaction.prepare_cached(sql)?.execute(params![id, content.zstd])?;
    Ok(id)
}

/// Another version of zstd may have packed the same content into other bytes.
fn same_content(there: &[u8], content: &CompressedContent) -> bool {
    let unpacked = unpack(there, content.size);
    unpacked.is_some() && unpacked == unpack(&content.zstd, content.size)
}

/// Removes the versions of a source with a number below `number`. Gives how many.
pub(crate) fn remove_below(
    transaction: &Transaction<'_>,
    source: u32,
    n: i64,
) -> rusqlite::Result<u64> {
    let sql = "SELECT content FROM version WHERE source = ?1 AND n < ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let removed = statement.query_map(params![source, n], |row| row.get(0))?;
    let removed: Vec<i64> = removed.collect::<rusqlite::Result<_>>()?;
    if !removed.is_empty() {
        let sql = "DELETE FROM version WHERE source = ?1 AND n < ?2";
        transaction.prepare_cached(sql)?.execute(params![source, n])?;
    }
    for content in &removed {
        release(transaction, *content)?;
    }
    Ok(removed.len() as u64)
}

/// One version less uses this content. Without any it goes.
pub(crate) fn release(transaction: &Transaction<'_>, content: i64) -> rusqlite::Result<()> {
    // Most are used once: their count need not be written before they go.
    let sql = "DELETE FROM content WHERE id = ?1 AND uses <= 1";
    if transaction.prepare_cached(sql)?.execute([content])? > 0 {
        transaction.prepare_cached("DELETE FROM packed WHERE content = ?1")?.execute([content])?;
    } else {
        let sql = "UPDATE content SET uses = uses - 1 WHERE id = ?1";
        transaction.prepare_cached(sql)?.execute([content])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, FetchRecord, NewSource, Store, StoredOutcome};

    #[test]
    fn contents_of_one_hash_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("freshet.db"), 0).unwrap();
        store.add_sources(&[NewSource::new("url", "host", 0)]).unwrap();
        let contents: [&[u8]; 4] = [b"one", b"two", b"one", b"two"];
        let fetches = contents.map(|content| {
            let content = CompressedContent { hash: 7, ..CompressedContent::compress(content) };
            let version = NewVersion { digest: [0; 16], content_kind: String::new(), content };
            FetchRecord { version: Some(version), ..FetchRecord::new(0, 1, StoredOutcome::Changed) }
        });
        store.record_batch(&Batch { fetches: fetches.to_vec(), ..Batch::default() }).unwrap();
        for (n, content) in (1..).zip(contents) {
            assert_eq!(store.version(0, n).unwrap().unwrap().content, content);
        }
        let kept = store.row("SELECT count(*) FROM content", [], |row| row.get::<_, i64>(0));
        assert_eq!(kept.unwrap(), Some(2));
    }

    #[test]
    fn another_way_to_pack_is_the_same_content() {
        let content: String = (0..1_000).map(|n| (n * n).to_string()).collect();
        let content = content.as_bytes();
        let hard = zstd::bulk::compress(content, 19).unwrap();
        let packed = CompressedContent::compress(content);
        assert_ne!(hard, packed.zstd);
        assert!(same_content(&hard, &packed));
        assert!(!same_content(&hard[..hard.len() / 2], &packed));
        // What could not be packed is kept as it is.
        assert_eq!(unpack(content, packed.size).as_deref(), Some(content));
    }
}
