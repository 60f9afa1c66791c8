//! A sample of the sources with their estimated rates, as columns for the planner.

use std::collections::HashMap;

use axum::http::StatusCode;
use freshet_daemon::{DaemonHandle, SourceBelief};
use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Options, PlanError, Solution, Sources, Target, evaluate, solve, target,
};

use crate::problem::Problem;

/// Number of sources that are sampled; a larger sample gives the same plan.
const SAMPLE_SIZE: usize = 10_000;

/// For hosts with fewer sampled sources than this, the real number of sources is counted, up to
/// `MAX_HOST_COUNT`.
const MIN_SAMPLED_PER_HOST: f64 = 8.0;
const MAX_HOST_COUNT: u32 = 10_000;

/// Sampled sources as columns.
#[derive(Clone)]
pub(crate) struct PlanTable {
    pub(crate) importance: Vec<f64>,
    pub(crate) rate: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) observed: Vec<bool>,
    pub(crate) rate_limits: RateLimits,
    pub(crate) objective: Objective,
    /// Fetches per day for all sources.
    pub(crate) budget: f64,
    /// Number of real sources that each row stands for.
    pub(crate) sources_per_row: f64,
}

/// Limits on fetch rates that hold whatever the budget.
#[derive(Clone, Default)]
pub(crate) struct RateLimits {
    /// Maximum fetches per day of each source.
    max_rates: Vec<f64>,
    /// Index of each source's host in the lists below.
    host_indices: Vec<u32>,
    /// Id of each host, and the maximum fetches per day of its sampled sources.
    pub(crate) host_ids: Vec<u32>,
    host_max_rates: Vec<f64>,
}

/// The plan that a budget allows.
pub(crate) struct BudgetOutcome {
    /// Fetches per day for all sources.
    pub(crate) budget: f64,
    pub(crate) solution: Solution,
    pub(crate) evaluation: Evaluation,
}

impl PlanTable {
    /// Takes an even sample of all sources that are fetched.
    pub(crate) async fn sample(handle: &DaemonHandle) -> Result<Self, Problem> {
        let plan = handle.plan().await?;
        let known = handle.sample_beliefs(SAMPLE_SIZE).await?;
        let objective = handle.effective_settings().await?.objective;
        let sampled = known.len();
        let known: Vec<_> = known.into_iter().filter(|(_, it)| it.active).collect();
        if known.is_empty() {
            let problem =
                Problem::new(StatusCode::CONFLICT, "there are no active sources to plan for");
            return Err(problem.with_hint("add some with `PUT /v1/sources`"));
        }
        let column = |pick: fn(&SourceBelief) -> f64| {
            known.iter().map(|(_, it)| in_range(pick(it))).collect::<Vec<_>>()
        };
        Ok(Self {
            importance: column(|it| it.importance),
            rate: column(|it| it.change_rate),
            cost: column(|it| it.cost),
            observed: known.iter().map(|(_, it)| it.observed).collect(),
            rate_limits: RateLimits::load(handle, &known, sampled as f64 / plan.sources as f64)
                .await?,
            // The planner has no capture objective; freshness is the closest one.
            objective: objective.parse().unwrap_or(Objective::Freshness),
            budget: plan.budget,
            sources_per_row: plan.sources as f64 / sampled as f64,
        })
    }

    /// Returns the number of real sources that the columns stand for.
    pub(crate) fn sources(&self) -> usize {
        (self.rate.len() as f64 * self.sources_per_row).round() as usize
    }

    /// Returns the columns for the planner, without limits.
    pub(crate) fn columns(&self) -> Result<Sources<'_>, Problem> {
        Sources::new(&self.importance, &self.rate)
            .and_then(|it| it.with_cost(&self.cost))
            .and_then(|it| it.with_complete(&self.observed))
            .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }

    /// Returns the columns with the limits of hosts and sources.
    pub(crate) fn limited_columns(&self) -> Result<Sources<'_>, Problem> {
        let RateLimits { max_rates, host_indices, host_max_rates, .. } = &self.rate_limits;
        self.columns()?
            .with_limits(None, Some(max_rates))
            .and_then(|it| it.with_hosts(host_indices, host_max_rates))
            .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }

    /// Returns the planner options.
    pub(crate) fn options(&self) -> Options {
        Options { objective: self.objective, ..Options::default() }
    }

    /// Returns what a budget, in fetches per day for all sources, buys.
    pub(crate) fn solve_budget(
        &self,
        sources: &Sources<'_>,
        budget: f64,
    ) -> Result<BudgetOutcome, Problem> {
        let sample_budget = PerDay::new(budget / self.sources_per_row).map_err(plan_problem)?;
        let solution = solve(sources, sample_budget, &self.options()).map_err(plan_problem)?;
        Ok(self.outcome(sources, budget, solution))
    }

    /// Returns the smallest budget that reaches a target, and what it buys.
    pub(crate) fn solve_target(
        &self,
        sources: &Sources<'_>,
        goal: &Target,
    ) -> Result<BudgetOutcome, Problem> {
        let (budget, solution) = target(sources, goal, &self.options()).map_err(plan_problem)?;
        Ok(self.outcome(sources, budget.get() * self.sources_per_row, solution))
    }

    fn outcome(&self, sources: &Sources<'_>, budget: f64, solution: Solution) -> BudgetOutcome {
        let options = self.options();
        let evaluation = evaluate(sources, &solution.rates, options.timing, options.rule());
        BudgetOutcome { budget, solution, evaluation }
    }
}

