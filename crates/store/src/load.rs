//! All that a scheduler wants to know of all sources, at start-up.
//!
//! Threads read ranges of numbers in turn, each with a connection of its own, into chunks that are used
//! again. The caller gets the rows one by one and in order, and memory stays bounded.

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

/// Numbers of sources in a chunk.
const CHUNK: i64 = 2_048;
/// Chunks of each thread: one is read while another is filled.
const CHUNKS: usize = 3;
/// More threads than this wait for the caller.
const THREADS: usize = 4;

/// What a scheduler wants to know of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleRow<'a> {
    /// The source.
    pub id: u32,
    /// Its host.
    pub host: u32,
    /// How much it counts.
    pub importance: f64,
    /// What a fetch costs.
    pub cost: f64,
    /// The shortest time between fetches, in days.
    pub min_interval: f64,
    /// The longest time between fetches, in days.
    pub max_interval: f64,
    /// Whether it is left alone for now.
    pub paused: bool,
    /// Whether its changes are announced.
    pub observed: bool,
    /// Whether it is read to hear a herald.
    pub is_signal_source: bool,
    /// What is wanted of it; empty for nothing special.
    pub goal: &'a str,
    /// When the copy was last made or confirmed.
    pub fetched_at: Option<i64>,
    /// When it is to be fetched next.
    pub due_at: Option<i64>,
    /// What the last fetch made of it.
    pub state: SourceState,
    /// What the engine has learnt of it; empty if nothing.
    pub learned: &'a [u8],
}

const SQL: &str = "SELECT id, host, importance, cost, min_interval, max_interval, flags, goal,
    fetched, due, state, learnt FROM schedule WHERE id >= ?1 AND id < ?2";

/// A row whose text and bytes stand elsewhere.
struct Flat {
    row: ScheduleRow<'static>,
    goal: Range<usize>,
    learnt: Range<usize>,
}

#[derive(Default)]
struct Chunk {
    rows: Vec<Flat>,
    goals: String,
    bytes: Vec<u8>,
}

impl Chunk {
    fn fill(&mut self, connection: &Connection, from: i64) -> rusqlite::Result<()> {
        self.clear();
        let mut statement = connection.prepare_cached(SQL)?;
        self.read(&mut statement.query([from, from + CHUNK])?)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.goals.clear();
        self.bytes.clear();
    }

    fn read(&mut self, rows: &mut Rows<'_>) -> rusqlite::Result<()> {
        while let Some(row) = rows.next()? {
            let flags: i64 = row.get(6)?;
            let (goal, learnt) = (self.goals.len(), self.bytes.len());
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
            let (goal, learnt) = (goal..self.goals.len(), learnt..self.bytes.len());
            self.rows.push(Flat { row: scheduled, goal, learnt });
        }
        Ok(())
    }

    fn each(&self, visit: &mut impl FnMut(ScheduleRow<'_>)) {
        for flat in &self.rows {
            let goal = &self.goals[flat.goal.clone()];
            visit(ScheduleRow { goal, learned: &self.bytes[flat.learnt.clone()], ..flat.row });
        }
    }
}

type Filled = Result<Chunk, StoreError>;

impl Reader {
    /// These sources, in the order given. Those that do not exist are left out.
    pub fn load_schedule_of(
        &self,
        ids: &[u32],
        mut visit: impl FnMut(ScheduleRow<'_>),
    ) -> Result<(), StoreError> {
        let mut chunk = Chunk::default();
        for some in ids.chunks(CHUNK as usize) {
            self.run(|connection| {
                let mut statement = connection.prepare_cached(SQL)?;
                some.iter().try_for_each(|&id| {
                    chunk.read(&mut statement.query([i64::from(id), i64::from(id) + 1])?)
                })
            })?;
            chunk.each(&mut visit);
            chunk.clear();
        }
        Ok(())
    }

    /// Every source in order of its number. While a daemon writes, sources may be as they were at
    /// slightly different moments, each of them whole.
    pub fn load_schedule(&self, mut visit: impl FnMut(ScheduleRow<'_>)) -> Result<(), StoreError> {
        let end = self.run(|connection| counter(connection, "next_source"))?;
        let chunks = (end + CHUNK - 1) / CHUNK;
        let parallel = thread::available_parallelism().map_or(1, usize::from);
        let threads = parallel.min(THREADS).min(usize::try_from(chunks).unwrap_or(1)).max(1);
        let path = &self.path;
        thread::scope(|scope| {
            let mut lanes = Vec::new();
            for first in 0..threads {
                let (full, filled) = sync_channel::<Filled>(CHUNKS);
                let (back, empty) = sync_channel::<Chunk>(CHUNKS);
                for _ in 0..CHUNKS {
                    let _ = back.send(Chunk::default());
                }
                let starts = (first as i64..chunks).step_by(threads).map(|at| at * CHUNK);
                scope.spawn(move || fill(path, starts, &empty, &full));
                lanes.push((filled, back));
            }
            for at in 0..chunks {
                let (filled, back) = &lanes[at as usize % threads];
                let Ok(chunk) = filled.recv() else { break };
                let chunk = chunk?;
                chunk.each(&mut visit);
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
    full: &SyncSender<Filled>,
) {
    let connection = match open::reading(path) {
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
        let over = filled.is_err();
        if full.send(filled).is_err() || over {
            return;
        }
    }
}
