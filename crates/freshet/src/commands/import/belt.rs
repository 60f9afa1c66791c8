//! A belt: one thread reads the file, others check what is found, and what they made comes off in the
//! order of the file.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use freshet_daemon::NewSourceRequest;

use super::location::{Bad, Found};
use super::{Each, Notes};
use crate::failure::Failure;

/// What makes something of a source, or says why it is none. Each thread has one of its own.
pub(crate) type Make<'a, T> = Box<dyn FnMut(NewSourceRequest) -> Result<T, Failure> + 'a>;

/// Sources on a tray.
const TRAY: usize = 1024;
/// Trays that may wait for each thread.
const TRAYS: usize = 8;
/// More threads than this wait for the reader.
const THREADS: usize = 4;

type Tray = Vec<Result<Found, Bad>>;
type Made<T> = Result<Vec<Result<T, Bad>>, Failure>;

/// Gives `take` all that `made` makes of what `read` finds, in order, until one of them fails.
pub(crate) fn run<'a, T: Send>(
    read: impl FnOnce(Each<'_>) -> Result<Notes, Failure> + Send,
    made: &(dyn Fn() -> Result<Make<'a, T>, Failure> + Sync),
    mut take: impl FnMut(Vec<Result<T, Bad>>) -> Result<(), Failure>,
) -> Result<Notes, Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    thread::scope(|scope| {
        let (mut lanes, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (lane, trays) = sync_channel::<Tray>(TRAYS);
            let (done, end) = sync_channel::<Made<T>>(TRAYS);
            scope.spawn(move || work(made, &trays, &done));
            lanes.push(lane);
            ends.push(end);
        }
        let reader = scope.spawn(move || load(read, &lanes));
        for end in (0..threads).cycle() {
            // The first lane that has no more is behind the last tray.
            let Ok(tray) = ends[end].recv() else { break };
            take(tray?)?;
        }
        drop(ends);
        reader.join().unwrap_or_else(|_| Err(Failure::new("cannot read on: a thread broke off")))
    })
}

fn load(
    read: impl FnOnce(Each<'_>) -> Result<Notes, Failure>,
    lanes: &[SyncSender<Tray>],
) -> Result<Notes, Failure> {
    let mut lane = lanes.iter().cycle();
    let mut tray = Tray::with_capacity(TRAY);
    let mut send = |tray: Tray| {
        let sent = lane.next().is_some_and(|lane| lane.send(tray).is_ok());
        sent.then_some(()).ok_or_else(|| Failure::new("nobody takes what is read"))
    };
    let notes = read(&mut |found| {
        tray.push(found);
        if tray.len() == TRAY {
            send(std::mem::replace(&mut tray, Tray::with_capacity(TRAY)))?;
        }
        Ok(())
    })?;
    send(tray)?;
    Ok(notes)
}

fn work<'a, T>(
    made: &(dyn Fn() -> Result<Make<'a, T>, Failure> + Sync),
    trays: &Receiver<Tray>,
    done: &SyncSender<Made<T>>,
) {
    let mut make = match made() {
        Ok(make) => make,
        Err(failure) => {
            let _ = done.send(Err(failure));
            return;
        }
    };
    while let Ok(tray) = trays.recv() {
        let one = |found: Result<Found, Bad>| {
            let Found { wanted, place } = found?;
            make(wanted).map_err(|why| Bad { place, why })
        };
        if done.send(Ok(tray.into_iter().map(one).collect())).is_err() {
            return;
        }
    }
}
