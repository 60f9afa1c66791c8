//! Reference implementation of the budget.

use freshet_engine::EngineSettings;

/// Budget that can be spent: the inflow so far, limited by the burst. If no more than that is
/// spent, the spending in any stretch of time is at most the inflow plus a burst plus the excess of
/// the most expensive fetch.
#[derive(Clone, Debug)]
pub(crate) struct BudgetModel {
    settings: EngineSettings,
    available: f64,
    day: f64,
    /// Bound on the accumulated rounding error.
    rounding_bound: f64,
}

impl BudgetModel {
    pub(crate) fn new(day: f64, settings: EngineSettings) -> Self {
        Self { settings, available: 0.0, day, rounding_bound: 0.0 }
    }

    pub(crate) fn rate(&self) -> f64 {
        if self.settings.paused { 0.0 } else { self.settings.budget }
    }

    /// Default of the settings: one hour's budget, but at least ten fetches (or one day's budget if
    /// that is less), and never less than one fetch.
    fn burst(&self) -> f64 {
        let budget = self.settings.budget;
        self.settings.burst.unwrap_or((budget / 24.0).max(budget.min(10.0))).max(1.0)
    }

    pub(crate) fn advance(&mut self, day: f64) {
        let profile = self.settings.profile.hourly_weights();
        // Inflow since day 0, in days of the mean rate.
        let paid = |day: f64| {
            let hours = 24.0 * (day - day.floor());
            let whole = (hours.floor() as usize).min(23);
            let before: f64 = profile[..whole].iter().sum();
            day.floor() + (before + profile[whole] * (hours - whole as f64)) / 24.0
        };
        let even = profile.iter().all(|&factor| factor == 1.0);
        let mut days = if even { day - self.day } else { paid(day) - paid(self.day) };
        if day - self.day < 1e-12 * day.abs() {
            // The hours are below the precision of a day.
            days = days.max(day - self.day);
        }
        self.available = (self.available + self.rate() * days.max(0.0)).min(self.burst());
        self.rounding_bound =
            (self.rounding_bound + self.rate() * day.abs() * 1e-15 + 1e-12 * self.burst())
                .min(2.0 * self.burst());
        self.day = day;
    }

    pub(crate) fn set(&mut self, settings: EngineSettings) {
        self.settings = settings;
        self.available = self.available.min(self.burst());
    }

    /// Takes a cost out. Returns an error if the budget is too low.
    pub(crate) fn pay(&mut self, cost: f64) -> Result<(), String> {
        let needed = cost.min(self.burst());
        let slack = 1e-6 * needed + self.rounding_bound;
        if self.rate() <= 0.0 {
            return Err("spending without a budget".to_owned());
        }
        if self.available + slack < needed {
            return Err(format!("{needed} spent, only {} available", self.available));
        }
        self.available -= cost;
        Ok(())
    }

    /// Takes a cost out, whatever is available.
    pub(crate) fn charge_on_credit(&mut self, cost: f64) {
        self.available -= cost;
    }

    /// Returns a cost that was not spent.
    pub(crate) fn refund(&mut self, cost: f64) {
        self.available = (self.available + cost).min(self.burst());
    }

    /// True if the hour has weight 0, or may have: at its ends rounding decides.
    fn is_hour_without_budget(&self) -> bool {
        let profile = self.settings.profile.hourly_weights();
        let at = |hours: f64| profile[(hours.rem_euclid(24.0) as usize).min(23)];
        let hours = 24.0 * (self.day - self.day.floor());
        [hours - 1e-6, hours, hours + 1e-6].into_iter().any(|hours| at(hours) <= 0.0)
    }

    /// True if a cost is available despite rounding errors.
    pub(crate) fn can_surely_pay(&self, cost: f64) -> bool {
        let needed = cost.min(self.burst());
        self.rate() > 0.0
            && !self.is_hour_without_budget()
            && self.available >= needed * (1.0 + 1e-6) + self.rounding_bound
    }
}
