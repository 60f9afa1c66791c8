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
/// Hours to look ahead at most, past whole days.
const HOURS: usize = 30;

impl Bucket {
    pub(crate) fn new(now: f64, settings: &Settings) -> Self {
        let (rate, burst) = (settings.rate(), settings.burst());
        Self { rate, burst, profile: settings.profile, tokens: 0.0, at: now }
    }

    /// What is there.
    pub(crate) fn tokens(&self) -> f64 {
        self.tokens
    }

    /// Goes on with what was there.
    pub(crate) fn resume(&mut self, tokens: f64) {
        self.tokens = if tokens.is_finite() { tokens.min(self.burst) } else { 0.0 };
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
        // Whole days are all alike.
        let days = (now - self.at).floor();
        if days >= 1.0 {
            self.tokens = self.rate.mul_add(days, self.tokens);
            self.at += days;
        }
        for _ in 0..HOURS {
            if self.at >= now {
                break;
            }
            let (factor, end) = self.profile.at(self.at);
            let until = end.min(now);
            self.tokens = (self.rate * factor).mul_add(until - self.at, self.tokens);
            self.at = until;
        }
        self.tokens = self.tokens.min(self.burst);
        self.at = self.at.max(now);
    }

    /// Lets time pass without anything flowing in.
    pub(crate) fn skip(&mut self, now: f64) {
        self.at = self.at.max(now);
    }

    /// Takes `cost` out. What costs more than the brim is paid when the bucket is full, and leaves a
    /// debt.
    pub(crate) fn pay(&mut self, cost: f64) {
        self.tokens -= cost;
    }

    /// Puts `cost` back, up to the brim: what was paid for did not happen.
    pub(crate) fn give_back(&mut self, cost: f64) {
        self.tokens = (self.tokens + cost).min(self.burst);
    }

    /// Whether `cost` is there, but for rounding.
    pub(crate) fn has(&self, cost: f64) -> bool {
        // In an hour that is to be quiet, not even what is left.
        let (factor, _) = self.profile.at(self.at);
        self.rate * factor > 0.0 && self.tokens >= cost.min(self.burst) * (1.0 - ROUNDING)
    }

    /// The day on which `cost` can be paid.
    pub(crate) fn when(&self, cost: f64) -> f64 {
        if self.has(cost) {
            return self.at;
        }
        if self.rate <= 0.0 {
            return f64::INFINITY;
        }
        let missing = (cost.min(self.burst) - self.tokens).max(0.0);
        let days = ((missing / self.rate).ceil() - 1.0).max(0.0);
        let mut at = self.at + days;
        let mut missing = missing - days * self.rate;
        for _ in 0..HOURS {
            let (factor, end) = self.profile.at(at);
            let flow = self.rate * factor * (end - at);
            if flow >= missing && factor > 0.0 {
                at += missing / (self.rate * factor);
                break;
            }
            missing -= flow;
            at = end;
        }
        // Not now, even if the wait has no digits left.
        at.max(self.at.next_up())
    }

    /// The day from which on it runs over.
    pub(crate) fn full(&self) -> f64 {
        self.when(f64::INFINITY)
    }
}
