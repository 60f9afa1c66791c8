//! What heralds said of sources, and what the engine has learnt of that. There are rows for sources that
//! are known, and for no others.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::add::hash;
use crate::error::StoreError;
use crate::meta::counter;
use crate::reader::Reader;

/// Rows of one herald that go at once; the others go when the store is tidied.
const AT_ONCE: usize = 20_000;

/// A source that a herald speaks of, as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceMatch {
    /// The source.
    pub id: u32,
    /// When its copy was last made or confirmed.
    pub fetched: Option<i64>,
    /// What the herald said of it the last time; `None` if it never did.
    pub last_entry: Option<(Option<i64>, u64)>,
}

/// What a herald says of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalEntry {
    /// Who.
    pub signal_source: u32,
    /// Of which source.
    pub source: u32,
    /// When that was heard.
    pub received_at: i64,
    /// When the source is said to have changed.
    pub changed_at: Option<i64>,
    /// All that was said of it, as one number.
    pub fingerprint: u64,
}

/// What the engine has learnt of a herald about one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalHistory {
    /// Who.
    pub signal_source: u32,
    /// About which source.
    pub source: u32,
    /// Bytes that the store does not look into.
    pub learned: Vec<u8>,
}

/// Somebody who has spoken of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestSignal {
    /// Who.
    pub signal_source: u32,
    /// When something new was last heard, and what was said: `None` if nothing is remembered.
    pub entry: Option<SignalEntry>,
}

fn read_known(row: &Row<'_>) -> rusqlite::Result<SourceMatch> {
    let (moment, print) = (row.get(2)?, row.get::<_, Option<i64>>(3)?);
    let said = print.map(|print| (moment, print as u64));
    Ok(SourceMatch { id: row.get(0)?, fetched: row.get(1)?, last_entry: said })
}

impl Reader {
    /// Which of these URLs are those of sources, in their order, and what a herald said of them before.
    /// They are looked up in the order of the index.
    pub fn match_urls(
        &self,
        herald: u32,
        urls: &[impl AsRef<str>],
    ) -> Result<Vec<Option<SourceMatch>>, StoreError> {
        self.run(|connection| {
            let salt = counter(connection, "salt")?;
            let hashed = urls.iter().enumerate();
            let mut hashed: Vec<(i64, usize)> =
                hashed.map(|(at, url)| (hash(url.as_ref(), salt), at)).collect();
            hashed.sort_unstable();
            let mut find = connection.prepare_cached(
                "SELECT s.id, c.fetched, e.said, e.print
                FROM url_hash u CROSS JOIN source s ON s.id = u.source
                CROSS JOIN schedule c ON c.id = u.source
                LEFT JOIN ear e ON e.source = u.source AND e.herald = ?3
                WHERE u.hash = ?1 AND s.url = ?2",
            )?;
            let mut known = vec![None; urls.len()];
            for (hash, at) in hashed {
                let values = params![hash, urls[at].as_ref(), herald];
                let row = find.query_row(values, read_known);
                known[at] = row.optional()?;
            }
            Ok(known)
        })
    }

    /// The same of sources by their numbers.
    pub fn match_ids(
        &self,
        herald: u32,
        ids: &[u32],
    ) -> Result<Vec<Option<SourceMatch>>, StoreError> {
        self.run(|connection| {
            let mut find = connection.prepare_cached(
                "SELECT c.id, c.fetched, e.said, e.print FROM schedule c
                LEFT JOIN ear e ON e.source = c.id AND e.herald = ?2 WHERE c.id = ?1",
            )?;
            let each = ids.iter().map(|id| find.query_row([*id, herald], read_known).optional());
            each.collect()
        })
    }

    /// Who has spoken of a source, by number.
    pub fn latest_signals(&self, source: u32) -> Result<Vec<LatestSignal>, StoreError> {
        let sql = "SELECT herald, at, said, print FROM ear WHERE source = ?1 ORDER BY herald";
        self.rows(sql, [source], |row| {
            let herald = row.get(0)?;
            let (at, print) = (row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(3)?);
            let moment = row.get(2)?;
            let said = at.zip(print).map(|(at, print)| {
                let print = print as u64;
                SignalEntry {
                    signal_source: herald,
                    source,
                    received_at: at,
                    changed_at: moment,
                    fingerprint: print,
                }
            });
            Ok(LatestSignal { signal_source: herald, entry: said })
        })
    }

