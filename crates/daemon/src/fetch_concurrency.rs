//! Number of concurrent fetches: enough to keep the recording busy, by measured rates (Liu & Nain).

use std::time::Duration;

use freshet_crew::{Policy, Setting, best_fixed, solve};
use serde::Serialize;

use crate::config;

/// Pages that may wait to be recorded, in the queueing model.
const MODEL_BUFFER: u32 = 64;
/// Weight of a new measurement in the moving average.
const AVERAGE_WEIGHT: f64 = 0.02;
/// Relative change of a rate after which the policy is computed again.
const RESOLVE_RATIO: f64 = 1.3;
/// Measurements needed before the first policy.
const MIN_MEASUREMENTS: u32 = 32;

/// Controller of the number of concurrent fetches.
pub(crate) struct FetchConcurrency {
    setting: config::ConcurrencySetting,
    /// Average seconds of a fetch, and of recording one.
    fetch_seconds: f64,
    process_seconds: f64,
    measurements: u32,
    /// Fetch and process seconds that the policy was computed for.
    solved_for: (f64, f64),
    policy: Option<Policy>,
    best_fixed: u32,
}

/// Number of concurrent fetches and the measurements behind it.
#[derive(Clone, Copy, Debug, Default, Serialize, serde::Deserialize)]
pub struct ConcurrencyStatus {
    /// Fetches in flight.
    pub active: u32,
    /// Maximum at this moment.
    pub target: u32,
    /// Optimal number if it were fixed.
    pub fixed: u32,
    /// Finished fetches that wait to be recorded.
    pub waiting: u32,
    /// Average seconds of a fetch.
    pub fetch_seconds: f64,
    /// Average seconds to record one.
    pub process_seconds: f64,
}

impl FetchConcurrency {
    pub(crate) fn new(setting: config::ConcurrencySetting) -> Self {
        Self {
            setting,
            fetch_seconds: 0.0,
            process_seconds: 0.0,
            measurements: 0,
            solved_for: (0.0, 0.0),
            policy: None,
            best_fixed: 0,
        }
    }

    pub(crate) fn set_setting(&mut self, setting: config::ConcurrencySetting) {
        self.setting = setting;
        self.solved_for = (0.0, 0.0);
    }

    /// Adds the duration of a fetch to the average.
    pub(crate) fn record_fetch_time(&mut self, time: Duration) {
        self.measurements = self.measurements.saturating_add(1);
        update_average(&mut self.fetch_seconds, time.as_secs_f64(), AVERAGE_WEIGHT);
    }

    /// Adds the duration of writing `fetches` results to the average.
    pub(crate) fn record_write_time(&mut self, fetches: usize, time: Duration) {
        if fetches > 0 {
            update_average(
                &mut self.process_seconds,
                time.as_secs_f64() / fetches as f64,
                AVERAGE_WEIGHT.max(0.1),
            );
        }
    }

    /// Returns the maximum with `waiting` results to record.
    pub(crate) fn target(&mut self, waiting: u32) -> u32 {
        match self.setting {
            config::ConcurrencySetting::Fixed(fetchers) => fetchers,
            config::ConcurrencySetting::Auto(max) => {
                self.update_policy(max);
                match &self.policy {
                    Some(policy) => policy.target(waiting).clamp(1, max),
                    None => max.min(32),
                }
            }
        }
    }

    fn update_policy(&mut self, max: u32) {
        let rates = (self.fetch_seconds, self.process_seconds);
        let moved = |now: f64, then: f64| now > RESOLVE_RATIO * then || now * RESOLVE_RATIO < then;
        let known = self.measurements >= MIN_MEASUREMENTS && rates.0 > 0.0 && rates.1 > 0.0;
        if !known || !(moved(rates.0, self.solved_for.0) || moved(rates.1, self.solved_for.1)) {
            return;
        }
        self.solved_for = rates;
        let (fetch, process) = (rates.0.recip(), rates.1.recip());
        // A page that finds no room costs as much as an idle processor for one page.
        let Ok(setting) = Setting::new(fetch, process, MODEL_BUFFER, process) else { return };
        self.best_fixed = best_fixed(&setting, Some(max)).map_or(0, |it| it.fetchers as u32);
        self.policy = solve(&setting, Some(max)).ok().map(|it| it.policy);
    }

    pub(crate) fn status(&mut self, active: u32, waiting: u32) -> ConcurrencyStatus {
        ConcurrencyStatus {
            active,
            target: self.target(waiting),
            fixed: self.best_fixed,
            waiting,
            fetch_seconds: self.fetch_seconds,
            process_seconds: self.process_seconds,
        }
    }
}

fn update_average(average: &mut f64, to: f64, by: f64) {
    *average = if *average > 0.0 { *average + by * (to - *average) } else { to };
}
