//! Rates from a plan, one fetch in every slot, in the order of a sequencer.

use freshet_plan::{Options, Policy as PlanPolicy, Timing};
use freshet_schedule::{EarliestDeadline, GoldenRatio, Rates};

use super::crowd::{Columns, Crowd};
use super::paced::known;
use super::{Event, Outcome, Policy};
use crate::error::SimError;
use crate::setting::Setting;

/// Which sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    EarliestDeadline,
    GoldenRatio,
}

/// The longest cycle of the golden ratio, in fetches of the least fetched source.
const CYCLE: f64 = 4.0;

pub(super) struct Sequenced {
    columns: Columns,
    options: Options,
    budget: f64,
    sequence: Sequence,
    crowd: Crowd,
    /// The sources that the sequencer counts by number.
    numbered: Vec<u32>,
    slots: Option<Box<dyn Iterator<Item = Option<usize>>>>,
    /// The slot that comes next, counted from the day of the plan.
    slot: u64,
    start: f64,
}

impl Sequenced {
    pub(super) fn build(
        setting: &Setting<'_>,
        timing: Timing,
        sequence: Sequence,
    ) -> Result<Box<dyn Policy>, SimError> {
        let options = Options {
            objective: setting.objective,
            timing,
            observed: setting.observed,
            policy: PlanPolicy::Optimal,
        };
        let columns = known(setting, false);
        let n = setting.web.population.len();
        let all: Vec<u32> = (0..n as u32).collect();
        columns.rates(&all, setting.budget, &options)?;
        Ok(Box::new(Self {
            columns,
            options,
            budget: setting.budget,
            sequence,
            crowd: Crowd::new(n),
            numbered: Vec::new(),
            slots: None,
            slot: 0,
            start: 0.0,
        }))
    }

    fn plan(&mut self, now: f64) {
        self.crowd.planned();
        let Ok(rates) = self.columns.rates(self.crowd.list(), self.budget, &self.options) else {
            return;
        };
        let spent: f64 = rates.iter().sum();
        // What is left over by a plan that needs less stays idle.
        let whole = self.budget.max(spent);
        let shares: Vec<f64> = rates.iter().map(|rate| rate / whole).collect();
        self.numbered = self.crowd.list().to_vec();
        self.slots = Rates::new(&shares).ok().and_then(|checked| match self.sequence {
            Sequence::EarliestDeadline => {
                Some(Box::new(EarliestDeadline::new(checked)) as Box<dyn Iterator<Item = _>>)
            }
            Sequence::GoldenRatio => {
                let least = shares.iter().copied().filter(|&share| share > 0.0).fold(1.0, f64::min);
                let cycle = (CYCLE / least).min(GoldenRatio::LONGEST as f64 / 2.0) as u64;
                GoldenRatio::new(checked, cycle)
                    .ok()
                    .map(|it| Box::new(it) as Box<dyn Iterator<Item = _>>)
            }
        });
        (self.start, self.slot) = (now, 0);
    }
}

impl Policy for Sequenced {
    fn wake(&self) -> f64 {
        let next = match self.slots {
            Some(_) if self.budget > 0.0 => (self.slot + 1) as f64 / self.budget + self.start,
            _ => f64::INFINITY,
        };
        next.min(self.crowd.plan_at())
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake if self.crowd.plan_at() <= now => self.plan(now),
            Event::Wake => {
                self.slot += 1;
                let next = self.slots.as_mut().and_then(|slots| slots.next().flatten());
                if let Some(at) = next
                    && self.crowd.has(self.numbered[at])
                {
                    fetches.push(self.numbered[at]);
                }
            }
            Event::Added(source) => self.crowd.add(now, source),
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.crowd.remove(now, source);
            }
            Event::Changed(_) | Event::Fetched { .. } => {}
        }
    }
}
