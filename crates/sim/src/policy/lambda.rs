//! LambdaLearnAndCrawl (Kolobov et al. 2019, Alg. 4) and its variants: estimate all change rates from
//! observations, plan with the estimates, follow the plan for a day, repeat.

use std::collections::VecDeque;

use freshet_estimate::{Observation, last_observations, observed_rate, smoothed_rate};
use freshet_plan::{Objective, Observed, Options, Policy as PlanPolicy, Timing};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::active_sources::{ActiveSources, Columns};
use super::{Definition, Event, Outcome, Policy};
use crate::error::SimError;
use crate::seed::{Random, RandomPurpose, random};
use crate::setting::Setting;
use freshet_schedule::DueQueue;

pub(super) struct Lambda;

impl Definition for Lambda {
    const NAME: &'static str = "lambda";
    const ABOUT: &'static str = "Kolobov et al. 2019, Alg. 4: estimates by likelihood, plans daily";
    const VARIANTS: &'static [&'static str] = &[IGNORING];

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Learner::build(setting, Algorithm::Full, variant)
    }
}

pub(super) struct LambdaApprox;

impl Definition for LambdaApprox {
    const NAME: &'static str = "lambda-approx";
    const ABOUT: &'static str = "the same, with rates in proportion to importance (Prop. 9)";
    const VARIANTS: &'static [&'static str] = &[IGNORING];

    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Learner::build(setting, Algorithm::Approximate, variant)
    }
}

pub(super) struct LambdaFloor;

impl Definition for LambdaFloor {
    const NAME: &'static str = "lambda-floor";
    const ABOUT: &'static str = "the same for freshness, with a floor of 0.4 of the equal rate";

    fn build(setting: &Setting<'_>, _: Option<&str>) -> Result<Box<dyn Policy>, SimError> {
        Learner::build(setting, Algorithm::Floor, None)
    }
}

/// Name of the variant that ignores signals.
const IGNORING: &str = "ignoring";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Full,
    Approximate,
    Floor,
}

/// Initial estimate of every change rate, per day.
const GUESS: f64 = 1.0;
/// Days between two plans.
const EPOCH: f64 = 1.0;
/// The floor of BLLCε.
const FLOOR: f64 = 0.4;
/// Number of fetches of a source that an estimate uses.
const SUFFIX: usize = 500;
/// An estimate is updated when the history has grown by one in this number.
const NEWS: usize = 20;

struct Learner {
    algorithm: Algorithm,
    columns: Columns,
    budget: f64,
    crowd: ActiveSources,
    rates: Vec<f64>,
    histories: Vec<Vec<Observation>>,
    /// Number of fetches that are not in the estimate yet.
    unread: Vec<u32>,
    /// Last successful fetch, or the arrival.
    last: Vec<f64>,
    arrived: Vec<f64>,
    /// Announced changes.
    counted: Vec<u64>,
    /// Sources whose estimate is out of date.
    news: Vec<u32>,
    plan_at: f64,
    agenda: DueQueue,
    random: Random,
    /// True if a signal is taken as a change.
    hears: bool,
}

impl Learner {
    fn build(
        setting: &Setting<'_>,
        algorithm: Algorithm,
        variant: Option<&str>,
    ) -> Result<Box<dyn Policy>, SimError> {
        let population = &setting.web.population;
        let n = population.len();
        // A source with signals is taken to signal every change and nothing else, because the paper has only complete
        // observation or none.
        let hears = algorithm != Algorithm::Floor && variant != Some(IGNORING);
        let is_complete =
            |i: usize| population.complete[i] || (hears && setting.web.is_signalled(i));
        let complete: Vec<bool> = (0..n).map(is_complete).collect();
        let listens = algorithm != Algorithm::Floor && complete.contains(&true);
        Ok(Box::new(Self {
            algorithm,
            columns: Columns {
                importance: population.importance.clone(),
                change_rate: vec![GUESS; n],
                complete: listens.then_some(complete),
                later: VecDeque::new(),
            },
            budget: setting.budget,
            crowd: ActiveSources::new(n),
            rates: vec![0.0; n],
            histories: vec![Vec::new(); n],
            unread: vec![0; n],
            last: vec![0.0; n],
            arrived: vec![0.0; n],
            counted: vec![0; n],
            news: Vec::new(),
            plan_at: 0.0,
            agenda: DueQueue::default(),
            random: random(setting.seed, RandomPurpose::Policy),
            hears,
        }))
    }

