//! Tables, and migrations of files of older formats.

use rusqlite::{Connection, Transaction};

/// `application_id` of the database header: identifies a file of freshet, also for `file(1)`.
pub(crate) const APPLICATION_ID: i64 = 0x0046_5348; // "FSH"

/// Migrations in order: the one at index n takes a file from format n to format n + 1.
pub(crate) const MIGRATIONS: &[&str] = &[
    BASE,
    HOSTS_AND_ROBOTS,
    SERVICE,
    DELIVERY_END,
    STATS,
    DECISIONS,
    REPORTED_EVENTS,
    LEASES,
    SIGNAL_SOURCES,
    SUBSCRIPTIONS,
];

/// Columns of `schedule` are in the order of use: `load` reads up to `learnt` and no further.
///
/// `url_hash` and `host_source` are tables and not indexes, so that an import can fill them in key order: a random
/// order would touch every page of them for each batch.
const BASE: &str = "
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The salt keeps attackers from constructing URLs with equal hashes.
CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('sources', 0), ('next_source', 0), ('next_host', 0),
    ('observations', 0), ('swept', 0),
    ('salt', random());

CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    added INTEGER NOT NULL,
    tags TEXT NOT NULL DEFAULT '',
    settings TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0,
    etag TEXT,
    last_modified TEXT,
    reading BLOB
) STRICT;

CREATE TABLE schedule (
    id INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    importance REAL NOT NULL,
    cost REAL NOT NULL,
    min_interval REAL NOT NULL,
    max_interval REAL,
    flags INTEGER NOT NULL,
    goal TEXT,
    fetched INTEGER,
    due INTEGER,
    state INTEGER NOT NULL DEFAULT 0,
    learnt BLOB,
    fetches INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    tried INTEGER,
    changed INTEGER,
    last INTEGER
) STRICT;
-- Partial indexes: sources in rare states are found without scanning the others.
CREATE INDEX schedule_state ON schedule (state) WHERE state > 1;
CREATE INDEX schedule_paused ON schedule (id) WHERE flags & 1;

