//! Signals per pair of a signal source and a source: the latest entry, and the state that the engine has learned. Only
//! sources in the store have rows.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::add::hash_url;
use crate::error::StoreError;
use crate::meta::counter;
use crate::reader::Reader;

/// Rows of a signal source that are removed at once; pruning removes the others.
const ROWS_PER_STEP: usize = 20_000;

/// Source that a signal source lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceMatch {
    /// Source id.
    pub id: u32,
    /// Time of the last fetch that returned or confirmed the copy.
    pub fetched_at: Option<i64>,
    /// Latest entry of the signal source for it, as change time and fingerprint; `None` if there is none.
    pub last_entry: Option<(Option<i64>, u64)>,
}

/// Entry of a signal source for a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalEntry {
    /// Signal source id.
    pub signal_source: u32,
    /// Source id.
    pub source: u32,
    /// Time at which it was received.
    pub received_at: i64,
    /// Time of the change, as reported.
    pub changed_at: Option<i64>,
    /// Hash of the whole entry.
    pub fingerprint: u64,
}

/// State that the engine has learned about a signal source and a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalHistory {
    /// Signal source id.
    pub signal_source: u32,
    /// Source id.
    pub source: u32,
    /// State of the engine, opaque to the store.
    pub learned: Vec<u8>,
}

/// Signal source that has reported a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestSignal {
    /// Signal source id.
    pub signal_source: u32,
    /// Latest new entry; `None` if it is not stored.
    pub entry: Option<SignalEntry>,
}

fn read_match(row: &Row<'_>) -> rusqlite::Result<SourceMatch> {
    let (changed_at, fingerprint) = (row.get(2)?, row.get::<_, Option<i64>>(3)?);
    let last_entry = fingerprint.map(|it| (changed_at, it as u64));
    Ok(SourceMatch { id: row.get(0)?, fetched_at: row.get(1)?, last_entry })
}

impl Reader {
    /// Looks up the sources of URLs, and the latest entry of a signal source for each. The result has the order of `urls`;
    /// the lookups have the order of the index.
    pub fn match_signalled_urls(
        &self,
        signal_source: u32,
        urls: &[impl AsRef<str>],
    ) -> Result<Vec<Option<SourceMatch>>, StoreError> {
        self.run(|connection| {
            let salt = counter(connection, "salt")?;
            let hashed = urls.iter().enumerate();
            let mut hashed: Vec<(i64, usize)> =
                hashed.map(|(at, url)| (hash_url(url.as_ref(), salt), at)).collect();
            hashed.sort_unstable();
            let mut find = connection.prepare_cached(
                "SELECT s.id, c.fetched, e.said, e.print
                FROM url_hash u CROSS JOIN source s ON s.id = u.source
                CROSS JOIN schedule c ON c.id = u.source
                LEFT JOIN ear e ON e.source = u.source AND e.herald = ?3
                WHERE u.hash = ?1 AND s.url = ?2",
            )?;
            let mut matches = vec![None; urls.len()];
            for (hash, at) in hashed {
                let values = params![hash, urls[at].as_ref(), signal_source];
                let row = find.query_row(values, read_match);
                matches[at] = row.optional()?;
            }
            Ok(matches)
        })
    }

    /// Looks up sources by their ids, and the latest entry of a signal source for each.
    pub fn match_signalled_ids(
        &self,
        signal_source: u32,
        ids: &[u32],
    ) -> Result<Vec<Option<SourceMatch>>, StoreError> {
        self.run(|connection| {
            let mut find = connection.prepare_cached(
                "SELECT c.id, c.fetched, e.said, e.print FROM schedule c
                LEFT JOIN ear e ON e.source = c.id AND e.herald = ?2 WHERE c.id = ?1",
            )?;
            let matches =
                ids.iter().map(|id| find.query_row([*id, signal_source], read_match).optional());
            matches.collect()
        })
    }

    /// Returns the signal sources that have reported a source, in order of ids.
    pub fn latest_signals(&self, source: u32) -> Result<Vec<LatestSignal>, StoreError> {
        let sql = "SELECT herald, at, said, print FROM ear WHERE source = ?1 ORDER BY herald";
        self.rows(sql, [source], |row| {
            let signal_source = row.get(0)?;
            let (received_at, fingerprint) =
                (row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(3)?);
            let changed_at = row.get(2)?;
            let entry =
                received_at.zip(fingerprint).map(|(received_at, fingerprint)| SignalEntry {
                    signal_source,
                    source,
                    received_at,
                    changed_at,
                    fingerprint: fingerprint as u64,
                });
            Ok(LatestSignal { signal_source, entry })
        })
    }

