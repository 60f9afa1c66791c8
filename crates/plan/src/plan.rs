//! From sources and a budget to rates.

use freshet_model::PerDay;

use crate::hosts;
use crate::objective::Objective;
use crate::options::{Options, Policy, Timing};
use crate::price::{self, Outcome, SearchEnd};
use crate::problem::{Problem, sum};
use crate::response::{Demand, Power, Response, Worth};
use crate::solution::{Gap, Solution, Status};
use crate::sources::{Column, Sources, in_range};

/// Error of [`solve`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The budget is out of range.
    #[error("budget {0:e}/day is not 0 or between 1e-30/day and 1e30/day")]
    BudgetRange(f64),
    /// The minimum rates take more than the budget.
    #[error("budget is below the sum of the minimum rates: {budget}/day < {minimum}/day")]
    BelowMinimum {
        /// The budget.
        budget: f64,
        /// Sum of the minimum rates.
        minimum: f64,
    },
    /// The minimum rates at a host exceed its limit.
    #[error(
        "host number {host} allows {limit}/day, below the sum of its minimum rates {minimum}/day"
    )]
    HostBelowMinimum {
        /// Index of the host.
        host: u32,
        /// Limit of the host.
        limit: f64,
        /// Sum of the minimum rates of its sources.
        minimum: f64,
    },
    /// A rate is not a probability although time is in slots.
    #[error("row {row}: with slots, {column} is a probability and must be below 1: {value}")]
    NotAChance {
        /// Row, counted from 0.
        row: usize,
        /// Change rate, or minimum rate (which may be 1).
        column: Column,
        /// Its value.
        value: f64,
    },
    /// No budget reaches the target.
    #[error("{measure} = {target} cannot be reached: the best value with any budget is {best:?}")]
    OutOfReach {
        /// Measure of the target.
        measure: &'static str,
        /// Value to reach.
        target: f64,
        /// Value that no budget gets past.
        best: f64,
    },
}

/// Computes the fetch rate of each source so that all sources together take `budget` per day.
///
/// # Errors
/// [`PlanError`] if no rates are feasible: the minimum rates exceed the budget or the limit of a
/// host, or a change rate is not a probability although time is in slots.
pub fn solve(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
) -> Result<Solution, PlanError> {
    solve_in(sources, budget, options, Vec::new())
}

/// As [`solve`], but reuses the rates of an earlier plan for the same number of sources, so that the system need not
/// clear a new column. Only an optimum without host limits uses `memory`.
///
/// # Errors
/// Returns the errors of [`solve`].
pub fn solve_in(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
    memory: Vec<f64>,
) -> Result<Solution, PlanError> {
    if budget.get() != 0.0 && !in_range(budget.get()) {
        return Err(PlanError::BudgetRange(budget.get()));
    }
    check_slots(sources, options.timing)?;
    let n = sources.len();
    match options.policy {
        Policy::Optimal => optimise(sources, budget, options, Status::Optimal, memory),
        Policy::Uniform => proportional_rates(sources, budget, options, &vec![1.0; n]),
        Policy::ChangeRate => proportional_rates(sources, budget, options, sources.change_rate),
        Policy::Importance => proportional_rates(sources, budget, options, sources.importance),
        Policy::Floor(share) => {
            let floor = floor(sources, budget, share, options.timing);
            let sources = Sources { min_rate: Some(&floor), ..sources.without_observations() };
            let options = Options { objective: Objective::Freshness, ..*options };
            let mut solution = optimise(&sources, budget, &options, Status::Baseline, memory)?;
            // The floor rises with the budget, so its price is not the worth of one more fetch.
            solution.price = f64::NAN;
            solution.host_prices.clear();
            Ok(solution)
        }
    }
}

/// Checks that change rates are probabilities if time is in slots.
pub(crate) fn check_slots(sources: &Sources<'_>, timing: Timing) -> Result<(), PlanError> {
    if timing != Timing::Slots {
        return Ok(());
    }
    let too_much = |column, values: &[f64], fine: &dyn Fn(f64) -> bool| {
        let row = values.iter().position(|&value| !fine(value));
        row.map_or(Ok(()), |row| Err(PlanError::NotAChance { row, column, value: values[row] }))
    };
    too_much(Column::ChangeRate, sources.change_rate, &|chance| chance < 1.0)?;
    too_much(Column::MinRate, sources.min_rate.unwrap_or_default(), &|chance| chance <= 1.0)
}

