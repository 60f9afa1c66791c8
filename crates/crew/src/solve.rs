//! The best switching curve, by policy iteration.
//!
//! A curve is evaluated exactly ([`evaluate`](fn@crate::evaluate)). Then the target of each queue length
//! goes to where the values are least, and so on until nothing changes. Every step along the way to a
//! lower value is an improvement for itself, so part of the way is one, too. It matters at the start: with
//! slow fetchers the first curve after a flat one would be far too steep, and a steep curve takes long to
//! evaluate. The way is cut short for all queue lengths by the same factor, because corners in a curve
//! are slow to go away.

use crate::bound::gap;
use crate::evaluate::{Evaluation, Measures};
use crate::fixed::{best_fixed, best_load};
use crate::stairs::FEW;
use crate::values::Values;
use crate::{CrewError, Policy, Setting};

/// The most states, queue lengths times numbers of active fetchers.
const STATES: f64 = 1e7;
/// How far targets may go in the first step; twice as far in each further one that is cut short.
const REACH: u32 = 4;
/// How far values are looked at, in reaches.
const SIGHT: u32 = 8;
/// A queue that is empty, and loses pages, less often than this needs no better curve, unless it is
/// cheap.
const NEVER: f64 = 1e-15;
/// Costs that differ by less are equal.
const ROUNDING: f64 = 1e-12;
/// Far more than it ever takes: the end of a search that rounding leads in circles.
const ITERATIONS: u32 = 500;

/// The best switching curve, what it comes to, and how well that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamic {
    /// When to start one more fetcher.
    pub policy: Policy,
    /// What it comes to.
    pub measures: Measures,
    /// No policy of any kind costs less than the cost of this one by more than this.
    pub gap: f64,
    /// Curves evaluated.
    pub iterations: u32,
    /// Whether the search ended because the queue is practically never empty and practically never
    /// loses a page. Many curves are then as good as this one, which says little of how many fetchers
    /// are of use; the gap is no more than the cost itself.
    pub ended_early: bool,
}

/// The switching curve with the least cost, if fetchers can be started at each event.
///
/// Without `available` there are as many fetchers as it can use: one more would never be started. The
/// policy then says how many these are. The search ends early if a queue is practically never empty and
/// practically never loses a page: with a large buffer many curves are as good, and
/// [`ended_early`](Dynamic::ended_early) says so.
pub fn solve(setting: &Setting, available: Option<u32>) -> Result<Dynamic, CrewError> {
    solve_watched(setting, available, &mut |_, _| {})
}

/// The same, and calls `watch` with the number of each curve and its cost, best so far.
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
            // Values that differ by little more than rounding led astray.
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
        // A cost of zero is one too small for a number, unless starvation costs nothing.
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

/// The most fetchers that may be active.
fn most(setting: &Setting, available: Option<u32>) -> Result<u32, CrewError> {
    let room = STATES / (f64::from(setting.buffer()) + 1.0) - 1.0;
    let wanted = match available {
        Some(available) => f64::from(available),
        // One less than there is room for, so that it can be told that it is not wanted.
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
    // With one more than it uses, it is seen that this one is of no use.
    let most = available.unwrap_or(targets[0] + 1);
    Ok(Dynamic {
        policy: Policy::new(targets.to_vec(), available.unwrap_or(targets[0]))?,
        measures: evaluation.measures(setting),
        gap: gap(setting, evaluation, most) * setting.process_rate(),
        iterations,
        ended_early,
    })
}

/// A better curve, if there is one.
fn improve(evaluation: &Evaluation<'_>, most: u32, reach: &mut u32) -> Option<Vec<u32>> {
    let targets = evaluation.chain.targets;
    let sight = reach.saturating_mul(SIGHT);
    let most = targets[0].saturating_add(sight).min(most);
    let values = Values::new(evaluation, most);
    let mut best: Vec<u32> = Vec::with_capacity(targets.len());
    for (queue, &target) in (0..).zip(targets) {
        // Somebody has to fill an empty queue.
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
