//! Limit on open connections. When there are too many, the connection that has been idle the
//! longest is closed, so idle connections cannot keep other clients out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections beyond those that may be answered: for refusing requests while all are in use, and
/// for monitoring. As many again may be closing.
const SPARE_CONNECTIONS: usize = 64;
/// Idle position of a connection that is answering a request.
const BUSY_KEY: u64 = 0;

/// All open connections.
pub(crate) struct ConnectionLimiter {
    /// Maximum number of requests answered at a time.
    max_requests: usize,
    state: Mutex<LimiterState>,
    /// Notified when a connection has closed.
    closed: Notify,
}

#[derive(Default)]
struct LimiterState {
    /// Open connections, and those of them that were told to close.
    open: usize,
    closing: usize,
    busy: usize,
    /// Idle connections, the longest idle first.
    idle: BTreeMap<u64, Arc<CloseSignal>>,
    /// Idle key assigned last.
    last_key: u64,
}

/// Tells a connection to close.
#[derive(Default)]
struct CloseSignal {
    notify: Notify,
    is_sent: AtomicBool,
}

/// An open connection.
pub(crate) struct ConnectionSlot {
    limiter: Arc<ConnectionLimiter>,
    close: Arc<CloseSignal>,
    /// Its key in [`LimiterState::idle`], or [`BUSY_KEY`].
    idle_key: AtomicU64,
    /// True if a request arrived since the last response was flushed.
    has_request: AtomicBool,
}

/// A request in progress, until the whole response has been produced.
pub(crate) struct ActiveRequest {
    slot: Arc<ConnectionSlot>,
    /// True if more requests are in progress than may be answered.
    pub(crate) is_over_limit: bool,
}

impl ConnectionLimiter {
    pub(crate) fn new(max_requests: usize) -> Arc<Self> {
        Arc::new(Self { max_requests, state: Mutex::default(), closed: Notify::new() })
    }

    /// Returns the maximum number of open files needed.
    pub(crate) fn max_files(max_requests: usize) -> usize {
        max_requests.saturating_add(2 * SPARE_CONNECTIONS)
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot for a new connection; `None` if every connection is answering a request.
    pub(crate) async fn admit(self: &Arc<Self>) -> Option<Arc<ConnectionSlot>> {
        loop {
            let closed = self.closed.notified();
            {
                let mut state = self.state();
                if state.closing < SPARE_CONNECTIONS {
                    let is_full = state.open - state.closing
                        >= self.max_requests.saturating_add(SPARE_CONNECTIONS);
                    if is_full && !state.evict_longest_idle() {
                        return None;
                    }
                    return Some(self.open_slot(&mut state));
                }
            }
            // Connections that were told to close do so promptly.
            closed.await;
        }
    }

    fn open_slot(self: &Arc<Self>, state: &mut LimiterState) -> Arc<ConnectionSlot> {
        state.open += 1;
        let close = Arc::new(CloseSignal::default());
        let idle_key = AtomicU64::new(state.add_idle(Arc::clone(&close)));
        Arc::new(ConnectionSlot {
            limiter: Arc::clone(self),
            close,
            idle_key,
            has_request: AtomicBool::new(false),
        })
    }

    /// Closes the longest idle connection. Returns false if none is idle.
    pub(crate) fn evict_longest_idle(&self) -> bool {
        self.state().evict_longest_idle()
    }

    /// Waits until a connection closes.
    pub(crate) async fn wait_for_close(&self) {
        self.closed.notified().await;
    }

    /// Waits until all connections are closed.
    pub(crate) async fn wait_until_empty(&self) {
        loop {
            let closed = self.closed.notified();
            if self.state().open == 0 {
                return;
            }
            closed.await;
        }
    }
}

impl LimiterState {
    fn evict_longest_idle(&mut self) -> bool {
        let Some((_, close)) = self.idle.pop_first() else { return false };
        self.closing += 1;
        close.is_sent.store(true, Ordering::Relaxed);
        close.notify.notify_one();
        true
    }

