//! What if: the freshness that other budgets would buy.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::input::Query;
use crate::plan_table::{Outcome, Table};
use crate::problem::Problem;

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
    let curve = tokio::task::spawn_blocking(move || draw(&table, &asked));
    Ok(Json(curve.await.map_err(|_| crate::app::too_long())??))
}

fn draw(table: &Table, asked: &CurveQuery) -> Result<CurveView, Problem> {
    let middle = table.budget.clamp(1e-1, 1e10);
    let (from, to) = (asked.from.unwrap_or(middle / AROUND), asked.to.unwrap_or(middle * AROUND));
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
    let sources = table.columns()?;
    let at = |budget: f64| table.at(&sources, budget).map(|it| point(&it));
    let step = |n: u32| from * ((to / from).ln() * f64::from(n) / f64::from(points - 1)).exp();
    let target = goal.map(|goal| table.reach(&sources, &goal).map(|it| point(&it)));
    Ok(CurveView {
        sources: table.sources(),
        sampled: table.rate.len(),
        objective: table.objective.to_string(),
        budget: finite(table.budget),
        points: (0..points).map(|n| at(step(n))).collect::<Result<_, _>>()?,
        target: target.transpose()?,
    })
}

fn point(outcome: &Outcome) -> PointView {
    PointView {
        budget: finite(outcome.budget),
        freshness: finite(outcome.evaluation.freshness()),
        age: finite(outcome.evaluation.age()),
        price: finite(outcome.solution.price),
    }
}
