//! Evaluation of a switching curve.

use crate::chain::{Chain, Recurrent, State, Tally};
use crate::passages::{Passages, passages};
use crate::stairs::Stairs;
use crate::{CrewError, Policy, Setting};

/// Difference in fetchers that is negligible for the typical state of a chain.
const NEAR: u32 = 16;

/// Long-run measures of a switching curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// γ × starvation + loss rate.
    pub cost: f64,
    /// Share of time in which the queue is empty.
    pub starvation: f64,
    /// Pages lost per unit of time.
    pub loss_rate: f64,
    /// Smallest number of active fetchers among the recurrent states.
    pub min_active: u32,
    /// Mean number of active fetchers.
    pub mean_active: f64,
    /// Largest number of active fetchers among the recurrent states.
    pub max_active: u32,
}

/// Evaluates a switching curve. Only sums and products of positive numbers are rounded.
pub fn evaluate(setting: &Setting, policy: &Policy) -> Result<Measures, CrewError> {
    if policy.buffer() != setting.buffer() {
        return Err(CrewError::OtherBuffer { policy: policy.buffer(), setting: setting.buffer() });
    }
    Ok(Evaluation::new(setting, policy.targets())?.measures(setting))
}

/// Evaluation of a switching curve for policy improvement. The unit of time is one processed page.
pub(crate) struct Evaluation<'a> {
    pub(crate) chain: Chain<'a>,
    pub(crate) stairs: Stairs<'a>,
    /// Accumulated quantities from each stair to the anchor.
    pub(crate) passages: Vec<Tally>,
    /// Accumulated quantities in a cycle from the anchor to the anchor.
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

    /// Returns the cost per processed page: γ/μ × starvation + lost pages.
    pub(crate) fn cost(&self) -> f64 {
        self.cost_of(&self.cycle) / self.cycle.time
    }

    /// Returns the cost of a path.
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
            // Rounding must not move a mean out of its range.
            mean_active: (active / time)
                .clamp(f64::from(self.min_active), f64::from(self.max_active)),
            max_active: self.max_active,
        }
    }
}

/// Returns a frequent stair, so that passages to it are short.
///
/// The queue tends to the length at which fetchers bring as much as is processed: the first
/// stair, from the empty queue on, at which they bring no more, or the last stair. A steep curve prevents
/// this; then the number of active fetchers changes slowly and determines the stair.
fn anchor(chain: &Chain<'_>, stairs: &Stairs<'_>, recurrent: &Recurrent) -> usize {
    let states = stairs.states();
    let comes_back = |&stair: &usize| recurrent.contains(states[stair]);
    let after = |stair: usize| (stair..states.len()).find(comes_back);
    let before = |stair: usize| (0..stair).rfind(comes_back).unwrap_or(0);
    let brings = |state: State| chain.fetched * f64::from(state.active);
    let balanced = states.partition_point(|&state| brings(state) > 1.0);
    let balanced = after(balanced).unwrap_or_else(|| before(states.len()));
    let usual = usual(chain, stairs);
    if states[balanced].active.abs_diff(usual) <= NEAR {
        return balanced;
    }
    let (first, last) = stairs.ends(usual);
    let stair = if chain.fetched * f64::from(usual) > 1.0 { last } else { first };
    after(stair).unwrap_or_else(|| before(stair))
}

/// Returns the typical number of active fetchers if it changes slowly: the largest number that is
/// entered from below at least as often as it is left downwards, with an M/M/1/K queue for each number.
fn usual(chain: &Chain<'_>, stairs: &Stairs<'_>) -> u32 {
    let (mut low, mut high) = (chain.target(chain.buffer()), chain.target(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        // With no active fetcher, one will be started.
        if middle == 1 || added(chain, stairs, middle - 1) >= taken(chain, stairs, middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Returns the rate at which fetchers are added: departures to queue lengths with a higher target.
fn added(chain: &Chain<'_>, stairs: &Stairs<'_>, active: u32) -> f64 {
    let (log, buffer) = ((chain.fetched * f64::from(active)).ln(), chain.buffer());
    let longer = stairs.last_below(active).map_or(1, |last| last + 2);
    at_least(log, buffer, 1) - at_least(log, buffer, longer)
}

/// Returns the rate at which fetchers are removed: arrivals at queue lengths with a lower target.
fn taken(chain: &Chain<'_>, stairs: &Stairs<'_>, active: u32) -> f64 {
    let load = chain.fetched * f64::from(active);
    let enough = stairs.first_above(active).saturating_sub(2);
    if enough < chain.targets.len() - 1 {
        load * at_least(load.ln(), chain.buffer(), enough)
    } else {
        0.0
    }
}

/// Returns the probability of at least the given number of pages in an M/M/1/K queue, (ρⁿ − ρ^(K+1))/(1 − ρ^(K+1)).
fn at_least(log: f64, buffer: u32, pages: usize) -> f64 {
    let room = f64::from(buffer) + 1.0;
    let rest = (room - pages as f64).max(0.0);
    if pages == 0 {
        1.0
    } else if log == 0.0 {
        rest / room
    } else if log < 0.0 {
        (pages as f64 * log).exp() * (rest * log).exp_m1() / (room * log).exp_m1()
    } else {
        (-rest * log).exp_m1() / (-room * log).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_of_a_queue() {
        for load in [0.01_f64, 0.5, 1.0, 1.7, 40.0] {
            let weights: Vec<f64> = (0..=6).map(|queue| load.powi(queue)).collect();
            let all: f64 = weights.iter().sum();
            for pages in 0..=8 {
                let expect: f64 = weights.iter().skip(pages).sum::<f64>() / all;
                let own = at_least(load.ln(), 6, pages);
                assert!((own - expect).abs() < 1e-13, "{load} {pages}: {own}, expected {expect}");
            }
        }
        assert_eq!(at_least(f64::NEG_INFINITY, 6, 0), 1.0);
        assert_eq!(at_least(f64::NEG_INFINITY, 6, 1), 0.0);
    }

    /// The anchor is a recurrent state.
    #[test]
    fn a_curve_that_leads_nowhere() {
        let mut targets = vec![19_968, 19_968, 14_176];
        targets.extend((0..48).map(|step| 14_144 - 290 * step));
        let setting = Setting::new(0.000_05, 1.0, 50, 1e-4).unwrap();
        let measures = Evaluation::new(&setting, &targets).unwrap().measures(&setting);
        let flow = 1.0 - measures.starvation + measures.loss_rate;
        assert!((0.000_05 * measures.mean_active - flow).abs() < 1e-12, "{measures:?}");
    }
}
