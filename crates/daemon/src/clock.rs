//! What time it is: never earlier than it was, and faster than the wall clock if it is to be.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Milliseconds since 1970 (UTC).
pub type Millis = i64;

/// Milliseconds in a day.
const DAY: f64 = 86_400_000.0;
/// A wall clock that goes back by more has been set, and is not just being kept right.
const JUMP: Millis = 1_000;
/// One that goes on by so much more than time has passed was set too, or the machine slept.
const LEAP: Millis = 120_000;

/// What the wall clock shows, in milliseconds since 1970.
pub type Wall = Box<dyn Fn() -> Millis + Send + Sync>;

/// A wall clock that was set, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// Back: the clock has gone on by itself.
    Back(Duration),
    /// Forward, or the machine slept: the clock has gone along.
    Forward(Duration),
}

/// A clock that never goes back. If the wall clock does, it goes on by itself.
pub struct Clock {
    wall: Wall,
    /// What the wall clock showed at the start, and what this one did.
    start: Millis,
    from: Millis,
    factor: f64,
    state: Mutex<State>,
}

struct State {
    /// What is added to the wall clock.
    shift: Millis,
    last: Millis,
    at: Instant,
    /// Negative for back.
    jumped: Millis,
}

impl Clock {
    /// A clock by the wall clock, or by one that goes `factor` times as fast from now on.
    #[must_use]
    pub fn new(wall: Wall, factor: f64) -> Self {
        let now = wall();
        Self::from(wall, now, factor)
    }

    /// The same, and it shows `from` now.
    #[must_use]
    pub fn from(wall: Wall, from: Millis, factor: f64) -> Self {
        let start = wall();
        let state = State { shift: 0, last: start, at: Instant::now(), jumped: 0 };
        Self { wall, start, from, factor, state: Mutex::new(state) }
    }

    /// What it shows, in milliseconds since 1970.
    pub fn now(&self) -> Millis {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = (self.wall)().saturating_add(state.shift);
        let passed = state.at.elapsed().as_millis() as Millis;
        let now = if reading < state.last - JUMP {
            let now = state.last.saturating_add(passed);
            state.shift += now - reading;
            state.jumped = reading - now;
            now
        } else {
            if reading - state.last > passed + LEAP {
                state.jumped = reading - state.last - passed;
            }
            reading.max(state.last)
        };
        (state.last, state.at) = (now, Instant::now());
        let since = (now - self.start) as f64;
        self.from.saturating_add((since * self.factor) as Millis)
    }

    /// Whether the wall clock was set since this was asked.
    pub fn take_jump(&self) -> Option<Jump> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let jumped = std::mem::take(&mut state.jumped);
        let by = Duration::from_millis(jumped.unsigned_abs());
        match jumped {
            0 => None,
            ..0 => Some(Jump::Back(by)),
            1.. => Some(Jump::Forward(by)),
        }
    }

    /// The same in days, as the engine counts.
    pub fn day(&self) -> f64 {
        days(self.now())
    }

    /// How long a time that has passed is in days of this clock. What hosts say of time is by this clock
    /// already.
    #[must_use]
    pub fn days_of(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1000.0 * self.factor / DAY
    }

    /// How long ago something was, in the world.
    pub fn since(&self, then: Millis) -> Duration {
        let seconds = (self.now() - then) as f64 / 1000.0 / self.factor;
        Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default()
    }

    /// How long days of this clock are in the world.
    #[must_use]
    pub fn time_of(&self, days: f64) -> Duration {
        let seconds = days * DAY / 1000.0 / self.factor;
        Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).unwrap_or_default()
    }

    /// How long it is until a day, in the world.
    #[must_use]
    pub fn wait_for(&self, day: f64) -> Duration {
        let wait = (day * DAY - self.now() as f64) / 1000.0 / self.factor;
        // Part of a millisecond counts as one: the clock shows no parts.
        Duration::try_from_secs_f64(wait.clamp(0.0, 3600.0) + 0.0005).unwrap_or_default()
    }
}

/// Milliseconds as days.
#[must_use]
pub fn days(at: Millis) -> f64 {
    at as f64 / DAY
}

/// Days as milliseconds.
#[must_use]
pub fn millis(day: f64) -> Millis {
    (day * DAY).round() as Millis
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn a_wall_clock_that_goes_back_does_not_take_it_along() {
        let wall = Arc::new(AtomicI64::new(10_000_000));
        let shown = Arc::clone(&wall);
        let clock = Clock::new(Box::new(move || shown.load(Ordering::Relaxed)), 1.0);
        wall.store(10_005_000, Ordering::Relaxed);
        assert_eq!((clock.now(), clock.take_jump()), (10_005_000, None));
        wall.fetch_sub(3_600_000, Ordering::Relaxed);
        let after = clock.now();
        assert!((10_005_000..10_065_000).contains(&after), "{after}");
        assert!(matches!(clock.take_jump(), Some(Jump::Back(by)) if by.as_secs() >= 3_600));
        wall.fetch_add(7_000, Ordering::Relaxed);
        assert!(clock.now() >= after + 7_000);
        assert_eq!(clock.take_jump(), None);
        wall.fetch_add(86_400_000, Ordering::Relaxed);
        assert!(clock.now() >= after + 86_407_000);
        assert!(matches!(clock.take_jump(), Some(Jump::Forward(by)) if by.as_secs() >= 86_300));
    }

    #[test]
    fn a_minute_can_be_a_day() {
        let wall = Arc::new(AtomicI64::new(0));
        let shown = Arc::clone(&wall);
        let clock = Clock::new(Box::new(move || shown.load(Ordering::Relaxed)), 1440.0);
        wall.store(60_000, Ordering::Relaxed);
        assert_eq!(clock.day(), 1.0);
        assert_eq!(clock.days_of(Duration::from_secs(30)), 0.5);
        let wait = clock.wait_for(1.5).as_secs_f64();
        assert!((30.0..30.01).contains(&wait), "{wait}");
    }
}