    fn add_idle(&mut self, close: Arc<CloseSignal>) -> u64 {
        self.last_key += 1;
        self.idle.insert(self.last_key, close);
        self.last_key
    }
}

impl ConnectionSlot {
    /// Waits until the connection is told to close.
    pub(crate) async fn evicted(&self) {
        self.close.notify.notified().await;
    }

    /// Marks the connection as answering a request.
    pub(crate) fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        let mut state = self.limiter.state();
        state.idle.remove(&self.idle_key.swap(BUSY_KEY, Ordering::Relaxed));
        let is_over_limit = state.busy >= self.limiter.max_requests;
        state.busy += 1;
        self.has_request.store(true, Ordering::Relaxed);
        ActiveRequest { slot: Arc::clone(self), is_over_limit }
    }

    /// Called when all pending output was flushed.
    pub(crate) fn on_flush(&self) {
        if self.idle_key.load(Ordering::Relaxed) != BUSY_KEY {
            self.has_request.store(false, Ordering::Relaxed);
        }
    }

    /// True if output written now answers no request: none arrived since the last flush.
    pub(crate) fn has_no_request(&self) -> bool {
        !self.has_request.load(Ordering::Relaxed)
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.slot.limiter.state();
        state.busy -= 1;
        // A connection that was told to close does not become idle again.
        if !self.slot.close.is_sent.load(Ordering::Relaxed) {
            let idle_key = state.add_idle(Arc::clone(&self.slot.close));
            self.slot.idle_key.store(idle_key, Ordering::Relaxed);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.open -= 1;
        state.idle.remove(&self.idle_key.load(Ordering::Relaxed));
        state.closing -= usize::from(self.close.is_sent.load(Ordering::Relaxed));
        drop(state);
        self.limiter.closed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn admit(limiter: &Arc<ConnectionLimiter>) -> Option<Arc<ConnectionSlot>> {
        limiter.admit().now_or_never().expect("no connection is closing")
    }

    fn is_evicted(slot: &ConnectionSlot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn the_longest_idle_connection_is_evicted() {
        let limiter = ConnectionLimiter::new(2);
        let slots: Vec<_> = (0..2 + SPARE_CONNECTIONS).map(|_| admit(&limiter).unwrap()).collect();
        // The first has sent a request since, and the second is being answered.
        drop(slots[0].begin_request());
        let busy = slots[1].begin_request();
        let new = admit(&limiter).unwrap();
        let evicted: Vec<_> = (0..slots.len()).filter(|&at| is_evicted(&slots[at])).collect();
        assert_eq!(evicted, [2]);
        // A request that arrives at that moment changes nothing.
        drop(slots[2].begin_request());
        drop((busy, new, slots));
        let state = limiter.state();
        assert_eq!((state.open, state.busy, state.closing, state.idle.len()), (0, 0, 0, 0));
    }

    #[test]
    fn a_connection_is_not_evicted_while_it_is_answered() {
        let limiter = ConnectionLimiter::new(2);
        let slots: Vec<_> = (0..2 + SPARE_CONNECTIONS).map(|_| admit(&limiter).unwrap()).collect();
        let requests: Vec<_> = slots.iter().map(ConnectionSlot::begin_request).collect();
        assert!(admit(&limiter).is_none());
        let extra = requests.iter().filter(|request| request.is_over_limit).count();
        assert_eq!(extra, SPARE_CONNECTIONS);
        drop(requests);
        assert!(admit(&limiter).is_some());
    }

    #[test]
    fn admission_waits_for_closing_connections() {
        let limiter = ConnectionLimiter::new(1);
        let mut slots: Vec<_> =
            (0..1 + 2 * SPARE_CONNECTIONS).map(|_| admit(&limiter).unwrap()).collect();
        assert!(limiter.admit().now_or_never().is_none());
        drop(slots.remove(0));
        assert!(admit(&limiter).is_some());
    }
}
