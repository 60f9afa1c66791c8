//! The engine itself, as the daemon runs it.

use freshet_engine::{Action, Blame, Description, Settings};

use super::paced::penalty;
use super::{Definition, Event, Outcome, Policy};
use crate::error::SimError;
use crate::setting::Setting;

pub(super) struct Engine {
    engine: freshet_engine::Engine,
    descriptions: Vec<Description>,
    actions: Vec<Action>,
}

impl Definition for Engine {
    const NAME: &'static str = "engine";
    const ABOUT: &'static str = "freshet: learns all change rates as it goes";

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        let population = &setting.web.population;
        let describe = |i: usize| Description {
            host: population.host[i],
            importance: population.importance[i],
            penalty: penalty(setting.objective),
            observed: population.complete[i],
            ..Description::new(i as u32)
        };
        // No policy here is polite: hosts take what they are asked for.
        let settings = Settings {
            budget: setting.budget,
            host_gap: 0.0,
            host_connections: u32::MAX,
            ..Settings::default()
        };
        let mut engine = freshet_engine::Engine::new(0.0, settings);
        let mut actions = Vec::new();
        engine.step(0.0, freshet_engine::Event::Capacity(u32::MAX), &mut actions);
        let descriptions = (0..population.len()).map(describe).collect();
        Ok(Box::new(Self { engine, descriptions, actions }))
    }
}

impl Policy for Engine {
    fn wake(&self) -> f64 {
        self.engine.wake()
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        let ids;
        let described;
        let event = match event {
            Event::Wake => freshet_engine::Event::Tick,
            Event::Added(source) => {
                let it = self.descriptions[source as usize];
                described = [Description { fetched: Some(now), ..it }];
                freshet_engine::Event::Described(&described)
            }
            Event::Removed(source) => {
                ids = [source];
                freshet_engine::Event::Removed(&ids)
            }
            Event::Changed(source) => freshet_engine::Event::Signal(source),
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
        self.engine.step(now, event, &mut self.actions);
        for action in self.actions.drain(..) {
            if let Action::Fetch { id, .. } = action {
                fetches.push(id);
            }
        }
    }
}
