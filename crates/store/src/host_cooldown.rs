//! State of hosts by name, also of hosts without sources: cooldowns and robots.txt files.

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// Cooldown of a host without sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCooldown {
    /// Name of the host.
    pub host: String,
    /// End of the cooldown.
    pub until: i64,
}

/// Stored robots.txt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRecord {
    /// URL of the file.
    pub url: String,
    /// Time of the fetch.
    pub at: i64,
    /// Content and status, opaque to the store.
    pub record: Vec<u8>,
}

impl Reader {
    /// Returns the end of the cooldown of a host, whether or not it has sources.
    pub fn host_cooldown_until(&self, host: &str) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT max(until) FROM (SELECT until FROM manner WHERE host = ?1
            UNION ALL SELECT until FROM host WHERE name = ?1)";
        Ok(self.row(sql, [host], |row| row.get(0))?.flatten())
    }

    /// Returns the cooldowns of hosts without sources that end later than `after`.
    pub fn host_cooldowns(&self, after: i64) -> Result<Vec<HostCooldown>, StoreError> {
        let sql = "SELECT host, until FROM manner WHERE until > ?1";
        self.rows(sql, [after], |row| Ok(HostCooldown { host: row.get(0)?, until: row.get(1)? }))
    }

    /// Returns a robots.txt file by its URL.
    pub fn robots(&self, url: &str) -> Result<Option<RobotsRecord>, StoreError> {
        let sql = "SELECT url, at, record FROM robots WHERE url = ?1";
        self.row(sql, [url], |row| {
            Ok(RobotsRecord { url: row.get(0)?, at: row.get(1)?, record: row.get(2)? })
        })
    }
}

pub(crate) fn save(
    transaction: &Transaction<'_>,
    cooldowns: &[HostCooldown],
    robots: &[RobotsRecord],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO manner VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET until = excluded.until";
    for it in cooldowns {
        transaction.prepare_cached(sql)?.execute(params![it.host, it.until])?;
    }
    let sql = "INSERT INTO robots VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET at = excluded.at, record = excluded.record";
    for it in robots {
        transaction.prepare_cached(sql)?.execute(params![it.url, it.at, it.record])?;
    }
    Ok(())
}

/// Removes cooldowns that have ended, and some of the robots.txt files fetched before `fetched_before`.
pub(crate) fn prune(
    transaction: &Transaction<'_>,
    now: i64,
    fetched_before: i64,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM manner WHERE until < ?1")?.execute([now])?;
    let sql = "DELETE FROM robots WHERE url IN (SELECT url FROM robots WHERE at < ?1 LIMIT 2000)";
    transaction.prepare_cached(sql)?.execute([fetched_before]).map(|_| ())
}
