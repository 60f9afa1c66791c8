//! Fetches at the rates of a plan.

use freshet_plan::{Objective, Options, Policy as PlanPolicy, Rule, Timing};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::active_sources::{ActiveSources, Columns};
use super::{Event, Outcome, Policy};
use crate::error::SimError;
use crate::process::slots_until;
use crate::seed::{Random, RandomPurpose, random};
use crate::setting::Setting;
use freshet_schedule::DueQueue;

/// Timing of the fetches of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FetchTiming {
    Timed(Timing),
    /// Once per round, at a random time.
    RandomOrder,
}

/// Timings by name.
pub(super) const TIMINGS: &[&str] = &["periodic", "poisson", "slots", "random-order"];

/// Fetches every source at its planned rate. Sources that announce their changes are fetched by a
/// rule instead.
pub(super) struct RatePolicy {
    columns: Columns,
    options: Options,
    rhythm: FetchTiming,
    budget: f64,
    crowd: ActiveSources,
    rates: Vec<f64>,
    /// Last fetch, or the start of the round.
    last: Vec<f64>,
    agenda: DueQueue,
    random: Random,
    /// Announced changes since the last fetch, and the number to wait for.
    pending: Vec<u32>,
    goal: Vec<u32>,
}

impl RatePolicy {
    /// Plans with the true change rates.
    pub(super) fn build(
        setting: &Setting<'_>,
        policy: PlanPolicy,
        variant: Option<&str>,
    ) -> Result<Box<dyn Policy>, SimError> {
        let rhythm = match variant {
            None => FetchTiming::Timed(setting.timing),
            Some("random-order") => FetchTiming::RandomOrder,
            Some(name) => FetchTiming::Timed(name.parse().unwrap_or_default()),
        };
        let timing = match rhythm {
            FetchTiming::Timed(timing) => timing,
            FetchTiming::RandomOrder => Timing::Periodic,
        };
        // Only the optimal plan depends on the objective.
        let objective = setting.objective.objective().unwrap_or(Objective::Harmonic);
        let options = Options { objective, timing, observed: setting.observed, policy };
        let columns = known(setting, policy == PlanPolicy::Optimal);
        let n = setting.web.population.len();
        // Reports planning errors before the run.
        let all: Vec<u32> = (0..n as u32).collect();
        columns.rates(&all, setting.budget, &options)?;
        Ok(Box::new(Self {
            columns,
            options,
            rhythm,
            budget: setting.budget,
            crowd: ActiveSources::new(n),
            rates: vec![0.0; n],
            last: vec![0.0; n],
            agenda: DueQueue::default(),
            random: random(setting.seed, RandomPurpose::Policy),
            pending: vec![0; n],
            goal: vec![u32::MAX; n],
        }))
    }

    fn listens_to(&self, source: u32) -> bool {
        self.columns.complete.as_ref().is_some_and(|complete| complete[source as usize])
    }

    fn plan(&mut self, now: f64) {
        let Ok(rates) = self.columns.rates(self.crowd.list(), self.budget, &self.options) else {
            self.crowd.planned();
            return;
        };
        for (&source, rate) in self.crowd.list().iter().zip(rates) {
            let i = source as usize;
            self.last[i] = if rate > 0.0 && self.rates[i] > 0.0 {
                // Keeps the elapsed share of the interval.
                now - (now - self.last[i]) * self.rates[i] / rate
            } else {
                // A source that was not fetched before starts at a random phase, like a new source.
                f64::NAN
            };
            self.rates[i] = rate;
        }
        self.crowd.planned();
        let list = self.crowd.list().to_vec();
        let mut entries = Vec::with_capacity(list.len());
        for source in list {
            if self.listens_to(source) {
                self.begin_cycle(source);
                continue;
            }
            if self.last[source as usize].is_nan() {
                // Starts in the stationary state: no source waits longer for its first fetch
                // than for later ones, and the number of requests is as planned.
                let interval = 1.0 / self.rates[source as usize];
                let back = interval * self.random.random::<f64>();
                self.last[source as usize] = if back.is_finite() { now - back } else { now };
            }
            entries.push((self.due(now, source), source));
        }
        self.agenda = DueQueue::from_entries(entries);
    }

