//! Fetches at the rates of a plan, one per slot, in the order of a sequencer.

use freshet_plan::{Objective, Options, Policy as PlanPolicy, Timing};
use freshet_schedule::{DueQueue, GoldenRatio, Rates};
use rand::RngExt;

use super::active_sources::{ActiveSources, Columns};
use super::rate_policy::known;
use super::{Event, Outcome, Policy};
use crate::error::SimError;
use crate::seed::{Random, RandomPurpose, random};
use crate::setting::Setting;

/// Kind of sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    EarliestDeadline,
    GoldenRatio,
}

/// Longest cycle of the golden ratio, in fetches of the least fetched source.
const CYCLE: f64 = 4.0;

pub(super) struct Sequenced {
    columns: Columns,
    options: Options,
    budget: f64,
    sequence: Sequence,
    crowd: ActiveSources,
    windows: Windows,
    golden: Option<(GoldenRatio, Vec<u32>)>,
    random: Random,
    /// Next slot, counted from the day of the plan.
    slot: u64,
    start: f64,
}

/// Earliest deadline first (Azar et al. 2018, Alg. 3) for sources that are added and removed: each source is
/// fetched once in each of its windows, which follow each other at its rate.
struct Windows {
    rates: Vec<f64>,
    /// Start of the current window of each source; NaN before the first.
    begins: Vec<f64>,
    /// Open windows by end, and future windows by start.
    open: DueQueue,
    coming: DueQueue,
}

impl Windows {
    fn new(sources: usize) -> Self {
        Self {
            rates: vec![0.0; sources],
            begins: vec![f64::NAN; sources],
            open: DueQueue::default(),
            coming: DueQueue::default(),
        }
    }

    /// Sets new rates. Keeps the elapsed share of each window.
    fn set(&mut self, now: f64, list: &[u32], rates: &[f64], random: &mut Random) {
        let (mut open, mut coming) = (Vec::new(), Vec::new());
        for (&source, &rate) in list.iter().zip(rates) {
            let i = source as usize;
            let before = std::mem::replace(&mut self.rates[i], rate);
            if rate <= 0.0 {
                continue;
            }
            let over = if self.begins[i].is_nan() {
                // At the start all windows begin at once, as in the paper; later sources start at a random phase.
                if now == 0.0 { 0.0 } else { random.random::<f64>() }
            } else {
                (now - self.begins[i]) * before
            };
            self.begins[i] = now - over / rate;
            if self.begins[i] <= now {
                open.push((self.begins[i] + 1.0 / rate, source));
            } else {
                coming.push((self.begins[i], source));
            }
        }
        (self.open, self.coming) = (DueQueue::from_entries(open), DueQueue::from_entries(coming));
    }

    fn next(&mut self, now: f64) -> Option<u32> {
        while let Some((begin, source)) = self.coming.pop_due(now) {
            self.open.push(begin + 1.0 / self.rates[source as usize], source);
        }
        let (end, source) = self.open.pop()?;
        self.begins[source as usize] = end;
        if end <= now {
            self.open.push(end + 1.0 / self.rates[source as usize], source);
        } else {
            self.coming.push(end, source);
        }
        Some(source)
    }
}

impl Sequenced {
    pub(super) fn build(
        setting: &Setting<'_>,
        timing: Timing,
        sequence: Sequence,
    ) -> Result<Box<dyn Policy>, SimError> {
        let options = Options {
            objective: setting.objective.objective().unwrap_or(Objective::Harmonic),
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
            crowd: ActiveSources::new(n),
            windows: Windows::new(n),
            golden: None,
            random: random(setting.seed, RandomPurpose::Policy),
            slot: 0,
            start: 0.0,
        }))
    }

    fn plan(&mut self, now: f64) {
        self.crowd.planned();
        let list = self.crowd.list();
        let Ok(rates) = self.columns.rates(list, self.budget, &self.options) else {
            return;
        };
        match self.sequence {
            Sequence::EarliestDeadline => self.windows.set(now, list, &rates, &mut self.random),
            Sequence::GoldenRatio => {
                let spent: f64 = rates.iter().sum();
                // Slots that the plan does not need stay idle.
                let whole = self.budget.max(spent);
                let shares: Vec<f64> = rates.iter().map(|rate| rate / whole).collect();
                let least = shares.iter().copied().filter(|&share| share > 0.0).fold(1.0, f64::min);
                let cycle = (CYCLE / least).min(GoldenRatio::MAX_CYCLE as f64 / 2.0) as u64;
                let golden = Rates::new(&shares).and_then(|rates| GoldenRatio::new(rates, cycle));
                self.golden = golden.ok().map(|mut golden| {
                    // Starts at a random slot of the cycle, so that a new one does not begin with the same sources.
                    golden.skip_slots(self.random.random_range(0..golden.period()));
                    (golden, list.to_vec())
                });
            }
        }
        (self.start, self.slot) = (now, 0);
    }

    fn next(&mut self, now: f64) -> Option<u32> {
        match self.sequence {
            Sequence::EarliestDeadline => self.windows.next(now),
            Sequence::GoldenRatio => {
                let (golden, list) = self.golden.as_mut()?;
                golden.next().flatten().map(|at| list[at])
            }
        }
    }
}

impl Policy for Sequenced {
    fn wake(&self) -> f64 {
        let next = if self.budget > 0.0 && !self.crowd.list().is_empty() {
            (self.slot + 1) as f64 / self.budget + self.start
        } else {
            f64::INFINITY
        };
        next.min(self.crowd.plan_at())
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake if self.crowd.plan_at() <= now => self.plan(now),
            Event::Wake => {
                self.slot += 1;
                fetches.extend(self.next(now).filter(|&source| self.crowd.has(source)));
            }
            Event::Added(source) => {
                self.windows.begins[source as usize] = f64::NAN;
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
                self.columns.turn_rates();
                self.crowd.plan_anew(now);
            }
            Event::Changed(_) | Event::Signalled(_) | Event::Fetched { .. } => {}
        }
    }
}
