//! Effect of additional sources on the freshness of the present ones.

use std::collections::HashMap;

use axum::http::StatusCode;
use freshet_plan::evaluate;
use freshet_store::SourceQuery;

use crate::app::App;
use crate::plan_table::{PlanTable, RateLimits, in_range};
use crate::problem::Problem;

/// Maximum number of hosts whose present sources are looked up: those with the most new sources.
const MAX_HOSTS: usize = 200;
/// Maximum number of sources of a host from which the change rate of new ones is estimated.
const SIBLINGS_PER_HOST: usize = 30;
/// Number of bisection steps in the search for a budget.
const BISECTION_STEPS: usize = 60;

/// A group of identical new sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewSourceGroup {
    pub(crate) count: usize,
    pub(crate) importance: f64,
    /// Expected changes per day of each source.
    pub(crate) rate: f64,
}

/// Metrics of a plan for the present sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanMetrics {
    /// Price of a fetch.
    pub(crate) price: f64,
    /// Importance-weighted share of time that copies are fresh.
    pub(crate) freshness: f64,
    /// Importance-weighted mean age of copies in days; infinite if a source would never be
    /// fetched.
    pub(crate) age: f64,
}

/// Effect of new sources, in the long run and if their change rates are as expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddImpact {
    /// Fetches per day, before and after.
    pub(crate) budget: f64,
    pub(crate) before: PlanMetrics,
    pub(crate) after: PlanMetrics,
    /// Share of the budget that the new sources would take.
    pub(crate) share: f64,
    /// Budget at which the present sources would stay as fresh as before; `None` if there is none.
    pub(crate) compensating_budget: Option<f64>,
}

