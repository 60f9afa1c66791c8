//! Stairs: the states along a switching curve that every cycle of its chain visits.
//!
//! Let R(q) be the target at queue length q. The stairs are (0, R(0)) and, for q > 0, the states
//! (q, r) with R(q−1) ≥ r ≥ R(q). Below them, r < R(q), every departure starts a fetcher and no arrival
//! stops one: r never falls, and while it is constant the queue grows. Above them every arrival stops a
//! fetcher and no departure starts one: r never rises, and while it is constant the queue shrinks. Neither
//! side has a cycle, and no step leads from one side to the other, so each excursion from the
//! stairs ends on the stairs.

use crate::chain::State;

/// Number of stairs up to which a curve is cheap to evaluate.
pub(crate) const FEW: usize = 256;

/// States of the stairs, from the empty queue to the full one.
#[derive(Clone, Debug)]
pub(crate) struct Stairs<'a> {
    targets: &'a [u32],
    states: Vec<State>,
    /// First stair of each queue length.
    begins: Vec<usize>,
}

/// Position of a state relative to the stairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    On(usize),
    Above,
}

impl<'a> Stairs<'a> {
    pub(crate) fn new(targets: &'a [u32]) -> Self {
        let mut states = Vec::with_capacity(targets.len());
        let mut begins = Vec::with_capacity(targets.len());
        let mut top = targets[0];
        for (queue, &target) in (0..).zip(targets) {
            begins.push(states.len());
            states.extend((target..=top).rev().map(|active| State { queue, active }));
            top = target;
        }
        Self { targets, states, begins }
    }

    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns the first and the last stair with the given number of active fetchers, which must be between the targets with an
    /// empty and a full queue.
    pub(crate) fn ends(&self, active: u32) -> (usize, usize) {
        let first = self.last_below(active).map_or(0, |last| last + 1);
        let last = self.first_above(active).saturating_sub(1).min(self.targets.len() - 1);
        // Stairs of a column are counted from the top.
        let place = |queue: usize| {
            let top = self.targets[queue.saturating_sub(1)];
            self.begins[queue] + (top - active) as usize
        };
        (place(first.min(last)), place(last))
    }

    pub(crate) fn side(&self, State { queue, active }: State) -> Side {
        let q = queue as usize;
        let top = self.targets[q.saturating_sub(1)];
        if active < self.targets[q] {
            Side::Below
        } else if active > top {
            Side::Above
        } else {
            Side::On(self.begins[q] + (top - active) as usize)
        }
    }

    /// Returns the longest queue with a target above `active`: below the stairs, the row of states with
    /// `active` ends here.
    pub(crate) fn last_below(&self, active: u32) -> Option<usize> {
        self.targets.partition_point(|&target| target > active).checked_sub(1)
    }

    /// Returns the first queue of the row of states with `active` above the stairs, possibly beyond the last one.
    pub(crate) fn first_above(&self, active: u32) -> usize {
        match self.targets.partition_point(|&target| target >= active) {
            0 => 0,
            short => short + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stairs_of_a_row() {
        let targets = [7, 4, 4, 1, 0];
        let stairs = Stairs::new(&targets);
        for active in 0..=7 {
            let own = |stair: &usize| stairs.states()[*stair].active == active;
            let all: Vec<usize> = (0..stairs.states().len()).filter(own).collect();
            assert_eq!(stairs.ends(active), (all[0], all[all.len() - 1]), "{active}");
        }
    }

    #[test]
    fn rows_end_where_the_stairs_begin() {
        let targets = [7, 4, 4, 1, 0];
        let stairs = Stairs::new(&targets);
        for active in 0..10 {
            let below = stairs.last_below(active).map_or(0, |last| last + 1);
            let above = stairs.first_above(active);
            for queue in 0..5 {
                let side = stairs.side(State { queue: queue as u32, active });
                match side {
                    Side::Below => assert!(queue < below),
                    Side::Above => assert!(queue >= above),
                    Side::On(at) => {
                        assert!(queue >= below && queue < above);
                        let state = State { queue: queue as u32, active };
                        assert_eq!(stairs.states()[at], state);
                    }
                }
            }
        }
    }
}
