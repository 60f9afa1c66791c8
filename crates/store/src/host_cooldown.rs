//! What is remembered of hosts by their names: how they want to be treated, also those that have no
//! sources.

use rusqlite::{Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// How long a host without sources is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCooldown {
    /// The name of the host.
    pub host: String,
    /// Until when it is left alone.
    pub until: i64,
}

/// A robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRecord {
    /// Where it is: its URL.
    pub url: String,
    /// When it was found.
    pub at: i64,
    /// Bytes that the store does not look into.
    pub record: Vec<u8>,
}

impl Reader {
    /// Until when the host with this name is to be left alone, whether or not it has sources.
    pub fn host_cooldown_until(&self, host: &str) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT max(until) FROM (SELECT until FROM manner WHERE host = ?1
            UNION ALL SELECT until FROM host WHERE name = ?1)";
        Ok(self.row(sql, [host], |row| row.get(0))?.flatten())
    }

    /// Hosts without sources that are to be left alone after a moment.
    pub fn host_cooldowns(&self, after: i64) -> Result<Vec<HostCooldown>, StoreError> {
        let sql = "SELECT host, until FROM manner WHERE until > ?1";
        self.rows(sql, [after], |row| Ok(HostCooldown { host: row.get(0)?, until: row.get(1)? }))
    }

    /// A robots.txt by its URL.
    pub fn robots(&self, url: &str) -> Result<Option<RobotsRecord>, StoreError> {
        let sql = "SELECT url, at, record FROM robots WHERE url = ?1";
        self.row(sql, [url], |row| {
            Ok(RobotsRecord { url: row.get(0)?, at: row.get(1)?, record: row.get(2)? })
        })
    }
}

pub(crate) fn keep(
    transaction: &Transaction<'_>,
    manners: &[HostCooldown],
    robots: &[RobotsRecord],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO manner VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET until = excluded.until";
    for it in manners {
        transaction.prepare_cached(sql)?.execute(params![it.host, it.until])?;
    }
    let sql = "INSERT INTO robots VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET at = excluded.at, record = excluded.record";
    for it in robots {
        transaction.prepare_cached(sql)?.execute(params![it.url, it.at, it.record])?;
    }
    Ok(())
}

/// Forgets who need not be left alone any more, and files that were found before a moment.
pub(crate) fn forget(
    transaction: &Transaction<'_>,
    now: i64,
    found_before: i64,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM manner WHERE until < ?1")?.execute([now])?;
    let sql = "DELETE FROM robots WHERE url IN (SELECT url FROM robots WHERE at < ?1 LIMIT 2000)";
    transaction.prepare_cached(sql)?.execute([found_before]).map(|_| ())
}
