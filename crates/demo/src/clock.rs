//! Accelerated clock.

use std::time::Duration;

use tokio::time::Instant;

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;

/// Clock of the demo, which runs faster than real time by a factor.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// Day at the start.
    from: f64,
    factor: f64,
}

impl Clock {
    /// Default factor: one minute shows one day.
    pub const A_DAY_A_MINUTE: f64 = 1440.0;

    /// Creates a clock that starts now, at day 0.
    #[must_use]
    pub fn start(factor: f64) -> Self {
        Self::start_at(0.0, factor)
    }

    /// Creates a clock that starts now, at a later day.
    #[must_use]
    pub fn start_at(day: f64, factor: f64) -> Self {
        Self { start: Instant::now(), from: day, factor }
    }

    /// Returns the factor between demo time and real time.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Returns the current day of the demo.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.from + self.days(self.start.elapsed())
    }

    /// Returns the real time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits until the given real time has passed since the start; forever without a limit.
    pub(crate) async fn over(&self, length: Option<Duration>) {
        match length.and_then(|length| self.start.checked_add(length)) {
            Some(end) => tokio::time::sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// Converts a real duration to days of the demo.
    #[must_use]
    pub fn days(&self, real: Duration) -> f64 {
        real.as_secs_f64() * self.factor / DAY
    }

    /// Converts days of the demo to a real duration.
    #[must_use]
    pub fn real(&self, days: f64) -> Duration {
        let seconds = days * DAY / self.factor;
        // NaN is converted to zero.
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
