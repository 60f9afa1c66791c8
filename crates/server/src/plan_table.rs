//! What is believed of the sources as columns that can be planned for.

use std::collections::HashMap;

use axum::http::StatusCode;
use freshet_daemon::{Handle, SourceBelief};
use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Options, PlanError, Solution, Sources, Target, evaluate, solve, target,
};

use crate::problem::Problem;

/// Sources that are planned for; more of them say the same.
const SAMPLE: usize = 10_000;

/// Of hosts with fewer sources in the table than this, all are counted, up to a crowd.
const FEW: f64 = 8.0;
const CROWD: u32 = 10_000;

/// Sources as columns.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) importance: Vec<f64>,
    pub(crate) rate: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) observed: Vec<bool>,
    pub(crate) manners: Manners,
    pub(crate) objective: Objective,
    /// Fetches a day, for all sources.
    pub(crate) budget: f64,
    /// Sources for each that is in the table.
    pub(crate) each: f64,
}

/// How often sources may be fetched, whatever the budget.
#[derive(Clone, Default)]
pub(crate) struct Manners {
    /// Of each source: fetches a day at most.
    most: Vec<f64>,
    /// Of each source: the place of its host in the lists below.
    host: Vec<u32>,
    /// Of each host: its number, and fetches a day at most of what of it is in the table.
    pub(crate) hosts: Vec<u32>,
    limits: Vec<f64>,
}

/// What a budget comes to.
pub(crate) struct Outcome {
    /// Fetches a day, for all sources.
    pub(crate) budget: f64,
    pub(crate) solution: Solution,
    pub(crate) evaluation: Evaluation,
}

impl Table {
    /// Some of all sources that are fetched, evenly.
    pub(crate) async fn sample(handle: &Handle) -> Result<Self, Problem> {
        let plan = handle.plan().await?;
        let known = handle.sample(SAMPLE).await?;
        let said = handle.settings().await?.objective;
        let looked = known.len();
        let known: Vec<_> = known.into_iter().filter(|(_, it)| it.active).collect();
        if known.is_empty() {
            let problem = Problem::new(StatusCode::CONFLICT, "there are no sources to plan for");
            return Err(problem.hint("add some with `PUT /v1/sources`"));
        }
        let column = |pick: fn(&SourceBelief) -> f64| {
            known.iter().map(|(_, it)| in_range(pick(it))).collect::<Vec<_>>()
        };
        Ok(Self {
            importance: column(|it| it.importance),
            rate: column(|it| it.rate),
            cost: column(|it| it.cost),
            observed: known.iter().map(|(_, it)| it.observed).collect(),
            manners: Manners::of(handle, &known, looked as f64 / plan.sources as f64).await?,
            // What is to be captured is best kept fresh, as far as this goes.
            objective: said.parse().unwrap_or(Objective::Freshness),
            budget: plan.budget,
            each: plan.sources as f64 / looked as f64,
        })
    }

    /// How many sources the columns stand for.
    pub(crate) fn sources(&self) -> usize {
        (self.rate.len() as f64 * self.each).round() as usize
    }

