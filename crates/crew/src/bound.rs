//! Bound on the distance of a switching curve from the optimal policy.

use crate::Setting;
use crate::chain::State;
use crate::evaluate::Evaluation;
use crate::values::Values;

/// Returns a bound on how much less any policy could cost than this curve, per processed page. `most` is the
/// number of available fetchers.
///
/// For any function v of the state, let B(x) be the cost rate at x plus the rate at which v changes if
/// the best decision is made at each event. A policy with stationary distribution π costs at least Σ π(x)B(x).
/// With the values of the curve as v, B is its cost g up to a deficit D(x) = g − B(x), which is zero at the optimum
/// except for rounding. Rounding grows with the event rate Λ(x), so choose ε with
/// D(x) ≤ ε(1 + Λ(x)/s) for all x. Events are processed pages, at most 1 per unit of time, as many accepted
/// pages, and lost pages, at most g for a better policy. With s = 2 + g the mean of
/// Λ/s is at most 1, and the bound is 2ε. No cost is below 0, so g is a bound as well.
///
/// Rounding a value down removes the deficit at its own state and increases it at the states that lead to it.
/// This helps far below the curve, where values are large and decisions clear. Both variants
/// are proofs, and the better one is used.
pub(crate) fn gap(setting: &Setting, evaluation: &Evaluation<'_>, most: u32) -> f64 {
    let chain = evaluation.chain;
    let least = chain.target(chain.buffer());
    let far = Values::rounded_down(evaluation, most, |state| state.active < least);
    let far = smallest_epsilon(setting, &far, evaluation.cost(), most);
    let all = |state: State| state.active < chain.target(state.queue);
    let all = Values::rounded_down(evaluation, most, all);
    let all = smallest_epsilon(setting, &all, evaluation.cost(), most);
    (2.0 * far.min(all)).min(evaluation.cost())
}

/// Returns the smallest ε for these values.
fn smallest_epsilon(setting: &Setting, values: &Values, cost: f64, most: u32) -> f64 {
    let (buffer, fetched, weight) = (setting.buffer(), setting.fetched(), setting.weight());
    // Value of the best decision with the given pages and fetchers after an event.
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
            let epsilon = (cost - bound) / (1.0 + events / (2.0 + cost));
            // NaN proves nothing and is propagated.
            if epsilon > worst || epsilon.is_nan() {
                worst = epsilon;
            }
        }
    }
    worst
}
