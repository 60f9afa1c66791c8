//! Data needed to fetch a source and to compare the response with the previous one.

use rusqlite::{OptionalExtension, Row};

use crate::error::StoreError;
use crate::reader::Reader;

/// Validators that the server sent, for the next conditional request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredValidators {
    /// `ETag`, as received.
    pub etag: Option<String>,
    /// `Last-Modified`, as received.
    pub last_modified: Option<String>,
}

/// Data needed to fetch a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchJob {
    /// The source.
    pub id: u32,
    /// URL to fetch.
    pub url: String,
    /// Validators for a conditional request.
    pub validators: StoredValidators,
    /// Snapshot of the document at the last fetch, opaque to the store; empty if there is none.
    pub snapshot: Vec<u8>,
    /// Extraction settings, opaque to the store.
    pub settings: String,
    /// Number of the newest version; 0 if there is none.
    pub version: u32,
    /// Signal source that this source is fetched for; `None` for a page.
    pub signal_source: Option<u32>,
}

/// URL and validators of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAddress {
    /// The source.
    pub id: u32,
    /// URL to fetch.
    pub url: String,
    /// Validators for a conditional request.
    pub validators: StoredValidators,
}

const SQL: &str = "SELECT id, url, etag, last_modified, reading, settings, version,
    (SELECT number FROM herald h WHERE h.source = ?1) FROM source WHERE id = ?1";

fn read(row: &Row<'_>) -> rusqlite::Result<FetchJob> {
    Ok(FetchJob {
        id: row.get(0)?,
        url: row.get(1)?,
        validators: StoredValidators { etag: row.get(2)?, last_modified: row.get(3)? },
        snapshot: row.get::<_, Option<Vec<u8>>>(4)?.unwrap_or_default(),
        settings: row.get(5)?,
        version: row.get(6)?,
        signal_source: row.get(7)?,
    })
}

impl Reader {
    /// Returns the data needed to fetch a source; `None` if there is no such source.
    pub fn fetch_job(&self, id: u32) -> Result<Option<FetchJob>, StoreError> {
        self.row(SQL, [id], read)
    }

    /// Returns the data needed to fetch several sources, in the order of `ids`. Omits sources that do not exist.
    pub fn fetch_jobs(&self, ids: &[u32]) -> Result<Vec<FetchJob>, StoreError> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached(SQL)?;
            let mut jobs = Vec::with_capacity(ids.len());
            for id in ids {
                jobs.extend(statement.query_row([id], read).optional()?);
            }
            Ok(jobs)
        })
    }

    /// Returns the URLs and validators of sources, in the order of `ids`. Omits sources that do not exist.
    pub fn source_addresses(&self, ids: &[u32]) -> Result<Vec<SourceAddress>, StoreError> {
        let sql = "SELECT id, url, etag, last_modified FROM source WHERE id = ?1";
        self.run(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut addresses = Vec::with_capacity(ids.len());
            for id in ids {
                let address = statement.query_row([id], |row| {
                    let validators =
                        StoredValidators { etag: row.get(2)?, last_modified: row.get(3)? };
                    Ok(SourceAddress { id: row.get(0)?, url: row.get(1)?, validators })
                });
                addresses.extend(address.optional()?);
            }
            Ok(addresses)
        })
    }
}
