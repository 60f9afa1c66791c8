//! Excursions from the stairs: where they end, and what accumulates on the way.
//!
//! Outside the stairs the chain has no cycle ([`stairs`](crate::stairs)), so one pass over the states in the
//! right order gives for each of them the probabilities of where it returns to the stairs. Only states that
//! an excursion can reach are visited. An excursion begins next to the stairs, so in each row of states
//! with the same number of active fetchers these are contiguous, at the end next to the stairs.

use std::ops::Range;

use crate::chain::{Chain, State, Tally};
use crate::stairs::{Side, Stairs};

/// End of a path on the stairs: probabilities from the stair `first` on, and the accumulated quantities.
#[derive(Clone, Debug, Default)]
pub(crate) struct Landing {
    pub(crate) first: usize,
    pub(crate) chances: Vec<f64>,
    pub(crate) tally: Tally,
}

impl Landing {
    /// Adds one transition and the landings that it leads to.
    fn follow(&mut self, tally: Tally, leads: [Option<Lead<'_>>; 2]) {
        self.tally = tally;
        for lead in leads.iter().flatten() {
            self.tally += lead.tally.times(lead.chance);
        }
        let (one, other) = match leads {
            [Some(one), Some(other)] if one.first <= other.first => (one, other),
            [Some(one), Some(other)] => (other, one),
            [Some(one), None] | [None, Some(one)] => (one, Lead { chances: &[], ..one }),
            [None, None] => return self.chances.clear(),
        };
        self.first = one.first;
        let chances = &mut self.chances;
        chances.clear();
        // First the range of one landing only, then of both, then the rest of the longer one.
        let (alone, ahead) = (other.first - one.first, one.chances);
        let (before, one_rest) = ahead.split_at(alone.min(ahead.len()));
        chances.extend(before.iter().map(|chance| one.chance * chance));
        chances.resize(alone, 0.0);
        let both = one_rest.iter().zip(other.chances);
        chances.extend(both.map(|(x, y)| one.chance * x + other.chance * y));
        let common = one_rest.len().min(other.chances.len());
        chances.extend(one_rest[common..].iter().map(|chance| one.chance * chance));
        chances.extend(other.chances[common..].iter().map(|chance| other.chance * chance));
    }

    /// Drops probabilities up to a threshold at both ends.
    fn trim(&mut self, never: f64) {
        let happens = |chance: &f64| *chance > never;
        let end = self.chances.iter().rposition(happens).map_or(0, |last| last + 1);
        self.chances.truncate(end);
        let begin = self.chances.iter().position(happens).unwrap_or(0);
        self.chances.drain(..begin);
        self.first += begin;
    }

    /// Sets a transition that leads directly to stairs, each with its probability.
    pub(crate) fn lead(&mut self, tally: Tally, places: [Option<(f64, usize)>; 2]) {
        let lead = |(chance, place)| Lead::to_stair(chance, place);
        self.follow(tally, places.map(|place| place.map(lead)));
    }
}

/// Target of a transition with its probability: a stair, or a known excursion.
#[derive(Clone, Copy)]
struct Lead<'a> {
    chance: f64,
    first: usize,
    chances: &'a [f64],
    tally: Tally,
}

impl<'a> Lead<'a> {
    fn to_stair(chance: f64, stair: usize) -> Self {
        Self { chance, first: stair, chances: &[1.0], tally: Tally::default() }
    }

    fn on_excursion(chance: f64, landing: &'a Landing) -> Self {
        let Landing { first, chances, tally } = landing;
        Self { chance, first: *first, chances, tally: *tally }
    }
}

/// Landings of states with the same number of active fetchers, from a queue length on.
#[derive(Debug, Default)]
struct Row {
    first: usize,
    landings: Vec<Landing>,
}

impl Row {
    /// Resizes the row to a range of queue lengths; earlier contents are discarded.
    fn cover(&mut self, queues: Range<usize>) {
        self.first = queues.start;
        self.landings.resize_with(queues.len(), Landing::default);
    }

    fn get(&self, queue: u32) -> Option<&Landing> {
        self.landings.get((queue as usize).checked_sub(self.first)?)
    }
}

/// Landings of all transitions that leave the stairs, by the number of active fetchers after the transition,
/// which leads to the end of that row.
pub(crate) struct Excursions<'a> {
    chain: Chain<'a>,
    stairs: &'a Stairs<'a>,
    below: Vec<Landing>,
    above: Vec<Landing>,
    /// Negligible probability.
    never: f64,
}

