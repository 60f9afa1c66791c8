//! What the budget allows, reckoned anew.

use freshet_engine::Settings;

/// What can be spent: what the budget has paid in so far, up to the burst. Whoever never takes more
/// than is there spends, in any stretch of time, at most what is paid in, a burst, and what the
/// dearest fetch costs beyond it.
#[derive(Clone, Debug)]
pub(crate) struct Purse {
    settings: Settings,
    there: f64,
    day: f64,
    /// What rounding may have added since the beginning.
    doubt: f64,
}

impl Purse {
    pub(crate) fn new(day: f64, settings: Settings) -> Self {
        Self { settings, there: 0.0, day, doubt: 0.0 }
    }

    pub(crate) fn rate(&self) -> f64 {
        if self.settings.paused { 0.0 } else { self.settings.budget }
    }

    /// As the settings say it: "an hour's worth, or ten fetches if that is more, but of small budgets
    /// no more than a day's worth, and at least one fetch".
    fn burst(&self) -> f64 {
        let budget = self.settings.budget;
        self.settings.burst.unwrap_or((budget / 24.0).max(budget.min(10.0))).max(1.0)
    }

    pub(crate) fn flow(&mut self, day: f64) {
        let profile = self.settings.profile.hours();
        // What is paid in from day 0 on, in days.
        let paid = |day: f64| {
            let hours = 24.0 * (day - day.floor());
            let whole = (hours.floor() as usize).min(23);
            let before: f64 = profile[..whole].iter().sum();
            day.floor() + (before + profile[whole] * (hours - whole as f64)) / 24.0
        };
        let even = profile.iter().all(|&factor| factor == 1.0);
        let mut days = if even { day - self.day } else { paid(day) - paid(self.day) };
        if day - self.day < 1e-12 * day.abs() {
            // Too few digits are left for the hours.
            days = days.max(day - self.day);
        }
        self.there = (self.there + self.rate() * days.max(0.0)).min(self.burst());
        self.doubt = (self.doubt + self.rate() * day.abs() * 1e-15 + 1e-12 * self.burst())
            .min(2.0 * self.burst());
        self.day = day;
    }

    pub(crate) fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.there = self.there.min(self.burst());
    }

    /// Takes a cost out. Says what is missing, if something is.
    pub(crate) fn pay(&mut self, cost: f64) -> Result<(), String> {
        let needed = cost.min(self.burst());
        let slack = 1e-6 * needed + self.doubt;
        if self.rate() <= 0.0 {
            return Err("spent, but there is no budget".to_owned());
        }
        if self.there + slack < needed {
            return Err(format!("{needed} spent, but only {} was there", self.there));
        }
        self.there -= cost;
        Ok(())
    }

    /// Takes a cost out, whatever is there.
    pub(crate) fn owe(&mut self, cost: f64) {
        self.there -= cost;
    }

    /// Puts a cost back that was not spent after all.
    pub(crate) fn take_back(&mut self, cost: f64) {
        self.there = (self.there + cost).min(self.burst());
    }

    /// Whether the hour is to be quiet, or may be: at its ends, rounding decides.
    fn is_quiet(&self) -> bool {
        let profile = self.settings.profile.hours();
        let at = |hours: f64| profile[(hours.rem_euclid(24.0) as usize).min(23)];
        let hours = 24.0 * (self.day - self.day.floor());
        [hours - 1e-6, hours, hours + 1e-6].into_iter().any(|hours| at(hours) <= 0.0)
    }

    /// Whether there is surely enough for a cost.
    pub(crate) fn can_surely_pay(&self, cost: f64) -> bool {
        let needed = cost.min(self.burst());
        self.rate() > 0.0 && !self.is_quiet() && self.there >= needed * (1.0 + 1e-6) + self.doubt
    }
}
