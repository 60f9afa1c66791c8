//! The daemon's clock: it never runs backward, and it can run faster than the wall clock.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Milliseconds since 1970-01-01 UTC.
pub type Millis = i64;

const MS_PER_DAY: f64 = 86_400_000.0;
/// A larger step back means that the wall clock was set; smaller ones are ordinary clock discipline.
const MAX_BACKWARD_STEP_MS: Millis = 1_000;
/// A wall clock that gains more than this on monotonic time was set, or the machine slept.
const MAX_FORWARD_STEP_MS: Millis = 120_000;

/// Source of wall-clock time, in milliseconds since 1970.
pub type WallClock = Box<dyn Fn() -> Millis + Send + Sync>;

/// A step of the wall clock, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockJump {
    /// The wall clock was set back. [`Clock`] continues on its own.
    Back(Duration),
    /// The wall clock was set forward, or the machine slept. [`Clock`] follows it.
    Forward(Duration),
}

/// A clock that never runs backward. If the wall clock does, this one continues on its own.
pub struct Clock {
    wall_clock: WallClock,
    /// Wall-clock reading at the start, and the time that this clock showed then.
    wall_clock_start: Millis,
    starting_at: Millis,
    speed: f64,
    state: Mutex<ClockState>,
}

struct ClockState {
    /// Offset added to the wall clock.
    wall_offset_ms: Millis,
    last_reading: Millis,
    last_read_at: Instant,
    /// Size of the last step; negative if the clock was set back.
    jump_ms: Millis,
}

impl Clock {
    /// Creates a clock that follows the wall clock, or runs `factor` times as fast from now on.
    #[must_use]
    pub fn new(wall: WallClock, factor: f64) -> Self {
        let now = wall();
        Self::starting_at(wall, now, factor)
    }

    /// Creates a clock that shows `from` now and runs `factor` times as fast as the wall clock.
    #[must_use]
    pub fn starting_at(wall: WallClock, from: Millis, factor: f64) -> Self {
        let start = wall();
        let state = ClockState {
            wall_offset_ms: 0,
            last_reading: start,
            last_read_at: Instant::now(),
            jump_ms: 0,
        };
        Self {
            wall_clock: wall,
            wall_clock_start: start,
            starting_at: from,
            speed: factor,
            state: Mutex::new(state),
        }
    }

    /// Returns the current time, in milliseconds since 1970.
    pub fn now(&self) -> Millis {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = (self.wall_clock)().saturating_add(state.wall_offset_ms);
        let passed = state.last_read_at.elapsed().as_millis() as Millis;
        let now = if reading < state.last_reading - MAX_BACKWARD_STEP_MS {
            let now = state.last_reading.saturating_add(passed);
            state.wall_offset_ms += now - reading;
            state.jump_ms = reading - now;
            now
        } else {
            if reading - state.last_reading > passed + MAX_FORWARD_STEP_MS {
                state.jump_ms = reading - state.last_reading - passed;
            }
            reading.max(state.last_reading)
        };
        (state.last_reading, state.last_read_at) = (now, Instant::now());
        let since = (now - self.wall_clock_start) as f64;
        self.starting_at.saturating_add((since * self.speed) as Millis)
    }

    /// Returns the last step of the wall clock, once.
    pub fn take_jump(&self) -> Option<ClockJump> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let jumped = std::mem::take(&mut state.jump_ms);
        let step = Duration::from_millis(jumped.unsigned_abs());
        match jumped {
            0 => None,
            ..0 => Some(ClockJump::Back(step)),
            1.. => Some(ClockJump::Forward(step)),
        }
    }

    /// Returns the current time in days, the unit of the engine.
    pub fn now_days(&self) -> f64 {
        days_from_millis(self.now())
    }

    /// Converts elapsed real time to days of this clock. Delays that a host asks for are in the
    /// clock's own time already.
    #[must_use]
    pub fn to_clock_days(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1000.0 * self.speed / MS_PER_DAY
    }

    /// Returns the real time that has passed since `then`.
    pub fn real_time_since(&self, then: Millis) -> Duration {
        let seconds = (self.now() - then) as f64 / 1000.0 / self.speed;
        Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default()
    }

    /// Converts days of this clock to real time.
    #[must_use]
    pub fn to_real_time(&self, days: f64) -> Duration {
        let seconds = days * MS_PER_DAY / 1000.0 / self.speed;
        Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).unwrap_or_default()
    }

    /// Returns the real time until `day`.
    #[must_use]
    pub fn real_time_until(&self, day: f64) -> Duration {
        let wait = (day * MS_PER_DAY - self.now() as f64) / 1000.0 / self.speed;
        // Rounds up: the clock shows whole milliseconds.
        Duration::try_from_secs_f64(wait.clamp(0.0, 3600.0) + 0.0005).unwrap_or_default()
    }
}

/// Converts milliseconds to days.
#[must_use]
pub fn days_from_millis(at: Millis) -> f64 {
    at as f64 / MS_PER_DAY
}

/// Converts days to milliseconds.
#[must_use]
pub fn millis_from_days(day: f64) -> Millis {
    (day * MS_PER_DAY).round() as Millis
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn the_clock_continues_when_the_wall_clock_is_set_back() {
        let wall = Arc::new(AtomicI64::new(10_000_000));
        let shown = Arc::clone(&wall);
        let clock = Clock::new(Box::new(move || shown.load(Ordering::Relaxed)), 1.0);
        wall.store(10_005_000, Ordering::Relaxed);
        assert_eq!((clock.now(), clock.take_jump()), (10_005_000, None));
        wall.fetch_sub(3_600_000, Ordering::Relaxed);
        let after = clock.now();
        assert!((10_005_000..10_065_000).contains(&after), "{after}");
        assert!(
            matches!(clock.take_jump(), Some(ClockJump::Back(step)) if step.as_secs() >= 3_600)
        );
        wall.fetch_add(7_000, Ordering::Relaxed);
        assert!(clock.now() >= after + 7_000);
        assert_eq!(clock.take_jump(), None);
        wall.fetch_add(86_400_000, Ordering::Relaxed);
        assert!(clock.now() >= after + 86_407_000);
        assert!(
            matches!(clock.take_jump(), Some(ClockJump::Forward(step)) if step.as_secs() >= 86_300)
        );
    }

    #[test]
    fn a_minute_can_last_a_day() {
        let wall = Arc::new(AtomicI64::new(0));
        let shown = Arc::clone(&wall);
        let clock = Clock::new(Box::new(move || shown.load(Ordering::Relaxed)), 1440.0);
        wall.store(60_000, Ordering::Relaxed);
        assert_eq!(clock.now_days(), 1.0);
        assert_eq!(clock.to_clock_days(Duration::from_secs(30)), 0.5);
        let wait = clock.real_time_until(1.5).as_secs_f64();
        assert!((30.0..30.01).contains(&wait), "{wait}");
    }
}
