//! How many fetchers are active: what keeps the rest busy, by the rates that are measured.

use std::time::Duration;

use freshet_crew::{Policy, Setting, best_fixed, solve};
use serde::Serialize;

use crate::config;

/// Pages that may wait to be recorded, in the model.
const BUFFER: u32 = 64;
/// How much an average moves with each measurement.
const PULL: f64 = 0.02;
/// How much a rate must have changed for the number to be found anew.
const NEWS: f64 = 1.3;
/// Measurements before anything is found at all.
const ENOUGH: u32 = 32;

/// How many fetchers are active, and why.
pub(crate) struct FetchConcurrency {
    setting: config::ConcurrencySetting,
    /// Seconds that a fetch takes, and that the rest takes for one.
    fetching: f64,
    processing: f64,
    seen: u32,
    /// The rates that the policy is for.
    solved: (f64, f64),
    policy: Option<Policy>,
    fixed: u32,
}

/// How many fetchers are active, and why: for people and for metrics.
#[derive(Clone, Copy, Debug, Default, Serialize, serde::Deserialize)]
pub struct CrewState {
    /// Fetches under way.
    pub active: u32,
    /// How many there may be at this moment.
    pub target: u32,
    /// How many there would be if the number were fixed.
    pub fixed: u32,
    /// Fetches that are over and wait to be recorded.
    pub waiting: u32,
    /// Seconds that a fetch takes.
    pub fetch_seconds: f64,
    /// Seconds that recording one takes.
    pub process_seconds: f64,
}

impl FetchConcurrency {
    pub(crate) fn new(setting: config::ConcurrencySetting) -> Self {
        Self {
            setting,
            fetching: 0.0,
            processing: 0.0,
            seen: 0,
            solved: (0.0, 0.0),
            policy: None,
            fixed: 0,
        }
    }

    pub(crate) fn set(&mut self, setting: config::ConcurrencySetting) {
        self.setting = setting;
        self.solved = (0.0, 0.0);
    }

    /// A fetch took so long.
    pub(crate) fn fetched(&mut self, time: Duration) {
        self.seen = self.seen.saturating_add(1);
        pull(&mut self.fetching, time.as_secs_f64(), PULL);
    }

    /// So many fetches took so long to be recorded.
    pub(crate) fn recorded(&mut self, fetches: usize, time: Duration) {
        if fetches > 0 {
            pull(&mut self.processing, time.as_secs_f64() / fetches as f64, PULL.max(0.1));
        }
    }

    /// How many may be active with so many waiting to be recorded.
    pub(crate) fn target(&mut self, waiting: u32) -> u32 {
        match self.setting {
            config::ConcurrencySetting::Fixed(fetchers) => fetchers,
            config::ConcurrencySetting::Auto(most) => {
                self.reconsider(most);
                match &self.policy {
                    Some(policy) => policy.target(waiting).clamp(1, most),
                    None => most.min(32),
                }
            }
        }
    }

    fn reconsider(&mut self, most: u32) {
        let rates = (self.fetching, self.processing);
        let moved = |now: f64, then: f64| now > NEWS * then || now * NEWS < then;
        let known = self.seen >= ENOUGH && rates.0 > 0.0 && rates.1 > 0.0;
        if !known || !(moved(rates.0, self.solved.0) || moved(rates.1, self.solved.1)) {
            return;
        }
        self.solved = rates;
        let (fetch, process) = (rates.0.recip(), rates.1.recip());
        // A page that would find no room counts as much as the processor being idle for one.
        let Ok(setting) = Setting::new(fetch, process, BUFFER, process) else { return };
        self.fixed = best_fixed(&setting, Some(most)).map_or(0, |it| it.fetchers as u32);
        self.policy = solve(&setting, Some(most)).ok().map(|it| it.policy);
    }

    pub(crate) fn state(&mut self, active: u32, waiting: u32) -> CrewState {
        CrewState {
            active,
            target: self.target(waiting),
            fixed: self.fixed,
            waiting,
            fetch_seconds: self.fetching,
            process_seconds: self.processing,
        }
    }
}

fn pull(average: &mut f64, to: f64, by: f64) {
    *average = if *average > 0.0 { *average + by * (to - *average) } else { to };
}
