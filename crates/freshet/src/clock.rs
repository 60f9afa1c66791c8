//! The one place that reads the clock.

#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant, SystemTime};

/// Runs `work` and says how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// What the wall clock shows.
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// A stopwatch that runs from its making.
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

/// What the wall clock shows, in milliseconds since 1970.
pub(crate) fn millis() -> i64 {
    let since = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
