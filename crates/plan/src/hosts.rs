//! Host limits: a saturated host gets a price of its own.
//!
//! The first plan ignores the limits. Each host above its limit is then planned separately at
//! its limit, and the rest of the budget goes to the other hosts, whose price falls. A host that is
//! saturated stays saturated, because prices only fall (Kolobov et al., SIGIR 2019).

use rayon::prelude::*;

use crate::price::{self, Outcome, SearchEnd};
use crate::problem::Problem;
use crate::solution::HostPrice;
use crate::sources::HostColumns;

/// A host whose minimum rates exceed its limit.
pub(crate) struct HostBelowMinimum {
    pub(crate) host: u32,
    pub(crate) limit: f64,
    pub(crate) minimum: f64,
}

/// Result of a plan with host limits.
pub(crate) struct HostLimitedPlan {
    pub(crate) outcome: Outcome,
    pub(crate) prices: Vec<HostPrice>,
}

/// Rows grouped by host.
struct RowsByHost {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl RowsByHost {
    fn new(hosts: &HostColumns<'_>) -> Self {
        let mut starts = vec![0; hosts.limits.len() + 1];
        for &host in hosts.of_source {
            starts[host as usize + 1] += 1;
        }
        for host in 1..starts.len() {
            starts[host] += starts[host - 1];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; hosts.of_source.len()];
        for (row, &host) in hosts.of_source.iter().enumerate() {
            let at = &mut next[host as usize];
            rows[*at] = row as u32;
            *at += 1;
        }
        Self { rows, starts }
    }

    fn rows_of(&self, host: usize) -> &[u32] {
        &self.rows[self.starts[host]..self.starts[host + 1]]
    }
}

/// Copy of some rows of a problem.
struct SubProblem {
    rows: Vec<u32>,
    importance: Vec<f64>,
    change_rate: Vec<f64>,
    complete: Option<Vec<bool>>,
    cost: Option<Vec<f64>>,
    min_rate: Option<Vec<f64>>,
    max_rate: Option<Vec<f64>>,
}

impl SubProblem {
    fn new(problem: &Problem<'_>, rows: Vec<u32>) -> Self {
        let column = |values: &[f64]| rows.par_iter().map(|&row| values[row as usize]).collect();
        Self {
            importance: column(problem.importance),
            change_rate: column(problem.change_rate),
            complete: problem
                .complete
                .map(|all| rows.par_iter().map(|&row| all[row as usize]).collect()),
            cost: problem.cost.map(column),
            min_rate: problem.min_rate.map(column),
            max_rate: problem.max_rate.map(column),
            rows,
        }
    }

    fn problem<'a>(&'a self, of: &Problem<'a>) -> Problem<'a> {
        Problem {
            importance: &self.importance,
            change_rate: &self.change_rate,
            complete: self.complete.as_deref(),
            cost: self.cost.as_deref(),
            min_rate: self.min_rate.as_deref(),
            max_rate: self.max_rate.as_deref(),
            ..*of
        }
    }
}

/// Plans `problem` under host limits.
pub(crate) fn solve(
    problem: &Problem<'_>,
    hosts: &HostColumns<'_>,
    budget: f64,
) -> Result<HostLimitedPlan, HostBelowMinimum> {
    let grouped = RowsByHost::new(hosts);
    let limited: Vec<u32> = (0..hosts.limits.len())
        .filter(|&host| hosts.limits[host].is_finite() && !grouped.rows_of(host).is_empty())
        .map(|host| host as u32)
        .collect();
    let spend_of = |host: u32, rate: &(dyn Fn(usize) -> f64 + Sync)| -> f64 {
        let rows = grouped.rows_of(host as usize);
        rows.iter().map(|&row| problem.cost_of(row as usize) * rate(row as usize)).sum()
    };
    if let Some(min) = problem.min_rate {
        for &host in &limited {
            let (limit, minimum) = (hosts.limits[host as usize], spend_of(host, &|row| min[row]));
            if minimum > limit * (1.0 + 1e-12) {
                return Err(HostBelowMinimum { host, limit, minimum });
            }
        }
    }

    let mut saturated = vec![false; hosts.limits.len()];
    let mut outcome = price::solve(problem, budget, Vec::new());
    let mut left = budget;
    loop {
        let rates = &outcome.rates;
        let violators: Vec<u32> = limited
            .par_iter()
            .copied()
            .filter(|&host| !saturated[host as usize])
            .filter(|&host| {
                spend_of(host, &|row| rates[row]) > hosts.limits[host as usize] * (1.0 + 1e-12)
            })
            .collect();
        if violators.is_empty() {
            break;
        }
        for &host in &violators {
            saturated[host as usize] = true;
            left -= hosts.limits[host as usize];
        }
        let free = (0..problem.len() as u32)
            .filter(|&row| !saturated[hosts.of_source[row as usize] as usize])
            .collect();
        let part = SubProblem::new(problem, free);
        let again = price::solve(&part.problem(problem), left.max(0.0), Vec::new());
        let passes = outcome.passes + again.passes;
        let mut rates = std::mem::take(&mut outcome.rates);
        scatter(&part.rows, &again.rates, &mut rates);
        outcome = Outcome { rates, passes, ..again };
    }
    Ok(plan_saturated(problem, hosts, &grouped, &saturated, outcome))
}

fn scatter(rows: &[u32], from: &[f64], to: &mut [f64]) {
    for (&row, &rate) in rows.iter().zip(from) {
        to[row as usize] = rate;
    }
}

/// Plans each saturated host separately at its limit.
fn plan_saturated(
    problem: &Problem<'_>,
    hosts: &HostColumns<'_>,
    grouped: &RowsByHost,
    saturated: &[bool],
    mut outcome: Outcome,
) -> HostLimitedPlan {
    let full: Vec<usize> = (0..saturated.len()).filter(|&host| saturated[host]).collect();
    let alone: Vec<(usize, SubProblem, Outcome)> = full
        .into_par_iter()
        .map(|host| {
            let part = SubProblem::new(problem, grouped.rows_of(host).to_vec());
            let planned = price::solve(&part.problem(problem), hosts.limits[host], Vec::new());
            (host, part, planned)
        })
        .collect();
    let mut prices = Vec::with_capacity(alone.len());
    for (host, part, planned) in alone {
        scatter(&part.rows, &planned.rates, &mut outcome.rates);
        outcome.spent += planned.spent;
        outcome.budget_gap = outcome.budget_gap.max(planned.budget_gap);
        outcome.kkt_gap = outcome.kkt_gap.max(planned.kkt_gap);
        if planned.ending == SearchEnd::Inexact {
            outcome.ending = SearchEnd::Inexact;
        }
        prices.push(HostPrice { host: host as u32, price: planned.price });
    }
    HostLimitedPlan { outcome, prices }
}
