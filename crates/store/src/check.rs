//! Whether all is well with a file.

use crate::error::StoreError;
use crate::reader::Reader;

/// Faults that are listed, at most.
const LISTED: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// What is wrong, in SQLite's words or ours. Empty if all is well.
    pub faults: Vec<String>,
}

impl IntegrityReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.faults.is_empty()
    }
}

/// What must be equal, and how it is called if it is not.
const LAWS: &[(&str, &str)] = &[
    (
        "SELECT (SELECT count(*) FROM schedule WHERE NOT flags & 4)
            = (SELECT value FROM counter WHERE name = 'sources')",
        "the number of sources differs from their count",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM source s FULL JOIN schedule c USING (id)
            WHERE s.url IS NULL OR c.host IS NULL)",
        "a source has no schedule, or a schedule no source",
    ),
    (
        "SELECT (SELECT count(*) FROM url_hash)
            = (SELECT count(*) FROM schedule WHERE NOT flags & 4)",
        "the index of URLs does not fit the sources",
    ),
    (
        "SELECT (SELECT count(*) FROM host_source h JOIN schedule c ON c.id = h.source
            WHERE c.host = h.host) = (SELECT count(*) FROM schedule WHERE NOT flags & 4)",
        "the index of hosts does not fit the sources",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM (SELECT id FROM schedule WHERE flags & 4) c
            FULL JOIN (SELECT source FROM herald WHERE source IS NOT NULL) h ON h.source = c.id
            WHERE h.source IS NULL OR c.id IS NULL)",
        "a signal source has nothing to be read, or what is read belongs to none",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM ear e WHERE
            NOT EXISTS (SELECT 1 FROM schedule c WHERE c.id = e.source)
            OR NOT EXISTS (SELECT 1 FROM herald h WHERE h.number = e.herald)
                AND NOT EXISTS (SELECT 1 FROM dismissed d WHERE d.number = e.herald))",
        "something was said of a source that is not there, or by nobody",
    ),
    (
        "SELECT NOT EXISTS (SELECT 1 FROM content c
            FULL JOIN (SELECT content, count(*) AS n FROM version GROUP BY content) v
            ON v.content = c.id WHERE v.n IS NOT c.uses)",
        "contents are not used as often as they are counted",
    ),
    (
        "SELECT (SELECT count(*) FROM content JOIN packed ON content = id)
            = max((SELECT count(*) FROM content), (SELECT count(*) FROM packed))",
        "a content has no bytes, or bytes no content",
    ),
    (
        "SELECT (SELECT count(*) FROM observation)
            = (SELECT value FROM counter WHERE name = 'observations')",
        "the number of observations differs from their count",
    ),
];

impl Reader {
    /// Reads the whole file, and says what is wrong with it.
    pub fn check_integrity(&self) -> Result<IntegrityReport, StoreError> {
        // All of it at one moment, whatever is written meanwhile.
        let moment = self.connection.unchecked_transaction();
        let _moment = moment.map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        let sql = format!("PRAGMA integrity_check({LISTED})");
        let said: Vec<String> = match self.rows(&sql, [], |row| row.get(0)) {
            Ok(said) => said,
            Err(StoreError::Corrupt { detail, .. }) => vec![detail],
            Err(other) => return Err(other),
        };
        let mut faults: Vec<String> = said.into_iter().filter(|line| line != "ok").collect();
        if faults.is_empty() {
            for (law, fault) in LAWS {
                if !self.row(law, [], |row| row.get::<_, bool>(0))?.unwrap_or(false) {
                    faults.push((*fault).to_owned());
                }
            }
        }
        Ok(IntegrityReport { faults })
    }
}
