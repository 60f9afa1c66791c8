//! Rules in common use, which set the interval of each source by what its fetches found. They know
//! no budget: to compare them, their time is stretched by one factor.

use rand::RngExt;

use super::{Event, Outcome, Policy};
use crate::seed::{Purpose, Random, mixed, random};
use crate::setting::Setting;
use freshet_schedule::Agenda;

/// How a rule sees a fetch. All times are in days of the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) now: f64,
    pub(super) changed: bool,
}

/// A rule for one source.
pub(super) trait Rule {
    /// What it remembers about a source.
    type Memory: Clone;

    /// At the start: a memory, and the days to the first fetch.
    fn start(now: f64) -> (Self::Memory, f64);

    /// The days to the next fetch after this one.
    fn next(memory: &mut Self::Memory, look: Look) -> f64;

    /// The days to the next try after a fetch that failed.
    fn retry() -> f64 {
        1.0
    }
}

/// A rule at work on all sources.
pub(super) struct Adaptive<R: Rule> {
    /// Days for one day of the rule.
    scale: f64,
    memories: Vec<Option<R::Memory>>,
    agenda: Agenda,
    random: Random,
    /// One in so many sources is looked after, the others are left out.
    sample: u64,
}

impl<R: Rule> Adaptive<R>
where
    R: 'static,
{
    pub(super) fn build(setting: &Setting<'_>) -> Box<dyn Policy> {
        let n = setting.web.population.len();
        Box::new(Self {
            scale: setting.scale,
            memories: vec![None; n],
            agenda: Agenda::default(),
            random: random(setting.seed, Purpose::Policy),
            sample: setting.sample,
        })
    }
}

impl<R: Rule> Policy for Adaptive<R> {
    fn wake(&self) -> f64 {
        self.agenda.first()
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake => {
                if let Some((_, source)) = self.agenda.pop_due(now) {
                    fetches.push(source);
                }
            }
            Event::Added(source) => {
                if !mixed(u64::from(source)).is_multiple_of(self.sample) {
                    return;
                }
                let (memory, wait) = R::start(now / self.scale);
                self.memories[source as usize] = Some(memory);
                // All at once at the start would be a wave that never ends.
                let part = if now == 0.0 { self.random.random::<f64>() } else { 1.0 };
                self.agenda.push(now + part * wait * self.scale, source);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.memories[source as usize] = None;
            }
            Event::Fetched { source, outcome } => {
                if let Some(memory) = &mut self.memories[source as usize] {
                    let look = Look { now: now / self.scale, changed: outcome == Outcome::Changed };
                    let wait =
                        if outcome == Outcome::Failed { R::retry() } else { R::next(memory, look) };
                    self.agenda.push(now + wait * self.scale, source);
                }
            }
            Event::Changed(_) => {}
        }
    }
}
