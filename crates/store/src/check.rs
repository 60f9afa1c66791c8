//! Integrity check of a store.

use crate::error::StoreError;
use crate::reader::Reader;

/// Limit on the number of faults that SQLite lists.
const MAX_LISTED_FAULTS: usize = 100;

/// Result of an integrity check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// Faults found, as reported by SQLite or by the checks of this crate. Empty if there are none.
    pub faults: Vec<String>,
}

impl IntegrityReport {
    /// True if no fault was found.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Queries that return true in an intact store, each with the message if it is not.
const INVARIANTS: &[(&str, &str)] = &[
    (
        "SELECT (SELECT count(*) FROM schedule WHERE NOT flags & 4)
            = (SELECT value FROM counter WHERE name = 'sources')",
        "the counter of sources differs from the number of sources",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM source s FULL JOIN schedule c USING (id)
            WHERE s.url IS NULL OR c.host IS NULL)",
        "a source has no schedule, or a schedule has no source",
    ),
    (
        "SELECT (SELECT count(*) FROM url_hash)
            = (SELECT count(*) FROM schedule WHERE NOT flags & 4)",
        "the URL index does not match the sources",
    ),
    (
        "SELECT (SELECT count(*) FROM host_source h JOIN schedule c ON c.id = h.source
            WHERE c.host = h.host) = (SELECT count(*) FROM schedule WHERE NOT flags & 4)",
        "the host index does not match the sources",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM (SELECT id FROM schedule WHERE flags & 4) c
            FULL JOIN (SELECT source FROM herald WHERE source IS NOT NULL) h ON h.source = c.id
            WHERE h.source IS NULL OR c.id IS NULL)",
        "a signal source has no source to fetch, or such a source belongs to no signal source",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM ear e WHERE
            NOT EXISTS (SELECT 1 FROM schedule c WHERE c.id = e.source)
            OR NOT EXISTS (SELECT 1 FROM herald h WHERE h.number = e.herald)
                AND NOT EXISTS (SELECT 1 FROM dismissed d WHERE d.number = e.herald))",
        "a signal belongs to a source or a signal source that does not exist",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM content c
            FULL JOIN (SELECT content, count(*) AS n FROM version GROUP BY content) v
            ON v.content = c.id WHERE v.n IS NOT c.uses)",
        "a use count of a content differs from the number of its versions",
    ),
    (
        "SELECT (SELECT count(*) FROM content JOIN packed ON content = id)
            = max((SELECT count(*) FROM content), (SELECT count(*) FROM packed))",
        "a content has no bytes, or bytes belong to no content",
    ),
    (
        "SELECT (SELECT count(*) FROM observation)
            = (SELECT value FROM counter WHERE name = 'observations')",
        "the counter of observations differs from the number of observations",
    ),
];

impl Reader {
    /// Reads the whole file and reports its faults.
    pub fn check_integrity(&self) -> Result<IntegrityReport, StoreError> {
        // All queries see the same state, whatever is written meanwhile.
        let snapshot = self.connection.unchecked_transaction();
        let _snapshot = snapshot.map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        let sql = format!("PRAGMA integrity_check({MAX_LISTED_FAULTS})");
        let lines: Vec<String> = match self.rows(&sql, [], |row| row.get(0)) {
            Ok(lines) => lines,
            Err(StoreError::Corrupt { detail, .. }) => vec![detail],
            Err(other) => return Err(other),
        };
        let mut faults: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
        if faults.is_empty() {
            for (query, fault) in INVARIANTS {
                if !self.row(query, [], |row| row.get::<_, bool>(0))?.unwrap_or(false) {
                    faults.push((*fault).to_owned());
                }
            }
        }
        Ok(IntegrityReport { faults })
    }
}