CREATE TABLE url_hash (
    hash INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (hash, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE host_source (
    host INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (host, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag_source (
    tag TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (tag, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    until INTEGER,
    record BLOB
) STRICT;

-- A linked list per source, from `schedule.last` along `previous`: rows are only appended.
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    n INTEGER NOT NULL,
    previous INTEGER,
    at INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    status INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    note TEXT
) STRICT;

CREATE TABLE change (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    tags TEXT NOT NULL,
    importance REAL NOT NULL,
    unchanged INTEGER,
    changed INTEGER NOT NULL,
    old_digest BLOB,
    new_digest BLOB NOT NULL,
    old_size INTEGER,
    new_size INTEGER NOT NULL,
    similarity REAL NOT NULL,
    summary TEXT NOT NULL,
    old_version INTEGER,
    new_version INTEGER
) STRICT;
CREATE INDEX change_source ON change (source, cursor);

CREATE TABLE version (
    source INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    digest BLOB NOT NULL,
    kind TEXT NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;

-- `uses` counts the versions that share a content. The bytes are in `packed`, so that counting does not rewrite them.
CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    size INTEGER NOT NULL,
    uses INTEGER NOT NULL
) STRICT;
CREATE INDEX content_hash ON content (hash);

CREATE TABLE packed (
    content INTEGER PRIMARY KEY,
    zstd BLOB NOT NULL
) STRICT;

CREATE TABLE ledger (
    at INTEGER PRIMARY KEY,
    fetches REAL NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE rest (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    bytes BLOB NOT NULL
) STRICT;
";

/// Cooldowns of hosts by name (`manner`), robots.txt files, and the cursor up to which changes are pruned
/// (`forgotten`).
const HOSTS_AND_ROBOTS: &str = "
CREATE TABLE manner (
    host TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX manner_until ON manner (until);

CREATE TABLE robots (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    record BLOB NOT NULL
) STRICT;
CREATE INDEX robots_at ON robots (at);

INSERT INTO counter VALUES ('forgotten', 0);
";

/// API tokens, destinations of notifications and dead letters (`dead`). Entries of the change log get a kind.
const SERVICE: &str = "
ALTER TABLE change ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;

CREATE TABLE token (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    scopes INTEGER NOT NULL,
    made INTEGER NOT NULL,
    used INTEGER
) STRICT, WITHOUT ROWID;

-- All entries up to `cursor` are delivered, given up or filtered out. `next` is the time of the next retry.
CREATE TABLE destination (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    cursor INTEGER NOT NULL,
    made INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next INTEGER,
    delivered INTEGER,
    error TEXT
) STRICT;

-- Dead letters: deliveries that were given up, with the body that would have been sent.
CREATE TABLE dead (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    destination INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX dead_destination ON dead (destination, id);
";

/// Last cursor of the delivery in flight: a retry delivers the same entries.
const DELIVERY_END: &str = "
ALTER TABLE destination ADD COLUMN until INTEGER;
";

/// Statistics, one row per quarter of an hour.
const STATS: &str = "
CREATE TABLE pulse (
    at INTEGER PRIMARY KEY,
    fetches INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    held REAL NOT NULL,
    fresh REAL NOT NULL,
    expected REAL NOT NULL,
    freshness REAL,
    price REAL,
    budget REAL
) STRICT;
";

/// Reasons of fetches; null in rows written by older versions.
const DECISIONS: &str = "
ALTER TABLE observation ADD COLUMN reason INTEGER;
ALTER TABLE observation ADD COLUMN worth REAL;
ALTER TABLE observation ADD COLUMN price REAL;
ALTER TABLE observation ADD COLUMN believed REAL;
ALTER TABLE observation ADD COLUMN learnt REAL;
";

/// Reported conditions of a source that still hold (`told`; 1: failing, 2: quiet), and since when a destination fails
/// (`failed`) or is paused (`rested`).
const REPORTED_EVENTS: &str = "
ALTER TABLE schedule ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
UPDATE schedule SET told =
    (failures > 0 AND EXISTS (SELECT 1 FROM change WHERE source = schedule.id AND kind = 1
        AND change.changed > coalesce(schedule.fetched, -1)))
    + 2 * EXISTS (SELECT 1 FROM change WHERE source = schedule.id AND kind = 3
        AND change.changed > coalesce(schedule.changed, -1))
    WHERE id IN (SELECT source FROM change WHERE kind IN (1, 3));

ALTER TABLE destination ADD COLUMN failed INTEGER;
ALTER TABLE destination ADD COLUMN rested INTEGER;
";

/// Leases survive a restart. `sources` has four bytes per source.
const LEASES: &str = "
CREATE TABLE lease (
    id BLOB PRIMARY KEY,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    sources BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Signal sources (`herald`), and what they reported of sources (`ear`). A source that is fetched to read a signal
/// source has the flag 4 and is in none of the indexes of sources: it is no page. `dismissed` has the ids of removed
/// signal sources that still have rows in `ear`.
const SIGNAL_SOURCES: &str = "
CREATE INDEX schedule_herald ON schedule (id) WHERE flags & 4;

CREATE TABLE herald (
    number INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    source INTEGER,
    parent INTEGER,
    origin INTEGER NOT NULL,
    settings TEXT NOT NULL DEFAULT '',
    found INTEGER NOT NULL DEFAULT 0,
    made INTEGER NOT NULL,
    heard INTEGER,
    outcome TEXT,
    learnt BLOB,
    UNIQUE (kind, name)
) STRICT;
CREATE INDEX herald_source ON herald (source) WHERE source IS NOT NULL;
CREATE INDEX herald_parent ON herald (parent) WHERE parent IS NOT NULL;

CREATE TABLE dismissed (
    number INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE ear (
    source INTEGER NOT NULL,
    herald INTEGER NOT NULL,
    at INTEGER,
    said INTEGER,
    print INTEGER,
    learnt BLOB,
    PRIMARY KEY (source, herald)
) STRICT, WITHOUT ROWID;
CREATE INDEX ear_herald ON ear (herald, source);
";

/// Subscriptions at WebSub hubs. `hubs` has one URL per line.
const SUBSCRIPTIONS: &str = "
CREATE TABLE subscription (
    callback TEXT PRIMARY KEY,
    secret TEXT NOT NULL,
    base TEXT NOT NULL,
    feed INTEGER NOT NULL,
    herald INTEGER NOT NULL,
    topic TEXT NOT NULL,
    hubs TEXT NOT NULL,
    hub INTEGER NOT NULL,
    aim INTEGER NOT NULL,
    asked INTEGER,
    verified INTEGER,
    until INTEGER,
    next INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    note TEXT NOT NULL,
    pushes INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    pushed INTEGER
) STRICT, WITHOUT ROWID;
";

/// Identification of a database file: whether it is empty, its application and its format.
pub(crate) struct FileHeader {
    pub(crate) is_empty: bool,
    pub(crate) application_id: i64,
    pub(crate) format_version: i64,
}

impl FileHeader {
    pub(crate) fn from_connection(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let (application, version) = (number("application_id")?, number("user_version")?);
        Ok(Self {
            is_empty: tables == 0 && application == 0,
            application_id: application,
            format_version: version,
        })
    }
}

/// Applies the migrations that a file lacks, in one transaction.
pub(crate) fn migrate(
    connection: &mut Connection,
    from: i64,
    migrations: &[&str],
) -> rusqlite::Result<()> {
    let from = usize::try_from(from).unwrap_or(0);
    if from >= migrations.len() {
        return Ok(());
    }
    let transaction = Transaction::new(connection, rusqlite::TransactionBehavior::Immediate)?;
    for migration in &migrations[from..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn only_missing_migrations_are_applied() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y", "CREATE TABLE b (z)"];
        migrate(&mut connection, 0, &migrations[..1]).unwrap();
        connection.execute("INSERT INTO a VALUES (7)", []).unwrap();
        assert_eq!(version(&connection), 1);
        migrate(&mut connection, 1, &migrations).unwrap();
        assert_eq!(version(&connection), 3);
        let sum: i64 = connection
            .query_row("SELECT sum(x) + count(y) + (SELECT count(*) FROM b) FROM a", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(sum, 7);
        migrate(&mut connection, 3, &migrations).unwrap();
        assert_eq!(version(&connection), 3);
    }

    #[test]
    fn a_failed_migration_leaves_the_file_unchanged() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, 0, &["CREATE TABLE a (x)"]).unwrap();
        let migrations = ["CREATE TABLE a (x)", "CREATE TABLE b (y)", "CREATE TABLE a (z)"];
        assert!(migrate(&mut connection, 1, &migrations).is_err());
        assert_eq!(version(&connection), 1);
        assert!(connection.prepare("SELECT * FROM b").is_err());
    }

    #[test]
    fn files_of_every_older_format_are_migrated() {
        for older in 1..MIGRATIONS.len() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("freshet.db");
            let mut connection = Connection::open(&path).unwrap();
            migrate(&mut connection, 0, &MIGRATIONS[..older]).unwrap();
            let rows = "INSERT INTO source (id, url, added) VALUES (0, 'https://example.com/', 3);
                INSERT INTO host (id, name) VALUES (0, 'example.com');
                INSERT INTO schedule (id, host, importance, cost, min_interval, flags)
                    VALUES (0, 0, 1, 1, 0, 1);
                INSERT INTO host_source VALUES (0, 0);
                INSERT INTO url_hash VALUES (7, 0);
                UPDATE counter SET value = 1
                    WHERE name IN ('sources', 'next_source', 'next_host');";
            connection.execute_batch(rows).unwrap();
            drop(connection);
            let mut store = crate::Store::open(&path, 0).unwrap();
            let sitemap = crate::NewSignalSource::new_polled(
                crate::SignalSourceKind::Sitemap,
                "https://example.com/sitemap.xml",
                "example.com",
                0,
            );
            let added = store.add_signal_sources(&[sitemap]).unwrap();
            assert_eq!((added[0].id, added[0].source), (0, Some(1)), "from {older}");
            let source = store.source(0).unwrap().unwrap();
            assert_eq!((source.paused, source.is_signal_source), (true, false), "from {older}");
            assert_eq!(store.check_integrity().unwrap().faults, [""; 0], "from {older}");
        }
    }

    #[test]
    fn a_new_file_gets_the_current_format() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(FileHeader::from_connection(&connection).unwrap().is_empty);
        migrate(&mut connection, 0, MIGRATIONS).unwrap();
        let header = FileHeader::from_connection(&connection).unwrap();
        assert_eq!((header.is_empty, header.application_id), (false, APPLICATION_ID));
    }
}
