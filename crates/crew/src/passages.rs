//! Quantities that accumulate from every stair to the anchor, computed in one of two ways.
//!
//! *By stairs*: excursions are computed first, which leaves equations between stairs. Where the
//! curve falls by at most one at a time there are no excursions. *By rows*: equations
//! between all states from the lowest to the highest stair, row by row, each connected only to its
//! neighbours. This is faster for a short queue and many fetchers.

use crate::CrewError;
use crate::chain::{Chain, State, Tally};
use crate::excursion::{Excursions, Landing};
use crate::passage::Passage;
use crate::stairs::{FEW, Stairs};

/// Largest number of multiplications and of stored numbers: about ten seconds
/// and one gigabyte.
const WORK: f64 = 1.3e11;
const STORED: f64 = 1.3e8;

/// Probability below which transitions are dropped if costs below 10⁻¹⁵ are negligible (with
/// many stairs, see `solve.rs`, and times the weight if it is below 1). The resulting error
/// of a cost is much smaller.
const NEVER: f64 = 1e-40;
/// Threshold otherwise, because subnormal numbers are slow.
const TINY: f64 = 1e-250;

/// Accumulated quantities from each stair to the anchor, and in a cycle of the anchor.
pub(crate) struct Passages {
    pub(crate) stairs: Vec<Tally>,
    pub(crate) cycle: Tally,
}

pub(crate) fn passages(
    chain: Chain<'_>,
    stairs: &Stairs<'_>,
    anchor: usize,
    weight: f64,
) -> Result<Passages, CrewError> {
    let targets = chain.targets;
    let queues = targets.len() as f64;
    let rows = f64::from(targets[0] - targets[targets.len() - 1]) + 1.0;
    // A curve that falls by one has no excursions.
    let steep = |pair: &[u32]| f64::from((pair[0] - pair[1]).saturating_sub(1));
    let steep: f64 = targets.windows(2).map(steep).sum();
    let (by_stairs, by_rows) = (steep.powi(3), rows * (queues + 1.0).powi(3));
    let fits = rows * (queues + 1.0).powi(2) <= STORED;
    let use_stairs = by_stairs <= by_rows || !fits;
    if if use_stairs { by_stairs } else { by_rows } > WORK {
        return Err(CrewError::TooSteep { rows: targets[0] - targets[targets.len() - 1] });
    }
    let few = stairs.states().len() <= FEW;
    let never = if few || weight == 0.0 { TINY } else { NEVER * weight.min(1.0) };
    Ok(if use_stairs {
        through_stairs(chain, stairs, anchor, never)
    } else {
        through_rows(chain, stairs, anchor, never)
    })
}

fn through_stairs(chain: Chain<'_>, stairs: &Stairs<'_>, anchor: usize, never: f64) -> Passages {
    let excursions = Excursions::new(chain, stairs, never);
    let mut passage = Passage::new(anchor, never);
    let mut landing = Landing::default();
    for stair in 0..stairs.states().len() {
        excursions.leave(stair, &mut landing);
        passage.push(&landing);
    }
    let (stairs, cycle) = passage.finish();
    Passages { stairs, cycle }
}

fn through_rows(chain: Chain<'_>, stairs: &Stairs<'_>, anchor: usize, never: f64) -> Passages {
    let buffer = chain.buffer();
    let (low, high) = (chain.target(buffer), chain.target(0));
    let place =
        |state: State| (state.active - low) as usize * chain.targets.len() + state.queue as usize;
    let mut passage = Passage::new(place(stairs.states()[anchor]), never);
    let mut landing = Landing::default();
    for active in low..=high {
        for queue in 0..=buffer {
            let state = State { queue, active };
            if state == NOWHERE {
                landing.lead(Tally::default(), [Some((1.0, 1)), None]);
            } else {
                let step = chain.step(state);
                let up = (step.up > 0.0).then(|| (step.up, place(chain.arrive(state))));
                let down = (step.down > 0.0).then(|| (step.down, place(chain.depart(state))));
                landing.lead(step.tally, [up, down]);
            }
            passage.push(&landing);
        }
    }
    let (all, cycle) = passage.finish();
    Passages { stairs: stairs.states().iter().map(|&state| all[place(state)]).collect(), cycle }
}

/// An empty queue without active fetchers is never reached and has no transitions; its target is arbitrary.
const NOWHERE: State = State { queue: 0, active: 0 };

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns targets that fall by the given steps.
    fn falling(last: u32, falls: &[u32]) -> Vec<u32> {
        let mut targets = vec![last];
        for fall in falls {
            targets.push(targets[targets.len() - 1] + fall);
        }
        targets.reverse();
        targets[0] = targets[0].max(1);
        targets
    }

    proptest! {
        #[test]
        fn both_ways_lead_to_the_same(
            last in 0_u32..4,
            falls in prop::collection::vec(0_u32..6, 1..8),
            fetched in -3.0..2.0_f64,
        ) {
            let targets = falling(last, &falls);
            let chain = Chain { targets: &targets, fetched: 10_f64.powf(fetched) };
            let stairs = Stairs::new(&targets);
            let recurrent = chain.recurrent();
            let back = |&stair: &usize| recurrent.contains(stairs.states()[stair]);
            for anchor in (0..stairs.states().len()).filter(back) {
                let one = through_stairs(chain, &stairs, anchor, TINY);
                let other = through_rows(chain, &stairs, anchor, TINY);
                let pairs = one.stairs.iter().zip(&other.stairs);
                for (one, other) in pairs.chain([(&one.cycle, &other.cycle)]) {
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.max(b);
                    prop_assert!(
                        near(one.time, other.time) && near(one.idle, other.idle)
                            && near(one.lost, other.lost) && near(one.active, other.active),
                        "{targets:?} {fetched} {anchor}: {one:?} {other:?}"
                    );
                }
            }
        }
    }
}
