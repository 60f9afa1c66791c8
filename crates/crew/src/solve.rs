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
/// From so many fetchers on, half as many are tried first.
const MANY: u32 = 64;
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
}

/// The switching curve with the least cost, if fetchers can be started at each event.
///
/// Without `available` there are as many fetchers as it can use: one more would never be started. The
/// policy then says how many these are. The search ends early if a queue is practically never empty and
/// practically never loses a page: with a large buffer many curves are as good.
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
    let mut iterations = 0;
    let targets = search(setting, most, &mut |cost| {
        iterations += 1;
        watch(iterations, cost);
    })?;
    if available.is_none() && targets[0] == most {
        return Err(too_many_states(setting, f64::from(most)));
    }
    let evaluation = Evaluation::new(setting, &targets)?;
    // With one more than it uses, it is seen that this one is of no use.
    let others = available.unwrap_or(targets[0] + 1);
    Ok(Dynamic {
        policy: Policy::new(targets.clone(), available.unwrap_or(targets[0]))?,
        measures: evaluation.measures(setting),
        gap: gap(setting, &evaluation, others) * setting.process_rate(),
        iterations,
    })
}

/// The targets of the best curve.
fn search(setting: &Setting, most: u32, watch: &mut dyn FnMut(f64)) -> Result<Vec<u32>, CrewError> {
    let (mut targets, mut reach) = start(setting, most, watch)?;
    let mut best = targets.clone();
    let mut least = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let evaluation = Evaluation::new(setting, &targets)?;
        let cost = evaluation.cost();
        watch(cost * setting.process_rate());
        if cost > least * (1.0 + ROUNDING) {
            // Values that differ by little more than rounding led astray.
            return Ok(best);
        }
        let many = evaluation.stairs.states().len() > FEW;
        let never = cost <= NEVER * setting.weight().min(1.0) && many;
        if cost == 0.0 || never {
            return Ok(targets);
        }
        match improve(&evaluation, most, &mut reach) {
            Some(improved) => best = std::mem::replace(&mut targets, improved),
            None => return Ok(targets),
        }
        least = least.min(cost);
    }
    Ok(best)
}

/// A curve to start from, and how far the first step may go. With few fetchers it is flat; with many it
/// is that of half as many, twice as fast.
fn start(
    setting: &Setting,
    most: u32,
    watch: &mut dyn FnMut(f64),
) -> Result<(Vec<u32>, u32), CrewError> {
    let fetchers = best_fixed(setting, Some(most))?.fetchers as u32;
    if fetchers < MANY {
        return Ok((vec![fetchers; setting.buffer() as usize + 1], REACH));
    }
    let half = search(&setting.with_half_as_many(), most.div_ceil(2), watch)?;
    let targets: Vec<u32> = half.iter().map(|target| (2 * target).min(most)).collect();
    let reach = REACH + (targets[0] - targets[targets.len() - 1]) / 2;
    Ok((targets, reach))
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
