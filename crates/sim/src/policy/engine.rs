//! The engine that the daemon runs.

use std::collections::VecDeque;

use freshet_engine::{
    Action, EngineSettings, FailureCause, Goal, Signal, SignalSource, SourceDescription,
};

use freshet_estimate::{Belief, Prior, PriorFit, fit_prior};

use super::rate_policy::known as knowledge;
use super::{Definition, Event, Outcome, Policy};
use crate::error::SimError;
use crate::objective::{SimObjective, penalty};
use crate::setting::Setting;

pub(super) struct Engine {
    engine: freshet_engine::Engine,
    descriptions: Vec<SourceDescription>,
    actions: Vec<Action>,
    /// True for each source that exists now.
    there: Vec<bool>,
    /// Future change rates, if the engine knows them.
    later: VecDeque<Vec<f64>>,
    signal_use: SignalUse,
}

/// Use of signals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignalUse {
    /// Learns the worth of signals.
    Learning,
    /// Ignores signals.
    None,
    /// Treats every signal as a change, and assumes that there are no other changes.
    Blind,
}

/// Number of the only signal source.
const SIGNAL_SOURCE: u32 = 0;

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
        let signal_use = match variant {
            Some("ignoring") => SignalUse::None,
            Some("blind") => SignalUse::Blind,
            _ => SignalUse::Learning,
        };
        let blind = |i: usize| signal_use == SignalUse::Blind && setting.web.is_signalled(i);
        let rates = knowledge(setting, false).change_rate;
        let prior = match variant {
            Some("prior") => true_prior(&rates),
            _ => Prior::BROAD,
        };
        let describe = |i: usize| SourceDescription {
            host: population.host[i],
            importance: population.importance[i],
            observed: population.complete[i] || blind(i),
            belief: known.then(|| sure(rates[i])),
            ..SourceDescription::new(i as u32)
        };
        // No policy limits requests to a host here.
        let settings = EngineSettings {
            budget: setting.budget,
            goal: match setting.objective {
                SimObjective::Keep(objective) => Goal::KeepFresh(penalty(objective)),
                SimObjective::Capture(capture) => Goal::Capture(capture),
            },
            prior,
            host_gap: 0.0,
            host_connections: u32::MAX,
            ..EngineSettings::default()
        };
        let mut engine = freshet_engine::Engine::new(0.0, settings);
        let mut actions = Vec::new();
        engine.step(0.0, freshet_engine::Event::CapacityAdded(u32::MAX), &mut actions);
        if signal_use == SignalUse::Learning && setting.web.heralded.is_some() {
            let signal_source = SignalSource { number: SIGNAL_SOURCE, source: None };
            let described =
                freshet_engine::Event::SignalSourcesDescribed(vec![(signal_source, None)]);
            engine.step(0.0, described, &mut actions);
        }
        let descriptions = (0..population.len()).map(describe).collect();
        let mut later =
            if known { setting.web.known_rates(setting.calendar.days) } else { VecDeque::new() };
        later.pop_front();
        let there = vec![false; population.len()];
        Self { engine, descriptions, actions, there, later, signal_use }
    }

    /// Returns the engine.
    pub(super) fn engine(&self) -> &freshet_engine::Engine {
        &self.engine
    }

    /// Actions of the last step.
    pub(super) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns the existing sources whose known change rate has changed.
    fn turn_rates(&mut self) -> Vec<SourceDescription> {
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

/// Returns a belief that is nearly certain.
fn sure(rate: f64) -> Belief {
    const CHANGES: f64 = 1e9;
    let days = CHANGES / rate;
    let never = Prior::BROAD.belief().observe_no_change(1e15);
    Belief::new(CHANGES, days).unwrap_or(never)
}

/// Returns the prior that fits the true change rates.
fn true_prior(rates: &[f64]) -> Prior {
    let beliefs: Vec<Belief> =
        rates.iter().filter(|&&rate| rate > 0.0).map(|&rate| sure(rate)).collect();
    fit_prior(&beliefs, Prior::BROAD, Prior::BROAD, PriorFit::GLOBAL_STRENGTH)
}

impl Policy for Engine {
    fn wake(&self) -> f64 {
        self.engine.next_tick()
    }

    fn hears(&self) -> bool {
        self.signal_use != SignalUse::None
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        let event = match event {
            Event::Wake => freshet_engine::Event::Tick,
            Event::Added(source) => {
                self.there[source as usize] = true;
                let it = self.descriptions[source as usize];
                freshet_engine::Event::SourcesDescribed(vec![SourceDescription {
                    last_fetch: Some(now),
                    ..it
                }])
            }
            Event::Removed(source) => {
                self.there[source as usize] = false;
                freshet_engine::Event::SourcesRemoved(vec![source])
            }
            Event::Budget(budget) => freshet_engine::Event::SettingsChanged(EngineSettings {
                budget,
                ..*self.engine.settings()
            }),
            Event::Rates => freshet_engine::Event::SourcesDescribed(self.turn_rates()),
            Event::Changed(source) => freshet_engine::Event::ChangeObserved(source),
            Event::Signalled(source) => match self.signal_use {
                SignalUse::Learning => {
                    let signal = Signal { source, signal_source: SIGNAL_SOURCE, change_time: None };
                    freshet_engine::Event::SignalReceived(signal)
                }
                SignalUse::Blind => freshet_engine::Event::ChangeObserved(source),
                SignalUse::None => return,
            },
            Event::Fetched { source, outcome } => freshet_engine::Event::FetchFinished {
                id: source,
                outcome: match outcome {
                    Outcome::Changed { .. } => freshet_engine::FetchResult::Changed,
                    Outcome::Unchanged => freshet_engine::FetchResult::Unchanged,
                    Outcome::Failed => freshet_engine::FetchResult::Failed {
                        cause: FailureCause::Host,
                        retry_after: None,
                    },
                    Outcome::Gone => freshet_engine::FetchResult::Gone,
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
