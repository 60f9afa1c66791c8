//! Rates from a plan, and a rhythm.

use freshet_plan::{Objective, Options, Policy as PlanPolicy, Rule, Timing};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::crowd::{Columns, Crowd};
use super::{Event, Outcome, Policy};
use crate::error::SimError;
use crate::process::slots_until;
use crate::seed::{Purpose, Random, random};
use crate::setting::Setting;
use freshet_schedule::Agenda;

/// When the fetches of a source happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rhythm {
    Timed(Timing),
    /// Once in every round, at a random place in it.
    RandomOrder,
}

/// The rhythms by name.
pub(super) const RHYTHMS: &[&str] = &["periodic", "poisson", "slots", "random-order"];

/// Fetches every source at its rate. Planned sources that announce their changes are fetched by a
/// rule instead.
pub(super) struct Paced {
    columns: Columns,
    options: Options,
    rhythm: Rhythm,
    budget: f64,
    crowd: Crowd,
    rates: Vec<f64>,
    /// The last fetch, or the start of the round.
    last: Vec<f64>,
    agenda: Agenda,
    random: Random,
    /// Announced changes since the last fetch, and how many to wait for.
    pending: Vec<u32>,
    goal: Vec<u32>,
}

impl Paced {
    /// A plan by the true change rates.
    pub(super) fn build(
        setting: &Setting<'_>,
        policy: PlanPolicy,
        variant: Option<&str>,
    ) -> Result<Box<dyn Policy>, SimError> {
        let rhythm = match variant {
            None => Rhythm::Timed(setting.timing),
            Some("random-order") => Rhythm::RandomOrder,
            Some(name) => Rhythm::Timed(name.parse().unwrap_or_default()),
        };
        let timing = match rhythm {
            Rhythm::Timed(timing) => timing,
            Rhythm::RandomOrder => Timing::Periodic,
        };
        // Only the best plan minds what it is for.
        let objective = setting.objective.objective().unwrap_or(Objective::Harmonic);
        let options = Options { objective, timing, observed: setting.observed, policy };
        let columns = known(setting, policy == PlanPolicy::Optimal);
        let n = setting.web.population.len();
        // What cannot be planned now cannot be planned later.
        let all: Vec<u32> = (0..n as u32).collect();
        columns.rates(&all, setting.budget, &options)?;
        Ok(Box::new(Self {
            columns,
            options,
            rhythm,
            budget: setting.budget,
            crowd: Crowd::new(n),
            rates: vec![0.0; n],
            last: vec![0.0; n],
            agenda: Agenda::default(),
            random: random(setting.seed, Purpose::Policy),
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
                // As much of the interval is over as before.
                now - (now - self.last[i]) * self.rates[i] / rate
            } else {
                // Who was not fetched at all begins anywhere, as a newcomer does.
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
                // As if it had been going on for ever: no source waits longer for its first fetch
                // than for the others, and so many requests are made as were planned.
                let interval = 1.0 / self.rates[source as usize];
                let back = interval * self.random.random::<f64>();
                self.last[source as usize] = if back.is_finite() { now - back } else { now };
            }
            entries.push((self.due(now, source), source));
        }
        self.agenda = Agenda::of(entries);
    }

    /// The next fetch of a source that is polled, after `now`.
    fn due(&mut self, now: f64, source: u32) -> f64 {
        let rate = self.rates[source as usize];
        if rate <= 0.0 {
            return f64::INFINITY;
        }
        let last = self.last[source as usize];
        match self.rhythm {
            Rhythm::Timed(Timing::Periodic) => (last + 1.0 / rate).max(now),
            Rhythm::Timed(Timing::Poisson) => {
                let wait: f64 = Exp1.sample(&mut self.random);
                now + wait / rate
            }
            Rhythm::Timed(Timing::Slots) => now.floor() + slots_until(rate, self.random.random()),
            Rhythm::RandomOrder => {
                // `last` is where the next round starts.
                (last + self.random.random::<f64>() / rate).max(now)
            }
        }
    }

    /// Draws what to wait for with an observed source.
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
                    // Of k changes with this chance, else of k + 1.
                    let short = self.random.random::<f64>() < k.ceil() - k;
                    k.floor() as u32 + u32::from(!short)
                }
            }
            _ => u32::MAX,
        };
    }

    /// An observed source has changed.
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

    /// A source was asked for; what it says does not change when it is asked again.
    fn go_on(&mut self, now: f64, source: u32) {
        if self.listens_to(source) {
            self.begin_cycle(source);
            return;
        }
        let i = source as usize;
        self.last[i] = match self.rhythm {
            Rhythm::RandomOrder => self.last[i] + 1.0 / self.rates[i],
            Rhythm::Timed(_) => now,
        };
        let due = self.due(now, source);
        self.agenda.push(due, source);
    }
}

/// What one who knows all change rates plans with.
pub(super) fn known(setting: &Setting<'_>, listens: bool) -> Columns {
    let population = &setting.web.population;
    // Of a record, in hindsight.
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

impl Policy for Paced {
    fn wake(&self) -> f64 {
        self.agenda.first().min(self.crowd.plan_at())
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
