//! Relative value of every state: the cost above the mean on the way to the anchor.

use crate::chain::State;
use crate::evaluate::Evaluation;

/// Relative difference of values that is attributed to rounding.
const ROUNDING: f64 = 1e-14;

/// Upper bound of the relative rounding error of a step.
const GUARD: f64 = 8.0 * f64::EPSILON;

/// Cost and time from each state to the anchor. The relative value is cost − g·time, where g is the cost of
/// the curve per unit of time. Both are stored, because both are sums of positive numbers.
pub(crate) struct Values {
    /// Number of queue lengths, K + 1.
    width: usize,
    /// g.
    average: f64,
    /// Entries by active fetchers, then by queue length.
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    cost: f64,
    time: f64,
}

impl Values {
    /// Computes values for up to `most` active fetchers, at least the largest target.
    pub(crate) fn new(evaluation: &Evaluation<'_>, most: u32) -> Self {
        Self::guarded(evaluation, most, |_| 0.0)
    }

    /// As [`new`](Self::new), with some values rounded down: no value there exceeds its own step plus the
    /// values after it.
    pub(crate) fn rounded_down(
        evaluation: &Evaluation<'_>,
        most: u32,
        down: impl Fn(State) -> bool,
    ) -> Self {
        Self::guarded(evaluation, most, |state| if down(state) { GUARD } else { 0.0 })
    }

    fn guarded(evaluation: &Evaluation<'_>, most: u32, guard: impl Fn(State) -> f64) -> Self {
        let width = evaluation.chain.targets.len();
        let cells = vec![Cell::default(); (most as usize + 1) * width];
        let mut values = Self { width, average: evaluation.cost(), cells };
        for (state, passage) in evaluation.stairs.states().iter().zip(&evaluation.passages) {
            let place = values.place(*state);
            let cost = evaluation.cost_of(passage);
            values.cells[place] = Cell { cost, time: passage.time };
        }
        // Below the stairs from many active fetchers to few and from long queues to short ones, above
        // them in the opposite order, so that successors are known first.
        for active in (0..evaluation.chain.target(0)).rev() {
            let end = evaluation.stairs.last_below(active).map_or(0, |last| last + 1);
            // An empty queue without active fetchers is never reached.
            for queue in (usize::from(active == 0)..end).rev() {
                let state = State { queue: queue as u32, active };
                values.fill(evaluation, state, guard(state));
            }
        }
        for active in 1..=most {
            for queue in evaluation.stairs.first_above(active)..width {
                let state = State { queue: queue as u32, active };
                values.fill(evaluation, state, guard(state));
            }
        }
        values
    }

    fn fill(&mut self, evaluation: &Evaluation<'_>, state: State, guard: f64) {
        let chain = evaluation.chain;
        let step = chain.step(state);
        let mut cell = Cell { cost: evaluation.cost_of(&step.tally), time: step.tally.time };
        if step.up > 0.0 {
            let next = self.cells[self.place(chain.arrive(state))];
            cell.cost += step.up * next.cost;
            cell.time += step.up * next.time;
        }
        if step.down > 0.0 {
            let next = self.cells[self.place(chain.depart(state))];
            cell.cost += step.down * next.cost;
            cell.time += step.down * next.time;
        }
        cell.cost -= guard * (cell.cost.abs() + self.average * cell.time);
        let place = self.place(state);
        self.cells[place] = cell;
    }

    fn place(&self, state: State) -> usize {
        state.active as usize * self.width + state.queue as usize
    }

    /// Returns the relative value of a state.
    pub(crate) fn get(&self, queue: u32, active: u32) -> f64 {
        let Cell { cost, time } = self.cells[self.place(State { queue, active })];
        cost - self.average * time
    }

    /// Returns true if it is better to have `active` than `other` fetchers active, by more than rounding.
    pub(crate) fn better(&self, queue: u32, active: u32, other: u32) -> bool {
        let own = self.cells[self.place(State { queue, active })];
        let other = self.cells[self.place(State { queue, active: other })];
        let difference = (own.cost - other.cost) - self.average * (own.time - other.time);
        difference < -ROUNDING * (other.cost + self.average * other.time)
    }
}
