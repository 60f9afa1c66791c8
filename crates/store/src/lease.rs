//! Leases: sources that other crawlers are fetching.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// Sources claimed by another crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Random id that the holder presents.
    pub id: u128,
    /// Time of the claim.
    pub granted_at: i64,
    /// End of the lease.
    pub expires_at: i64,
    /// Claimed sources.
    pub sources: Vec<u32>,
}

impl Reader {
    /// Returns the leases that have not ended, oldest first, each with those of its sources for which no fetch was
    /// recorded since the claim.
    pub fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.run(|connection| {
            let sql = "SELECT id, since, until, sources FROM lease ORDER BY since, id";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                let (id, encoded) = (row.get::<_, [u8; 16]>(0)?, row.get::<_, Vec<u8>>(3)?);
                let id = u128::from_be_bytes(id);
                let sources = decode_ids(&encoded);
                Ok(Lease { id, granted_at: row.get(1)?, expires_at: row.get(2)?, sources })
            })?;
            let mut leases = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let mut tried =
                connection.prepare_cached("SELECT tried FROM schedule WHERE id = ?1")?;
            for lease in &mut leases {
                let mut open = Vec::new();
                for &id in &lease.sources {
                    let tried = tried.query_row([id], |row| row.get::<_, Option<i64>>(0));
                    if let Some(tried) = tried.optional()?
                        && tried.is_none_or(|tried| tried < lease.granted_at)
                    {
                        open.push(id);
                    }
                }
                lease.sources = open;
            }
            Ok(leases)
        })
    }
}

/// Stores leases and deletes others.
pub(crate) fn save(
    transaction: &Transaction<'_>,
    leases: &[Lease],
    dropped: &[u128],
) -> rusqlite::Result<()> {
    let mut statement =
        transaction.prepare_cached("INSERT OR REPLACE INTO lease VALUES (?1, ?2, ?3, ?4)")?;
    for it in leases {
        let row =
            params![it.id.to_be_bytes(), it.granted_at, it.expires_at, encode_ids(&it.sources)];
        statement.execute(row)?;
    }
    let mut statement = transaction.prepare_cached("DELETE FROM lease WHERE id = ?1")?;
    for id in dropped {
        statement.execute([id.to_be_bytes()])?;
    }
    Ok(())
}

fn encode_ids(sources: &[u32]) -> Vec<u8> {
    sources.iter().flat_map(|id| id.to_le_bytes()).collect()
}

fn decode_ids(bytes: &[u8]) -> Vec<u32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|it| u32::from_le_bytes(*it)).collect()
}