    fn listens_to(&self, source: usize) -> bool {
        self.columns.complete.as_ref().is_some_and(|complete| complete[source])
    }

    fn estimate(&mut self, now: f64) {
        let mut news = std::mem::take(&mut self.news);
        news.sort_unstable();
        news.dedup();
        for source in news {
            let i = source as usize;
            if !self.listens_to(i) && self.algorithm != Algorithm::Approximate {
                let history = last_observations(&self.histories[i], SUFFIX);
                self.columns.change_rate[i] = smoothed_rate(history);
            }
        }
        if let Some(complete) = &self.columns.complete {
            for &source in self.crowd.list() {
                let i = source as usize;
                if complete[i] && now > self.arrived[i] {
                    let days = now - self.arrived[i];
                    self.columns.change_rate[i] = observed_rate(self.counted[i], days);
                }
            }
        }
    }

    fn plan(&mut self, now: f64) {
        self.estimate(now);
        let options = Options {
            objective: Objective::Harmonic,
            timing: Timing::Poisson,
            observed: Observed::Random,
            policy: if self.algorithm == Algorithm::Floor {
                PlanPolicy::Floor(FLOOR)
            } else {
                PlanPolicy::Optimal
            },
        };
        let list = self.crowd.list();
        if let Ok(mut rates) = self.columns.rates(list, self.budget, &options) {
            if self.algorithm == Algorithm::Approximate {
                self.share_by_importance(&mut rates);
            }
            for (&source, rate) in list.iter().zip(rates) {
                self.rates[source as usize] = rate;
            }
        }
        let mut entries = Vec::with_capacity(list.len());
        for &source in list {
            let i = source as usize;
            if !self.listens_to(i) && self.rates[i] > 0.0 {
                let wait: f64 = Exp1.sample(&mut self.random);
                entries.push((now + wait / self.rates[i], source));
            }
        }
        self.agenda = DueQueue::from_entries(entries);
        self.crowd.planned();
        self.plan_at = now + EPOCH;
    }

    /// Distributes the budget of polled sources in proportion to importance.
    fn share_by_importance(&self, rates: &mut [f64]) {
        let list = self.crowd.list();
        let polled = |&at: &usize| !self.listens_to(list[at] as usize);
        let importance = |at: usize| self.columns.importance[list[at] as usize];
        let left: f64 = (0..list.len()).filter(polled).map(|at| rates[at]).sum();
        let weight: f64 = (0..list.len()).filter(polled).map(importance).sum();
        if weight > 0.0 {
            for at in (0..list.len()).filter(polled) {
                rates[at] = left * importance(at) / weight;
            }
        }
    }
}

impl Policy for Learner {
    fn wake(&self) -> f64 {
        self.agenda.next_day().min(self.plan_at)
    }

    fn hears(&self) -> bool {
        self.hears
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        match event {
            Event::Wake if self.plan_at <= now => self.plan(now),
            Event::Wake => {
                if let Some((_, source)) = self.agenda.pop_due(now)
                    && self.crowd.has(source)
                {
                    fetches.push(source);
                    let wait: f64 = Exp1.sample(&mut self.random);
                    self.agenda.push(now + wait / self.rates[source as usize], source);
                }
            }
            Event::Added(source) => {
                (self.last[source as usize], self.arrived[source as usize]) = (now, now);
                self.crowd.add(now, source);
            }
            Event::Removed(source) | Event::Fetched { source, outcome: Outcome::Gone } => {
                self.crowd.remove(now, source);
            }
            Event::Changed(source) | Event::Signalled(source) => {
                let i = source as usize;
                self.counted[i] += 1;
                if self.listens_to(i)
                    && self.random.random::<f64>() * self.columns.change_rate[i] < self.rates[i]
                {
                    fetches.push(source);
                }
            }
            Event::Budget(budget) => {
                self.budget = budget;
                self.plan_at = now;
            }
            Event::Rates | Event::Fetched { outcome: Outcome::Failed, .. } => {}
            Event::Fetched { source, outcome } => {
                let i = source as usize;
                let days = now - self.last[i];
                self.last[i] = now;
                let history = &mut self.histories[i];
                if history.len() >= 2 * SUFFIX {
                    history.drain(..SUFFIX);
                }
                history.push(Observation { days, changed: outcome != Outcome::Unchanged });
                self.unread[i] += 1;
                if self.unread[i] as usize * NEWS >= history.len() {
                    self.unread[i] = 0;
                    self.news.push(source);
                }
            }
        }
    }
}
