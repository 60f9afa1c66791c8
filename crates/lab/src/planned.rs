//! Shortcuts for the planner.

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Options, Order, Policy, Solution, Sources, Timing, evaluate, solve,
};

use crate::error::LabError;

/// Returns the best rates.
pub(crate) fn best(
    weights: &[f64],
    changes: &[f64],
    budget: f64,
    objective: Objective,
    timing: Timing,
) -> Result<Solution, LabError> {
    by(weights, changes, budget, &Options { objective, timing, ..Options::default() })
}

/// Returns the rates of a rule that does not optimise.
pub(crate) fn rule(
    weights: &[f64],
    changes: &[f64],
    budget: f64,
    policy: Policy,
) -> Result<Vec<f64>, LabError> {
    Ok(by(weights, changes, budget, &Options { policy, ..Options::default() })?.rates)
}

pub(crate) fn by(
    weights: &[f64],
    changes: &[f64],
    budget: f64,
    options: &Options,
) -> Result<Solution, LabError> {
    Ok(solve(&Sources::new(weights, changes)?, PerDay::new(budget)?, options)?)
}

/// Evaluates rates of polled sources.
pub(crate) fn measured(
    weights: &[f64],
    changes: &[f64],
    rates: &[f64],
    order: impl Into<Order>,
) -> Result<Evaluation, LabError> {
    let rule = Options::default().rule();
    Ok(evaluate(&Sources::new(weights, changes)?, rates, order, rule))
}
