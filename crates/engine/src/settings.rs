//! Settings of the engine, which can be replaced at any time.

use freshet_estimate::{Penalty, Prior};
use serde::{Deserialize, Serialize};

use crate::source::Goal;

/// Settings of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineSettings {
    /// Budget per day.
    pub budget: f64,
    /// Distribution of the budget over the hours of the day.
    pub profile: BudgetProfile,
    /// Maximum budget that can be spent at once after an idle time. `None`: one hour's budget, but
    /// at least ten fetches (or one day's budget if that is less), and never less than one fetch.
    pub burst: Option<f64>,
    /// Default goal of sources that have none of their own.
    pub goal: Goal,
    /// Minimum days between two requests to one host.
    pub host_gap: f64,
    /// Maximum concurrent requests to one host.
    pub host_connections: u32,
    /// Days after which evidence counts half; `None` selects the best half-life automatically.
    pub half_life: Option<f64>,
    /// Prior over the change rates of unknown sources. Only used when the engine is created.
    pub prior: Prior,
    /// Number of sources from which on sources are fetched in the order of their due days instead
    /// of being compared by their current value. Much faster, and nearly as good.
    pub large_set_threshold: usize,
    /// True if fetching is paused. The learned state is kept.
    pub paused: bool,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            budget: 1000.0,
            profile: BudgetProfile::EVEN,
            burst: None,
            goal: Goal::KeepFresh(Penalty::Harmonic),
            host_gap: 1.0 / 86_400.0,
            host_connections: 1,
            half_life: None,
            prior: Prior::BROAD,
            large_set_threshold: 1 << 17,
            paused: false,
        }
    }
}

impl EngineSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// Returns [`InvalidEngineSetting`] if a number is not finite or out of range.
    pub fn validate(&self) -> Result<(), InvalidEngineSetting> {
        let refuse = |field, value| Err(InvalidEngineSetting { field, value });
        let amount = |x: f64| x >= 0.0 && x.is_finite();
        if !amount(self.budget) {
            refuse("budget", self.budget)
        } else if let Some(burst) = self.burst.filter(|&burst| !amount(burst)) {
            refuse("burst", burst)
        } else if !amount(self.host_gap) {
            refuse("host_gap", self.host_gap)
        } else if self.host_connections == 0 {
            refuse("host_connections", 0.0)
        } else if let Some(days) = self.half_life.filter(|&days| days.is_nan() || days <= 0.0) {
            refuse("half_life", days)
        } else if !self.goal.is_valid() {
            refuse("goal", f64::NAN)
        } else {
            Ok(())
        }
    }

    /// Replaces invalid values by safe ones.
    pub(crate) fn sanitized(mut self) -> Self {
        let amount = |x: f64, otherwise: f64| if x >= 0.0 { x.min(1e30) } else { otherwise };
        self.budget = amount(self.budget, 0.0);
        self.burst = self.burst.map(|burst| amount(burst, 0.0));
        self.host_gap = amount(self.host_gap, Self::default().host_gap);
        self.host_connections = self.host_connections.max(1);
        self.half_life = self.half_life.filter(|&days| days > 0.0);
        if !self.goal.is_valid() {
            self.goal = Self::default().goal;
        }
        self
    }

    pub(crate) fn burst_size(&self) -> f64 {
        let usual = (self.budget / 24.0).max(self.budget.min(10.0));
        self.burst.unwrap_or(usual).max(1.0)
    }

    pub(crate) fn daily_rate(&self) -> f64 {
        if self.paused { 0.0 } else { self.budget }
    }
}

/// A setting or field with an invalid value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidEngineSetting {
    /// Name of the setting.
    pub field: &'static str,
    /// The invalid value.
    pub value: f64,
}

impl std::fmt::Display for InvalidEngineSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { field, value } = self;
        write!(f, "invalid value for `{field}`: {value}")
    }
}

impl std::error::Error for InvalidEngineSetting {}

/// Share of the budget for each hour of the day. Days begin at whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetProfile {
    /// Relative to the mean, which is 1.
    hourly_weights: [f64; Self::HOURS],
}

impl BudgetProfile {
    const HOURS: usize = 24;

    /// The same share for every hour.
    pub const EVEN: Self = Self { hourly_weights: [1.0; Self::HOURS] };

    /// Creates a profile with these hourly weights.
    ///
    /// # Errors
    /// Returns [`InvalidEngineSetting`] if a weight is negative or NaN, or if all are 0.
    pub fn new(weights: [f64; 24]) -> Result<Self, InvalidEngineSetting> {
        if let Some(&value) = weights.iter().find(|&weight| !(0.0..=1e30).contains(weight)) {
            return Err(InvalidEngineSetting { field: "profile", value });
        }
        let mean = weights.iter().sum::<f64>() / Self::HOURS as f64;
        if mean <= 0.0 {
            return Err(InvalidEngineSetting { field: "profile", value: mean });
        }
        Ok(Self { hourly_weights: weights.map(|weight| weight / mean) })
    }

    /// Share of the budget of each hour, relative to the mean of all hours.
    #[must_use]
    pub fn hourly_weights(&self) -> [f64; 24] {
        self.hourly_weights
    }

    /// Returns the factor at a day, and the next day on which the factor may change.
    pub(crate) fn factor_at(&self, day: f64) -> (f64, f64) {
        if *self == Self::EVEN {
            return (1.0, f64::INFINITY);
        }
        let hours = (day * Self::HOURS as f64).floor();
        let hour = hours.rem_euclid(Self::HOURS as f64) as usize;
        let next = (hours + 1.0) / Self::HOURS as f64;
        // Far from day 0 an hour may be below the precision of a day.
        (
            self.hourly_weights[hour.min(Self::HOURS - 1)],
            if next > day { next } else { f64::INFINITY },
        )
    }
}
