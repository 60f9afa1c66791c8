//! Delays between delivery attempts.

use std::time::Duration;

use crate::sender::{DeliveryError, FailureKind};

/// Maximum delay between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(4 * 3600);
/// Maximum delay that a receiver can request by `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(86_400);
/// Number of attempts after a permanent failure.
const MAX_PERMANENT_ATTEMPTS: u32 = 3;

/// True if a delivery is given up after this number of attempts.
pub(crate) fn is_final(attempts: u32, error: &DeliveryError, max_attempts: u32) -> bool {
    let max_attempts = match error.kind {
        FailureKind::Transient => max_attempts,
        FailureKind::Permanent | FailureKind::Unsubscribed => {
            max_attempts.min(MAX_PERMANENT_ATTEMPTS)
        }
    };
    attempts >= max_attempts
}

/// Returns the delay before the next attempt: doubled with each attempt, with ±20 % of jitter so that retries spread
/// (`random` is from 0 to 1), and at least the delay that the receiver requested.
pub(crate) fn retry_delay(
    attempts: u32,
    initial: Duration,
    random: f64,
    retry_after: Option<Duration>,
) -> Duration {
    let doubled = initial.saturating_mul(1 << attempts.saturating_sub(1).min(30));
    let delay = doubled.min(MAX_DELAY).mul_f64(0.8 + 0.4 * random);
    delay.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER))
}

/// Returns a random number from 0 to 1.
pub(crate) fn random_fraction() -> f64 {
    getrandom::u32().map_or(0.5, |it| f64::from(it) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_attempts_take_about_a_day() {
        let first = Duration::from_secs(15);
        let all: Duration = (1..16).map(|attempts| retry_delay(attempts, first, 0.5, None)).sum();
        let hours = all.as_secs_f64() / 3600.0;
        assert!((20.0..28.0).contains(&hours), "{hours}");
    }

    #[test]
    fn delays_double_vary_and_respect_retry_after() {
        let second = Duration::from_secs(1);
        assert_eq!(retry_delay(1, second, 0.5, None), second);
        assert_eq!(retry_delay(4, second, 0.5, None), 8 * second);
        assert_eq!(retry_delay(u32::MAX, second, 0.5, None), MAX_DELAY);
        assert!(retry_delay(4, second, 0.0, None) < retry_delay(4, second, 1.0, None));
        assert_eq!(retry_delay(1, second, 0.5, Some(90 * second)), 90 * second);
        assert_eq!(retry_delay(1, second, 0.5, Some(MAX_RETRY_AFTER * 9)), MAX_RETRY_AFTER);
    }

    #[test]
    fn permanent_failures_are_given_up_sooner() {
        let transient = DeliveryError::new("", FailureKind::Transient);
        let permanent = DeliveryError::new("", FailureKind::Permanent);
        assert!(!is_final(15, &transient, 16) && is_final(16, &transient, 16));
        assert!(!is_final(2, &permanent, 16) && is_final(3, &permanent, 16));
        assert!(is_final(1, &permanent, 1));
    }
}
