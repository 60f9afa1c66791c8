//! Time that runs faster.

use std::time::Duration;

use tokio::time::Instant;

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// Tells the days of the demo: so many of its seconds pass in one real second.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// The day on which it was started.
    from: f64,
    factor: f64,
}

impl Clock {
    /// A minute shows a day.
    pub const A_DAY_A_MINUTE: f64 = 1440.0;

    /// A clock that starts now, at day 0.
    #[must_use]
    pub fn start(factor: f64) -> Self {
        Self::start_at(0.0, factor)
    }

    /// A clock that starts now, at a later day.
    #[must_use]
    pub fn start_at(day: f64, factor: f64) -> Self {
        Self { start: Instant::now(), from: day, factor }
    }

    /// How many times as fast as the real one it is.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// What day it is in the demo.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.from + self.days(self.start.elapsed())
    }

    /// The real time since it was started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits until so much real time has passed since it was started; for ever without a limit.
    pub(crate) async fn over(&self, length: Option<Duration>) {
        match length.and_then(|length| self.start.checked_add(length)) {
            Some(end) => tokio::time::sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// What a real stretch of time comes to in days of the demo.
    #[must_use]
    pub fn days(&self, real: Duration) -> f64 {
        real.as_secs_f64() * self.factor / DAY
    }

    /// The real time that days of the demo take.
    #[must_use]
    pub fn real(&self, days: f64) -> Duration {
        let seconds = days * DAY / self.factor;
        // Not a number is no time.
        Duration::from_secs_f64(if seconds > 0.0 { seconds.min(1e9) } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_minute_shows_a_day() {
        let clock = Clock::start(Clock::A_DAY_A_MINUTE);
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), 1.5);
        assert_eq!(clock.real(0.5), Duration::from_secs(30));
        assert_eq!(clock.real(f64::INFINITY), Duration::from_secs(1_000_000_000));
        assert_eq!(clock.real(f64::NAN), Duration::ZERO);
    }
}
