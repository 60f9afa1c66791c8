//! Smallest budget that reaches a target.

use std::str::FromStr;

use freshet_model::PerDay;

use crate::evaluate::{Order, RatedSources, evaluate};
use crate::objective::{Measure, Objective};
use crate::options::{Options, Policy, UnknownName};
use crate::plan::{PlanError, solve};
use crate::problem::sum;
use crate::solution::{Solution, Status};
use crate::sources::{LARGEST, SMALLEST, Sources};

/// Value that a measure must reach, such as `freshness=0.8`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    objective: Objective,
    measure: Measure,
    value: f64,
}

/// Error for an invalid target.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidTarget {
    /// The text has no `=`.
    #[error("`{0}` is not a target such as `freshness=0.8` or `age=2`")]
    Form(String),
    /// Unknown measure.
    #[error(transparent)]
    Measure(UnknownName),
    /// The measure cannot have this value.
    #[error("{key} = {value} is not a target: it must be {allowed}")]
    Value {
        /// The measure.
        key: &'static str,
        /// The value.
        value: String,
        /// Allowed values.
        allowed: &'static str,
    },
}

impl Target {
    /// Returns the measure.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Returns the value to reach.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }
}

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let (key, value) =
            text.split_once('=').ok_or_else(|| InvalidTarget::Form(text.to_owned()))?;
        let all = || {
            Objective::ALL.iter().flat_map(|&objective| {
                objective.measures().iter().map(move |&measure| (objective, measure))
            })
        };
        let (objective, measure) =
            all().find(|(_, measure)| measure.key == key.trim()).ok_or_else(|| {
                InvalidTarget::Measure(UnknownName {
                    what: "measure",
                    name: key.trim().to_owned(),
                    known: all().map(|(_, measure)| measure.key).collect(),
                })
            })?;
        let number = value.trim().parse::<f64>().ok();
        let share = measure.form == crate::objective::MeasureForm::OneMinusMean;
        let fine = |value: &f64| value.is_finite() && *value >= 0.0 && (!share || *value < 1.0);
        let value = number.filter(fine).ok_or_else(|| InvalidTarget::Value {
            key: measure.key,
            value: value.trim().to_owned(),
            allowed: if share { "at least 0 and below 1" } else { "a number not below 0" },
        })?;
        Ok(Self { objective, measure, value })
    }
}

/// Finds the smallest budget with which the plan reaches `goal`, and that plan.
///
/// # Errors
/// Returns the errors of [`solve`], and [`PlanError::OutOfReach`] if no budget reaches the target.
pub fn target(
    sources: &Sources<'_>,
    goal: &Target,
    options: &Options,
) -> Result<(PerDay, Solution), PlanError> {
    let search = Search::new(sources, goal, options);
    let floor = search.min_budget();
    let first = search.plan(floor)?;
    if first.cost <= search.goal {
        return Ok((per_day(floor), first.solution));
    }
    // Bounds: `below` is too small, `above` is large enough.
    let changes = sum(sources.len(), |i| sources.change_rate[i]);
    let mut above = search.plan(floor + changes.clamp(1e-20, 1e20))?;
    let mut below = None;
    while above.cost > search.goal {
        if above.solution.status == Status::Unspent || above.budget > LARGEST / 32.0 {
            let best = search.measure(goal, &above.solution);
            return Err(PlanError::OutOfReach {
                measure: goal.measure.key,
                target: goal.value,
                best,
            });
        }
        let next = search.plan(above.budget * 16.0)?;
        below = Some(std::mem::replace(&mut above, next));
    }
    let mut below = match below {
        Some(below) => below,
        None => loop {
            let next = search.plan(floor + (above.budget - floor) / 16.0)?;
            if next.cost > search.goal || next.budget <= floor.max(32.0 * SMALLEST) {
                break next;
            }
            above = next;
        },
    };
    search.bracket(&mut below, &mut above)?;
    Ok((per_day(above.budget), above.solution))
}

fn per_day(budget: f64) -> PerDay {
    PerDay::new(budget).unwrap_or(PerDay::ZERO)
}

struct Search<'a> {
    sources: &'a Sources<'a>,
    options: &'a Options,
    objective: Objective,
    /// Cost to reach.
    goal: f64,
}

struct TrialPlan {
    budget: f64,
    cost: f64,
    solution: Solution,
}

impl<'a> Search<'a> {
    fn new(sources: &'a Sources<'a>, goal: &Target, options: &'a Options) -> Self {
        let weight = sum(sources.len(), |i| sources.importance[i]);
        let cost = goal.measure.form.cost_for(goal.value, weight);
        Self { sources, options, objective: goal.objective, goal: cost }
    }

    /// Returns the sum of the minimum rates.
    fn min_budget(&self) -> f64 {
        let cost = |i: usize| self.sources.cost.map_or(1.0, |cost| cost[i]);
        self.sources.min_rate.map_or(0.0, |min| sum(min.len(), |i| cost(i) * min[i]))
    }

    /// Returns the sources as the policy sees them: policies other than the optimum poll observed sources as well.
    fn policy_sources(&self) -> Sources<'a> {
        match self.options.policy {
            Policy::Optimal => *self.sources,
            _ => self.sources.without_observations(),
        }
    }

    fn plan(&self, budget: f64) -> Result<TrialPlan, PlanError> {
        let solution = solve(self.sources, per_day(budget), self.options)?;
        let sources = self.policy_sources();
        let setting = RatedSources {
            sources: &sources,
            rates: &solution.rates,
            order: Order::Timed(self.options.timing),
            rule: self.options.rule(),
        };
        let cost = setting.cost(self.objective);
        // A budget beyond what the sources can use is not needed.
        let budget = if solution.status == Status::Unspent { solution.spent } else { budget };
        Ok(TrialPlan { budget, cost, solution })
    }

    fn measure(&self, goal: &Target, solution: &Solution) -> f64 {
        let sources = self.policy_sources();
        let all = evaluate(&sources, &solution.rates, self.options.timing, self.options.rule());
        let mut measures = all.measures();
        measures.find(|(measure, _)| *measure == goal.measure).map_or(f64::NAN, |(_, value)| value)
    }

    /// Regula falsi on logarithms (the Illinois rule), until the target is met to 1e-12.
    fn bracket(&self, below: &mut TrialPlan, above: &mut TrialPlan) -> Result<(), PlanError> {
        let excess = |tried: &TrialPlan| (tried.cost / self.goal).ln().clamp(-700.0, 700.0);
        let (mut high, mut low) = (excess(below), excess(above));
        let mut side = 0;
        for _ in 0..200 {
            let (a, b) = (below.budget.max(SMALLEST).ln(), above.budget.ln());
            if low >= -1e-13 || b - a < 1e-14 {
                break;
            }
            let weight = (high / (high - low)).clamp(0.01, 0.99);
            let next = self.plan((a + (b - a) * weight).exp())?;
            let next_excess = excess(&next);
            if next_excess > 0.0 {
                (*below, high) = (next, next_excess);
                if side == 1 {
                    low *= 0.5;
                }
                side = 1;
            } else {
                (*above, low) = (next, next_excess);
                if side == -1 {
                    high *= 0.5;
                }
                side = -1;
            }
        }
        Ok(())
    }
}
