//! The only module that reads the system clock.

#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant, SystemTime};

/// Runs `work` and returns its result and the elapsed time.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Returns the current wall-clock time.
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Stopwatch that starts when it is created.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the current wall-clock time in milliseconds since 1970.
pub(crate) fn now_millis() -> i64 {
    let since = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