    /// Returns the time of the next fetch of a polled source, after `now`.
    fn due(&mut self, now: f64, source: u32) -> f64 {
        let rate = self.rates[source as usize];
        if rate <= 0.0 {
            return f64::INFINITY;
        }
        let last = self.last[source as usize];
        match self.rhythm {
            FetchTiming::Timed(Timing::Periodic) => (last + 1.0 / rate).max(now),
            FetchTiming::Timed(Timing::Poisson) => {
                let wait: f64 = Exp1.sample(&mut self.random);
                now + wait / rate
            }
            FetchTiming::Timed(Timing::Slots) => {
                now.floor() + slots_until(rate, self.random.random())
            }
            FetchTiming::RandomOrder => {
                // `last` is where the next round starts.
                (last + self.random.random::<f64>() / rate).max(now)
            }
        }
    }

    /// Draws the number of changes to wait for with an observed source.
    fn begin_cycle(&mut self, source: u32) {
        let i = source as usize;
        self.pending[i] = 0;
        let changes = self.columns.change_rate[i] / self.rates[i];
        self.goal[i] = match self.options.rule() {
            Rule::Count if changes < f64::from(u32::MAX / 2) => {
                let k = changes.max(1.0);
                let whole = k.round();
                if (k - whole).abs() <= 1e-12 * k {
                    whole as u32
                } else {
                    // k changes with this probability, otherwise k + 1.
                    let short = self.random.random::<f64>() < k.ceil() - k;
                    k.floor() as u32 + u32::from(!short)
                }
            }
            _ => u32::MAX,
        };
    }

    /// Processes a change of an observed source.
    fn changed(&mut self, now: f64, source: u32, fetches: &mut Vec<u32>) {
        let i = source as usize;
        self.pending[i] += 1;
        let (rate, c) = (self.rates[i], self.columns.change_rate[i]);
        match self.options.rule() {
            Rule::Count => {
                if self.pending[i] >= self.goal[i] {
                    fetches.push(source);
                }
            }
            Rule::Chance => {
                if self.random.random::<f64>() * c < rate {
                    fetches.push(source);
                }
            }
            Rule::Wait => {
                if self.pending[i] == 1 {
                    let mut wait = (1.0 / rate - 1.0 / c).max(0.0);
                    if self.options.timing == Timing::Slots && wait.is_finite() {
                        let longer = self.random.random::<f64>() < wait.fract();
                        wait = wait.floor() + f64::from(u8::from(longer));
                    }
                    self.agenda.push(now + wait, source);
                }
            }
        }
    }

    /// Schedules the next fetch after a fetch was requested, independently of its outcome.
    fn go_on(&mut self, now: f64, source: u32) {
        if self.listens_to(source) {
            self.begin_cycle(source);
            return;
        }
        let i = source as usize;
        self.last[i] = match self.rhythm {
            FetchTiming::RandomOrder => self.last[i] + 1.0 / self.rates[i],
            FetchTiming::Timed(_) => now,
        };
        let due = self.due(now, source);
        self.agenda.push(due, source);
    }
}

/// Returns the inputs of a plan with known change rates.
pub(super) fn known(setting: &Setting<'_>, listens: bool) -> Columns {
    let population = &setting.web.population;
    // For a trace, rates in hindsight.
    let mut rates = setting.web.known_rates(setting.calendar.days);
    let change_rate = rates.pop_front().unwrap_or_default();
    let announced = population.complete.contains(&true) && listens;
    Columns {
        importance: population.importance.clone(),
        change_rate,
        complete: announced.then(|| population.complete.clone()),
        later: rates,
    }
}

impl Policy for RatePolicy {
    fn wake(&self) -> f64 {
        self.agenda.next_day().min(self.crowd.plan_at())
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake => {
                if self.crowd.plan_at() <= now {
                    self.plan(now);
                } else if let Some((_, source)) = self.agenda.pop_due(now)
                    && self.crowd.has(source)
                {
                    fetches.push(source);
                    self.go_on(now, source);
                }
            }
            Event::Added(source) => {
                self.last[source as usize] = f64::NAN;
                self.crowd.add(now, source);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.crowd.remove(now, source);
            }
            Event::Changed(source) => {
                if self.listens_to(source) {
                    let before = fetches.len();
                    self.changed(now, source, fetches);
                    if fetches.len() > before {
                        self.begin_cycle(source);
                    }
                }
            }
            Event::Budget(budget) => {
                self.budget = budget;
                self.crowd.plan_anew(now);
            }
            Event::Rates => {
                self.columns.turn_rates();
                self.crowd.plan_anew(now);
            }
            Event::Signalled(_) | Event::Fetched { .. } => {}
        }
    }
}
