//! The change log.

use rusqlite::{OptionalExtension, Row, ToSql, Transaction, params};

use crate::error::StoreError;
use crate::host::HostFilter;
use crate::meta::{counter, set_counter};
use crate::outcome::ChangeKind;
use crate::reader::Reader;
use crate::source::split_tags;

/// Change to log.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChange {
    /// Time of the last fetch that found the old content; `None` if there was none.
    pub last_unchanged_at: Option<i64>,
    /// Time of the first fetch that found the new content.
    pub first_changed_at: i64,
    /// Digest of the old relevant content.
    pub old_digest: Option<[u8; 16]>,
    /// Digest of the new relevant content.
    pub new_digest: [u8; 16],
    /// Size of the old relevant content in bytes.
    pub old_size: Option<u64>,
    /// Size of the new relevant content in bytes.
    pub new_size: u64,
    /// Similarity of the two, from 0 to 1.
    pub similarity: f64,
    /// Short description of the change.
    pub summary: String,
}

/// Entry of the change log. It is complete in itself: the source may have been removed since.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Position in the log: increasing, never reused.
    pub cursor: i64,
    /// Kind of the entry. Unless it is a change, the digests are 0 and the versions `None`.
    pub kind: ChangeKind,
    /// Source id.
    pub source: u32,
    /// URL of the source.
    pub url: String,
    /// Name of its host.
    pub host: String,
    /// Its tags at that time.
    pub tags: Vec<String>,
    /// Its importance at that time.
    pub importance: f64,
    /// Details of the change.
    pub change: NewChange,
    /// Number of the previous version, if there is one.
    pub old_version: Option<u32>,
    /// Number of the new version, if it was stored.
    pub new_version: Option<u32>,
}

/// Filter for log entries. A field that is `None` matches all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeFilter {
    /// Source id.
    pub source: Option<u32>,
    /// Hosts.
    pub host: Option<HostFilter>,
    /// Tag of the source.
    pub tag: Option<String>,
    /// Minimum importance of the source.
    pub min_importance: Option<f64>,
    /// Maximum similarity.
    pub max_similarity: Option<f64>,
    /// Kinds of entries; empty for changes only.
    pub kinds: Vec<ChangeKind>,
}

const COLUMNS: &str = "SELECT cursor, source, url, host, tags, importance, unchanged, changed,
    old_digest, new_digest, old_size, new_size, similarity, summary, old_version, new_version,
    kind FROM change";

fn read(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        cursor: row.get(0)?,
        source: row.get(1)?,
        url: row.get(2)?,
        host: row.get(3)?,
        tags: split_tags(row.get_ref(4)?.as_str()?),
        importance: row.get(5)?,
        change: NewChange {
            last_unchanged_at: row.get(6)?,
            first_changed_at: row.get(7)?,
            old_digest: row.get(8)?,
            new_digest: row.get(9)?,
            old_size: row.get::<_, Option<i64>>(10)?.map(|size| size as u64),
            new_size: row.get::<_, i64>(11)? as u64,
            similarity: row.get(12)?,
            summary: row.get(13)?,
        },
        old_version: row.get(14)?,
        new_version: row.get(15)?,
        kind: row.get(16)?,
    })
}

impl ChangeFilter {
    fn clauses(&self) -> (String, Vec<(&'static str, &dyn ToSql)>) {
        let mut conditions = String::new();
        let mut values: Vec<(&'static str, &dyn ToSql)> = Vec::new();
        if let Some(host) = &self.host {
            // The semicolon is the character after the colon: the range contains all ports.
            conditions.push_str(match host.any_port {
                true => " AND (host = :host OR host >= :host || ':' AND host < :host || ';')",
                false => " AND host = :host",
            });
            values.push((":host", &host.name));
            if let Some(scheme) = &host.url_prefix {
                conditions.push_str(" AND substr(url, 1, length(:scheme)) = :scheme");
                values.push((":scheme", scheme));
            }
        }
        let mut add = |condition: &str, name: &'static str, value| {
            conditions.push_str(" AND ");
            conditions.push_str(condition);
            values.push((name, value));
        };
        if let Some(source) = &self.source {
            add("source = :source", ":source", source as &dyn ToSql);
        }
        if let Some(tag) = &self.tag {
            let has_tag = "instr(char(10) || tags || char(10), char(10) || :tag || char(10)) > 0";
            add(has_tag, ":tag", tag);
        }
        if let Some(importance) = &self.min_importance {
            add("importance >= :importance", ":importance", importance);
        }
        if let Some(similarity) = &self.max_similarity {
            add("similarity <= :similarity", ":similarity", similarity);
        }
        let numbers = self.kinds.iter().map(|&kind| (kind as u8).to_string());
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        let kinds = if numbers.is_empty() { "0" } else { &numbers };
        conditions.push_str(&format!(" AND kind IN ({kinds})"));
        (conditions, values)
    }
}

impl Reader {
    /// Returns up to `limit` entries after a cursor, oldest first. 0 is before all entries.
    pub fn changes(
        &self,
        after: i64,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        self.select_changes("cursor > :cursor", "ASC", after, limit, filter)
    }

