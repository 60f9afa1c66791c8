//! Adaptive rules of other crawlers, which set the interval of each source by what its fetches find. They have
//! no budget: for comparison, their time is stretched by one factor.

use rand::RngExt;

use super::{Event, Outcome, Policy};
use crate::seed::{Random, RandomPurpose, mixed, random};
use crate::setting::Setting;
use freshet_schedule::DueQueue;

/// A fetch as a rule sees it. All times are in days of the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedFetch {
    pub(super) now: f64,
    pub(super) changed: bool,
    /// Number of changes, where it is visible.
    pub(super) times: u32,
}

/// A rule for one source.
pub(super) trait Rule {
    /// State per source.
    type Memory: Clone;

    /// Shortest and longest interval that the rule sets.
    const RANGE: (f64, f64);

    /// Creates the state for a first interval.
    fn start(now: f64, interval: f64) -> Self::Memory;

    /// Returns the number of days to the next fetch.
    fn next(memory: &mut Self::Memory, look: ObservedFetch) -> f64;

    /// Returns the number of days to the next attempt after a failure.
    fn retry() -> f64 {
        1.0
    }
}

/// Applies a rule to all sources.
pub(super) struct Adaptive<R: Rule> {
    /// Days per day of the rule.
    scale: f64,
    /// Mean interval that the budget allows, in days.
    interval: f64,
    memories: Vec<Option<R::Memory>>,
    agenda: DueQueue,
    random: Random,
    /// Only one in this number of sources is simulated.
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
            agenda: DueQueue::default(),
            random: random(setting.seed, RandomPurpose::Policy),
            sample: setting.sample,
        })
    }
}

impl<R: Rule> Policy for Adaptive<R> {
    fn wake(&self) -> f64 {
        self.agenda.next_day()
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
                // Starts at the mean interval of the budget, within the limits of the rule: from a
                // distant interval it would not settle in time.
                let wait = (self.interval / self.scale).clamp(R::RANGE.0, R::RANGE.1);
                self.memories[source as usize] = Some(R::start(now / self.scale, wait));
                // Spreads the first fetches: a common start would cause a wave that never ends.
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
                    let look = ObservedFetch { now: now / self.scale, changed: times > 0, times };
                    let wait =
                        if outcome == Outcome::Failed { R::retry() } else { R::next(memory, look) };
                    self.agenda.push(now + wait * self.scale, source);
                }
            }
            Event::Changed(_) | Event::Signalled(_) | Event::Budget(_) | Event::Rates => {}
        }
    }
}
