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
    /// How often, where it can be seen.
    pub(super) times: u32,
}

/// A rule for one source.
pub(super) trait Rule {
    /// What it remembers about a source.
    type Memory: Clone;

    /// The shortest and the longest interval that it sets.
    const RANGE: (f64, f64);

    /// What it remembers at first, with this interval.
    fn start(now: f64, interval: f64) -> Self::Memory;

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
    /// Days between the fetches of a source that the budget allows on average.
    interval: f64,
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
            interval: n as f64 / setting.mean_budget().max(1e-30),
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
                // Where the budget is on average, as far as the rule allows: with an interval from
                // afar it would not settle in time.
                let wait = (self.interval / self.scale).clamp(R::RANGE.0, R::RANGE.1);
                self.memories[source as usize] = Some(R::start(now / self.scale, wait));
                // All at once would be a wave that never ends, and in step with whatever brought the
                // sources up.
                let part = self.random.random::<f64>();
                self.agenda.push(now + part * wait * self.scale, source);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.memories[source as usize] = None;
            }
            Event::Fetched { source, outcome } => {
                if let Some(memory) = &mut self.memories[source as usize] {
                    let times = match outcome {
                        Outcome::Changed { times } => times,
                        _ => 0,
                    };
                    let look = Look { now: now / self.scale, changed: times > 0, times };
                    let wait =
                        if outcome == Outcome::Failed { R::retry() } else { R::next(memory, look) };
                    self.agenda.push(now + wait * self.scale, source);
                }
            }
            Event::Changed(_) | Event::Signalled(_) | Event::Budget(_) | Event::Rates => {}
        }
    }
}