    /// The columns as the planner takes them.
    pub(crate) fn columns(&self) -> Result<Sources<'_>, Problem> {
        Sources::new(&self.importance, &self.rate)
            .and_then(|it| it.with_cost(&self.cost))
            .and_then(|it| it.with_complete(&self.observed))
            .map_err(|why| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string()))
    }

    /// The same, with what hosts and owners allow.
    pub(crate) fn polite(&self) -> Result<Sources<'_>, Problem> {
        let Manners { most, host, limits, .. } = &self.manners;
        self.columns()?
            .with_limits(None, Some(most))
            .and_then(|it| it.with_hosts(host, limits))
            .map_err(|why| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string()))
    }

    /// What the plan is for.
    pub(crate) fn options(&self) -> Options {
        Options { objective: self.objective, ..Options::default() }
    }

    /// What a budget comes to, in fetches a day for all sources.
    pub(crate) fn at(&self, sources: &Sources<'_>, budget: f64) -> Result<Outcome, Problem> {
        let own = PerDay::new(budget / self.each).map_err(odd)?;
        let solution = solve(sources, own, &self.options()).map_err(odd)?;
        Ok(self.outcome(sources, budget, solution))
    }

    /// The smallest budget that reaches a goal, and what it comes to.
    pub(crate) fn reach(&self, sources: &Sources<'_>, goal: &Target) -> Result<Outcome, Problem> {
        let (budget, solution) = target(sources, goal, &self.options()).map_err(odd)?;
        Ok(self.outcome(sources, budget.get() * self.each, solution))
    }

    fn outcome(&self, sources: &Sources<'_>, budget: f64, solution: Solution) -> Outcome {
        let options = self.options();
        let evaluation = evaluate(sources, &solution.rates, options.timing, options.rule());
        Outcome { budget, solution, evaluation }
    }
}

impl Manners {
    /// One more source, that may be fetched as often as one likes.
    pub(crate) fn add_free(&mut self) {
        self.most.push(f64::INFINITY);
        self.host.push(u32::try_from(self.limits.len()).unwrap_or(u32::MAX));
        self.hosts.push(u32::MAX);
        self.limits.push(f64::INFINITY);
    }

    /// Of sources that are such a share of all.
    async fn of(
        handle: &Handle,
        known: &[(u32, SourceBelief)],
        share: f64,
    ) -> Result<Self, Problem> {
        let mut manners = Self::default();
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut counts: Vec<f64> = Vec::new();
        for (_, it) in known {
            let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
            let place = *places.entry(it.host).or_insert(next);
            if place == next {
                let most = if it.host_gap > 0.0 { 1.0 / it.host_gap } else { f64::INFINITY };
                manners.hosts.push(it.host);
                manners.limits.push(most);
                counts.push(0.0);
            }
            counts[place as usize] += 1.0;
            manners.host.push(place);
            let most = if it.min_interval > 0.0 { 1.0 / it.min_interval } else { f64::INFINITY };
            manners.most.push(if most < f64::INFINITY { in_range(most) } else { most });
        }
        if share < 1.0 {
            manners.shrink(handle, &counts, share).await?;
        }
        for limit in &mut manners.limits {
            *limit = if limit.is_finite() { in_range(*limit) } else { f64::INFINITY };
        }
        Ok(manners)
    }

    /// A source of the table stands for others at hosts that are as crowded as its own: so many of a host's
    /// sources have that share of what it allows.
    async fn shrink(&mut self, handle: &Handle, counts: &[f64], share: f64) -> Result<(), Problem> {
        let few: Vec<u32> = self
            .hosts
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count < FEW)
            .map(|(host, _)| *host)
            .collect();
        let sizes = handle.read(move |reader| {
            few.iter()
                .map(|host| reader.count_host_sources(*host, CROWD))
                .collect::<Result<Vec<_>, _>>()
        });
        let mut sizes = sizes.await?.into_iter();
        for (limit, &count) in self.limits.iter_mut().zip(counts) {
            let size = if count < FEW { sizes.next().unwrap_or(1) as f64 } else { count / share };
            *limit *= (count / size.max(count)).min(1.0);
        }
        Ok(())
    }
}

/// What the planner can calculate with.
pub(crate) fn in_range(value: f64) -> f64 {
    value.clamp(1e-12, 1e12)
}

/// What cannot be planned.
pub(crate) fn odd(why: impl Into<Unplanned>) -> Problem {
    Problem::new(StatusCode::CONFLICT, why.into().0)
}

pub(crate) struct Unplanned(String);

impl From<PlanError> for Unplanned {
    fn from(why: PlanError) -> Self {
        Self(why.to_string())
    }
}

impl From<freshet_model::InvalidRate> for Unplanned {
    fn from(why: freshet_model::InvalidRate) -> Self {
        Self(why.to_string())
    }
}
