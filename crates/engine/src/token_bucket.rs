//! Token bucket for the budget.

use serde::{Deserialize, Serialize};

use crate::settings::{BudgetProfile, EngineSettings};

/// In any stretch of time, pays out at most the budget of that time plus one burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TokenBucket {
    rate: f64,
    burst: f64,
    profile: BudgetProfile,
    tokens: f64,
    updated_at: f64,
}

/// Relative rounding error of adding many small amounts.
const ROUNDING: f64 = 1e-9;
/// Maximum hours to look ahead, beyond whole days.
const HOURS: usize = 30;

impl TokenBucket {
    pub(crate) fn new(now: f64, settings: &EngineSettings) -> Self {
        let (rate, burst) = (settings.daily_rate(), settings.burst_size());
        Self { rate, burst, profile: settings.profile, tokens: 0.0, updated_at: now }
    }

    /// Available budget.
    pub(crate) fn tokens(&self) -> f64 {
        self.tokens
    }

    /// Sets the available budget from a checkpoint.
    pub(crate) fn resume(&mut self, tokens: f64) {
        self.tokens = if tokens.is_finite() { tokens.min(self.burst) } else { 0.0 };
    }

    /// Average inflow per day.
    pub(crate) fn daily_rate(&self) -> f64 {
        self.rate
    }

    /// Applies new settings from now on. The available budget stays, limited by the new burst.
    pub(crate) fn apply_settings(&mut self, now: f64, settings: &EngineSettings) {
        self.accrue(now);
        (self.rate, self.burst) = (settings.daily_rate(), settings.burst_size());
        self.profile = settings.profile;
        self.tokens = self.tokens.min(self.burst);
    }

    pub(crate) fn accrue(&mut self, now: f64) {
        // Whole days have the same inflow whatever the profile.
        let days = (now - self.updated_at).floor();
        if days >= 1.0 {
            self.tokens = self.rate.mul_add(days, self.tokens);
            self.updated_at += days;
        }
        for _ in 0..HOURS {
            if self.updated_at >= now {
                break;
            }
            let (factor, end) = self.profile.factor_at(self.updated_at);
            let until = end.min(now);
            self.tokens = (self.rate * factor).mul_add(until - self.updated_at, self.tokens);
            self.updated_at = until;
        }
        self.tokens = self.tokens.min(self.burst);
        self.updated_at = self.updated_at.max(now);
    }

    /// Advances the time without inflow.
    pub(crate) fn skip(&mut self, now: f64) {
        self.updated_at = self.updated_at.max(now);
    }

    /// Takes `cost` out. A cost above the burst is paid when the bucket is full and leaves a debt.
    pub(crate) fn pay(&mut self, cost: f64) {
        self.tokens -= cost;
    }

    /// Returns `cost`, limited by the burst.
    pub(crate) fn refund(&mut self, cost: f64) {
        self.tokens = (self.tokens + cost).min(self.burst);
    }

    /// True if `cost` is available, up to rounding.
    pub(crate) fn can_pay(&self, cost: f64) -> bool {
        // In an hour with weight 0, nothing is spent, not even what is left.
        let (factor, _) = self.profile.factor_at(self.updated_at);
        self.rate * factor > 0.0 && self.tokens >= cost.min(self.burst) * (1.0 - ROUNDING)
    }

    /// First day on which `cost` can be paid.
    pub(crate) fn next_affordable_day(&self, cost: f64) -> f64 {
        if self.can_pay(cost) {
            return self.updated_at;
        }
        if self.rate <= 0.0 {
            return f64::INFINITY;
        }
        let missing = (cost.min(self.burst) - self.tokens).max(0.0);
        let days = ((missing / self.rate).ceil() - 1.0).max(0.0);
        let mut at = self.updated_at + days;
        let mut missing = missing - days * self.rate;
        for _ in 0..HOURS {
            let (factor, end) = self.profile.factor_at(at);
            let flow = self.rate * factor * (end - at);
            if flow >= missing && factor > 0.0 {
                at += missing / (self.rate * factor);
                break;
            }
            missing -= flow;
            at = end;
        }
        // Strictly later, even if the wait is below the precision of a day.
        at.max(self.updated_at.next_up())
    }

    /// First day on which the bucket is full.
    pub(crate) fn full_day(&self) -> f64 {
        self.next_affordable_day(f64::INFINITY)
    }
}
