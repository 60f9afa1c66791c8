//! The engine itself, as the daemon runs it.

use std::collections::VecDeque;

use freshet_engine::{Action, Blame, Description, Goal, Settings, Signal, SignalSource};

use freshet_estimate::{Belief, Fit, Prior, fit_beliefs};

use super::paced::known as knowledge;
use super::{Definition, Event, Outcome, Policy};
use crate::aim::{Aim, penalty};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Engine {
    engine: freshet_engine::Engine,
    descriptions: Vec<Description>,
    actions: Vec<Action>,
    /// Whether each source is there.
    there: Vec<bool>,
    /// The change rates of later times, if it is told the change rates.
    later: VecDeque<Vec<f64>>,
    hearing: Hearing,
}

/// What it makes of signals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hearing {
    /// It learns what they are worth.
    Learning,
    /// Nothing.
    None,
    /// Each is a change, and there are no others.
    Blind,
}

/// The only one who says that sources have changed.
const HERALD: u32 = 0;

impl Definition for Engine {
    const NAME: &'static str = "engine";
    const ABOUT: &'static str = "freshet: learns all change rates as it goes";
    const VARIANTS: &'static [&'static str] = &["prior", "known", "ignoring", "blind"];

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Ok(Box::new(Self::new(setting, variant)))
    }
}

impl Engine {
    pub(super) fn new(setting: &Setting<'_>, variant: Option<&str>) -> Self {
        let population = &setting.web.population;
        let known = variant == Some("known");
        let hearing = match variant {
            Some("ignoring") => Hearing::None,
            Some("blind") => Hearing::Blind,
            _ => Hearing::Learning,
        };
        let blind = |i: usize| hearing == Hearing::Blind && setting.web.is_signalled(i);
        let rates = knowledge(setting, false).change_rate;
        let prior = match variant {
            Some("prior") => true_prior(&rates),
            _ => Prior::BROAD,
        };
        let describe = |i: usize| Description {
            host: population.host[i],
            importance: population.importance[i],
            observed: population.complete[i] || blind(i),
            belief: known.then(|| sure(rates[i])),
            ..Description::new(i as u32)
        };
        // No policy here is polite: hosts take what they are asked for.
        let settings = Settings {
            budget: setting.budget,
            goal: match setting.objective {
                Aim::Keep(objective) => Goal::Keep(penalty(objective)),
                Aim::Capture(capture) => Goal::Capture(capture),
            },
            prior,
            host_gap: 0.0,
            host_connections: u32::MAX,
            ..Settings::default()
        };
        let mut engine = freshet_engine::Engine::new(0.0, settings);
        let mut actions = Vec::new();
        engine.step(0.0, freshet_engine::Event::Capacity(u32::MAX), &mut actions);
        if hearing == Hearing::Learning && setting.web.heralded.is_some() {
            let herald = SignalSource { number: HERALD, source: None };
            let heralds = freshet_engine::Event::Heralds(vec![(herald, None)]);
            engine.step(0.0, heralds, &mut actions);
        }
        let descriptions = (0..population.len()).map(describe).collect();
        let mut later =
            if known { setting.web.known_rates(setting.calendar.days) } else { VecDeque::new() };
        later.pop_front();
        let there = vec![false; population.len()];
        Self { engine, descriptions, actions, there, later, hearing }
    }

    /// The engine itself.
    pub(super) fn engine(&self) -> &freshet_engine::Engine {
        &self.engine
    }

    /// What it said in the last step.
    pub(super) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Sources that are there and whose known change rate is another from now on.
    fn turn_rates(&mut self) -> Vec<Description> {
        let Some(rates) = self.later.pop_front() else { return Vec::new() };
        let mut told = Vec::new();
        for ((it, rate), &there) in self.descriptions.iter_mut().zip(rates).zip(&self.there) {
            let belief = Some(sure(rate));
            if it.belief != belief {
                it.belief = belief;
                told.extend(there.then_some(*it));
            }
        }
        told
    }
}

/// As good as certain.
fn sure(rate: f64) -> Belief {
    const CHANGES: f64 = 1e9;
    let days = CHANGES / rate;
    let never = Prior::BROAD.belief().unchanged(1e15);
    Belief::new(CHANGES, days).unwrap_or(never)
}

/// The prior that fits the true change rates best.
fn true_prior(rates: &[f64]) -> Prior {
    let beliefs: Vec<Belief> =
        rates.iter().filter(|&&rate| rate > 0.0).map(|&rate| sure(rate)).collect();
    fit_beliefs(&beliefs, Prior::BROAD, Prior::BROAD, Fit::GLOBAL_STRENGTH)
}

impl Policy for Engine {
    fn wake(&self) -> f64 {
        self.engine.wake()
    }

    fn hears(&self) -> bool {
        self.hearing != Hearing::None
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        let event = match event {
            Event::Wake => freshet_engine::Event::Tick,
            Event::Added(source) => {
                self.there[source as usize] = true;
                let it = self.descriptions[source as usize];
                freshet_engine::Event::Described(vec![Description { fetched: Some(now), ..it }])
            }
            Event::Removed(source) => {
                self.there[source as usize] = false;
                freshet_engine::Event::Removed(vec![source])
            }
            Event::Budget(budget) => {
                freshet_engine::Event::Settings(Settings { budget, ..*self.engine.settings() })
            }
            Event::Rates => freshet_engine::Event::Described(self.turn_rates()),
            Event::Changed(source) => freshet_engine::Event::Signal(source),
            Event::Signalled(source) => match self.hearing {
                Hearing::Learning => {
                    let signal = Signal { id: source, herald: HERALD, said: None };
                    freshet_engine::Event::Heard(signal)
                }
                Hearing::Blind => freshet_engine::Event::Signal(source),
                Hearing::None => return,
            },
            Event::Fetched { source, outcome } => freshet_engine::Event::Fetched {
                id: source,
                outcome: match outcome {
                    Outcome::Changed { .. } => freshet_engine::Outcome::Changed,
                    Outcome::Unchanged => freshet_engine::Outcome::Unchanged,
                    Outcome::Failed => {
                        freshet_engine::Outcome::Failed { blame: Blame::Host, retry_after: None }
                    }
                    Outcome::Gone => freshet_engine::Outcome::Gone,
                },
            },
        };
        self.actions.clear();
        self.engine.step(now, event, &mut self.actions);
        for &action in &self.actions {
            if let Action::Fetch { id, .. } = action {
                fetches.push(id);
            }
        }
    }
}