/// Returns minimum rates of a share of the uniform rate, as far as limits, hosts and the budget allow.
fn floor(sources: &Sources<'_>, budget: PerDay, share: f64, timing: Timing) -> Vec<f64> {
    let n = sources.len();
    let cost = |i: usize| sources.cost.map_or(1.0, |cost| cost[i]);
    let units = sum(n, cost);
    let each = if units > 0.0 { share * budget.get() / units } else { 0.0 };
    // In slots, a rate is a probability.
    let each = if timing == Timing::Slots { each.min(1.0) } else { each };
    let own = |i: usize| sources.min_rate.map_or(0.0, |min| min[i]);
    let most = |i: usize| sources.max_rate.map_or(f64::INFINITY, |max| max[i]);
    let raise = |i: usize| (each.min(most(i)) - own(i)).max(0.0);
    // The part of the raise that fits beside the minimum rates of the sources.
    let fits = |limit: f64, own: f64, raise: f64| {
        if own + raise > limit { ((limit - own) / raise).max(0.0) } else { 1.0 }
    };
    let all = fits(budget.get(), sum(n, |i| cost(i) * own(i)), sum(n, |i| cost(i) * raise(i)));
    let Some(hosts) = &sources.hosts else {
        return (0..n).map(|i| own(i) + all * raise(i)).collect();
    };
    let mut taken = vec![(0.0, 0.0); hosts.limits.len()];
    for (i, &host) in hosts.of_source.iter().enumerate() {
        let (own_taken, raise_taken) = &mut taken[host as usize];
        *own_taken += cost(i) * own(i);
        *raise_taken += cost(i) * raise(i);
    }
    let parts: Vec<f64> = taken
        .iter()
        .zip(hosts.limits)
        .map(|(&(own, raise), &limit)| all.min(fits(limit, own, raise)))
        .collect();
    (0..n).map(|i| own(i) + parts[hosts.of_source[i] as usize] * raise(i)).collect()
}

/// Returns maximum rates such that every rate is a probability if time is in slots.
fn cap_at_one(sources: &Sources<'_>, timing: Timing) -> Option<Vec<f64>> {
    (timing == Timing::Slots).then(|| match sources.max_rate {
        Some(max) => max.iter().map(|&max| max.min(1.0)).collect(),
        None => vec![1.0; sources.len()],
    })
}

fn optimise(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
    met: Status,
    memory: Vec<f64>,
) -> Result<Solution, PlanError> {
    let max_rate = cap_at_one(sources, options.timing);
    let problem = Problem {
        importance: sources.importance,
        change_rate: sources.change_rate,
        complete: sources.complete,
        cost: sources.cost,
        min_rate: sources.min_rate,
        max_rate: max_rate.as_deref().or(sources.max_rate),
        power: options.objective.power(),
        polled: options.objective.polled(options.timing),
        observed: options.objective.observed(options.observed, options.timing),
    };
    run(&problem, sources, budget, met, memory)
}

fn run(
    problem: &Problem<'_>,
    sources: &Sources<'_>,
    budget: PerDay,
    met: Status,
    memory: Vec<f64>,
) -> Result<Solution, PlanError> {
    let minimum = problem.min_spend();
    // Sums of the same numbers in a different order may differ in the last digits.
    if budget.get() < minimum * (1.0 - 1e-12) {
        return Err(PlanError::BelowMinimum { budget: budget.get(), minimum });
    }
    let (outcome, host_prices) = match &sources.hosts {
        None => (price::solve(problem, budget.get(), memory), Vec::new()),
        Some(hosts) => {
            let planned = hosts::solve(problem, hosts, budget.get()).map_err(|below| {
                let hosts::HostBelowMinimum { host, limit, minimum } = below;
                PlanError::HostBelowMinimum { host, limit, minimum }
            })?;
            (planned.outcome, planned.prices)
        }
    };
    let Outcome { rates, price, spent, ending, budget_gap, kkt_gap, passes } = outcome;
    let status = match ending {
        SearchEnd::Met => met,
        SearchEnd::Unspent if met == Status::Optimal => Status::Unspent,
        SearchEnd::Unspent => met,
        SearchEnd::Inexact => Status::Inexact,
    };
    let gap = Gap { budget: budget_gap, kkt: kkt_gap };
    Ok(Solution { rates, spent, price, host_prices, status, gap, passes })
}

/// Rate of `1/y` per unit: expresses proportional rates as a response to a price.
struct Proportional;

impl Response for Proportional {
    #[inline(always)]
    fn demand(y: f64, _c: f64) -> Demand {
        Demand { fetches: 1.0 / y, slope: -1.0 / y }
    }

    #[inline(always)]
    fn worth(s: f64, _c: f64) -> Worth {
        Worth::smooth(1.0 / s)
    }

    fn cost(_s: f64, _c: f64) -> f64 {
        0.0
    }
}

/// Returns rates proportional to `shares`, within the limits.
fn proportional_rates(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
    shares: &[f64],
) -> Result<Solution, PlanError> {
    // The response is a rate of `importance/price`, independent of the cost of a fetch.
    let importance: Vec<f64> = match sources.cost {
        None => shares.to_vec(),
        Some(cost) => shares.iter().zip(cost).map(|(share, cost)| share * cost).collect(),
    };
    let one = vec![1.0; sources.len()];
    let max_rate = cap_at_one(sources, options.timing);
    let problem = Problem {
        importance: &importance,
        change_rate: &one,
        complete: None,
        cost: sources.cost,
        min_rate: sources.min_rate,
        max_rate: max_rate.as_deref().or(sources.max_rate),
        power: Power::One,
        polled: &Proportional,
        observed: &Proportional,
    };
    let mut solution = run(&problem, sources, budget, Status::Baseline, Vec::new())?;
    solution.price = f64::NAN;
    solution.host_prices.clear();
    solution.gap.kkt = 0.0;
    Ok(solution)
}
