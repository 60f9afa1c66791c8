//! Hosts: a number, a name, and what the engine keeps of them.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its number: from 0 on without gaps, never used again.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Until when it is left alone.
    pub cooldown_until: Option<i64>,
    /// What the engine keeps of it; empty if nothing.
    pub record: Vec<u8>,
}

/// What the engine keeps of a host from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRecord {
    /// The host.
    pub host: u32,
    /// Until when it is left alone.
    pub cooldown_until: Option<i64>,
    /// Bytes that the store does not look into.
    pub record: Vec<u8>,
}

/// Which hosts. Hosts are kept by the name that URLs have, in lower case and ASCII, with the port if it is
/// not the usual one of the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFilter {
    /// The name, with a port unless that is a usual one.
    pub name: String,
    /// Whether all ports are meant.
    pub any_port: bool,
    /// What URLs begin with, if the port is the usual one of this scheme: `https://`.
    pub scheme: Option<&'static str>,
}

impl HostFilter {
    /// Whether a source is of such a host.
    #[must_use]
    pub fn matches(&self, host: &str, url: &str) -> bool {
        let is_named = match host.strip_prefix(self.name.as_str()) {
            Some("") => true,
            Some(rest) => self.any_port && rest.starts_with(':'),
            None => false,
        };
        is_named && self.scheme.is_none_or(|scheme| url.starts_with(scheme))
    }
}

const COLUMNS: &str = "SELECT id, name, until, record FROM host";

fn read(row: &Row<'_>) -> rusqlite::Result<Host> {
    Ok(Host {
        id: row.get(0)?,
        name: row.get(1)?,
        cooldown_until: row.get(2)?,
        record: row.get::<_, Option<Vec<u8>>>(3)?.unwrap_or_default(),
    })
}

impl Reader {
    /// A host by its number.
    pub fn host(&self, id: u32) -> Result<Option<Host>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE id = ?1"), [id], read)
    }

    /// A host by its name.
    pub fn find_host(&self, name: &str) -> Result<Option<Host>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE name = ?1"), [name], read)
    }

    /// Hosts by a filter, in order of their names.
    pub fn find_hosts(&self, filter: &HostFilter) -> Result<Vec<Host>, StoreError> {
        let HostFilter { name, any_port, .. } = filter;
        let sql = format!(
            "{COLUMNS} WHERE name = ?1 OR (?2 AND name >= ?1 || ':' AND name < ?1 || ';')
            ORDER BY name"
        );
        self.rows(&sql, params![name, any_port], read)
    }

    /// Hosts with a larger number than `after`, in order of their numbers, at most `limit`.
    pub fn list_hosts(&self, after: Option<u32>, limit: usize) -> Result<Vec<Host>, StoreError> {
        let (after, limit) =
            (after.map_or(-1, i64::from), i64::try_from(limit).unwrap_or(i64::MAX));
        self.rows(&format!("{COLUMNS} WHERE id > ?1 ORDER BY id LIMIT ?2"), [after, limit], read)
    }

    /// How many sources a host has, counted up to `most`.
    pub fn count_host_sources(&self, id: u32, most: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM host_source WHERE host = ?1 LIMIT ?2)";
        let count = self.row(sql, [id, most], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// All hosts in order of their numbers, one at a time.
    pub fn for_each_host(&self, mut each: impl FnMut(Host)) -> Result<(), StoreError> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached(&format!("{COLUMNS} ORDER BY id"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(read(row)?);
            }
            Ok(())
        })
    }
}

pub(crate) fn keep(transaction: &Transaction<'_>, hosts: &[HostRecord]) -> rusqlite::Result<()> {
    let sql = "UPDATE host SET until = ?2, record = ?3 WHERE id = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    for host in hosts {
        statement.execute(params![host.host, host.cooldown_until, host.record])?;
    }
    Ok(())
}
