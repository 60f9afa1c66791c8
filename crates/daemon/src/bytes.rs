//! A cap on bytes: what came is taken off afterwards, and nothing is asked for while there is a debt.

use serde::{Deserialize, Serialize};

/// Days' worth that may be saved up.
const BURST: f64 = 1.0 / 24.0;

/// Days after which is looked again at what is under way.
const SOON: f64 = 1.0 / 86_400.0;

/// Bytes that may still come.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Allowance {
    a_day: Option<f64>,
    left: f64,
    at: f64,
    /// Bytes of a fetch, on average.
    usual: f64,
}

impl Allowance {
    /// What is left of it on a day, under a cap that may be another one now.
    pub(crate) fn resume(mut self, a_day: Option<f64>, day: f64) -> Self {
        self.a_day = a_day;
        self.left = self.left.min(a_day.unwrap_or(0.0) * BURST);
        self.at = day;
        self
    }

    /// The last day that it knew.
    pub(crate) fn at(&self) -> f64 {
        self.at
    }

    fn flow(&mut self, day: f64) {
        if let Some(a_day) = self.a_day {
            let flowed = a_day * (day - self.at).max(0.0);
            self.left = (self.left + flowed).min(a_day * BURST);
        }
        self.at = self.at.max(day);
    }

    /// Bytes came.
    pub(crate) fn take(&mut self, day: f64, bytes: u64) {
        self.flow(day);
        self.left -= bytes as f64;
        let pull = if self.usual > 0.0 { 0.01 } else { 1.0 };
        self.usual += pull * (bytes as f64 - self.usual);
    }

    /// The day on which something may be asked for again, if that is later. What is under way, here and
    /// with others, will bring what fetches usually do; as long as nobody knows how much that is, one at a
    /// time finds it out. Others need not tell.
    pub(crate) fn until(&mut self, day: f64, own: usize, others: usize) -> Option<f64> {
        self.flow(day);
        let a_day = self.a_day?;
        if self.usual <= 0.0 && own > 0 {
            return Some(day + SOON);
        }
        let left = self.left - self.usual * (own + others) as f64;
        (left < 0.0).then(|| day - left / a_day.max(1.0))
    }

    /// Fetches that it is enough for in a day.
    pub(crate) fn fetches(&self) -> Option<f64> {
        self.a_day.filter(|_| self.usual > 0.0).map(|a_day| a_day / self.usual)
    }
}
