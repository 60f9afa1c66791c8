//! Highest value first in every slot, for known change rates.

use std::collections::VecDeque;

use freshet_estimate::Belief;
use freshet_schedule::FetchValue;

use super::active_sources::ActiveSources;
use super::rate_policy::known;
use super::{Definition, Event, Outcome, Policy};
use crate::error::SimError;
use crate::objective::SimObjective;
use crate::setting::Setting;

pub(super) struct Greedy {
    known: KnownRates,
    /// Future change rates.
    later: VecDeque<Vec<f64>>,
    budget: f64,
    crowd: ActiveSources,
    last: Vec<f64>,
    sequence: Option<freshet_schedule::Greedy<KnownRates>>,
    numbered: Vec<u32>,
    slot: u64,
    start: f64,
}

/// Importances and certain change rates.
#[derive(Clone)]
struct KnownRates {
    objective: SimObjective,
    importance: Vec<f64>,
    /// `None` for a source that never changes.
    rates: Vec<Option<Belief>>,
}

/// Shape of a nearly certain belief: a relative deviation of 1e-6.
const SURE: f64 = 1e12;

fn sure(rate: &f64) -> Option<Belief> {
    if *rate > 0.0 { Belief::new(SURE, SURE / rate).ok() } else { None }
}

impl FetchValue for KnownRates {
    fn value(&self, source: usize, elapsed: f64) -> f64 {
        let value = |rate: Belief| self.importance[source] * self.objective.value(rate, elapsed);
        self.rates[source].map_or(0.0, value)
    }

    fn time_to_reach(&self, source: usize, level: f64) -> f64 {
        match self.rates[source] {
            Some(rate) if self.importance[source] > 0.0 => {
                self.objective.due(rate, level / self.importance[source])
            }
            _ => f64::INFINITY,
        }
    }
}

impl KnownRates {
    fn pick(&self, list: &[u32]) -> Self {
        let importance = list.iter().map(|&i| self.importance[i as usize]).collect();
        let rates = list.iter().map(|&i| self.rates[i as usize]).collect();
        Self { objective: self.objective, importance, rates }
    }
}

impl Definition for Greedy {
    const NAME: &'static str = "greedy";
    const ABOUT: &'static str =
        "the most valuable fetch first, for those who know all change rates";

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        let columns = known(setting, false);
        let n = columns.importance.len();
        Ok(Box::new(Self {
            known: KnownRates {
                objective: setting.objective,
                importance: columns.importance,
                rates: columns.change_rate.iter().map(sure).collect(),
            },
            later: columns.later,
            budget: setting.budget,
            crowd: ActiveSources::new(n),
            last: vec![0.0; n],
            sequence: None,
            numbered: Vec::new(),
            slot: 0,
            start: 0.0,
        }))
    }
}

impl Policy for Greedy {
    fn wake(&self) -> f64 {
        let next = match self.sequence {
            Some(_) if self.budget > 0.0 => (self.slot + 1) as f64 / self.budget + self.start,
            _ => f64::INFINITY,
        };
        next.min(self.crowd.plan_at())
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake if self.crowd.plan_at() <= now => {
                self.crowd.planned();
                self.numbered = self.crowd.list().to_vec();
                let last = self.numbered.iter().map(|&i| self.last[i as usize] - now).collect();
                let known = self.known.pick(&self.numbered);
                self.sequence = Some(freshet_schedule::Greedy::new(known, last));
                (self.start, self.slot) = (now, 0);
            }
            Event::Wake => {
                self.slot += 1;
                let since = now - self.start;
                if let Some(at) = self.sequence.as_mut().and_then(|it| it.fetch(since)) {
                    let source = self.numbered[at];
                    self.last[source as usize] = now;
                    if self.crowd.has(source) {
                        fetches.push(source);
                    }
                }
            }
            Event::Added(source) => {
                // Different first fetches, because equal sources with equal values are slow to compare.
                let spread = f64::from(source) * 1e-9;
                self.last[source as usize] = now - spread;
                self.crowd.add(now, source);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.crowd.remove(now, source);
            }
            Event::Budget(budget) => {
                // Slots are counted from now on, because their length has changed.
                (self.budget, self.start, self.slot) = (budget, now, 0);
                self.crowd.plan_anew(now);
            }
            Event::Rates => {
                if let Some(rates) = self.later.pop_front() {
                    self.known.rates = rates.iter().map(sure).collect();
                }
                self.crowd.plan_anew(now);
            }
            Event::Changed(_) | Event::Signalled(_) | Event::Fetched { .. } => {}
        }
    }
}
