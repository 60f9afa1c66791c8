//! Who is connected. When there are too many, whoever has asked for nothing for the longest makes room:
//! connections on which nothing is asked keep nobody out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections beside those that may be answered: to be told that all are in use, and for those who watch
/// the service. As many again may be closing.
const SPARE: usize = 64;
/// The place of who is being answered.
const BUSY: u64 = 0;

/// All connections.
pub(crate) struct ConnectionLimiter {
    /// Requests that may be answered at a time.
    all: usize,
    state: Mutex<State>,
    /// Somebody has left.
    left: Notify,
}

#[derive(Default)]
struct State {
    /// Connections that are open, and those of them that were told to close.
    open: usize,
    leaving: usize,
    busy: usize,
    /// Who waits to be asked for something, the longest first.
    idle: BTreeMap<u64, Arc<Leave>>,
    last: u64,
}

/// How a connection is told to close.
#[derive(Default)]
struct Leave {
    tell: Notify,
    told: AtomicBool,
}

/// A connection.
pub(crate) struct ConnectionSlot {
    seats: Arc<ConnectionLimiter>,
    leave: Arc<Leave>,
    /// Its place among those who are idle.
    place: AtomicU64,
    /// Whether something was asked since all was said.
    asked: AtomicBool,
}

/// A request that is being answered, until all of the answer is there.
pub(crate) struct Visit {
    seat: Arc<ConnectionSlot>,
    /// Whether there are more than may be answered.
    pub(crate) is_extra: bool,
}

impl ConnectionLimiter {
    pub(crate) fn new(all: usize) -> Arc<Self> {
        Arc::new(Self { all, state: Mutex::default(), left: Notify::new() })
    }

    /// How many files that takes at most.
    pub(crate) fn files(all: usize) -> usize {
        all.saturating_add(2 * SPARE)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for who has come; `None` if all are being answered.
    pub(crate) async fn take(self: &Arc<Self>) -> Option<Arc<ConnectionSlot>> {
        loop {
            let left = self.left.notified();
            {
                let mut state = self.state();
                if state.leaving < SPARE {
                    let is_full = state.open - state.leaving >= self.all.saturating_add(SPARE);
                    if is_full && !state.make_room() {
                        return None;
                    }
                    return Some(self.sit(&mut state));
                }
            }
            // They have been told: it takes no more than a moment.
            left.await;
        }
    }

    fn sit(self: &Arc<Self>, state: &mut State) -> Arc<ConnectionSlot> {
        state.open += 1;
        let leave = Arc::new(Leave::default());
        let place = AtomicU64::new(state.wait(Arc::clone(&leave)));
        Arc::new(ConnectionSlot {
            seats: Arc::clone(self),
            leave,
            place,
            asked: AtomicBool::new(false),
        })
    }

    /// Has whoever waits the longest leave. Says whether there was somebody.
    pub(crate) fn make_room(&self) -> bool {
        self.state().make_room()
    }

    /// Returns as soon as somebody leaves.
    pub(crate) async fn somebody_leaves(&self) {
        self.left.notified().await;
    }

    /// Returns when all have left.
    pub(crate) async fn empty(&self) {
        loop {
            let left = self.left.notified();
            if self.state().open == 0 {
                return;
            }
            left.await;
        }
    }
}

impl State {
    fn make_room(&mut self) -> bool {
        let Some((_, leave)) = self.idle.pop_first() else { return false };
        self.leaving += 1;
        leave.told.store(true, Ordering::Relaxed);
        leave.tell.notify_one();
        true
    }

    fn wait(&mut self, leave: Arc<Leave>) -> u64 {
        self.last += 1;
        self.idle.insert(self.last, leave);
        self.last
    }
}

impl ConnectionSlot {
    /// Returns when it is to make room.
    pub(crate) async fn is_wanted(&self) {
        self.leave.tell.notified().await;
    }

    /// A request has come.
    pub(crate) fn visit(self: &Arc<Self>) -> Visit {
        let mut state = self.seats.state();
        state.idle.remove(&self.place.swap(BUSY, Ordering::Relaxed));
        let is_extra = state.busy >= self.seats.all;
        state.busy += 1;
        self.asked.store(true, Ordering::Relaxed);
        Visit { seat: Arc::clone(self), is_extra }
    }

    /// All that was to be said is said.
    pub(crate) fn flushed(&self) {
        if self.place.load(Ordering::Relaxed) != BUSY {
            self.asked.store(false, Ordering::Relaxed);
        }
    }

    /// Whether what is said now answers no request: nothing has been asked since all was said.
    pub(crate) fn is_unasked(&self) -> bool {
        !self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut state = self.seat.seats.state();
        state.busy -= 1;
        // Who has been told to leave does not wait any more.
        if !self.seat.leave.told.load(Ordering::Relaxed) {
            let place = state.wait(Arc::clone(&self.seat.leave));
            self.seat.place.store(place, Ordering::Relaxed);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut state = self.seats.state();
        state.open -= 1;
        state.idle.remove(&self.place.load(Ordering::Relaxed));
        state.leaving -= usize::from(self.leave.told.load(Ordering::Relaxed));
        drop(state);
        self.seats.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn take(seats: &Arc<ConnectionLimiter>) -> Option<Arc<ConnectionSlot>> {
        seats.take().now_or_never().expect("nobody is leaving")
    }

    fn is_wanted(seat: &ConnectionSlot) -> bool {
        seat.is_wanted().now_or_never().is_some()
    }

    #[test]
    fn who_waits_the_longest_makes_room() {
        let seats = ConnectionLimiter::new(2);
        let all: Vec<_> = (0..2 + SPARE).map(|_| take(&seats).unwrap()).collect();
        // The first has asked since, and the second is being answered.
        drop(all[0].visit());
        let busy = all[1].visit();
        let new = take(&seats).unwrap();
        let wanted: Vec<_> = (0..all.len()).filter(|&at| is_wanted(&all[at])).collect();
        assert_eq!(wanted, [2]);
        // A request that comes at that moment changes nothing.
        drop(all[2].visit());
        drop((busy, new, all));
        let state = seats.state();
        assert_eq!((state.open, state.busy, state.leaving, state.idle.len()), (0, 0, 0, 0));
    }

    #[test]
    fn nobody_is_sent_away_while_being_answered() {
        let seats = ConnectionLimiter::new(2);
        let all: Vec<_> = (0..2 + SPARE).map(|_| take(&seats).unwrap()).collect();
        let visits: Vec<_> = all.iter().map(ConnectionSlot::visit).collect();
        assert!(take(&seats).is_none());
        let extra = visits.iter().filter(|visit| visit.is_extra).count();
        assert_eq!(extra, SPARE);
        drop(visits);
        assert!(take(&seats).is_some());
    }

    #[test]
    fn those_who_leave_are_waited_for() {
        let seats = ConnectionLimiter::new(1);
        let mut all: Vec<_> = (0..1 + 2 * SPARE).map(|_| take(&seats).unwrap()).collect();
        assert!(seats.take().now_or_never().is_none());
        drop(all.remove(0));
        assert!(take(&seats).is_some());
    }
}
