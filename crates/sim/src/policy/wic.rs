//! WIC (Pandey, Dhamdhere & Olston 2004): offline greedy algorithm in discrete instants, for known
//! change rates.
//!
//! An instant is as long as the budget takes for a whole number C of fetches, made together at its
//! end; C is 1 unless the web is large. A source that changes at rate c does so in an instant of Δ
//! days with the chance 1 − e^(−cΔ). A window of W days is the nearest whole number of instants, and
//! at least one; a worth that halves in h days keeps 2^(−Δ/h) in an instant.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use freshet_capture::{CaptureError, Life, Page, Share, Urgency};
use freshet_estimate::{CaptureObjective, UpdateLifetime as Days, Urgency as Fading};

use super::rate_policy::known;
use super::{Definition, Event, Outcome, Policy};
use crate::error::SimError;
use crate::objective::SimObjective;
use crate::setting::Setting;

pub(super) struct Wic {
    capture: CaptureObjective,
    importance: Vec<f64>,
    rates: Vec<f64>,
    /// Future change rates.
    later: VecDeque<Vec<f64>>,
    there: Vec<bool>,
    /// Probability of a change in an instant; zero for sources that do not exist.
    chances: Vec<f64>,
    greedy: freshet_capture::Greedy,
    days: f64,
    pace: Pace,
    /// Number of instants since a day.
    start: f64,
    passed: u64,
}

/// Time in instants.
#[derive(Clone, Copy, PartialEq)]
struct Pace {
    capacity: usize,
    /// Days.
    instant: f64,
    life: Life,
    urgency: Urgency,
}

/// Largest number of source evaluations per run, one per instant: about half a minute.
const LOOKS: f64 = 4e9;
/// Largest total number of instants in the windows of all sources; each is a stored number.
const KEPT: f64 = 3e7;

impl Definition for Wic {
    const NAME: &'static str = "wic";
    const ABOUT: &'static str =
        "Pandey et al. 2004: the offline greedy, for --objective capture and nothing else";

    /// Supports capture only.
    fn serves(objective: SimObjective) -> bool {
        objective.capture().is_some()
    }

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        let Some(capture) = setting.objective.capture() else {
            let (policy, objective) = (Self::NAME.to_owned(), setting.objective.name());
            return Err(SimError::Policy { policy, objective });
        };
        let columns = known(setting, false);
        let sources = columns.importance.len();
        let days = setting.calendar.days;
        let pace = Pace::new(capture, sources, setting.budget, days);
        let greedy = pace.greedy(&columns.importance);
        Ok(Box::new(Self {
            capture,
            greedy: greedy.map_err(|error| SimError::Plan(error.to_string()))?,
            importance: columns.importance,
            rates: columns.change_rate,
            later: columns.later,
            there: vec![false; sources],
            chances: vec![0.0; sources],
            days,
            pace,
            start: 0.0,
            passed: 0,
        }))
    }
}

impl Pace {
    fn new(capture: CaptureObjective, sources: usize, budget: f64, days: f64) -> Self {
        let capacity = capacity(capture, sources, budget, days);
        let instant = capacity / budget;
        Self {
            capacity: capacity as usize,
            instant,
            life: life(capture.life, instant),
            urgency: urgency(capture.urgency, instant),
        }
    }

    /// Creates the algorithm for sources that were all just fetched.
    fn greedy(&self, importance: &[f64]) -> Result<freshet_capture::Greedy, CaptureError> {
        let page = |&weight: &f64| Page::new(weight, self.life, self.urgency);
        let pages: Vec<Page> = importance.iter().map(page).collect::<Result<_, _>>()?;
        freshet_capture::Greedy::new(&pages, self.capacity)
    }
}

impl Wic {
    fn set_chance(&mut self, source: usize) {
        let changes = self.rates[source] * self.pace.instant;
        let known = self.there[source] && changes > 0.0;
        self.chances[source] = if known { -(-changes).exp_m1() } else { 0.0 };
    }

    fn set_chances(&mut self) {
        (0..self.chances.len()).for_each(|source| self.set_chance(source));
    }

    /// A new budget changes the length of an instant. If this changes the number of instants per
    /// window or half-life, pending updates are dropped.
    fn set_budget(&mut self, now: f64, budget: f64) {
        let pace = Pace::new(self.capture, self.rates.len(), budget, self.days);
        let same = Pace { instant: self.pace.instant, ..pace } == self.pace;
        if !same && let Ok(greedy) = pace.greedy(&self.importance) {
            self.greedy = greedy;
        }
        (self.pace, self.start, self.passed) = (pace, now, 0);
        self.set_chances();
    }
}

