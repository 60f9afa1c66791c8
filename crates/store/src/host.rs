//! Hosts: id, name, and the state that the engine stores for them.

use rusqlite::{Row, Transaction, params};

use crate::error::StoreError;
use crate::reader::Reader;

/// Stored host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Id: counted from 0 without gaps, never reused.
    pub id: u32,
    /// Name.
    pub name: String,
    /// End of its cooldown.
    pub cooldown_until: Option<i64>,
    /// State stored by the engine; empty if there is none.
    pub record: Vec<u8>,
}

/// New state of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRecord {
    /// Host id.
    pub host: u32,
    /// End of its cooldown.
    pub cooldown_until: Option<i64>,
    /// State of the engine, opaque to the store.
    pub record: Vec<u8>,
}

/// Filter for hosts. The name of a host is written as in URLs: in lower case and ASCII, with the port if it is not the
/// default port of the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFilter {
    /// Name, with the port unless it is a default port.
    pub name: String,
    /// True to match all ports.
    pub any_port: bool,
    /// Prefix of matching URLs, such as `https://`, if the port is the default port of that scheme.
    pub url_prefix: Option<&'static str>,
}

impl HostFilter {
    /// True if a source with this host and URL matches.
    #[must_use]
    pub fn matches(&self, host: &str, url: &str) -> bool {
        let name_matches = match host.strip_prefix(self.name.as_str()) {
            Some("") => true,
            Some(rest) => self.any_port && rest.starts_with(':'),
            None => false,
        };
        name_matches && self.url_prefix.is_none_or(|prefix| url.starts_with(prefix))
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
    /// Returns a host by its id.
    pub fn host(&self, id: u32) -> Result<Option<Host>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE id = ?1"), [id], read)
    }

    /// Returns a host by its name.
    pub fn find_host(&self, name: &str) -> Result<Option<Host>, StoreError> {
        self.row(&format!("{COLUMNS} WHERE name = ?1"), [name], read)
    }

    /// Returns the hosts that match a filter, in order of names.
    pub fn find_hosts(&self, filter: &HostFilter) -> Result<Vec<Host>, StoreError> {
        let HostFilter { name, any_port, .. } = filter;
        let sql = format!(
            "{COLUMNS} WHERE name = ?1 OR (?2 AND name >= ?1 || ':' AND name < ?1 || ';')
            ORDER BY name"
        );
        self.rows(&sql, params![name, any_port], read)
    }

    /// Returns up to `limit` hosts with ids larger than `after`, in order of ids.
    pub fn list_hosts(&self, after: Option<u32>, limit: usize) -> Result<Vec<Host>, StoreError> {
        let (after, limit) =
            (after.map_or(-1, i64::from), i64::try_from(limit).unwrap_or(i64::MAX));
        self.rows(&format!("{COLUMNS} WHERE id > ?1 ORDER BY id LIMIT ?2"), [after, limit], read)
    }

    /// Returns the number of sources of a host, counted up to `max`.
    pub fn count_host_sources(&self, id: u32, max: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM host_source WHERE host = ?1 LIMIT ?2)";
        let count = self.row(sql, [id, max], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// Passes all hosts to `visit`, in order of ids.
    pub fn for_each_host(&self, mut visit: impl FnMut(Host)) -> Result<(), StoreError> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached(&format!("{COLUMNS} ORDER BY id"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(read(row)?);
            }
            Ok(())
        })
    }
}

pub(crate) fn save(transaction: &Transaction<'_>, hosts: &[HostRecord]) -> rusqlite::Result<()> {
    let sql = "UPDATE host SET until = ?2, record = ?3 WHERE id = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    for host in hosts {
        statement.execute(params![host.host, host.cooldown_until, host.record])?;
    }
    Ok(())
}
