//! A daily limit on bytes received. Bytes are charged after the fact, and no fetch starts while the
//! balance is negative.

use serde::{Deserialize, Serialize};

/// Largest unused allowance that may accumulate, in days' worth.
const MAX_SAVED_DAYS: f64 = 1.0 / 24.0;

/// Days until the balance is checked again while the first fetch is in flight.
const RECHECK_INTERVAL_DAYS: f64 = 1.0 / 86_400.0;

/// Balance of the daily byte limit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ByteBudget {
    bytes_per_day: Option<f64>,
    available: f64,
    updated_at: f64,
    /// Moving average of the bytes per fetch; 0 until the first fetch.
    mean_fetch_bytes: f64,
}

impl ByteBudget {
    /// Continues a stored balance on `day` under a limit that may have changed.
    pub(crate) fn with_limit(mut self, bytes_per_day: Option<f64>, day: f64) -> Self {
        self.bytes_per_day = bytes_per_day;
        self.available = self.available.min(bytes_per_day.unwrap_or(0.0) * MAX_SAVED_DAYS);
        self.updated_at = day;
        self
    }

    /// Day of the last update.
    pub(crate) fn updated_at(&self) -> f64 {
        self.updated_at
    }

    fn refill(&mut self, day: f64) {
        if let Some(bytes_per_day) = self.bytes_per_day {
            let flowed = bytes_per_day * (day - self.updated_at).max(0.0);
            self.available = (self.available + flowed).min(bytes_per_day * MAX_SAVED_DAYS);
        }
        self.updated_at = self.updated_at.max(day);
    }

    /// Charges the bytes of a finished fetch.
    pub(crate) fn charge(&mut self, day: f64, bytes: u64) {
        self.refill(day);
        self.available -= bytes as f64;
        let pull = if self.mean_fetch_bytes > 0.0 { 0.01 } else { 1.0 };
        self.mean_fetch_bytes += pull * (bytes as f64 - self.mean_fetch_bytes);
    }

    /// Returns the day until which no fetch may start, or `None` if one may start now. Each fetch
    /// in flight, `own` and `others`, is expected to cost the average. Until an average is known,
    /// fetches of this process run one at a time; fetches of external clients may report no size at
    /// all.
    pub(crate) fn blocked_until(&mut self, day: f64, own: usize, others: usize) -> Option<f64> {
        self.refill(day);
        let bytes_per_day = self.bytes_per_day?;
        if self.mean_fetch_bytes <= 0.0 && own > 0 {
            return Some(day + RECHECK_INTERVAL_DAYS);
        }
        let balance = self.available - self.mean_fetch_bytes * (own + others) as f64;
        (balance < 0.0).then(|| day - balance / bytes_per_day.max(1.0))
    }

    /// Number of average fetches per day that the limit allows.
    pub(crate) fn fetches_per_day(&self) -> Option<f64> {
        self.bytes_per_day
            .filter(|_| self.mean_fetch_bytes > 0.0)
            .map(|bytes_per_day| bytes_per_day / self.mean_fetch_bytes)
    }
}
