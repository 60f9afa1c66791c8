//! How far a switching curve can be from the best policy of any kind.

use crate::Setting;
use crate::chain::State;
use crate::evaluate::Evaluation;
use crate::values::Values;

/// A bound on how much less any policy could cost than this curve, per page processed. `most` is the
/// number of fetchers that there are.
///
/// For any function v of the state, let B(x) be the cost rate at x plus the rate at which v changes if
/// the best is done at each event. A policy with stationary distribution π costs at least Σ π(x)B(x).
/// With the values of the curve as v, B is its cost g up to a lack D(x) = g − B(x): zero at the optimum
/// but for rounding. Rounding grows with the rate of events Λ(x), so take ε with
/// D(x) ≤ ε(1 + Λ(x)/s) for all x. Events are pages done, at most 1 per unit of time, and as many pages
/// that come in, and pages lost: no more than g for a policy that is better. With s = 2 + g the mean of
/// Λ/s is at most 1, and the bound is 2ε. Nothing costs less than 0, so g is a bound, too.
///
/// A value that is rounded down lacks nothing at its own state, at the price of those that lead to it.
/// That pays far below the curve, where values are large and decisions clear; how far depends. Each way
/// is a proof, and the better one counts.
pub(crate) fn gap(setting: &Setting, evaluation: &Evaluation<'_>, most: u32) -> f64 {
    let chain = evaluation.chain;
    let least = chain.target(chain.buffer());
    let far = Values::rounded_down(evaluation, most, |state| state.active < least);
    let far = lack(setting, &far, evaluation.cost(), most);
    let all = |state: State| state.active < chain.target(state.queue);
    let all = Values::rounded_down(evaluation, most, all);
    let all = lack(setting, &all, evaluation.cost(), most);
    (2.0 * far.min(all)).min(evaluation.cost())
}

/// The least ε for these values.
fn lack(setting: &Setting, values: &Values, cost: f64, most: u32) -> f64 {
    let (buffer, fetched, weight) = (setting.buffer(), setting.fetched(), setting.weight());
    // The best that can be done with so many pages and fetchers after an event.
    let best = |queue: u32, active: u32| match (queue, active) {
        (0, 0) => values.get(0, 1),
        (_, active) if active == most => values.get(queue, active),
        _ => values.get(queue, active).min(values.get(queue, active + 1)),
    };
    let mut worst = 0.0_f64;
    for active in 0..=most {
        let arrivals = fetched * f64::from(active);
        for queue in u32::from(active == 0)..=buffer {
            let own = values.get(queue, active);
            let mut bound = if queue == 0 { weight } else { best(queue - 1, active) - own };
            if active > 0 {
                let lost = if queue == buffer { 1.0 } else { 0.0 };
                bound += arrivals * (lost + best((queue + 1).min(buffer), active - 1) - own);
            }
            let events = arrivals + if queue == 0 { 0.0 } else { 1.0 };
            let lack = (cost - bound) / (1.0 + events / (2.0 + cost));
            // What is not a number proves nothing, and is kept.
            if lack > worst || lack.is_nan() {
                worst = lack;
            }
        }
    }
    worst
}
