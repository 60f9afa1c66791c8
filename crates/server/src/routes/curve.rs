//! Freshness as a function of the budget.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::extractors::QueryParams;
use crate::plan_table::{BudgetOutcome, PlanTable};
use crate::problem::Problem;

/// Default ratio of the largest budget to the current one, and of the current one to the smallest.
const BUDGET_SPAN: f64 = 100.0;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(curve))
}

/// Range of budgets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CurveQuery {
    /// Smallest budget in fetches per day; default: a hundredth of the current one.
    #[param(minimum = 1e-3, maximum = 1e12)]
    from: Option<f64>,
    /// Largest budget in fetches per day; default: a hundred times the current one.
    #[param(minimum = 1e-3, maximum = 1e12)]
    to: Option<f64>,
    /// Number of budgets, evenly spaced on a logarithmic scale.
    #[param(minimum = 2, maximum = 100, default = 21)]
    points: Option<u32>,
    /// Freshness to reach: the response gives the budget that it takes.
    #[param(exclusive_minimum = 0.0, exclusive_maximum = 1.0)]
    target: Option<f64>,
}

/// Freshness and age as functions of the budget.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Curve)]
struct CurveView {
    /// Number of active sources.
    sources: usize,
    /// Number of sources in the sample that this was computed from.
    sampled: usize,
    /// Objective of the plan.
    objective: String,
    /// Current budget in fetches per day.
    budget: Option<f64>,
    /// Points of the curve.
    points: Vec<PointView>,
    /// Point that reaches the target, if one was given.
    target: Option<PointView>,
}

/// Freshness, age and price at a budget, in the long run and if the change rates stay as
/// estimated.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Point)]
struct PointView {
    /// Budget in fetches per day.
    budget: Option<f64>,
    /// Importance-weighted share of time that copies are fresh.
    freshness: Option<f64>,
    /// Importance-weighted mean age of copies in days; null if a source would never be fetched.
    age: Option<f64>,
    /// Value of one more fetch per day.
    price: Option<f64>,
}

/// Get the freshness that other budgets would buy
///
/// Computed from the current estimates, without the limits of hosts and the intervals of sources.
#[utoipa::path(get, path = "/v1/curve", tag = "plan", params(CurveQuery),
    responses((status = 200, description = "Freshness and age for each budget", body = CurveView),
        (status = 409, description = "There are no active sources, or the target cannot be reached")))]
async fn curve(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<CurveQuery>,
) -> Result<Json<CurveView>, Problem> {
    let table = PlanTable::sample(&app.handle).await?;
    let curve = tokio::task::spawn_blocking(move || compute_curve(&table, &query));
    Ok(Json(curve.await.map_err(|_| crate::app::timeout_problem())??))
}

fn compute_curve(table: &PlanTable, query: &CurveQuery) -> Result<CurveView, Problem> {
    let middle = table.budget.clamp(1e-1, 1e10);
    let (from, to) =
        (query.from.unwrap_or(middle / BUDGET_SPAN), query.to.unwrap_or(middle * BUDGET_SPAN));
    for (field, value) in [("from", from), ("to", to)] {
        if !(1e-3..=1e12).contains(&value) {
            return Err(Problem::invalid(
                field,
                format!("budget out of range: {value} is not between 0.001 and 1e12"),
            ));
        }
    }
    if from > to {
        return Err(Problem::invalid("from", format!("`from` is above `to`: {from} > {to}")));
    }
    let points = query.points.unwrap_or(21);
    if !(2..=100).contains(&points) {
        return Err(Problem::invalid(
            "points",
            format!("points out of range: {points} is not between 2 and 100"),
        ));
    }
    let goal = query.target.map(|target| {
        let goal = format!("freshness={target}").parse().ok();
        let goal = goal.filter(|_| target > 0.0 && target < 1.0);
        goal.ok_or_else(|| {
            Problem::invalid(
                "target",
                format!("target out of range: {target} is not between 0 and 1"),
            )
        })
    });
    let goal = goal.transpose()?;
    let sources = table.columns()?;
    let at = |budget: f64| table.solve_budget(&sources, budget).map(|it| point_view(&it));
    let step = |n: u32| from * ((to / from).ln() * f64::from(n) / f64::from(points - 1)).exp();
    let target = goal.map(|goal| table.solve_target(&sources, &goal).map(|it| point_view(&it)));
    Ok(CurveView {
        sources: table.sources(),
        sampled: table.rate.len(),
        objective: table.objective.to_string(),
        budget: finite(table.budget),
        points: (0..points).map(|n| at(step(n))).collect::<Result<_, _>>()?,
        target: target.transpose()?,
    })
}

fn point_view(outcome: &BudgetOutcome) -> PointView {
    PointView {
        budget: finite(outcome.budget),
        freshness: finite(outcome.evaluation.freshness()),
        age: finite(outcome.evaluation.age()),
        price: finite(outcome.solution.price),
    }
}