    /// Returns up to `limit` entries before a cursor, newest first. `None` is after all entries.
    pub fn latest_changes(
        &self,
        before: Option<i64>,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        self.select_changes("cursor < :cursor", "DESC", before.unwrap_or(i64::MAX), limit, filter)
    }

    fn select_changes(
        &self,
        range: &str,
        order: &str,
        cursor: i64,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        let (conditions, mut values) = filter.clauses();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        values.extend([(":cursor", &cursor as &dyn ToSql), (":limit", &limit)]);
        let sql =
            format!("{COLUMNS} WHERE {range}{conditions} ORDER BY cursor {order} LIMIT :limit");
        self.rows(&sql, values.as_slice(), read)
    }

    /// Returns the cursor of the newest entry ever logged; 0 if there was none.
    pub fn last_cursor(&self) -> Result<i64, StoreError> {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'change'";
        Ok(self.row(sql, [], |row| row.get(0))?.unwrap_or(0))
    }

    /// Returns the cursor up to which entries are pruned; 0 if none is.
    pub fn pruned_cursor(&self) -> Result<i64, StoreError> {
        self.run(|connection| counter(connection, "forgotten"))
    }
}

/// Removes up to `max` of the oldest entries that are older than `cutoff`. Cursors increase with time: the first younger
/// entry ends the search.
pub(crate) fn prune(
    transaction: &Transaction<'_>,
    cutoff: i64,
    max: usize,
) -> rusqlite::Result<u64> {
    let sql = "SELECT cursor, changed FROM change ORDER BY cursor LIMIT ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([max as i64])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? >= cutoff {
            break;
        }
        last = Some(row.get::<_, i64>(0)?);
    }
    let Some(last) = last else { return Ok(0) };
    let removed =
        transaction.prepare_cached("DELETE FROM change WHERE cursor <= ?1")?.execute([last])?;
    set_counter(transaction, "forgotten", last)?;
    Ok(removed as u64)
}

/// Logs an event that is not a change. `since` is the start of the condition that it reports.
pub(crate) fn insert_event(
    transaction: &Transaction<'_>,
    source: u32,
    kind: ChangeKind,
    since: Option<i64>,
    at: i64,
    summary: &str,
) -> rusqlite::Result<Option<i64>> {
    let sql = "INSERT INTO change (source, url, host, tags, importance, unchanged, changed,
        new_digest, new_size, similarity, summary, kind)
        SELECT s.id, s.url, h.name, s.tags, c.importance, ?2, ?3, zeroblob(16), 0, 1.0, ?4, ?5
        FROM source s JOIN schedule c ON c.id = s.id JOIN host h ON h.id = c.host
        WHERE s.id = ?1 RETURNING cursor";
    let row = params![source, since, at, summary, kind];
    transaction.prepare_cached(sql)?.query_row(row, |row| row.get(0)).optional()
}

/// Logs a change and returns its cursor; `None` if the source no longer exists.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    source: u32,
    change: &NewChange,
    unchanged: Option<i64>,
    (old_version, new_version): (Option<u32>, Option<u32>),
) -> rusqlite::Result<Option<i64>> {
    let sql = "INSERT INTO change (source, url, host, tags, importance, unchanged, changed,
        old_digest, new_digest, old_size, new_size, similarity, summary, old_version, new_version)
        SELECT s.id, s.url, h.name, s.tags, c.importance, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
        FROM source s JOIN schedule c ON c.id = s.id JOIN host h ON h.id = c.host
        WHERE s.id = ?1";
    let row = params![
        source,
        unchanged,
        change.first_changed_at,
        change.old_digest,
        change.new_digest,
        change.old_size.map(|size| size as i64),
        change.new_size as i64,
        if change.similarity.is_nan() { 0.0 } else { change.similarity },
        change.summary,
        old_version,
        new_version,
    ];
    // Without RETURNING, which creates a temporary table for each statement.
    let is_logged = transaction.prepare_cached(sql)?.execute(row)? > 0;
    Ok(is_logged.then(|| transaction.last_insert_rowid()))
}
