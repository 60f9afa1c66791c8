//! From sources and a budget to rates.

use freshet_model::PerDay;

use crate::hosts;
use crate::objective::Objective;
use crate::options::{Options, Policy, Timing};
use crate::price::{self, Ending, Outcome};
use crate::problem::{Problem, sum};
use crate::response::{Demand, Power, Response, Worth};
use crate::solution::{Gap, Solution, Status};
use crate::sources::{Column, Sources, in_range};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The budget is too large or too small to calculate with.
    #[error("budget {0:e}/day is not 0 or between 1e-30/day and 1e30/day")]
    BudgetRange(f64),
    /// The least rates alone take more than the budget.
    #[error("budget is below the sum of the minimum rates: {budget}/day < {minimum}/day")]
    BelowMinimum {
        /// The budget.
        budget: f64,
        /// What the least rates take.
        minimum: f64,
    },
    /// The least rates at a host take more than the host allows.
    #[error(
        "host number {host} allows {limit}/day, below the sum of its minimum rates {minimum}/day"
    )]
    HostBelowMinimum {
        /// The host's number.
        host: u32,
        /// What it allows.
        limit: f64,
        /// What the least rates of its sources take.
        minimum: f64,
    },
    /// A rate is no chance, though time is in slots.
    #[error("row {row}: with slots {column} is a chance and must be below 1, not {value}")]
    NotAChance {
        /// Which row, from 0.
        row: usize,
        /// The change rate, or the least rate (which may be 1).
        column: Column,
        /// Its value.
        value: f64,
    },
    /// A target that no budget reaches.
    #[error("{measure} = {target} cannot be reached: with any budget it comes to {best:?} at best")]
    OutOfReach {
        /// What was to be reached.
        measure: &'static str,
        /// The value to reach.
        target: f64,
        /// The value that no budget gets past.
        best: f64,
    },
}

/// Plans how often to fetch each source, so that all together take `budget` a day.
///
/// # Errors
/// [`PlanError`] when no rates are allowed: the least rates take more than the budget or than a
/// host allows, or a change rate is not a chance though time is in slots.
pub fn solve(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
) -> Result<Solution, PlanError> {
    solve_in(sources, budget, options, Vec::new())
}

/// [`solve`] for one who plans again and again: the rates of an earlier plan for as many sources
/// are overwritten, which spares the system from clearing a new column. (An optimum without host
/// limits uses `memory`; the others do not need it to be fast.)
///
/// # Errors
/// As [`solve`].
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
        Policy::Uniform => share_out(sources, budget, options, &vec![1.0; n]),
        Policy::ChangeRate => share_out(sources, budget, options, sources.change_rate),
        Policy::Importance => share_out(sources, budget, options, sources.importance),
        Policy::Floor(share) => {
            let floor = floor(sources, budget, share, options.timing);
            let sources = Sources { min_rate: Some(&floor), ..sources.without_observations() };
            let options = Options { objective: Objective::Freshness, ..*options };
            let mut solution = optimise(&sources, budget, &options, Status::Baseline, memory)?;
            // The floor rises with the budget, so its price is not what one more fetch is worth.
            solution.price = f64::NAN;
            solution.host_prices.clear();
            Ok(solution)
        }
    }
}

/// With slots, change rates are chances.
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

/// Least rates of a share of the uniform rate, as far as limits, hosts and the budget allow.
fn floor(sources: &Sources<'_>, budget: PerDay, share: f64, timing: Timing) -> Vec<f64> {
    let n = sources.len();
    let cost = |i: usize| sources.cost.map_or(1.0, |cost| cost[i]);
    let units = sum(n, cost);
    let each = if units > 0.0 { share * budget.get() / units } else { 0.0 };
    // In slots a rate is a chance.
    let each = if timing == Timing::Slots { each.min(1.0) } else { each };
    let own = |i: usize| sources.min_rate.map_or(0.0, |min| min[i]);
    let most = |i: usize| sources.max_rate.map_or(f64::INFINITY, |max| max[i]);
    let raise = |i: usize| (each.min(most(i)) - own(i)).max(0.0);
    // The part of the raise that fits beside the sources' own least rates.
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

/// In slots a rate is a chance: the most rates that this leaves.
fn chances_at_most_one(sources: &Sources<'_>, timing: Timing) -> Option<Vec<f64>> {
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
    let max_rate = chances_at_most_one(sources, options.timing);
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
    let minimum = problem.least();
    // Sums of the same numbers in another order may differ in the last places.
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
        Ending::Met => met,
        Ending::Unspent if met == Status::Optimal => Status::Unspent,
        Ending::Unspent => met,
        Ending::Inexact => Status::Inexact,
    };
    let gap = Gap { budget: budget_gap, kkt: kkt_gap };
    Ok(Solution { rates, spent, price, host_prices, status, gap, passes })
}

/// A rate of `1/y` per unit: what is proportional to something, as a response to a price.
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

/// Rates in proportion to `shares`, within the limits.
fn share_out(
    sources: &Sources<'_>,
    budget: PerDay,
    options: &Options,
    shares: &[f64],
) -> Result<Solution, PlanError> {
    // The response is a rate of `importance/price`, whatever a fetch costs.
    let importance: Vec<f64> = match sources.cost {
        None => shares.to_vec(),
        Some(cost) => shares.iter().zip(cost).map(|(share, cost)| share * cost).collect(),
    };
    let one = vec![1.0; sources.len()];
    let max_rate = chances_at_most_one(sources, options.timing);
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