    /// All that was learnt of heralds about sources, in order of the sources, one at a time.
    pub fn for_each_signal_history(
        &self,
        mut each: impl FnMut(SignalHistory),
    ) -> Result<(), StoreError> {
        self.run(|connection| {
            let sql = "SELECT herald, source, learnt FROM ear WHERE learnt IS NOT NULL
                ORDER BY source, herald";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(SignalHistory {
                    signal_source: row.get(0)?,
                    source: row.get(1)?,
                    learned: row.get(2)?,
                });
            }
            Ok(())
        })
    }

    /// What was learnt of heralds about a source.
    pub fn signal_histories_of_source(
        &self,
        source: u32,
    ) -> Result<Vec<SignalHistory>, StoreError> {
        let sql = "SELECT herald, source, learnt FROM ear WHERE source = ?1 AND learnt IS NOT NULL
            ORDER BY herald";
        self.rows(sql, [source], read_ear)
    }

    /// What was learnt of a herald about sources, of so many at most.
    pub fn signal_histories_by(
        &self,
        herald: u32,
        most: u32,
    ) -> Result<Vec<SignalHistory>, StoreError> {
        let sql = "SELECT herald, source, learnt FROM ear WHERE herald = ?1 AND learnt IS NOT NULL
            ORDER BY source LIMIT ?2";
        self.rows(sql, [herald, most], read_ear)
    }

    /// How many sources a herald has spoken of, counted up to `most`.
    pub fn count_signalled_sources(&self, herald: u32, most: u32) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM ear WHERE herald = ?1 LIMIT ?2)";
        let count = self.row(sql, [herald, most], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as u64)
    }

    /// Sources that a herald has spoken of, with larger numbers than `after`, at most `limit`.
    pub fn signalled_sources(
        &self,
        herald: u32,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<u32>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT source FROM ear WHERE herald = ?1 AND source > ?2
            ORDER BY source LIMIT ?3";
        self.rows(sql, params![herald, after.map_or(-1, i64::from), limit], |row| row.get(0))
    }
}

fn read_ear(row: &rusqlite::Row<'_>) -> rusqlite::Result<SignalHistory> {
    Ok(SignalHistory { signal_source: row.get(0)?, source: row.get(1)?, learned: row.get(2)? })
}

/// Keeps what was said and learnt, of heralds and sources that are there.
pub(crate) fn keep(
    transaction: &Transaction<'_>,
    said: &[SignalEntry],
    ears: &[SignalHistory],
) -> rusqlite::Result<()> {
    let both = "FROM herald h CROSS JOIN schedule c WHERE h.number = ?2 AND c.id = ?1";
    let mut statement = transaction.prepare_cached(&format!(
        "INSERT INTO ear (source, herald, at, said, print) SELECT c.id, h.number, ?3, ?4, ?5 {both}
        ON CONFLICT (source, herald) DO UPDATE SET
        at = excluded.at, said = excluded.said, print = excluded.print"
    ))?;
    for it in said {
        statement.execute(params![
            it.source,
            it.signal_source,
            it.received_at,
            it.changed_at,
            it.fingerprint as i64
        ])?;
    }
    let mut statement = transaction.prepare_cached(&format!(
        "INSERT INTO ear (source, herald, learnt) SELECT c.id, h.number, ?3 {both}
        ON CONFLICT (source, herald) DO UPDATE SET learnt = excluded.learnt"
    ))?;
    for it in ears {
        statement.execute(params![it.source, it.signal_source, it.learned])?;
    }
    Ok(())
}

/// Forgets what was said of a source.
pub(crate) fn forget_source(transaction: &Transaction<'_>, source: u32) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM ear WHERE source = ?1")?.execute([source]).map(|_| ())
}

/// Forgets what a herald said. If that is much, its number is not free until all is gone.
pub(super) fn forget_herald(transaction: &Transaction<'_>, herald: u32) -> rusqlite::Result<()> {
    if forget_some(transaction, herald, AT_ONCE)? == AT_ONCE {
        let sql = "INSERT INTO dismissed (number) VALUES (?1) ON CONFLICT DO NOTHING";
        transaction.prepare_cached(sql)?.execute([herald])?;
    }
    Ok(())
}

fn forget_some(transaction: &Transaction<'_>, herald: u32, some: usize) -> rusqlite::Result<usize> {
    let sql = "DELETE FROM ear WHERE herald = ?1 AND source IN
        (SELECT source FROM ear WHERE herald = ?1 LIMIT ?2)";
    transaction.prepare_cached(sql)?.execute(params![herald, some as i64])
}

/// Goes on forgetting. Says whether there is more.
pub(crate) fn tidy(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    let sql = "SELECT number FROM dismissed LIMIT 1";
    let first = transaction.prepare_cached(sql)?.query_row([], |row| row.get::<_, u32>(0));
    let Some(number) = first.optional()? else { return Ok(false) };
    if forget_some(transaction, number, AT_ONCE)? < AT_ONCE {
        transaction.prepare_cached("DELETE FROM dismissed WHERE number = ?1")?.execute([number])?;
    }
    Ok(true)
}
