//! What it takes to fetch a source and to judge what comes.

use rusqlite::{OptionalExtension, Row};

use crate::error::StoreError;
use crate::reader::Reader;

/// What a server gave to ask with the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredValidators {
    /// `ETag`, as it came.
    pub etag: Option<String>,
    /// `Last-Modified`, as it came.
    pub last_modified: Option<String>,
}

/// What it takes to fetch a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchJob {
    /// The source.
    pub id: u32,
    /// What is fetched.
    pub url: String,
    /// What the server gave to ask with.
    pub validators: StoredValidators,
    /// What was read the last time, as bytes that the store does not look into; empty if nothing.
    pub reading: Vec<u8>,
    /// How it is read, as a text that the store does not look into.
    pub settings: String,
    /// The number of the newest version; 0 if there is none.
    pub version: u32,
    /// The herald that is heard by reading it; `None` if it is a page.
    pub signal_source: Option<u32>,
}

/// What is to be asked of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAddress {
    /// The source.
    pub id: u32,
    /// What is fetched.
    pub url: String,
    /// What the server gave to ask with.
    pub validators: StoredValidators,
}

const SQL: &str = "SELECT id, url, etag, last_modified, reading, settings, version,
    (SELECT number FROM herald h WHERE h.source = ?1) FROM source WHERE id = ?1";

fn read(row: &Row<'_>) -> rusqlite::Result<FetchJob> {
    Ok(FetchJob {
        id: row.get(0)?,
        url: row.get(1)?,
        validators: StoredValidators { etag: row.get(2)?, last_modified: row.get(3)? },
        reading: row.get::<_, Option<Vec<u8>>>(4)?.unwrap_or_default(),
        settings: row.get(5)?,
        version: row.get(6)?,
        signal_source: row.get(7)?,
    })
}

impl Reader {
    /// What it takes to fetch a source; `None` if there is no such source.
    pub fn fetch_job(&self, id: u32) -> Result<Option<FetchJob>, StoreError> {
        self.row(SQL, [id], read)
    }

    /// The same for many sources, in the order given. Those that do not exist are left out.
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

    /// What is to be asked of whom, in the order given. Sources that do not exist are left out.
    pub fn addresses(&self, ids: &[u32]) -> Result<Vec<SourceAddress>, StoreError> {
        let sql = "SELECT id, url, etag, last_modified FROM source WHERE id = ?1";
        self.run(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let address = statement.query_row([id], |row| {
                    let validators =
                        StoredValidators { etag: row.get(2)?, last_modified: row.get(3)? };
                    Ok(SourceAddress { id: row.get(0)?, url: row.get(1)?, validators })
                });
                found.extend(address.optional()?);
            }
            Ok(found)
        })
    }
}
