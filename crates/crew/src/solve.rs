//! Optimal switching curve, by policy iteration.
//!
//! A curve is evaluated exactly ([`evaluate`](fn@crate::evaluate)). Then the target at each queue length
//! moves to the lowest value, and so on until nothing changes. Every step towards a
//! lower value is an improvement, so a partial step is one, too. This matters at the start: with
//! slow fetchers, the first curve after a flat one would be far too steep, and a steep curve is slow to
//! evaluate. Steps are shortened by the same factor at all queue lengths, because corners in a curve
//! disappear slowly.

use crate::bound::gap;
use crate::evaluate::{Evaluation, Measures};
use crate::fixed::{best_fixed, best_load};
use crate::stairs::FEW;
use crate::values::Values;
use crate::{CrewError, Policy, Setting};

/// Largest number of states: queue lengths times numbers of active fetchers.
const STATES: f64 = 1e7;
/// Largest change of a target in the first step; it doubles after each shortened step.
const REACH: u32 = 4;
/// Range in which values are compared, in multiples of the step limit.
const SIGHT: u32 = 8;
/// Rate of starvation and loss below which no better curve is needed, unless it is
/// cheap.
const NEVER: f64 = 1e-15;
/// Relative difference of equal costs.
const ROUNDING: f64 = 1e-12;
/// Largest number of iterations, which ends a search that cycles because of rounding.
const ITERATIONS: u32 = 500;

/// Optimal switching curve with its measures and accuracy.
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamic {
    /// Policy that decides when to start a fetcher.
    pub policy: Policy,
    /// Measures of the policy.
    pub measures: Measures,
    /// Upper bound on the difference to the cost of any policy.
    pub gap: f64,
    /// Number of evaluated curves.
    pub iterations: u32,
    /// True if the search ended because the queue is practically never empty and practically never
    /// loses a page. Many curves are then equally good, so this one says little about the useful number of fetchers;
    /// the gap is at most the cost.
    pub ended_early: bool,
}

/// Returns the switching curve with the lowest cost, if fetchers can be started at each event.
///
/// Without `available`, the number of fetchers is as large as is useful, and the
/// policy contains it. The search ends early if the queue is practically never empty and
/// practically never loses a page: with a large buffer many curves are equally good, and
/// [`ended_early`](Dynamic::ended_early) is true.
pub fn solve(setting: &Setting, available: Option<u32>) -> Result<Dynamic, CrewError> {
    solve_watched(setting, available, &mut |_, _| {})
}

/// As [`solve`], and calls `watch` with the number of each curve and the lowest cost so far.
pub fn solve_watched(
    setting: &Setting,
    available: Option<u32>,
    watch: &mut dyn FnMut(u32, f64),
) -> Result<Dynamic, CrewError> {
    let most = most(setting, available)?;
    let start = best_fixed(setting, Some(most))?.fetchers as u32;
    let mut targets = vec![start; setting.buffer() as usize + 1];
    let mut best = targets.clone();
    let mut least = f64::INFINITY;
    let mut reach = REACH;
    let mut iterations = 0;
    loop {
        iterations += 1;
        let evaluation = Evaluation::new(setting, &targets)?;
        let cost = evaluation.cost();
        if cost.is_nan() || cost > least * (1.0 + ROUNDING) {
            // The step was based on rounding errors.
            return dynamic(
                setting,
                &Evaluation::new(setting, &best)?,
                available,
                iterations,
                false,
            );
        }
        watch(iterations, cost * setting.process_rate());
        let stairs = evaluation.stairs.states().len();
        let never = cost <= NEVER * setting.weight().min(1.0) && stairs > FEW;
        // A cost of zero is an underflow, unless starvation costs nothing.
        let ended_early = (never || cost == 0.0) && setting.weight() > 0.0;
        let done = ended_early || cost == 0.0 || iterations == ITERATIONS;
        let improved = if done { None } else { improve(&evaluation, most, &mut reach) };
        let Some(improved) = improved else {
            return dynamic(setting, &evaluation, available, iterations, ended_early);
        };
        if available.is_none() && improved[0] == most {
            return Err(too_many_states(setting, f64::from(most)));
        }
        least = least.min(cost);
        best = std::mem::replace(&mut targets, improved);
    }
}

/// Returns the largest number of active fetchers.
fn most(setting: &Setting, available: Option<u32>) -> Result<u32, CrewError> {
    let room = STATES / (f64::from(setting.buffer()) + 1.0) - 1.0;
    let wanted = match available {
        Some(available) => f64::from(available),
        // One less than there is room for, so that a useless fetcher is recognised.
        None => best_load(setting) / setting.fetched() + 1.0,
    };
    if wanted > room {
        return Err(too_many_states(setting, wanted));
    }
    Ok(available.unwrap_or(room as u32))
}

fn too_many_states(setting: &Setting, fetchers: f64) -> CrewError {
    let states = (fetchers + 1.0) * (f64::from(setting.buffer()) + 1.0);
    CrewError::TooManyStates { states, limit: STATES }
}

fn dynamic(
    setting: &Setting,
    evaluation: &Evaluation<'_>,
    available: Option<u32>,
    iterations: u32,
    ended_early: bool,
) -> Result<Dynamic, CrewError> {
    let targets = evaluation.chain.targets;
    // One more than it uses, which shows that this one is useless.
    let most = available.unwrap_or(targets[0] + 1);
    Ok(Dynamic {
        policy: Policy::new(targets.to_vec(), available.unwrap_or(targets[0]))?,
        measures: evaluation.measures(setting),
        gap: gap(setting, evaluation, most) * setting.process_rate(),
        iterations,
        ended_early,
    })
}

/// Returns a better curve, if there is one.
fn improve(evaluation: &Evaluation<'_>, most: u32, reach: &mut u32) -> Option<Vec<u32>> {
    let targets = evaluation.chain.targets;
    let sight = reach.saturating_mul(SIGHT);
    let most = targets[0].saturating_add(sight).min(most);
    let values = Values::new(evaluation, most);
    let mut best: Vec<u32> = Vec::with_capacity(targets.len());
    for (queue, &target) in (0..).zip(targets) {
        // The target with an empty queue is at least one.
        let (low, high) = (u32::from(queue == 0), most.min(target.saturating_add(sight)));
        let low = low.max(target.saturating_sub(sight));
        let mut active = target;
        while active < high && values.better(queue, active + 1, active) {
            active += 1;
        }
        while active <= target && active > low && values.better(queue, active - 1, active) {
            active -= 1;
        }
        best.push(active.min(best.last().copied().unwrap_or(most)));
    }
    let far = best.iter().zip(targets).map(|(&best, &target)| best.abs_diff(target)).max()?;
    if far > *reach {
        let part = f64::from(*reach) / f64::from(far);
        for (best, &target) in best.iter_mut().zip(targets) {
            let way = f64::from(*best) - f64::from(target);
            *best = (f64::from(target) + (part * way).round()) as u32;
        }
        *reach = reach.saturating_mul(2);
    }
    (best != targets).then_some(best)
}
