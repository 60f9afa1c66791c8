//! What a switching curve comes to.

use crate::chain::{Chain, Recurrent, Tally};
use crate::passages::{Passages, passages};
use crate::stairs::Stairs;
use crate::{CrewError, Policy, Setting};

/// What a switching curve comes to in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// γ × starvation + loss rate.
    pub cost: f64,
    /// The share of time in which the queue is empty.
    pub starvation: f64,
    /// Pages lost per unit of time.
    pub loss_rate: f64,
    /// The fewest active fetchers that there ever are, once it has settled.
    pub min_active: u32,
    /// How many are active on average.
    pub mean_active: f64,
    /// The most that there ever are, once it has settled.
    pub max_active: u32,
}

/// What a switching curve comes to, without rounding but that of sums and products of positive numbers.
pub fn evaluate(setting: &Setting, policy: &Policy) -> Result<Measures, CrewError> {
    if policy.buffer() != setting.buffer() {
        return Err(CrewError::OtherBuffer { policy: policy.buffer(), setting: setting.buffer() });
    }
    Ok(Evaluation::new(setting, policy.targets())?.measures(setting))
}

/// Everything about a switching curve that its improvement asks for. Time in pages processed.
pub(crate) struct Evaluation<'a> {
    pub(crate) chain: Chain<'a>,
    pub(crate) stairs: Stairs<'a>,
    /// What adds up from each stair to the anchor.
    pub(crate) passages: Vec<Tally>,
    /// What adds up in a cycle from the anchor to the anchor.
    cycle: Tally,
    min_active: u32,
    max_active: u32,
    weight: f64,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(setting: &Setting, targets: &'a [u32]) -> Result<Self, CrewError> {
        let weight = setting.weight();
        let chain = Chain { targets, fetched: setting.fetched() };
        let stairs = Stairs::new(targets);
        let recurrent = chain.recurrent();
        let anchor = anchor(&chain, &stairs, &recurrent);
        let Passages { stairs: passages, cycle } = passages(chain, &stairs, anchor, weight)?;
        let (min_active, max_active) = (recurrent.fewest, recurrent.most);
        Ok(Self { chain, stairs, passages, cycle, min_active, max_active, weight })
    }

    /// The cost per page processed: γ/μ × starvation + pages lost.
    pub(crate) fn cost(&self) -> f64 {
        self.cost_of(&self.cycle) / self.cycle.time
    }

    /// What a path costs.
    pub(crate) fn cost_of(&self, tally: &Tally) -> f64 {
        self.weight * tally.idle + tally.lost
    }

    pub(crate) fn measures(&self, setting: &Setting) -> Measures {
        let Tally { time, idle, lost, active } = self.cycle;
        let starvation = idle / time;
        let loss_rate = lost / time * setting.process_rate();
        Measures {
            cost: setting.starvation_weight() * starvation + loss_rate,
            starvation,
            loss_rate,
            min_active: self.min_active,
            // Rounding does not take a mean out of its range.
            mean_active: (active / time)
                .clamp(f64::from(self.min_active), f64::from(self.max_active)),
            max_active: self.max_active,
        }
    }
}

/// The stair at which the queue neither grows nor shrinks: the chain is drawn to it from both ends, so
/// that passages to it are short. From the empty queue on, the first at which fetchers bring no more
/// than is processed, if the chain comes back to it; else the last.
fn anchor(chain: &Chain<'_>, stairs: &Stairs<'_>, recurrent: &Recurrent) -> usize {
    let mut last = 0;
    for (stair, &state) in stairs.states().iter().enumerate() {
        if recurrent.contains(state) {
            last = stair;
            if chain.fetched * f64::from(state.active) <= 1.0 {
                break;
            }
        }
    }
    last
}
