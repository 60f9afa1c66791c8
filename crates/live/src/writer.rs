//! The one thread that writes to the store.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use freshet_engine::{Description, Learnt};
use freshet_store::{Batch, Recorded, Retention, State, Store, StoreError, Watch};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clock::Millis;
use crate::edit::{Applied, Edit, EditError, apply};
use crate::load::description;

/// What is to be written.
pub(crate) enum Write {
    Batch(Box<Batch>),
    Edit(Edit, Millis, oneshot::Sender<Result<Edited, EditError>>),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Tidy(Millis),
    Keep(Retention, Option<u64>, Watch),
    /// Whatever else somebody writes.
    Other(Box<dyn FnOnce(&mut Store) + Send>),
}

/// What an edit did, and what the engine must know of it.
pub(crate) struct Edited {
    pub(crate) applied: Applied,
    pub(crate) described: Vec<Description>,
    /// The same of new sources of which something is expected.
    pub(crate) expected: Vec<(Description, Learnt)>,
}

/// What became of a batch.
pub(crate) struct Written {
    pub(crate) fetches: usize,
    pub(crate) took: Duration,
    /// If it could not be written, the batch again.
    pub(crate) result: Result<Recorded, (StoreError, Box<Batch>)>,
}

/// Writes until nobody asks for more, and gives the store back.
pub(crate) fn start(
    mut store: Store,
    mut orders: mpsc::UnboundedReceiver<Write>,
    written: mpsc::UnboundedSender<Written>,
) -> std::io::Result<JoinHandle<Store>> {
    std::thread::Builder::new().name("freshet-writer".to_owned()).spawn(move || {
        while let Some(order) = orders.blocking_recv() {
            carry_out(&mut store, order, &written);
        }
        store
    })
}

fn carry_out(store: &mut Store, order: Write, written: &mpsc::UnboundedSender<Written>) {
    match order {
        Write::Batch(batch) => {
            let start = Instant::now();
            let result = store.record(&batch);
            let took = start.elapsed();
            let fetches = batch.fetches.len();
            let result = result.map_err(|error| (error, batch));
            // Whoever does not listen any more has stopped.
            let _ = written.send(Written { fetches, took, result });
        }
        Write::Edit(edit, now, reply) => {
            let _ = reply.send(change(store, &edit, now));
        }
        Write::Backup(path, force, reply) => {
            let _ = reply.send(store.backup(&path, force));
        }
        Write::Tidy(now) => {
            if let Err(error) = store.tidy(now) {
                tracing::warn!("cannot tidy the store: {error}");
            }
        }
        Write::Other(work) => work(store),
        Write::Keep(retention, size, watch) => {
            store.set_watch(watch);
            if let Err(error) = keep(store, retention, size) {
                tracing::warn!("cannot limit the store: {error}");
            }
        }
    }
}

/// Says how much is kept, in the past and in bytes.
pub(crate) fn keep(
    store: &mut Store,
    retention: Retention,
    size: Option<u64>,
) -> Result<(), StoreError> {
    store.set_retention(retention);
    store.limit_size(size.unwrap_or(u64::MAX))
}

fn change(store: &mut Store, edit: &Edit, now: Millis) -> Result<Edited, EditError> {
    let applied = apply(store, edit, now)?;
    let mut described = Vec::with_capacity(applied.described.len());
    let mut expected = Vec::new();
    store.scheduled(&applied.described, |row| {
        // The engine knows better when it was fetched.
        let description = Description { fetched: None, ..description(&row) };
        match Learnt::from_bytes(row.learnt) {
            Ok(learnt) if row.state == State::New => expected.push((description, learnt)),
            _ => described.push(description),
        }
    })?;
    Ok(Edited { applied, described, expected })
}
