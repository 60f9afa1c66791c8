//! Versions of content: compressed, and stored once however many versions share them.

use std::cell::RefCell;

use rusqlite::{Row, Transaction, params};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};

use crate::error::StoreError;
use crate::reader::Reader;

/// Compression level of zstd. Pages of 10 KB become a few percent larger than at the default level, in half the time.
const COMPRESSION_LEVEL: i32 = 1;

/// Compressed content. Compress on another thread than the one that records.
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
        let zstd = COMPRESSOR.with_borrow_mut(|slot| {
            if slot.is_none() {
                *slot = Compressor::new(COMPRESSION_LEVEL).ok();
            }
            slot.as_mut().and_then(|compressor| compressor.compress(content).ok())
        });
        // Compression fails only if memory runs out. The content is then stored uncompressed.
        let zstd = zstd.unwrap_or_else(|| content.to_vec());
        Self { hash: xxh3_64(content) as i64, size: content.len() as u64, zstd }
    }

    /// Size of the content in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// Version to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// Digest of the relevant content.
    pub digest: [u8; 16],
    /// Kind of the content, opaque to the store.
    pub content_kind: String,
    /// Content.
    pub content: CompressedContent,
}

/// Metadata of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionMeta {
    /// Number, counted from 1 for each source.
    pub number: u32,
    /// Time of the fetch that found it.
    pub first_seen_at: i64,
    /// Digest of the relevant content.
    pub digest: [u8; 16],
    /// Kind of the content.
    pub content_kind: String,
    /// Size of the content in bytes.
    pub size: u64,
}

/// Version with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Metadata.
    pub meta: VersionMeta,
    /// Content.
    pub content: Vec<u8>,
}

const SELECT_META: &str = "SELECT v.n, v.at, v.digest, v.kind, c.size
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
    /// Returns the stored versions of a source, newest first.
    pub fn versions(&self, id: u32) -> Result<Vec<VersionMeta>, StoreError> {
        self.rows(&format!("{SELECT_META} ORDER BY v.n DESC"), [id], read)
    }

    /// Returns a version of a source, if it is stored.
    pub fn version(&self, id: u32, n: u32) -> Result<Option<Version>, StoreError> {
        // A single statement, so that pruning cannot come between the two parts.
        let sql = "SELECT v.n, v.at, v.digest, v.kind, c.size, p.zstd FROM version v
            JOIN content c ON c.id = v.content LEFT JOIN packed p ON p.content = v.content
            WHERE v.source = ?1 AND v.n = ?2";
        let row = self.row(sql, [id, n], |row| {
            let meta = read(row)?;
            let content =
                row.get_ref(5)?.as_blob_or_null()?.map(|zstd| decompress(zstd, meta.size));
            Ok((meta, content.flatten()))
        })?;
        let Some((meta, content)) = row else { return Ok(None) };
        match content {
            Some(content) => Ok(Some(Version { meta, content })),
            None => Err(StoreError::Corrupt {
                path: self.path.clone(),
                detail: format!("version {n} of source {id} cannot be decompressed"),
            }),
        }
    }
}

fn decompress(compressed: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    let content = Decompressor::new().ok()?.decompress(compressed, size);
    let content = content.ok().filter(|content| content.len() == size);
    content.or_else(|| (compressed.len() == size).then(|| compressed.to_vec()))
}

/// Stores a version under a number.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    source: u32,
    n: u32,
    at: i64,
    version: &NewVersion,
) -> rusqlite::Result<()> {
    let content = find_or_insert_content(transaction, &version.content)?;
    let sql = "INSERT INTO version (source, n, at, digest, kind, content)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = params![source, n, at, version.digest, version.content_kind, content];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// Returns the id of a content, stored before or now. The hash only finds candidates: remote content must not be
/// mistaken for another one with the same hash.
fn find_or_insert_content(
    transaction: &Transaction<'_>,
    content: &CompressedContent,
) -> rusqlite::Result<i64> {
    let sql = "SELECT id, zstd FROM content JOIN packed ON content = id
        WHERE hash = ?1 AND size = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query(params![content.hash, content.size as i64])?;
    while let Some(row) = rows.next()? {
        let stored = row.get_ref(1)?.as_blob()?;
        if stored == content.zstd || is_same_content(stored, content) {
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

/// Compares decompressed contents: another version of zstd may have compressed the same content to other bytes.
fn is_same_content(stored: &[u8], content: &CompressedContent) -> bool {
    let stored = decompress(stored, content.size);
    stored.is_some() && stored == decompress(&content.zstd, content.size)
}

/// Removes the versions of a source with numbers below `n`. Returns how many there were.
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

/// Decrements the use count of a content, and removes the content when no version uses it.
pub(crate) fn release(transaction: &Transaction<'_>, content: i64) -> rusqlite::Result<()> {
    // Most contents are used once: their count need not be written before they are removed.
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
    fn contents_with_equal_hashes_are_distinguished() {
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
        let count = store.row("SELECT count(*) FROM content", [], |row| row.get::<_, i64>(0));
        assert_eq!(count.unwrap(), Some(2));
    }

    #[test]
    fn a_content_compressed_in_another_way_is_the_same_content() {
        let content: String = (0..1_000).map(|n| (n * n).to_string()).collect();
        let content = content.as_bytes();
        let compressed_harder = zstd::bulk::compress(content, 19).unwrap();
        let compressed = CompressedContent::compress(content);
        assert_ne!(compressed_harder, compressed.zstd);
        assert!(is_same_content(&compressed_harder, &compressed));
        assert!(!is_same_content(&compressed_harder[..compressed_harder.len() / 2], &compressed));
        // Content that could not be compressed is stored as it is.
        assert_eq!(decompress(content, compressed.size).as_deref(), Some(content));
    }
}
