//! The change log: what freshet is for.

use rusqlite::{OptionalExtension, Row, ToSql, Transaction, params};

use crate::error::StoreError;
use crate::host::HostFilter;
use crate::meta::{counter, set_counter};
use crate::outcome::ChangeKind;
use crate::reader::Reader;
use crate::source::split_tags;

/// A change to be logged.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChange {
    /// When the source was last seen unchanged; `None` if never.
    pub last_unchanged_at: Option<i64>,
    /// When it was first seen changed.
    pub first_changed_at: i64,
    /// The digest of what counted before.
    pub old_digest: Option<[u8; 16]>,
    /// The digest of what counts now.
    pub new_digest: [u8; 16],
    /// Bytes of what counted before.
    pub old_size: Option<u64>,
    /// Bytes of what counts now.
    pub new_size: u64,
    /// How much of it is the same, from 0 to 1.
    pub similarity: f64,
    /// What changed, in a few words.
    pub summary: String,
}

/// A change as it was logged. It holds all that it needs: the source may be gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its place in the log: later ones are larger, and none is used twice.
    pub cursor: i64,
    /// What it tells. Of any but a change, the digests are 0 and the versions `None`.
    pub kind: ChangeKind,
    /// The source.
    pub source: u32,
    /// Its URL.
    pub url: String,
    /// The name of its host.
    pub host: String,
    /// Its tags at that time.
    pub tags: Vec<String>,
    /// How much it counted at that time.
    pub importance: f64,
    /// What changed, and when.
    pub change: NewChange,
    /// The number of the version before, if there was one.
    pub old_version: Option<u32>,
    /// The number of the version that came with it, if one was kept.
    pub new_version: Option<u32>,
}

/// Which changes. What is `None` does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeFilter {
    /// Of this source.
    pub source: Option<u32>,
    /// Of such hosts.
    pub host: Option<HostFilter>,
    /// Of sources with this tag.
    pub tag: Option<String>,
    /// Of sources that counted at least so much.
    pub min_importance: Option<f64>,
    /// At most so similar.
    pub max_similarity: Option<f64>,
    /// Entries that tell one of these; if there are none, only changes.
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
            // The character after a colon is a semicolon.
            conditions.push_str(match host.any_port {
                true => " AND (host = :host OR host >= :host || ':' AND host < :host || ';')",
                false => " AND host = :host",
            });
            values.push((":host", &host.name));
            if let Some(scheme) = &host.scheme {
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
            let among = "instr(char(10) || tags || char(10), char(10) || :tag || char(10)) > 0";
            add(among, ":tag", tag);
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
    /// Changes after a cursor, the oldest first, at most `limit`. 0 is before all.
    pub fn changes(
        &self,
        after: i64,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        self.some("cursor > :cursor", "ASC", after, limit, filter)
    }

    /// Changes before a cursor, the newest first, at most `limit`. `None` is after all.
    pub fn latest_changes(
        &self,
        before: Option<i64>,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        self.some("cursor < :cursor", "DESC", before.unwrap_or(i64::MAX), limit, filter)
    }

    fn some(
        &self,
        side: &str,
        order: &str,
        cursor: i64,
        limit: usize,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, StoreError> {
        let (conditions, mut values) = filter.clauses();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        values.extend([(":cursor", &cursor as &dyn ToSql), (":limit", &limit)]);
        let sql =
            format!("{COLUMNS} WHERE {side}{conditions} ORDER BY cursor {order} LIMIT :limit");
        self.rows(&sql, values.as_slice(), read)
    }

    /// The cursor of the newest change that ever was; 0 if there was none.
    pub fn last_cursor(&self) -> Result<i64, StoreError> {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'change'";
        Ok(self.row(sql, [], |row| row.get(0))?.unwrap_or(0))
    }

    /// The cursor up to which changes are not kept any more; 0 if all are there.
    pub fn pruned_cursor(&self) -> Result<i64, StoreError> {
        self.run(|connection| counter(connection, "forgotten"))
    }
}

/// Removes the oldest changes, some at a time, if they were seen before a moment. Their cursors rise with
/// time: the first that is younger ends it.
pub(crate) fn forget(
    transaction: &Transaction<'_>,
    before: i64,
    most: usize,
) -> rusqlite::Result<u64> {
    let sql = "SELECT cursor, changed FROM change ORDER BY cursor LIMIT ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([most as i64])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? >= before {
            break;
        }
        last = Some(row.get::<_, i64>(0)?);
    }
    let Some(last) = last else { return Ok(0) };
    let gone =
        transaction.prepare_cached("DELETE FROM change WHERE cursor <= ?1")?.execute([last])?;
    set_counter(transaction, "forgotten", last)?;
    Ok(gone as u64)
}

/// Logs what is not a change: when the source was last seen as it is, and what there is to say.
pub(crate) fn tell(
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

/// Logs a change and gives its cursor; `None` if the source is gone.
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
    // Without RETURNING, which makes a table of its own for each statement.
    let logged = transaction.prepare_cached(sql)?.execute(row)? > 0;
    Ok(logged.then(|| transaction.last_insert_rowid()))
}