impl<'a> Excursions<'a> {
    pub(crate) fn new(chain: Chain<'a>, stairs: &'a Stairs<'a>, never: f64) -> Self {
        let mut excursions = Self { chain, stairs, below: Vec::new(), above: Vec::new(), never };
        excursions.below = excursions.all_below();
        excursions.above = excursions.all_above();
        excursions
    }

    /// Computes the landing after leaving a stair.
    pub(crate) fn leave(&self, stair: usize, out: &mut Landing) {
        self.follow(self.stairs.states()[stair], out, |next| {
            let below = next.active < self.chain.target(next.queue);
            let side = if below { &self.below } else { &self.above };
            side.get(next.active as usize)
        });
    }

    fn follow<'b>(
        &self,
        state: State,
        out: &mut Landing,
        known: impl Fn(State) -> Option<&'b Landing>,
    ) {
        let step = self.chain.step(state);
        let lead = |chance: f64, next: State| match self.stairs.side(next) {
            Side::On(stair) => Some(Lead::to_stair(chance, stair)),
            Side::Below | Side::Above => Some(Lead::on_excursion(chance, known(next)?)),
        };
        let up = if step.up > 0.0 { lead(step.up, self.chain.arrive(state)) } else { None };
        let down = if step.down > 0.0 { lead(step.down, self.chain.depart(state)) } else { None };
        out.follow(step.tally, [up, down]);
        out.trim(self.never);
    }

    /// Computes landings below the stairs. Fetchers are only added there, so rows with more fetchers come first.
    fn all_below(&self) -> Vec<Landing> {
        let rows = self.rows_below();
        let mut entries = vec![Landing::default(); rows.len()];
        let (mut row, mut next_row) = (Row::default(), Row::default());
        for (active, queues) in rows.iter().enumerate().rev() {
            std::mem::swap(&mut row, &mut next_row);
            row.cover(queues.clone());
            for at in (0..queues.len()).rev() {
                let (left, right) = row.landings.split_at_mut(at + 1);
                let state = State { queue: (queues.start + at) as u32, active: active as u32 };
                self.follow(state, &mut left[at], |next| match next.active == state.active {
                    true => right.first(),
                    false => next_row.get(next.queue),
                });
            }
            if let Some(last) = row.landings.last() {
                entries[active].clone_from(last);
            }
        }
        entries
    }

    /// Returns the queue lengths of each row below the stairs that an excursion reaches: it enters at the end, where
    /// the stairs fall by more than one, or from the previous row, one page shorter.
    fn rows_below(&self) -> Vec<Range<usize>> {
        let targets = self.chain.targets;
        let mut rows: Vec<Range<usize>> = Vec::with_capacity(targets[0] as usize);
        for active in 0..targets[0] {
            let last = self.stairs.last_below(active).unwrap_or(0);
            let entered = targets.get(last + 1).is_some_and(|&target| target < active);
            let before = rows.last().filter(|before| before.end > 1 && !before.is_empty());
            let before = before.map(|before| before.start.saturating_sub(1));
            let first = before.into_iter().chain(entered.then_some(last)).min();
            rows.push(first.unwrap_or(last + 1)..last + 1);
        }
        rows
    }

    /// Computes landings above the stairs. Fetchers are only removed there, so rows with fewer fetchers come first.
    fn all_above(&self) -> Vec<Landing> {
        let rows = self.rows_above();
        let mut entries = vec![Landing::default(); rows.len()];
        let (mut row, mut next_row) = (Row::default(), Row::default());
        for (active, queues) in rows.iter().enumerate() {
            std::mem::swap(&mut row, &mut next_row);
            row.cover(queues.clone());
            for at in 0..queues.len() {
                let (left, right) = row.landings.split_at_mut(at);
                let state = State { queue: (queues.start + at) as u32, active: active as u32 };
                self.follow(state, &mut right[0], |next| match next.active == state.active {
                    true => left.last(),
                    false => next_row.get(next.queue),
                });
            }
            if let Some(first) = row.landings.first() {
                entries[active].clone_from(first);
            }
        }
        entries
    }

    /// Returns the queue lengths of each row above the stairs: entered at the start, or from the next row, one page longer.
    fn rows_above(&self) -> Vec<Range<usize>> {
        let targets = self.chain.targets;
        let room = targets.len();
        let mut rows = vec![0..0; targets[0] as usize];
        let mut after: Range<usize> = 0..0;
        for active in (1..targets[0]).rev() {
            let first = self.stairs.first_above(active);
            let entered = first < room && first >= 2 && targets[first - 2] > active;
            let before = if after.is_empty() { 0 } else { (after.end + 1).min(room) };
            let end = before.max(if entered { first + 1 } else { 0 });
            after = first.min(end)..end;
            rows[active as usize] = after.clone();
        }
        rows
    }
}
