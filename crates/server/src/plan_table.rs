//! What is believed of the sources as columns that can be planned for.

use axum::http::StatusCode;
use freshet_live::{Handle, Known};
use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Options, PlanError, Solution, Sources, Target, evaluate, solve, target,
};

use crate::problem::Problem;

/// Sources that are planned for; more of them say the same.
const SAMPLE: usize = 10_000;

/// Sources as columns.
pub(crate) struct Table {
    pub(crate) importance: Vec<f64>,
    pub(crate) rate: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) observed: Vec<bool>,
    pub(crate) objective: Objective,
    /// Fetches a day, for all sources.
    pub(crate) budget: f64,
    /// Sources for each that is in the table.
    pub(crate) each: f64,
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
        let column = |pick: fn(&Known) -> f64| {
            known.iter().map(|(_, it)| in_range(pick(it))).collect::<Vec<_>>()
        };
        Ok(Self {
            importance: column(|it| it.importance),
            rate: column(|it| it.rate),
            cost: column(|it| it.cost),
            observed: known.iter().map(|(_, it)| it.observed).collect(),
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
