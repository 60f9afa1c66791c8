//! Priority queue by rank in which entries can be updated: an indexed binary heap.

use serde::{Deserialize, Serialize};

/// Numbers by rank, the highest first, equal ranks by number. A callback reports each new place of
/// a number, so that its owner can update or remove it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankedHeap(Vec<RankedEntry>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankedEntry {
    pub(crate) rank: f64,
    pub(crate) number: u32,
}

impl RankedEntry {
    fn is_above(&self, other: &Self) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.number < other.number)
    }
}

impl RankedHeap {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Entry with the highest rank.
    pub(crate) fn first(&self) -> Option<RankedEntry> {
        self.0.first().copied()
    }

    /// Number at a place.
    pub(crate) fn number_at(&self, place: u32) -> Option<u32> {
        self.0.get(place as usize).map(|entry| entry.number)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|entry| entry.number)
    }

    pub(crate) fn add(&mut self, rank: f64, number: u32, on_move: impl FnMut(u32, u32)) {
        self.0.push(RankedEntry { rank, number });
        self.settle(self.0.len() - 1, on_move);
    }

    pub(crate) fn remove(&mut self, place: u32, on_move: impl FnMut(u32, u32)) {
        let place = place as usize;
        if place < self.0.len() {
            self.0.swap_remove(place);
            if place < self.0.len() {
                self.settle(place, on_move);
            } else if self.0.is_empty() && self.0.capacity() > 4 {
                // Most heaps are empty most of the time, and there may be millions.
                self.0 = Vec::new();
            }
        }
    }

    /// Changes the rank of the number at a place.
    pub(crate) fn update(&mut self, place: u32, rank: f64, on_move: impl FnMut(u32, u32)) {
        if let Some(entry) = self.0.get_mut(place as usize) {
            entry.rank = rank;
            self.settle(place as usize, on_move);
        }
    }

    /// Moves the entry at a place to where it belongs.
    fn settle(&mut self, place: usize, mut on_move: impl FnMut(u32, u32)) {
        let entry = self.0[place];
        let mut at = place;
        while at > 0 && entry.is_above(&self.0[(at - 1) / 2]) {
            let above = (at - 1) / 2;
            self.0[at] = self.0[above];
            on_move(self.0[at].number, at as u32);
            at = above;
        }
        loop {
            let mut below = 2 * at + 1;
            if below + 1 < self.0.len() && self.0[below + 1].is_above(&self.0[below]) {
                below += 1;
            }
            if below >= self.0.len() || !self.0[below].is_above(&entry) {
                break;
            }
            self.0[at] = self.0[below];
            on_move(self.0[at].number, at as u32);
            at = below;
        }
        self.0[at] = entry;
        on_move(entry.number, at as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Op {
        Add(u8),
        Remove(usize),
        Update(usize, u8),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            3 => any::<u8>().prop_map(Op::Add),
            2 => any::<usize>().prop_map(Op::Remove),
            2 => (any::<usize>(), any::<u8>()).prop_map(|(index, rank)| Op::Update(index, rank)),
        ]
    }

    proptest! {
        #[test]
        fn the_highest_is_first_and_places_are_known(ops in prop::collection::vec(op(), 0..200)) {
            let mut ranked = RankedHeap::default();
            let mut places = vec![u32::MAX; ops.len()];
            let mut model: Vec<(u32, u8)> = Vec::new();
            for (number, op) in ops.into_iter().enumerate() {
                let on_move = |number: u32, place: u32| places[number as usize] = place;
                match op {
                    Op::Add(rank) => {
                        ranked.add(f64::from(rank), number as u32, on_move);
                        model.push((number as u32, rank));
                    }
                    Op::Remove(index) if !model.is_empty() => {
                        let (number, _) = model.swap_remove(index % model.len());
                        let place = places[number as usize];
                        ranked.remove(place, |number, place| places[number as usize] = place);
                    }
                    Op::Update(index, rank) if !model.is_empty() => {
                        let at = index % model.len();
                        model[at].1 = rank;
                        let place = places[model[at].0 as usize];
                        let on_move = |number: u32, place: u32| places[number as usize] = place;
                        ranked.update(place, f64::from(rank), on_move);
                    }
                    _ => {}
                }
                let best = model.iter().map(|&(number, rank)| (rank, std::cmp::Reverse(number))).max();
                let first = ranked.first().map(|it| (it.rank as u8, std::cmp::Reverse(it.number)));
                prop_assert_eq!(first, best);
                for &(number, _) in &model {
                    prop_assert_eq!(ranked.number_at(places[number as usize]), Some(number));
                }
                prop_assert_eq!(ranked.len(), model.len());
            }
        }
    }
}
