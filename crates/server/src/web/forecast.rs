//! Freshness forecasts for a range of budgets, cached for a few seconds.

use std::sync::Arc;
use std::time::Duration;

use freshet_plan::{Status, Target};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::app::{App, timeout_problem};
use crate::plan_table::{BudgetOutcome, PlanTable};
use crate::problem::Problem;

/// How long a forecast is reused.
const CACHE_TIME: Duration = Duration::from_secs(20);
/// Number of budgets in the curve.
const POINT_COUNT: u32 = 33;
/// The curve covers the current budget divided and multiplied by this.
const BUDGET_FACTOR: f64 = 30.0;

/// Long-run freshness over budgets, based on the current estimates.
pub(crate) struct Forecast {
    table: PlanTable,
    /// The current budget.
    pub(crate) now: BudgetPoint,
    /// Other budgets in ascending order.
    pub(crate) points: Vec<BudgetPoint>,
    pub(crate) sources: usize,
    /// Number of sources in the sample that the forecast is computed from.
    pub(crate) sampled: usize,
}

/// Long-run effect of a budget.
#[derive(Clone, Debug, Default)]
pub(crate) struct BudgetPoint {
    /// Fetches per day.
    pub(crate) budget: f64,
    /// Fetches per day that are worth making and allowed.
    pub(crate) spent: f64,
    pub(crate) freshness: f64,
    /// Mean age in days; infinite if a source is never fetched.
    pub(crate) age: f64,
    pub(crate) price: f64,
    /// Number of sources that have importance, change, and are never fetched.
    pub(crate) never_fetched: f64,
    /// IDs of saturated hosts with their price of a fetch, in descending order of price.
    pub(crate) saturated_hosts: Vec<(u32, f64)>,
    /// True if the budget covers every fetch worth making.
    pub(crate) is_enough: bool,
}

/// The latest forecast.
#[derive(Default)]
pub(crate) struct ForecastCache {
    last: Mutex<Option<(Instant, Arc<Forecast>)>>,
}

impl ForecastCache {
    /// Drops the cached forecast after a change of settings.
    pub(crate) async fn clear(&self) {
        *self.last.lock().await = None;
    }
}

/// Returns the current forecast, computing it if the cached one is too old.
pub(crate) async fn current_forecast(app: &Arc<App>) -> Result<Arc<Forecast>, Problem> {
    // The lock is held while computing, so that concurrent requests share the result.
    let mut last = app.web.forecasts.last.lock().await;
    if let Some((at, known)) = &*last
        && at.elapsed() < CACHE_TIME
    {
        return Ok(Arc::clone(known));
    }
    let table = PlanTable::sample(&app.handle).await?;
    let computed = tokio::task::spawn_blocking(move || Forecast::from_table(table));
    let computed = Arc::new(computed.await.map_err(|_| timeout_problem())??);
    *last = Some((Instant::now(), Arc::clone(&computed)));
    Ok(computed)
}

impl Forecast {
    fn from_table(table: PlanTable) -> Result<Self, Problem> {
        let sources = table.limited_columns()?;
        // Without a budget the curve is centered at one fetch per source and day.
        let base = if table.budget > 0.0 { table.budget } else { table.sources() as f64 };
        let center = base.clamp(1e-1, 1e10);
        let at =
            |budget: f64| table.solve_budget(&sources, budget).map(|it| budget_point(&table, &it));
        let budget_of = |n: u32| {
            let share = f64::from(n) / f64::from(POINT_COUNT - 1);
            center * BUDGET_FACTOR.powf(2.0 * share - 1.0)
        };
        let points = (0..POINT_COUNT).map(|n| at(budget_of(n))).collect::<Result<Vec<_>, _>>()?;
        let (all, sampled) = (table.sources(), table.rate.len());
        let now = match table.budget {
            budget if budget > 0.0 => at(budget)?,
            // Without fetches no copy stays fresh.
            _ => BudgetPoint {
                age: f64::INFINITY,
                never_fetched: all as f64,
                ..BudgetPoint::default()
            },
        };
        Ok(Self { now, points, sources: all, sampled, table })
    }

    /// Returns the effect of another budget.
    pub(crate) fn at_budget(&self, budget: f64) -> Result<BudgetPoint, Problem> {
        let sources = self.table.limited_columns()?;
        self.table.solve_budget(&sources, budget).map(|it| budget_point(&self.table, &it))
    }

    /// Returns the gain in freshness from 10% more budget than at a point of the curve.
    pub(crate) fn gain_of_10_percent(&self, point: &BudgetPoint) -> Option<f64> {
        let index = self.points.partition_point(|it| it.budget <= point.budget * 1.000_001);
        match self.points.get(index.wrapping_sub(1)).zip(self.points.get(index)) {
            // On a logarithmic scale the curve is nearly straight between two points.
            Some((low, high)) => {
                let slope = (high.freshness - low.freshness) / (high.budget / low.budget).ln();
                Some((slope * 1.1_f64.ln()).max(0.0))
            }
            None => {
                let more = self.at_budget(1.1 * point.budget).ok()?;
                Some((more.freshness - point.freshness).max(0.0))
            }
        }
    }

    /// Returns the smallest budget that reaches a freshness; `None` if no budget does.
    pub(crate) fn budget_for_freshness(&self, freshness: f64) -> Option<BudgetPoint> {
        let goal: Target = format!("freshness={freshness}").parse().ok()?;
        let sources = self.table.limited_columns().ok()?;
        let found = self.table.solve_target(&sources, &goal).ok()?;
        let found = budget_point(&self.table, &found);
        (found.budget.is_finite() && found.freshness >= freshness - 1e-6).then_some(found)
    }

    /// Name of the objective.
    pub(crate) fn objective(&self) -> String {
        self.table.objective.to_string()
    }
}

fn budget_point(table: &PlanTable, outcome: &BudgetOutcome) -> BudgetPoint {
    let BudgetOutcome { budget, solution, evaluation } = outcome;
    let number =
        |place: u32| table.rate_limits.host_ids.get(place as usize).copied().unwrap_or(place);
    let mut saturated_hosts: Vec<_> =
        solution.host_prices.iter().map(|it| (number(it.host), it.price)).collect();
    saturated_hosts.sort_by(|a, b| b.1.total_cmp(&a.1));
    BudgetPoint {
        budget: *budget,
        spent: solution.spent * table.sources_per_row,
        freshness: evaluation.freshness(),
        age: evaluation.age(),
        price: solution.price,
        never_fetched: evaluation.starved() as f64 * table.sources_per_row,
        saturated_hosts,
        is_enough: solution.status == Status::Unspent,
    }
}