/// Estimates the effect of new sources: a number for each host, all of one importance. Returns
/// `None` if there are no sources yet.
pub(crate) async fn estimate_add_impact(
    app: &App,
    hosts: &HashMap<String, usize>,
    importance: f64,
) -> Result<Option<AddImpact>, Problem> {
    let table = match PlanTable::sample(&app.handle).await {
        Ok(table) => table,
        Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let default_rate = median(table.rate.clone()).unwrap_or(1.0);
    let mut by_count: Vec<(String, usize)> =
        hosts.iter().map(|(name, count)| (name.clone(), *count)).collect();
    by_count.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest = by_count.iter().skip(MAX_HOSTS).map(|(_, count)| count).sum();
    by_count.truncate(MAX_HOSTS);
    let known = app.read(move |reader| {
        let mut known = Vec::with_capacity(by_count.len());
        for (name, count) in by_count {
            let ids = match reader.find_host(&name)? {
                None => Vec::new(),
                Some(host) => {
                    let (hosts, limit) = (vec![host.id], SIBLINGS_PER_HOST);
                    reader.source_ids(&SourceQuery { hosts, limit, ..SourceQuery::default() })?
                }
            };
            known.push((count, ids));
        }
        Ok(known)
    });
    let mut new = vec![NewSourceGroup { count: rest, importance, rate: default_rate }];
    for (count, ids) in known.await? {
        let rates = match ids.is_empty() {
            true => Vec::new(),
            false => {
                app.handle.source_statuses(ids).await?.iter().map(|it| it.change_rate).collect()
            }
        };
        new.push(NewSourceGroup { count, importance, rate: median(rates).unwrap_or(default_rate) });
    }
    new.retain(|it| it.count > 0);
    let impact = tokio::task::spawn_blocking(move || add_impact(&table, &new));
    impact.await.map_err(|_| crate::app::timeout_problem())?.map(Some)
}

fn add_impact(table: &PlanTable, new: &[NewSourceGroup]) -> Result<AddImpact, Problem> {
    let (budget, sample_budget) = (table.budget, table.budget / table.sources_per_row);
    let columns = table.limited_columns()?;
    let before = table.solve_budget(&columns, budget)?;
    let metrics = |price: f64, rates: &[f64]| {
        let options = table.options();
        let evaluation = evaluate(&columns, rates, options.timing, options.rule());
        PlanMetrics { price, freshness: evaluation.freshness(), age: evaluation.age() }
    };
    let mut extended = table.clone();
    extended.add(new);
    let after = extended.solve_budget(&extended.limited_columns()?, budget)?.solution;
    let count = table.rate.len();
    let spent = extended.cost[count..].iter().zip(&after.rates[count..]);
    let spent: f64 = spent.map(|(cost, rate)| cost * rate).sum();
    Ok(AddImpact {
        budget,
        before: metrics(before.solution.price, &before.solution.rates),
        after: metrics(after.price, &after.rates[..count]),
        share: if sample_budget > 0.0 { (spent / sample_budget).min(1.0) } else { 0.0 },
        compensating_budget: table
            .with_only(new)
            .budget_for_price(before.solution.price)?
            .map(|more| budget + more),
    })
}

impl PlanTable {
    /// Adds new sources. A group is one row: one source with m times the importance and cost is
    /// fetched as often as each of m sources.
    fn add(&mut self, new: &[NewSourceGroup]) {
        for it in new {
            let rows = it.count as f64 / self.sources_per_row;
            self.importance.push(in_range(rows * it.importance));
            self.rate.push(in_range(it.rate));
            self.cost.push(in_range(rows));
            self.observed.push(false);
            self.rate_limits.add_unlimited();
        }
    }

    /// Returns a table of the new sources alone.
    fn with_only(&self, new: &[NewSourceGroup]) -> Self {
        let mut table = self.clone();
        table.importance.clear();
        table.rate.clear();
        table.cost.clear();
        table.observed.clear();
        table.rate_limits = RateLimits::default();
        table.add(new);
        table
    }

    /// Returns the budget at which a price results; `None` if no budget lowers the price that far.
    fn budget_for_price(&self, price: f64) -> Result<Option<f64>, Problem> {
        let columns = self.limited_columns()?;
        let (mut low, mut high) = (1e-9_f64.ln(), 1e12_f64.ln());
        if price.is_nan() || price <= 0.0 {
            return Ok(None);
        }
        for _ in 0..BISECTION_STEPS {
            let middle = f64::midpoint(low, high);
            match self.solve_budget(&columns, middle.exp())?.solution.price > price {
                true => low = middle,
                false => high = middle,
            }
        }
        let found = high.exp();
        Ok((found < 0.99e12).then_some(found))
    }
}

fn median(mut rates: Vec<f64>) -> Option<f64> {
    let middle = rates.len() / 2;
    (!rates.is_empty()).then(|| *rates.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use freshet_plan::Objective;

    use super::*;

    fn table(objective: Objective) -> PlanTable {
        let rate: Vec<f64> = (1..=100).map(|n| 0.05 * f64::from(n)).collect();
        let mut rate_limits = RateLimits::default();
        (0..100).for_each(|_| rate_limits.add_unlimited());
        PlanTable {
            importance: vec![1.0; 100],
            cost: vec![1.0; 100],
            observed: vec![false; 100],
            rate_limits,
            rate,
            objective,
            budget: 300.0,
            sources_per_row: 10.0,
        }
    }

    #[test]
    fn new_sources_raise_the_price_and_the_compensating_budget_restores_it() {
        for objective in [Objective::Freshness, Objective::Harmonic] {
            let table = table(objective);
            let new = [
                NewSourceGroup { count: 300, importance: 1.0, rate: 1.0 },
                NewSourceGroup { count: 5, importance: 3.0, rate: 0.2 },
            ];
            let impact = add_impact(&table, &new).unwrap();
            assert!(impact.after.price > impact.before.price, "{impact:?}");
            assert!(impact.after.freshness < impact.before.freshness, "{impact:?}");
            assert!(impact.share > 0.1 && impact.share < 0.7, "{impact:?}");
            let compensating_budget = impact.compensating_budget.unwrap();
            assert!(compensating_budget > impact.budget);
            let mut extended = table.clone();
            extended.add(&new);
            let then = extended
                .solve_budget(&extended.limited_columns().unwrap(), compensating_budget)
                .unwrap()
                .solution;
            assert!((then.price / impact.before.price - 1.0).abs() < 1e-6, "{then:?}");
        }
    }

    #[test]
    fn sources_of_no_importance_have_no_impact() {
        let new = [NewSourceGroup { count: 1000, importance: 0.0, rate: 1.0 }];
        let impact = add_impact(&table(Objective::Freshness), &new).unwrap();
        assert!((impact.after.freshness - impact.before.freshness).abs() < 1e-6, "{impact:?}");
        assert!(impact.share < 1e-6, "{impact:?}");
    }
}
