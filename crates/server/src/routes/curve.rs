//! What if: the freshness that other budgets would buy.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use freshet_live::Handle;
use freshet_model::PerDay;
use freshet_plan::{Objective, Options, PlanError, Sources, evaluate, solve, target};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;

/// Sources that are planned for; more of them say the same.
const SAMPLE: usize = 10_000;
/// Budgets around the one that holds.
const AROUND: f64 = 100.0;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(curve))
}

/// Which budgets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CurveQuery {
    /// The smallest budget, in fetches a day: a hundredth of the one that holds unless given.
    #[param(minimum = 1e-3, maximum = 1e12)]
    from: Option<f64>,
    /// The largest: a hundred times the one that holds unless given.
    #[param(minimum = 1e-3, maximum = 1e12)]
    to: Option<f64>,
    /// How many budgets, evenly spaced on a log scale.
    #[param(minimum = 2, maximum = 100, default = 21)]
    points: Option<u32>,
    /// A freshness to be reached: the answer names the budget that it takes.
    #[param(exclusive_minimum = 0.0, exclusive_maximum = 1.0)]
    target: Option<f64>,
}

/// What budgets would buy.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Curve)]
struct CurveView {
    /// Sources that are fetched at all.
    sources: usize,
    /// Of how many of them the rates were taken for this.
    sampled: usize,
    /// What the budget is spent for.
    objective: String,
    /// The budget that holds, in fetches a day.
    budget: Option<f64>,
    /// What other budgets would buy.
    points: Vec<PointView>,
    /// What the target takes, if one was given.
    target: Option<PointView>,
}

/// What a budget buys, in the long run and if the rates stay as they are believed to be.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Point)]
struct PointView {
    /// Fetches a day.
    budget: Option<f64>,
    /// The share of time at which copies are fresh, by importance.
    freshness: Option<f64>,
    /// The mean age of copies in days, by importance; none if a source would never be fetched.
    age: Option<f64>,
    /// What one more fetch a day would be worth.
    price: Option<f64>,
}

/// What other budgets would buy
///
/// From what is believed of the sources now, without the limits of hosts and the intervals of sources.
#[utoipa::path(get, path = "/v1/curve", tag = "plan", params(CurveQuery),
    responses((status = 200, description = "Freshness and age by budget", body = CurveView),
        (status = 409, description = "There are no sources to plan for, or the target is out of reach")))]
async fn curve(
    State(app): State<Arc<App>>,
    Query(asked): Query<CurveQuery>,
) -> Result<Json<CurveView>, Problem> {
    let table = Table::sample(&app.handle).await?;
    let curve = tokio::task::spawn_blocking(move || table.draw(&asked));
    Ok(Json(curve.await.map_err(|_| crate::app::too_long())??))
}

/// Sources as columns.
struct Table {
    importance: Vec<f64>,
    rate: Vec<f64>,
    cost: Vec<f64>,
    observed: Vec<bool>,
    objective: Objective,
    budget: f64,
    /// Sources for each that is in the table.
    each: f64,
}

impl Table {
    async fn sample(handle: &Handle) -> Result<Self, Problem> {
        let plan = handle.plan().await?;
        let known = handle.sample(SAMPLE).await?;
        let said = handle.settings().await?.objective;
        let looked = known.len();
        let known: Vec<_> = known.into_iter().filter(|(_, it)| it.active).collect();
        if known.is_empty() {
            let problem = Problem::new(StatusCode::CONFLICT, "there are no sources to plan for");
            return Err(problem.hint("add some with `PUT /v1/sources`"));
        }
        let in_range = |value: f64| value.clamp(1e-12, 1e12);
        let column = |pick: fn(&freshet_live::Known) -> f64| {
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

    fn draw(&self, asked: &CurveQuery) -> Result<CurveView, Problem> {
        let middle = self.budget.clamp(1e-1, 1e10);
        let (from, to) =
            (asked.from.unwrap_or(middle / AROUND), asked.to.unwrap_or(middle * AROUND));
        for (field, value) in [("from", from), ("to", to)] {
            if !(1e-3..=1e12).contains(&value) {
                return Err(Problem::field(field, format!("{value} is not from 0.001 to 1e12")));
            }
        }
        if from > to {
            return Err(Problem::field("from", format!("{from} is above `to`, {to}")));
        }
        let points = asked.points.unwrap_or(21);
        if !(2..=100).contains(&points) {
            return Err(Problem::field("points", format!("{points} is not from 2 to 100")));
        }
        let goal = asked.target.map(|target| {
            let goal = format!("freshness={target}").parse().ok();
            let goal = goal.filter(|_| target > 0.0 && target < 1.0);
            goal.ok_or_else(|| {
                Problem::field("target", format!("{target} is not a share between 0 and 1"))
            })
        });
        let goal = goal.transpose()?;
        let invalid = |why: freshet_plan::InvalidSources| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string())
        };
        let sources = Sources::new(&self.importance, &self.rate)
            .and_then(|it| it.with_cost(&self.cost))
            .and_then(|it| it.with_complete(&self.observed))
            .map_err(invalid)?;
        let options = Options { objective: self.objective, ..Options::default() };
        let at = |budget: f64| -> Result<PointView, Problem> {
            let own = PerDay::new(budget / self.each).map_err(odd)?;
            let solution = solve(&sources, own, &options).map_err(odd)?;
            Ok(self.point(&sources, &solution, &options, budget))
        };
        let step = |n: u32| from * ((to / from).ln() * f64::from(n) / f64::from(points - 1)).exp();
        let target = match goal {
            None => None,
            Some(goal) => {
                let (budget, solution) = target(&sources, &goal, &options).map_err(odd)?;
                let budget = budget.get() * self.each;
                Some(self.point(&sources, &solution, &options, budget))
            }
        };
        Ok(CurveView {
            sources: (self.rate.len() as f64 * self.each).round() as usize,
            sampled: self.rate.len(),
            objective: self.objective.to_string(),
            budget: finite(self.budget),
            points: (0..points).map(|n| at(step(n))).collect::<Result<_, _>>()?,
            target,
        })
    }

    fn point(
        &self,
        sources: &Sources<'_>,
        solution: &freshet_plan::Solution,
        options: &Options,
        budget: f64,
    ) -> PointView {
        let evaluation = evaluate(sources, &solution.rates, options.timing, options.rule());
        PointView {
            budget: finite(budget),
            freshness: finite(evaluation.freshness()),
            age: finite(evaluation.age()),
            price: finite(solution.price),
        }
    }
}

/// What cannot be planned.
fn odd(why: impl Into<Unplanned>) -> Problem {
    Problem::new(StatusCode::CONFLICT, why.into().0)
}

struct Unplanned(String);

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
