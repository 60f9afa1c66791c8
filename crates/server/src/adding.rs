//! What more sources would do to those that are there.

use std::collections::HashMap;

use axum::http::StatusCode;
use freshet_plan::evaluate;
use freshet_store::SourceQuery;

use crate::app::App;
use crate::plan_table::{Manners, Table, in_range};
use crate::problem::Problem;

/// Hosts of which the sources that are there are looked at: those with the most new ones.
const HOSTS: usize = 200;
/// Sources of a host that say what the others there are like.
const SIBLINGS: usize = 30;
/// Halvings of the interval in which a budget is looked for.
const HALVINGS: usize = 60;

/// New sources that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    pub(crate) count: usize,
    pub(crate) importance: f64,
    /// Changes a day that are expected of each.
    pub(crate) rate: f64,
}

/// How the sources that are there fare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fare {
    /// What a fetch must be worth.
    pub(crate) price: f64,
    /// The share of time at which copies are fresh, by importance.
    pub(crate) freshness: f64,
    /// The mean age of copies in days, by importance; infinite if a source would never be fetched.
    pub(crate) age: f64,
}

/// What more sources would do, in the long run and if the rates are as expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// Fetches a day, before and after.
    pub(crate) budget: f64,
    pub(crate) before: Fare,
    pub(crate) after: Fare,
    /// The share of the budget that the new ones would take.
    pub(crate) share: f64,
    /// The budget with which those that are there would fare as before; `None` if there is none.
    pub(crate) keeping: Option<f64>,
}

/// What new sources would do: so many of each host, all of one importance. `None` if they are the first.
pub(crate) async fn effect_of(
    app: &App,
    hosts: &HashMap<String, usize>,
    importance: f64,
) -> Result<Option<Effect>, Problem> {
    let table = match Table::sample(&app.handle).await {
        Ok(table) => table,
        Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let usual = median(table.rate.clone()).unwrap_or(1.0);
    let mut named: Vec<(String, usize)> =
        hosts.iter().map(|(name, count)| (name.clone(), *count)).collect();
    named.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest = named.iter().skip(HOSTS).map(|(_, count)| count).sum();
    named.truncate(HOSTS);
    let known = app.read(move |reader| {
        let mut known = Vec::with_capacity(named.len());
        for (name, count) in named {
            let ids = match reader.find_host(&name)? {
                None => Vec::new(),
                Some(host) => {
                    let (hosts, limit) = (vec![host.id], SIBLINGS);
                    reader.source_ids(&SourceQuery { hosts, limit, ..SourceQuery::default() })?
                }
            };
            known.push((count, ids));
        }
        Ok(known)
    });
    let mut new = vec![Alike { count: rest, importance, rate: usual }];
    for (count, ids) in known.await? {
        let rates = match ids.is_empty() {
            true => Vec::new(),
            false => app.handle.glance(ids).await?.iter().map(|it| it.rate).collect(),
        };
        new.push(Alike { count, importance, rate: median(rates).unwrap_or(usual) });
    }
    new.retain(|it| it.count > 0);
    let effect = tokio::task::spawn_blocking(move || effect(&table, &new));
    effect.await.map_err(|_| crate::app::too_long())?.map(Some)
}

fn effect(table: &Table, new: &[Alike]) -> Result<Effect, Problem> {
    let (budget, own) = (table.budget, table.budget / table.each);
    let there = table.polite()?;
    let before = table.at(&there, budget)?;
    let fare = |price: f64, rates: &[f64]| {
        let options = table.options();
        let it = evaluate(&there, rates, options.timing, options.rule());
        Fare { price, freshness: it.freshness(), age: it.age() }
    };
    let mut all = table.clone();
    all.add(new);
    let after = all.at(&all.polite()?, budget)?.solution;
    let count = table.rate.len();
    let spent = all.cost[count..].iter().zip(&after.rates[count..]);
    let spent: f64 = spent.map(|(cost, rate)| cost * rate).sum();
    Ok(Effect {
        budget,
        before: fare(before.solution.price, &before.solution.rates),
        after: fare(after.price, &after.rates[..count]),
        share: if own > 0.0 { (spent / own).min(1.0) } else { 0.0 },
        keeping: table.alone(new).at_price(before.solution.price)?.map(|more| budget + more),
    })
}

impl Table {
    /// Adds sources. Those that are alike stand in one row: one of m times the importance and cost is
    /// fetched as often as each of m.
    fn add(&mut self, new: &[Alike]) {
        for it in new {
            let many = it.count as f64 / self.each;
            self.importance.push(in_range(many * it.importance));
            self.rate.push(in_range(it.rate));
            self.cost.push(in_range(many));
            self.observed.push(false);
            self.manners.add_free();
        }
    }

    /// New sources without those that are there.
    fn alone(&self, new: &[Alike]) -> Self {
        let mut table = self.clone();
        table.importance.clear();
        table.rate.clear();
        table.cost.clear();
        table.observed.clear();
        table.manners = Manners::default();
        table.add(new);
        table
    }

    /// The budget at which a price holds; `None` if no budget brings it down to that.
    fn at_price(&self, price: f64) -> Result<Option<f64>, Problem> {
        let columns = self.polite()?;
        let (mut low, mut high) = (1e-9_f64.ln(), 1e12_f64.ln());
        if price.is_nan() || price <= 0.0 {
            return Ok(None);
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            match self.at(&columns, middle.exp())?.solution.price > price {
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

    fn table(objective: Objective) -> Table {
        let rate: Vec<f64> = (1..=100).map(|n| 0.05 * f64::from(n)).collect();
        let mut manners = Manners::default();
        (0..100).for_each(|_| manners.add_free());
        Table {
            importance: vec![1.0; 100],
            cost: vec![1.0; 100],
            observed: vec![false; 100],
            manners,
            rate,
            objective,
            budget: 300.0,
            each: 10.0,
        }
    }

    #[test]
    fn more_sources_raise_the_price_and_more_budget_makes_up_for_it() {
        for objective in [Objective::Freshness, Objective::Harmonic] {
            let table = table(objective);
            let new = [
                Alike { count: 300, importance: 1.0, rate: 1.0 },
                Alike { count: 5, importance: 3.0, rate: 0.2 },
            ];
            let it = effect(&table, &new).unwrap();
            assert!(it.after.price > it.before.price, "{it:?}");
            assert!(it.after.freshness < it.before.freshness, "{it:?}");
            assert!(it.share > 0.1 && it.share < 0.7, "{it:?}");
            let keeping = it.keeping.unwrap();
            assert!(keeping > it.budget);
            let mut all = table.clone();
            all.add(&new);
            let then = all.at(&all.polite().unwrap(), keeping).unwrap().solution;
            assert!((then.price / it.before.price - 1.0).abs() < 1e-6, "{then:?}");
        }
    }

    #[test]
    fn what_does_not_matter_changes_nothing() {
        let new = [Alike { count: 1000, importance: 0.0, rate: 1.0 }];
        let it = effect(&table(Objective::Freshness), &new).unwrap();
        assert!((it.after.freshness - it.before.freshness).abs() < 1e-6, "{it:?}");
        assert!(it.share < 1e-6, "{it:?}");
    }
}
