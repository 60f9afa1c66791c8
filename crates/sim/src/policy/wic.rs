//! WIC (Pandey, Dhamdhere & Olston 2004): the offline greedy in discrete instants, for those who know
//! all change rates.
//!
//! An instant is as long as the budget takes for a whole number C of fetches, made together at its
//! end; C is 1 unless the web is large. A source that changes at rate c does so in an instant of Δ days with the chance 1 − e^(−cΔ).
//! A window of W days is the nearest whole number of instants, and at least one; a worth that halves
//! in h days keeps 2^(−Δ/h) in an instant.

use freshet_capture::{CaptureError, Life, Page, Share, Urgency};
use freshet_estimate::{Capture, Life as Days, Urgency as Fading};
use std::num::NonZeroU32;

use super::paced::known;
use super::{Definition, Event, Outcome, Policy};
use crate::aim::Aim;
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Wic {
    greedy: freshet_capture::Greedy,
    /// Of each source, and the same of those that are there.
    chances: Vec<f64>,
    present: Vec<f64>,
    /// Days.
    instant: f64,
    passed: u64,
}

/// Looks at a source that a run may take, one for each instant: half a minute or so.
const LOOKS: f64 = 4e9;
/// Instants that the windows of all sources may have together: each is a number to be kept.
const KEPT: f64 = 3e7;

impl Definition for Wic {
    const NAME: &'static str = "wic";
    const ABOUT: &'static str =
        "Pandey et al. 2004: the offline greedy, for --objective capture and nothing else";

    /// It captures, and that is all.
    fn serves(objective: Aim) -> bool {
        objective.capture().is_some()
    }

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        let columns = known(setting, false);
        let sources = columns.importance.len();
        let wrong = |error: CaptureError| SimError::Plan(error.to_string());
        let Some(capture) = setting.objective.capture() else {
            let (policy, objective) = (Self::NAME.to_owned(), setting.objective.name());
            return Err(SimError::Policy { policy, objective });
        };
        let capacity = capacity(capture, sources, setting.budget, setting.calendar.days);
        let instant = capacity / setting.budget;
        let (life, urgency) = (life(capture.life, instant), urgency(capture.urgency, instant));
        let page = |&weight: &f64| Page::new(weight, life, urgency).map_err(wrong);
        let pages: Vec<Page> = columns.importance.iter().map(page).collect::<Result<_, _>>()?;
        let chance = |rate: &f64| -(-rate * instant).exp_m1();
        // Without a budget an instant lasts for ever, and none of this is asked for.
        let chances = columns.change_rate.iter().map(chance).map(|it| it.clamp(0.0, 1.0));
        Ok(Box::new(Self {
            greedy: freshet_capture::Greedy::new(&pages, capacity as usize).map_err(wrong)?,
            chances: chances.collect(),
            present: vec![0.0; sources],
            instant,
            passed: 0,
        }))
    }
}

/// The fetches of an instant: one, unless that takes too much time or memory.
///
/// More of them are not the same. No source is fetched twice in an instant, and to fetch the best ones
/// less often than the greedy would is mostly the better choice.
fn capacity(capture: Capture, sources: usize, budget: f64, days: f64) -> f64 {
    let sources = sources as f64;
    let life = match capture.life {
        Days::Days(window) => f64::from(window),
        Days::Append | Days::Changes(_) => f64::INFINITY,
    };
    let window = match capture.urgency {
        Fading::Days(window) => life.min(f64::from(window)),
        Fading::Uniform | Fading::Decay(_) => life,
    };
    let kept = if window < f64::INFINITY { sources * budget * window.min(days) } else { 0.0 };
    (sources * budget * days / LOOKS).max(kept / KEPT).ceil().clamp(1.0, sources.max(1.0))
}

/// How many instants there are in a window besides the first.
fn instants(window: f32, instant: f64) -> u32 {
    ((f64::from(window) / instant).round() as u32).saturating_sub(1)
}

fn life(life: Days, instant: f64) -> Life {
    match life {
        Days::Append => Life::Append,
        Days::Days(window) => Life::Window(instants(window, instant)),
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
        Fading::Days(window) => Urgency::Window(instants(window, instant)),
    }
}

impl Policy for Wic {
    fn wake(&self) -> f64 {
        (self.passed + 1) as f64 * self.instant
    }

    fn step(&mut self, _: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake => {
                self.passed += 1;
                if let Ok(pages) = self.greedy.step(&self.present) {
                    fetches.extend(pages);
                }
            }
            Event::Added(source) => {
                self.present[source as usize] = self.chances[source as usize];
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.present[source as usize] = 0.0;
                // There is such a page.
                let _ = self.greedy.forget(source);
            }
            // The schedule was made before anything was seen.
            Event::Changed(_) | Event::Fetched { .. } | Event::Budget(_) | Event::Rates => {}
        }
    }
}