/// Returns the number of fetches per instant: one, unless that takes too much time or memory.
///
/// A larger number changes the result: no source is fetched twice in an instant, which is mostly an advantage
/// over the greedy choice.
fn capacity(capture: CaptureObjective, sources: usize, budget: f64, days: f64) -> f64 {
    let sources = sources as f64;
    let life = match capture.life {
        Days::Window(window) => f64::from(window),
        Days::Append | Days::Changes(_) => f64::INFINITY,
    };
    let window = match capture.urgency {
        Fading::Window(window) => life.min(f64::from(window)),
        Fading::Uniform | Fading::Decay(_) => life,
    };
    let kept = if window < f64::INFINITY { sources * budget * window.min(days) } else { 0.0 };
    (sources * budget * days / LOOKS).max(kept / KEPT).ceil().clamp(1.0, sources.max(1.0))
}

/// Returns the number of instants in a window after the first.
fn instants(window: f32, instant: f64) -> u32 {
    ((f64::from(window) / instant).round() as u32).saturating_sub(1)
}

fn life(life: Days, instant: f64) -> Life {
    match life {
        Days::Append => Life::Append,
        Days::Window(window) => Life::Window(instants(window, instant)),
        Days::Changes(changes) => NonZeroU32::new(changes).map_or(Life::Overwrite, Life::Changes),
    }
}

fn urgency(urgency: Fading, instant: f64) -> Urgency {
    match urgency {
        Fading::Uniform => Urgency::Uniform,
        Fading::Decay(half_life) => {
            let kept = (-instant / f64::from(half_life)).exp2();
            Urgency::Decay(Share::new(kept).unwrap_or(Share::NONE))
        }
        Fading::Window(window) => Urgency::Window(instants(window, instant)),
    }
}

impl Policy for Wic {
    fn wake(&self) -> f64 {
        self.start + (self.passed + 1) as f64 * self.pace.instant
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake => {
                self.passed += 1;
                if let Ok(pages) = self.greedy.step(&self.chances) {
                    fetches.extend(pages);
                }
            }
            Event::Added(source) => {
                self.there[source as usize] = true;
                self.set_chance(source as usize);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.there[source as usize] = false;
                self.set_chance(source as usize);
                // There is such a page.
                let _ = self.greedy.forget(source);
            }
            Event::Budget(budget) => self.set_budget(now, budget),
            Event::Rates => {
                if let Some(rates) = self.later.pop_front() {
                    self.rates = rates;
                }
                self.set_chances();
            }
            // The outcome of a fetch does not matter for an offline schedule.
            Event::Changed(_) | Event::Signalled(_) | Event::Fetched { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(life: &str, urgency: &str, (sources, budget, days): (usize, f64, f64), expect: f64) {
        let capture =
            CaptureObjective { life: life.parse().unwrap(), urgency: urgency.parse().unwrap() };
        assert_eq!(capacity(capture, sources, budget, days), expect, "{life} {urgency}");
    }

    #[test]
    fn an_instant_has_one_fetch_unless_the_web_is_large() {
        check("overwrite", "uniform", (1000, 200.0, 180.0), 1.0);
        check("overwrite", "uniform", (10_000, 2000.0, 180.0), 1.0);
        check("overwrite", "uniform", (100_000, 20_000.0, 180.0), 90.0);
        // A window needs stored numbers, but not for longer than the run.
        check("window:7d", "uniform", (10_000, 2000.0, 180.0), 5.0);
        check("overwrite", "window:1d", (10_000, 2000.0, 180.0), 1.0);
        check("append", "window:3650d", (1000, 200.0, 180.0), 2.0);
        // No source is fetched twice in an instant.
        check("append", "uniform", (10, 1e12, 180.0), 10.0);
        check("append", "uniform", (10, 0.0, 180.0), 1.0);
    }

    #[test]
    fn times_become_instants() {
        // The instant of the change and three more.
        assert_eq!(life(Days::Window(1.0), 0.25), Life::Window(3));
        assert_eq!(urgency(Fading::Window(1.0), 0.3), Urgency::Window(2));
        assert_eq!(urgency(Fading::Window(1.0), 9.0), Urgency::Window(0));
        assert_eq!(urgency(Fading::Decay(0.5), 0.5), Urgency::Decay(Share::new(0.5).unwrap()));
        assert_eq!(life(Days::OVERWRITE, 1.0).holds(7, 0), Life::Overwrite.holds(7, 0));
        assert_eq!(life(Days::Append, 1.0), Life::Append);
    }
}
