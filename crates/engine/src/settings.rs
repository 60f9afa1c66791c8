//! What an owner can set, at any time.

/// How the engine is to behave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// What may be spent in a day.
    pub budget: f64,
    /// What may be spent at once, after a time of rest; `None`: an hour's worth, or ten fetches if
    /// that is more, but of small budgets no more than a day's worth, and at least one fetch.
    pub burst: Option<f64>,
    /// Days between two fetches from one host.
    pub host_gap: f64,
    /// Fetches from one host at a time.
    pub host_connections: u32,
    /// Days after which what was learnt counts half.
    pub half_life: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            budget: 1000.0,
            burst: None,
            host_gap: 1.0 / 86_400.0,
            host_connections: 1,
            half_life: 2000.0,
        }
    }
}

impl Settings {
    pub(crate) fn burst(&self) -> f64 {
        let usual = (self.budget / 24.0).max(self.budget.min(10.0));
        self.burst.unwrap_or(usual).max(1.0)
    }
}
