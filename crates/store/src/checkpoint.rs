//! Moves what is durable in the log into the database, beside the work and not within it.
//!
//! A commit appends to the log and syncs it. Copying the log's pages to their places takes much longer,
//! so a thread does it. While a copy runs, commits go on at the end of the log; at the end of the copy
//! the thread closes the log for a moment, so that it begins anew and stays bounded.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::open;
use crate::store::Store;

/// Pages in the log at which it is copied: 32 MiB.
const COPY_AT: u64 = 8_192;
/// Pages in the log at which writing waits for the copy: 256 MiB.
const WAIT_AT: u64 = 65_536;
/// What came while a copy ran is copied as well, until so few pages are left that writing can wait for
/// them, or so many times.
const REST: u64 = 1_024;
const COPIES: usize = 6;
/// How long writing may wait for readers to leave the log, at a time.
const PATIENCE: Duration = Duration::from_millis(20);
/// The log's file is cut to this many bytes when it begins anew.
const KEPT: i64 = 64 << 20;

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointResult {
    /// Pages that were in the log.
    pub pages: u64,
    /// Pages of them that are in the database now. Fewer if a reader still needs the old ones.
    pub copied: u64,
}

#[derive(Debug, Default)]
struct Shared {
    pages: AtomicU64,
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Orders {
    copy: bool,
    copying: bool,
    stop: bool,
}

impl Shared {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that copies.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Takes checkpoints over from a connection that writes.
    pub(crate) fn start(path: &Path, writer: &mut Connection) -> Result<Self, StoreError> {
        let fault = |error| StoreError::from_sqlite(path, error);
        let shared = Arc::new(Shared::default());
        let told = Arc::clone(&shared);
        writer.pragma_update(None, "wal_autocheckpoint", 0).map_err(fault)?;
        writer.pragma_update(None, "journal_size_limit", KEPT).map_err(fault)?;
        let hook = move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            told.pages.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(fault)?;
        let connection = open::writing(path)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(fault)?;
        connection.pragma_update(None, "journal_size_limit", KEPT).map_err(fault)?;
        connection.busy_timeout(PATIENCE).map_err(fault)?;
        let ordered = Arc::clone(&shared);
        let spawned = thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || copy_when_told(&connection, &ordered));
        let thread = spawned.map_err(|error| StoreError::from_io(path, error))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits for a copy if the log is far too long.
    pub(crate) fn before_write(&self) {
        if self.shared.pages.load(Ordering::Relaxed) < WAIT_AT {
            return;
        }
        let mut orders = self.shared.orders();
        while (orders.copy || orders.copying) && !orders.stop {
            let woken = self.shared.changed.wait(orders);
            orders = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Has the log copied if it is long enough.
    pub(crate) fn after_write(&self) {
        if self.shared.pages.load(Ordering::Relaxed) >= COPY_AT {
            self.shared.orders().copy = true;
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.shared.orders().stop = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn copy_when_told(connection: &Connection, shared: &Shared) {
    loop {
        let mut orders = shared.orders();
        while !orders.copy && !orders.stop {
            orders = shared.changed.wait(orders).unwrap_or_else(PoisonError::into_inner);
        }
        if orders.stop {
            return;
        }
        (orders.copy, orders.copying) = (false, true);
        drop(orders);
        // What fails here fails again in `Store::checkpoint_wal`, or shows as a log that grows: nothing
        // that was acknowledged depends on it.
        for _ in 0..COPIES {
            let copied = copy(connection, "PASSIVE").map_or(0, |done| done.copied);
            if shared.pages.load(Ordering::Relaxed).saturating_sub(copied) < REST {
                break;
            }
        }
        let _ = copy(connection, "RESTART");
        shared.orders().copying = false;
        shared.changed.notify_all();
    }
}

fn copy(connection: &Connection, how: &str) -> rusqlite::Result<CheckpointResult> {
    let sql = format!("PRAGMA wal_checkpoint({how})");
    connection.query_row(&sql, [], |row| {
        let count = |at| row.get::<_, i64>(at).map(|pages| u64::try_from(pages).unwrap_or(0));
        Ok(CheckpointResult { pages: count(1)?, copied: count(2)? })
    })
}

impl Store {
    /// Copies the log into the database now, and empties it if no reader needs it.
    pub fn checkpoint_wal(&mut self) -> Result<CheckpointResult, StoreError> {
        let first = self.run(|connection| copy(connection, "PASSIVE"))?;
        self.run(|connection| {
            connection.busy_timeout(PATIENCE)?;
            let emptied = copy(connection, "TRUNCATE");
            connection.busy_timeout(open::PATIENCE)?;
            emptied
        })?;
        Ok(first)
    }
}