impl RateLimits {
    /// Adds a source without limits.
    pub(crate) fn add_unlimited(&mut self) {
        self.max_rates.push(f64::INFINITY);
        self.host_indices.push(u32::try_from(self.host_max_rates.len()).unwrap_or(u32::MAX));
        self.host_ids.push(u32::MAX);
        self.host_max_rates.push(f64::INFINITY);
    }

    /// Loads the limits of sampled sources; `share` is the sampled share of all sources.
    async fn load(
        handle: &DaemonHandle,
        known: &[(u32, SourceBelief)],
        share: f64,
    ) -> Result<Self, Problem> {
        let mut rate_limits = Self::default();
        let mut indices: HashMap<u32, u32> = HashMap::new();
        let mut counts: Vec<f64> = Vec::new();
        for (_, it) in known {
            let next = u32::try_from(indices.len()).unwrap_or(u32::MAX);
            let index = *indices.entry(it.host).or_insert(next);
            if index == next {
                let max_rate = if it.host_gap > 0.0 { 1.0 / it.host_gap } else { f64::INFINITY };
                rate_limits.host_ids.push(it.host);
                rate_limits.host_max_rates.push(max_rate);
                counts.push(0.0);
            }
            counts[index as usize] += 1.0;
            rate_limits.host_indices.push(index);
            let max_rate =
                if it.min_interval > 0.0 { 1.0 / it.min_interval } else { f64::INFINITY };
            rate_limits.max_rates.push(if max_rate < f64::INFINITY {
                in_range(max_rate)
            } else {
                max_rate
            });
        }
        if share < 1.0 {
            rate_limits.scale_to_sample(handle, &counts, share).await?;
        }
        for limit in &mut rate_limits.host_max_rates {
            *limit = if limit.is_finite() { in_range(*limit) } else { f64::INFINITY };
        }
        Ok(rate_limits)
    }

    /// Scales host limits to the sample: a row stands for sources at hosts as crowded as its own,
    /// so the sampled sources of a host get their share of what the host allows.
    async fn scale_to_sample(
        &mut self,
        handle: &DaemonHandle,
        counts: &[f64],
        share: f64,
    ) -> Result<(), Problem> {
        let counted_hosts: Vec<u32> = self
            .host_ids
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count < MIN_SAMPLED_PER_HOST)
            .map(|(host, _)| *host)
            .collect();
        let sizes = handle.read(move |reader| {
            counted_hosts
                .iter()
                .map(|host| reader.count_host_sources(*host, MAX_HOST_COUNT))
                .collect::<Result<Vec<_>, _>>()
        });
        let mut sizes = sizes.await?.into_iter();
        for (limit, &count) in self.host_max_rates.iter_mut().zip(counts) {
            let size = if count < MIN_SAMPLED_PER_HOST {
                sizes.next().unwrap_or(1) as f64
            } else {
                count / share
            };
            *limit *= (count / size.max(count)).min(1.0);
        }
        Ok(())
    }
}

/// Clamps a value to the range the planner accepts.
pub(crate) fn in_range(value: f64) -> f64 {
    value.clamp(1e-12, 1e12)
}

/// Returns the problem for a plan that cannot be computed.
pub(crate) fn plan_problem(error: impl Into<PlanFailure>) -> Problem {
    Problem::new(StatusCode::CONFLICT, error.into().0)
}

pub(crate) struct PlanFailure(String);

impl From<PlanError> for PlanFailure {
    fn from(error: PlanError) -> Self {
        Self(error.to_string())
    }
}

impl From<freshet_model::InvalidRate> for PlanFailure {
    fn from(error: freshet_model::InvalidRate) -> Self {
        Self(error.to_string())
    }
}