    /// Passes all learned states to `visit`, in order of sources.
    pub fn for_each_signal_history(
        &self,
        mut visit: impl FnMut(SignalHistory),
    ) -> Result<(), StoreError> {
        self.run(|connection| {
            let sql = "SELECT herald, source, learnt FROM ear WHERE learnt IS NOT NULL
                ORDER BY source, herald";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(SignalHistory {
                    signal_source: row.get(0)?,
                    source: row.get(1)?,
                    learned: row.get(2)?,
                });
            }
            Ok(())
        })
    }

    /// Returns the learned states of a source.
    pub fn signal_histories_of_source(
        &self,
        source: u32,
    ) -> Result<Vec<SignalHistory>, StoreError> {
        let sql = "SELECT herald, source, learnt FROM ear WHERE source = ?1 AND learnt IS NOT NULL
            ORDER BY herald";
        self.rows(sql, [source], read_history)
    }

    /// Returns up to `limit` learned states of a signal source.
    pub fn signal_histories_of_signal_source(
        &self,
        signal_source: u32,
        limit: u32,
    ) -> Result<Vec<SignalHistory>, StoreError> {
        let sql = "SELECT herald, source, learnt FROM ear WHERE herald = ?1 AND learnt IS NOT NULL
            ORDER BY source LIMIT ?2";
        self.rows(sql, [signal_source, limit], read_history)
    }

    /// Returns the number of sources that a signal source has reported, counted up to `max`.
    pub fn count_signalled_sources(&self, signal_source: u32, max: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM ear WHERE herald = ?1 LIMIT ?2)";
        let count = self.row(sql, [signal_source, max], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// Returns up to `limit` sources that a signal source has reported, with ids larger than `after`.
    pub fn signalled_sources(
        &self,
        signal_source: u32,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<u32>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT source FROM ear WHERE herald = ?1 AND source > ?2
            ORDER BY source LIMIT ?3";
        self.rows(sql, params![signal_source, after.map_or(-1, i64::from), limit], |row| row.get(0))
    }
}

fn read_history(row: &rusqlite::Row<'_>) -> rusqlite::Result<SignalHistory> {
    Ok(SignalHistory { signal_source: row.get(0)?, source: row.get(1)?, learned: row.get(2)? })
}

/// Stores entries and learned states whose signal source and source exist.
pub(crate) fn save_signals(
    transaction: &Transaction<'_>,
    entries: &[SignalEntry],
    histories: &[SignalHistory],
) -> rusqlite::Result<()> {
    let from_existing = "FROM herald h CROSS JOIN schedule c WHERE h.number = ?2 AND c.id = ?1";
    let mut statement = transaction.prepare_cached(&format!(
        "INSERT INTO ear (source, herald, at, said, print) SELECT c.id, h.number, ?3, ?4, ?5 {from_existing}
        ON CONFLICT (source, herald) DO UPDATE SET
        at = excluded.at, said = excluded.said, print = excluded.print"
    ))?;
    for it in entries {
        statement.execute(params![
            it.source,
            it.signal_source,
            it.received_at,
            it.changed_at,
            it.fingerprint as i64
        ])?;
    }
    let mut statement = transaction.prepare_cached(&format!(
        "INSERT INTO ear (source, herald, learnt) SELECT c.id, h.number, ?3 {from_existing}
        ON CONFLICT (source, herald) DO UPDATE SET learnt = excluded.learnt"
    ))?;
    for it in histories {
        statement.execute(params![it.source, it.signal_source, it.learned])?;
    }
    Ok(())
}

/// Removes all signals of a source.
pub(crate) fn remove_source_signals(
    transaction: &Transaction<'_>,
    source: u32,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM ear WHERE source = ?1")?.execute([source]).map(|_| ())
}

/// Removes the signals of a signal source. If there are many, its id is reserved until all are removed.
pub(super) fn remove_signals(
    transaction: &Transaction<'_>,
    signal_source: u32,
) -> rusqlite::Result<()> {
    if remove_some_signals(transaction, signal_source, ROWS_PER_STEP)? == ROWS_PER_STEP {
        let sql = "INSERT INTO dismissed (number) VALUES (?1) ON CONFLICT DO NOTHING";
        transaction.prepare_cached(sql)?.execute([signal_source])?;
    }
    Ok(())
}

fn remove_some_signals(
    transaction: &Transaction<'_>,
    signal_source: u32,
    limit: usize,
) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM ear WHERE herald = ?1 AND source IN
        (SELECT source FROM ear WHERE herald = ?1 LIMIT ?2)";
    transaction.prepare_cached(sql)?.execute(params![signal_source, limit as i64])
}

/// Continues to remove the signals of removed signal sources. Returns whether some are left.
pub(crate) fn prune_dismissed(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    let sql = "SELECT number FROM dismissed LIMIT 1";
    let first = transaction.prepare_cached(sql)?.query_row([], |row| row.get::<_, u32>(0));
    let Some(signal_source) = first.optional()? else { return Ok(false) };
    if remove_some_signals(transaction, signal_source, ROWS_PER_STEP)? < ROWS_PER_STEP {
        transaction
            .prepare_cached("DELETE FROM dismissed WHERE number = ?1")?
            .execute([signal_source])?;
    }
    Ok(true)
}
