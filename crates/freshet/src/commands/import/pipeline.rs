//! Import pipeline: one thread reads the file, others validate the sources, and the results come out in
//! the order of the file.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use freshet_daemon::NewSourceRequest;

use super::entry::{ImportedSource, InvalidEntry};
use super::{EntrySink, Notes};
use crate::failure::Failure;

/// Validates and converts a source. Each thread has its own converter.
pub(crate) type Converter<'a, T> = Box<dyn FnMut(NewSourceRequest) -> Result<T, Failure> + 'a>;

/// Number of entries in a batch.
const BATCH_SIZE: usize = 1024;
/// Number of batches that may wait for each thread.
const QUEUE_LEN: usize = 8;
/// Maximum number of threads; more would only wait for the reader.
const MAX_THREADS: usize = 4;

type EntryBatch = Vec<Result<ImportedSource, InvalidEntry>>;
type ConvertedBatch<T> = Result<Vec<Result<T, InvalidEntry>>, Failure>;

/// Reads entries, converts them on several threads, and passes the results to `consume` in the order of
/// the file. Stops at the first failure of any of the three.
pub(crate) fn run<'a, T: Send>(
    read: impl FnOnce(EntrySink<'_>) -> Result<Notes, Failure> + Send,
    new_converter: &(dyn Fn() -> Result<Converter<'a, T>, Failure> + Sync),
    mut consume: impl FnMut(Vec<Result<T, InvalidEntry>>) -> Result<(), Failure>,
) -> Result<Notes, Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    thread::scope(|scope| {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (input, batches) = sync_channel::<EntryBatch>(QUEUE_LEN);
            let (converted, output) = sync_channel::<ConvertedBatch<T>>(QUEUE_LEN);
            scope.spawn(move || convert(new_converter, &batches, &converted));
            inputs.push(input);
            outputs.push(output);
        }
        let reader = scope.spawn(move || read_batches(read, &inputs));
        // Batches are distributed in turns, so the first closed output follows the last batch.
        for thread in (0..threads).cycle() {
            let Ok(batch) = outputs[thread].recv() else { break };
            consume(batch?)?;
        }
        drop(outputs);
        reader
            .join()
            .unwrap_or_else(|_| Err(Failure::new("cannot continue to read: a thread panicked")))
    })
}

/// Reads entries and distributes them in batches over the threads.
fn read_batches(
    read: impl FnOnce(EntrySink<'_>) -> Result<Notes, Failure>,
    inputs: &[SyncSender<EntryBatch>],
) -> Result<Notes, Failure> {
    let mut inputs = inputs.iter().cycle();
    let mut batch = EntryBatch::with_capacity(BATCH_SIZE);
    let mut send = |batch: EntryBatch| {
        let sent = inputs.next().is_some_and(|input| input.send(batch).is_ok());
        sent.then_some(()).ok_or_else(|| Failure::new("the import has stopped"))
    };
    let notes = read(&mut |entry| {
        batch.push(entry);
        if batch.len() == BATCH_SIZE {
            send(std::mem::replace(&mut batch, EntryBatch::with_capacity(BATCH_SIZE)))?;
        }
        Ok(())
    })?;
    send(batch)?;
    Ok(notes)
}

/// Converts the batches of one thread.
fn convert<'a, T>(
    new_converter: &(dyn Fn() -> Result<Converter<'a, T>, Failure> + Sync),
    batches: &Receiver<EntryBatch>,
    converted: &SyncSender<ConvertedBatch<T>>,
) {
    let mut converter = match new_converter() {
        Ok(converter) => converter,
        Err(failure) => {
            let _ = converted.send(Err(failure));
            return;
        }
    };
    while let Ok(batch) = batches.recv() {
        let convert_entry = |entry: Result<ImportedSource, InvalidEntry>| {
            let ImportedSource { request, location } = entry?;
            converter(request).map_err(|reason| InvalidEntry { location, reason })
        };
        if converted.send(Ok(batch.into_iter().map(convert_entry).collect())).is_err() {
            return;
        }
    }
}
