//! What an owner can set, at any time.

use freshet_estimate::{Penalty, Prior};
use serde::{Deserialize, Serialize};

use crate::source::Goal;

/// How the engine is to behave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What may be spent in a day.
    pub budget: f64,
    /// How it is spread over the day.
    pub profile: Profile,
    /// What may be spent at once, after a time of rest; `None`: an hour's worth, or ten fetches if
    /// that is more, but of small budgets no more than a day's worth, and at least one fetch.
    pub burst: Option<f64>,
    /// What the copies are to be good for, where a source does not say.
    pub goal: Goal,
    /// Days between two fetches from one host.
    pub host_gap: f64,
    /// Fetches from one host at a time.
    pub host_connections: u32,
    /// Days after which what was learnt counts half; `None`: as long as turns out best.
    pub half_life: Option<f64>,
    /// What sources are like before anything is known of them. Counts when the engine is made.
    pub prior: Prior,
    /// From so many sources on they are not all compared by what they are worth now, but fetched in
    /// the order in which they will be worth the same: that is faster by far, and nearly as good.
    pub many: usize,
    /// Nothing is fetched. What is learnt stays.
    pub paused: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            budget: 1000.0,
            profile: Profile::EVEN,
            burst: None,
            goal: Goal::Keep(Penalty::Harmonic),
            host_gap: 1.0 / 86_400.0,
            host_connections: 1,
            half_life: None,
            prior: Prior::BROAD,
            many: 1 << 17,
            paused: false,
        }
    }
}

impl Settings {
    /// Says what is wrong with them, if something is.
    ///
    /// # Errors
    /// If a number is none, or out of its range.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let refuse = |field, value| Err(InvalidSetting { field, value });
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
        } else if !self.goal.is_sound() {
            refuse("goal", f64::NAN)
        } else {
            Ok(())
        }
    }

    /// With what cannot be meant replaced by what does least harm.
    pub(crate) fn sane(mut self) -> Self {
        let amount = |x: f64, otherwise: f64| if x >= 0.0 { x.min(1e30) } else { otherwise };
        self.budget = amount(self.budget, 0.0);
        self.burst = self.burst.map(|burst| amount(burst, 0.0));
        self.host_gap = amount(self.host_gap, Self::default().host_gap);
        self.host_connections = self.host_connections.max(1);
        self.half_life = self.half_life.filter(|&days| days > 0.0);
        if !self.goal.is_sound() {
            self.goal = Self::default().goal;
        }
        self
    }

    pub(crate) fn burst(&self) -> f64 {
        let usual = (self.budget / 24.0).max(self.budget.min(10.0));
        self.burst.unwrap_or(usual).max(1.0)
    }

    pub(crate) fn rate(&self) -> f64 {
        if self.paused { 0.0 } else { self.budget }
    }
}

/// A setting that cannot be meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidSetting {
    /// Its name.
    pub field: &'static str,
    /// What was given.
    pub value: f64,
}

impl std::fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { field, value } = self;
        write!(f, "the setting `{field}` cannot be {value}")
    }
}

impl std::error::Error for InvalidSetting {}

/// The share of the budget that each hour of the day gets. Days begin at whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Relative to the mean, which is 1.
    hours: [f64; Self::HOURS],
}

impl Profile {
    const HOURS: usize = 24;

    /// All hours alike.
    pub const EVEN: Self = Self { hours: [1.0; Self::HOURS] };

    /// A profile in which the hours have these weights.
    ///
    /// # Errors
    /// If a weight is negative or not a number, or all are 0.
    pub fn new(weights: [f64; 24]) -> Result<Self, InvalidSetting> {
        if let Some(&value) = weights.iter().find(|&weight| !(0.0..=1e30).contains(weight)) {
            return Err(InvalidSetting { field: "profile", value });
        }
        let mean = weights.iter().sum::<f64>() / Self::HOURS as f64;
        if mean <= 0.0 {
            return Err(InvalidSetting { field: "profile", value: mean });
        }
        Ok(Self { hours: weights.map(|weight| weight / mean) })
    }

    /// Each hour's share of the budget, relative to the mean of all hours.
    #[must_use]
    pub fn hours(&self) -> [f64; 24] {
        self.hours
    }

    /// The factor at a day, and the day on which another one may begin to hold.
    pub(crate) fn at(&self, day: f64) -> (f64, f64) {
        if *self == Self::EVEN {
            return (1.0, f64::INFINITY);
        }
        let hours = (day * Self::HOURS as f64).floor();
        let hour = hours.rem_euclid(Self::HOURS as f64) as usize;
        let next = (hours + 1.0) / Self::HOURS as f64;
        // Far from day 0 an hour may have no digits left.
        (self.hours[hour.min(Self::HOURS - 1)], if next > day { next } else { f64::INFINITY })
    }
}
