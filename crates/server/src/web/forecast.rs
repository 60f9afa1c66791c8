//! What budgets would buy: calculated once for all who look within some seconds.

use std::sync::Arc;
use std::time::Duration;

use freshet_plan::{Status, Target};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::app::{App, too_long};
use crate::plan_table::{Outcome, Table};
use crate::problem::Problem;

/// How long it is good for.
const GOOD: Duration = Duration::from_secs(20);
/// Budgets of a curve, from the smallest to the largest.
const POINTS: u32 = 33;
const AROUND: f64 = 30.0;

/// What budgets would buy, as far as is believed now.
pub(crate) struct Forecast {
    table: Table,
    /// The budget that holds, and what it buys in the long run.
    pub(crate) now: Point,
    /// Others, the smallest first.
    pub(crate) points: Vec<Point>,
    /// How many sources there are, and of how many this was calculated.
    pub(crate) sources: usize,
    pub(crate) sampled: usize,
}

/// What a budget buys in the long run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    /// Fetches a day.
    pub(crate) budget: f64,
    /// Of them, those that can be made.
    pub(crate) spent: f64,
    pub(crate) freshness: f64,
    /// Days; infinite if a source is never fetched.
    pub(crate) age: f64,
    pub(crate) price: f64,
    /// Sources that matter and change and are never fetched.
    pub(crate) never: f64,
    /// Hosts that cannot take all that is worth the price, by number, the dearest first.
    pub(crate) full: Vec<(u32, f64)>,
    /// Whether more budget would be of use.
    pub(crate) is_enough: bool,
}

/// The one that was calculated last, and when.
#[derive(Default)]
pub(crate) struct Forecasts {
    last: Mutex<Option<(Instant, Arc<Forecast>)>>,
}

impl Forecasts {
    /// Forgets it: something else holds now.
    pub(crate) async fn forget(&self) {
        *self.last.lock().await = None;
    }
}

/// What budgets would buy.
pub(crate) async fn forecast(app: &Arc<App>) -> Result<Arc<Forecast>, Problem> {
    // Others who ask meanwhile wait for the same answer.
    let mut last = app.web.forecasts.last.lock().await;
    if let Some((at, known)) = &*last
        && at.elapsed() < GOOD
    {
        return Ok(Arc::clone(known));
    }
    let table = Table::sample(&app.handle).await?;
    let made = tokio::task::spawn_blocking(move || Forecast::of(table));
    let made = Arc::new(made.await.map_err(|_| too_long())??);
    *last = Some((Instant::now(), Arc::clone(&made)));
    Ok(made)
}

impl Forecast {
    fn of(table: Table) -> Result<Self, Problem> {
        let sources = table.polite()?;
        // Who has none yet begins with a fetch a day for each source.
        let usual = if table.budget > 0.0 { table.budget } else { table.sources() as f64 };
        let middle = usual.clamp(1e-1, 1e10);
        let at = |budget: f64| table.at(&sources, budget).map(|it| point(&table, &it));
        let step = |n: u32| {
            let share = f64::from(n) / f64::from(POINTS - 1);
            middle * AROUND.powf(2.0 * share - 1.0)
        };
        let points = (0..POINTS).map(|n| at(step(n))).collect::<Result<Vec<_>, _>>()?;
        let (all, sampled) = (table.sources(), table.rate.len());
        let now = match table.budget {
            budget if budget > 0.0 => at(budget)?,
            // Without fetches nothing stays fresh.
            _ => Point { age: f64::INFINITY, never: all as f64, ..Point::default() },
        };
        Ok(Self { now, points, sources: all, sampled, table })
    }

    /// What another budget would buy.
    pub(crate) fn at(&self, budget: f64) -> Result<Point, Problem> {
        let sources = self.table.polite()?;
        self.table.at(&sources, budget).map(|it| point(&self.table, &it))
    }

    /// The smallest budget with which so large a share is fresh; `None` if none is large enough.
    pub(crate) fn reach(&self, freshness: f64) -> Option<Point> {
        let goal: Target = format!("freshness={freshness}").parse().ok()?;
        let sources = self.table.polite().ok()?;
        let found = self.table.reach(&sources, &goal).ok()?;
        let found = point(&self.table, &found);
        (found.budget.is_finite() && found.freshness >= freshness - 1e-6).then_some(found)
    }

    /// What the budget is to buy.
    pub(crate) fn objective(&self) -> String {
        self.table.objective.to_string()
    }
}

fn point(table: &Table, outcome: &Outcome) -> Point {
    let Outcome { budget, solution, evaluation } = outcome;
    let number = |place: u32| table.manners.hosts.get(place as usize).copied().unwrap_or(place);
    let mut full: Vec<_> =
        solution.host_prices.iter().map(|it| (number(it.host), it.price)).collect();
    full.sort_by(|a, b| b.1.total_cmp(&a.1));
    Point {
        budget: *budget,
        spent: solution.spent * table.each,
        freshness: evaluation.freshness(),
        age: evaluation.age(),
        price: solution.price,
        never: evaluation.starved() as f64 * table.each,
        full,
        is_enough: solution.status == Status::Unspent,
    }
}
