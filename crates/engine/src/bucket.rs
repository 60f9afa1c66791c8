//! A budget that is paid out as time passes.

use serde::{Deserialize, Serialize};

use crate::settings::{Profile, Settings};

/// Never pays out more than what the budget gives in a stretch of time, and a burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bucket {
    rate: f64,
    burst: f64,
    profile: Profile,
    tokens: f64,
    at: f64,
}

/// What adding up many small amounts may miss, relatively.
const ROUNDING: f64 = 1e-9;
/// Hours to look ahead at most: after so many, a profile has told all it can.
const HOURS: usize = 60;

impl Bucket {
    pub(crate) fn new(now: f64, settings: &Settings) -> Self {
        let (rate, burst) = (settings.rate(), settings.burst());
        Self { rate, burst, profile: settings.profile, tokens: 0.0, at: now }
    }

    /// What flows in on a day, on average.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Changes what flows in from now on. What is there already stays, up to the new brim.
    pub(crate) fn set(&mut self, now: f64, settings: &Settings) {
        self.flow(now);
        (self.rate, self.burst) = (settings.rate(), settings.burst());
        self.profile = settings.profile;
        self.tokens = self.tokens.min(self.burst);
    }

    pub(crate) fn flow(&mut self, now: f64) {
        for _ in 0..HOURS {
            if self.at >= now || self.tokens >= self.burst {
                break;
            }
            let (factor, end) = self.profile.at(self.at);
            let until = end.min(now);
            self.tokens = (self.rate * factor).mul_add(until - self.at, self.tokens);
            self.at = until;
        }
        if self.at < now && self.tokens < self.burst {
            self.tokens += self.rate * (now - self.at);
        }
        self.tokens = self.tokens.min(self.burst);
        self.at = self.at.max(now);
    }

    /// Takes `cost` out if that much is there, but for rounding. What costs more than the brim is paid
    /// when the bucket is full, and leaves a debt.
    pub(crate) fn pay(&mut self, cost: f64) -> bool {
        let affordable = self.is_payable(cost);
        if affordable {
            self.tokens -= cost;
        }
        affordable
    }

    fn is_payable(&self, cost: f64) -> bool {
        self.rate > 0.0 && self.tokens >= cost.min(self.burst) * (1.0 - ROUNDING)
    }

    /// The day on which `cost` can be paid.
    pub(crate) fn when(&self, cost: f64) -> f64 {
        if self.is_payable(cost) {
            return self.at;
        }
        if self.rate <= 0.0 {
            return f64::INFINITY;
        }
        let mut missing = cost.min(self.burst) - self.tokens;
        let mut at = self.at;
        for _ in 0..HOURS {
            let (factor, end) = self.profile.at(at);
            let flow = self.rate * factor * (end - at);
            if flow >= missing {
                // Not now, even if that has no digits left.
                return (at + missing / (self.rate * factor)).max(self.at.next_up());
            }
            missing -= flow;
            at = end;
        }
        at + missing / self.rate
    }

    /// The day from which on it runs over.
    pub(crate) fn full(&self) -> f64 {
        self.when(f64::INFINITY)
    }
}
