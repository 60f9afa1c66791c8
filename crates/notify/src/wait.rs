//! How long to wait before something is tried again.

use std::time::Duration;

use crate::sender::{DeliveryError, FailureKind};

/// The longest time between two attempts, and the longest that somebody else can ask for.
const LONGEST: Duration = Duration::from_secs(4 * 3600);
const WISHED: Duration = Duration::from_secs(86_400);
/// Attempts at what will hardly go well.
const LASTING: u32 = 3;

/// Whether a delivery is given up after so many attempts.
pub(crate) fn is_over(attempts: u32, trouble: &DeliveryError, most: u32) -> bool {
    let most = match trouble.kind {
        FailureKind::Transient => most,
        FailureKind::Permanent | FailureKind::Unsubscribed => most.min(LASTING),
    };
    attempts >= most
}

/// How long until the next attempt, after so many: twice as long each time, and a little more or less
/// by chance (from 0 to 1), so that not all come back at once. Who asked for more time gets it.
pub(crate) fn wait(
    attempts: u32,
    first: Duration,
    chance: f64,
    wished: Option<Duration>,
) -> Duration {
    let doubled = first.saturating_mul(1 << attempts.saturating_sub(1).min(30));
    let wait = doubled.min(LONGEST).mul_f64(0.8 + 0.4 * chance);
    wait.max(wished.unwrap_or_default().min(WISHED))
}

/// A number from 0 to 1.
pub(crate) fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |it| f64::from(it) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_attempts_take_about_a_day() {
        let first = Duration::from_secs(15);
        let all: Duration = (1..16).map(|attempts| wait(attempts, first, 0.5, None)).sum();
        let hours = all.as_secs_f64() / 3600.0;
        assert!((20.0..28.0).contains(&hours), "{hours}");
    }

    #[test]
    fn waits_grow_differ_and_heed_wishes() {
        let second = Duration::from_secs(1);
        assert_eq!(wait(1, second, 0.5, None), second);
        assert_eq!(wait(4, second, 0.5, None), 8 * second);
        assert_eq!(wait(u32::MAX, second, 0.5, None), LONGEST);
        assert!(wait(4, second, 0.0, None) < wait(4, second, 1.0, None));
        assert_eq!(wait(1, second, 0.5, Some(90 * second)), 90 * second);
        assert_eq!(wait(1, second, 0.5, Some(WISHED * 9)), WISHED);
    }

    #[test]
    fn what_will_not_go_well_is_given_up_sooner() {
        let later = DeliveryError::new("", FailureKind::Transient);
        let lasting = DeliveryError::new("", FailureKind::Permanent);
        assert!(!is_over(15, &later, 16) && is_over(16, &later, 16));
        assert!(!is_over(2, &lasting, 16) && is_over(3, &lasting, 16));
        assert!(is_over(1, &lasting, 1));
    }
}
