//! Checkpoints of the write-ahead log, in a thread of their own.
//!
//! A commit appends to the log and syncs it. Copying pages from the log to the database takes much longer, so a thread
//! does it. While it copies, commits continue at the end of the log. After the copy the thread blocks writes for a
//! moment, so that the log restarts and stays bounded.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::open;
use crate::store::Store;

/// Length of the log in pages at which a checkpoint starts: 32 MiB.
const CHECKPOINT_PAGES: u64 = 8_192;
/// Length of the log in pages at which writes wait for the checkpoint: 256 MiB.
const BLOCK_WRITES_PAGES: u64 = 65_536;
/// Pages that were written during a copy are copied in another round, until so few are left that writes can wait for
/// them, or [`MAX_COPY_ROUNDS`] is reached.
const FINAL_COPY_PAGES: u64 = 1_024;
/// Limit on the rounds of copying.
const MAX_COPY_ROUNDS: usize = 6;
/// Time for which writes may wait for readers of the log.
const READER_TIMEOUT: Duration = Duration::from_millis(20);
/// Size in bytes to which the log file is truncated when it restarts.
const LOG_SIZE_LIMIT: i64 = 64 << 20;

/// Result of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointResult {
    /// Pages in the log.
    pub pages: u64,
    /// Pages copied to the database: fewer if a reader still needs the old ones.
    pub copied: u64,
}

#[derive(Debug, Default)]
struct Shared {
    pages: AtomicU64,
    state: Mutex<CheckpointState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct CheckpointState {
    requested: bool,
    running: bool,
    stopping: bool,
}

impl Shared {
    fn lock_state(&self) -> MutexGuard<'_, CheckpointState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Handle of the checkpoint thread.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread, and disables automatic checkpoints of the writing connection.
    pub(crate) fn start(path: &Path, writer: &mut Connection) -> Result<Self, StoreError> {
        let convert = |error| StoreError::from_sqlite(path, error);
        let shared = Arc::new(Shared::default());
        let hook_shared = Arc::clone(&shared);
        writer.pragma_update(None, "wal_autocheckpoint", 0).map_err(convert)?;
        writer.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT).map_err(convert)?;
        let hook = move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            hook_shared.pages.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(convert)?;
        let connection = open::open_writer(path)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(convert)?;
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT).map_err(convert)?;
        connection.busy_timeout(READER_TIMEOUT).map_err(convert)?;
        let thread_shared = Arc::clone(&shared);
        let spawned = thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || run_checkpoints(&connection, &thread_shared));
        let thread = spawned.map_err(|error| StoreError::from_io(path, error))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits for the checkpoint if the log is too long.
    pub(crate) fn before_write(&self) {
        if self.shared.pages.load(Ordering::Relaxed) < BLOCK_WRITES_PAGES {
            return;
        }
        let mut state = self.shared.lock_state();
        while (state.requested || state.running) && !state.stopping {
            let woken = self.shared.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Requests a checkpoint if the log is long enough.
    pub(crate) fn after_write(&self) {
        if self.shared.pages.load(Ordering::Relaxed) >= CHECKPOINT_PAGES {
            self.shared.lock_state().requested = true;
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.shared.lock_state().stopping = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_checkpoints(connection: &Connection, shared: &Shared) {
    loop {
        let mut state = shared.lock_state();
        while !state.requested && !state.stopping {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopping {
            return;
        }
        (state.requested, state.running) = (false, true);
        drop(state);
        // A failure here recurs in `Store::checkpoint_wal`, or shows as a growing log. No acknowledged write depends
        // on it.
        for _ in 0..MAX_COPY_ROUNDS {
            let copied = checkpoint(connection, "PASSIVE").map_or(0, |result| result.copied);
            if shared.pages.load(Ordering::Relaxed).saturating_sub(copied) < FINAL_COPY_PAGES {
                break;
            }
        }
        let _ = checkpoint(connection, "RESTART");
        shared.lock_state().running = false;
        shared.changed.notify_all();
    }
}

fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<CheckpointResult> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    connection.query_row(&sql, [], |row| {
        let count =
            |column| row.get::<_, i64>(column).map(|pages| u64::try_from(pages).unwrap_or(0));
        Ok(CheckpointResult { pages: count(1)?, copied: count(2)? })
    })
}

impl Store {
    /// Copies the log to the database now, and truncates it if no reader needs it.
    pub fn checkpoint_wal(&mut self) -> Result<CheckpointResult, StoreError> {
        let first = self.run(|connection| checkpoint(connection, "PASSIVE"))?;
        self.run(|connection| {
            connection.busy_timeout(READER_TIMEOUT)?;
            let truncated = checkpoint(connection, "TRUNCATE");
            connection.busy_timeout(open::BUSY_TIMEOUT)?;
            truncated
        })?;
        Ok(first)
    }
}
