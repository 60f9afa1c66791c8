//! Loads the schedule data of all sources at startup.
//!
//! Threads take turns in reading ranges of ids, each with a connection of its own, into reused chunks. The caller gets
//! the rows one by one and in order, and memory stays bounded.

use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::{Connection, Rows};

use crate::error::StoreError;
use crate::meta::counter;
use crate::open;
use crate::outcome::SourceState;
use crate::reader::Reader;
use crate::source::{OBSERVED, PAUSED, SIGNAL_SOURCE};

/// Source ids per chunk.
const CHUNK_IDS: i64 = 2_048;
/// Chunks per thread: one is read while another is filled.
const CHUNKS_PER_THREAD: usize = 3;
/// Limit on the number of threads: more would only wait for the caller.
const MAX_THREADS: usize = 4;

/// Schedule data of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleRow<'a> {
    /// Source id.
    pub id: u32,
    /// Host id.
    pub host: u32,
    /// Importance.
    pub importance: f64,
    /// Cost of a fetch.
    pub cost: f64,
    /// Minimum time between fetches, in days.
    pub min_interval: f64,
    /// Maximum time between fetches, in days.
    pub max_interval: f64,
    /// True if the source is paused.
    pub paused: bool,
    /// True if all its changes are reported by signals.
    pub observed: bool,
    /// True if it is fetched to read a signal source.
    pub is_signal_source: bool,
    /// Freshness goal; empty for the default.
    pub goal: &'a str,
    /// Time of the last fetch that returned or confirmed the copy.
    pub fetched_at: Option<i64>,
    /// Time at which the next fetch is due.
    pub due_at: Option<i64>,
    /// State after the last fetch.
    pub state: SourceState,
    /// State learned by the engine; empty if there is none.
    pub learned: &'a [u8],
}

const SQL: &str = "SELECT id, host, importance, cost, min_interval, max_interval, flags, goal,
    fetched, due, state, learnt FROM schedule WHERE id >= ?1 AND id < ?2";

/// Row whose text and bytes are in the buffers of its chunk.
struct BufferedRow {
    row: ScheduleRow<'static>,
    goal: Range<usize>,
    learned: Range<usize>,
}

#[derive(Default)]
struct Chunk {
    rows: Vec<BufferedRow>,
    goals: String,
    bytes: Vec<u8>,
}

impl Chunk {
    fn fill(&mut self, connection: &Connection, from: i64) -> rusqlite::Result<()> {
        self.clear();
        let mut statement = connection.prepare_cached(SQL)?;
        self.read(&mut statement.query([from, from + CHUNK_IDS])?)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.goals.clear();
        self.bytes.clear();
    }

    fn read(&mut self, rows: &mut Rows<'_>) -> rusqlite::Result<()> {
        while let Some(row) = rows.next()? {
            let flags: i64 = row.get(6)?;
            let (goal, learned) = (self.goals.len(), self.bytes.len());
            self.goals.push_str(row.get_ref(7)?.as_str_or_null()?.unwrap_or_default());
            self.bytes.extend_from_slice(row.get_ref(11)?.as_blob_or_null()?.unwrap_or_default());
            let scheduled = ScheduleRow {
                id: row.get(0)?,
                host: row.get(1)?,
                importance: row.get(2)?,
                cost: row.get(3)?,
                min_interval: row.get(4)?,
                max_interval: row.get::<_, Option<f64>>(5)?.unwrap_or(f64::INFINITY),
                paused: flags & PAUSED != 0,
                observed: flags & OBSERVED != 0,
                is_signal_source: flags & SIGNAL_SOURCE != 0,
                goal: "",
                fetched_at: row.get(8)?,
                due_at: row.get(9)?,
                state: row.get(10)?,
                learned: &[],
            };
            let (goal, learned) = (goal..self.goals.len(), learned..self.bytes.len());
            self.rows.push(BufferedRow { row: scheduled, goal, learned });
        }
        Ok(())
    }

    fn for_each(&self, visit: &mut impl FnMut(ScheduleRow<'_>)) {
        for buffered in &self.rows {
            let goal = &self.goals[buffered.goal.clone()];
            visit(ScheduleRow {
                goal,
                learned: &self.bytes[buffered.learned.clone()],
                ..buffered.row
            });
        }
    }
}

type ChunkResult = Result<Chunk, StoreError>;

impl Reader {
    /// Passes the rows of some sources to `visit`, in the order of `ids`. Omits sources that do not exist.
    pub fn load_schedule_for(
        &self,
        ids: &[u32],
        mut visit: impl FnMut(ScheduleRow<'_>),
    ) -> Result<(), StoreError> {
        let mut chunk = Chunk::default();
        for some_ids in ids.chunks(CHUNK_IDS as usize) {
            self.run(|connection| {
                let mut statement = connection.prepare_cached(SQL)?;
                some_ids.iter().try_for_each(|&id| {
                    chunk.read(&mut statement.query([i64::from(id), i64::from(id) + 1])?)
                })
            })?;
            chunk.for_each(&mut visit);
            chunk.clear();
        }
        Ok(())
    }

    /// Passes all rows to `visit`, in order of ids. While a daemon writes, rows may be of slightly different times, but
    /// each row is consistent.
    pub fn load_schedule(&self, mut visit: impl FnMut(ScheduleRow<'_>)) -> Result<(), StoreError> {
        let end = self.run(|connection| counter(connection, "next_source"))?;
        let chunks = (end + CHUNK_IDS - 1) / CHUNK_IDS;
        let parallel = thread::available_parallelism().map_or(1, usize::from);
        let threads = parallel.min(MAX_THREADS).min(usize::try_from(chunks).unwrap_or(1)).max(1);
        let path = &self.path;
        thread::scope(|scope| {
            let mut lanes = Vec::new();
            for first in 0..threads {
                let (full, filled) = sync_channel::<ChunkResult>(CHUNKS_PER_THREAD);
                let (back, empty) = sync_channel::<Chunk>(CHUNKS_PER_THREAD);
                for _ in 0..CHUNKS_PER_THREAD {
                    let _ = back.send(Chunk::default());
                }
                let starts = (first as i64..chunks).step_by(threads).map(|at| at * CHUNK_IDS);
                scope.spawn(move || fill(path, starts, &empty, &full));
                lanes.push((filled, back));
            }
            for at in 0..chunks {
                let (filled, back) = &lanes[at as usize % threads];
                let Ok(chunk) = filled.recv() else { break };
                let chunk = chunk?;
                chunk.for_each(&mut visit);
                let _ = back.send(chunk);
            }
            Ok(())
        })
    }
}

fn fill(
    path: &Path,
    starts: impl Iterator<Item = i64>,
    empty: &Receiver<Chunk>,
    full: &SyncSender<ChunkResult>,
) {
    let connection = match open::open_reader(path) {
        Ok(connection) => connection,
        Err(error) => {
            let _ = full.send(Err(error));
            return;
        }
    };
    for start in starts {
        let Ok(mut chunk) = empty.recv() else { return };
        let filled = chunk.fill(&connection, start).map(|()| chunk);
        let filled = filled.map_err(|error| StoreError::from_sqlite(path, error));
        let failed = filled.is_err();
        if full.send(filled).is_err() || failed {
            return;
        }
    }
}
