use std::num::NonZeroUsize;

use rand::Rng;
use rand::seq::SliceRandom;

use crate::{EarliestDeadline, Rates};

/// Random order (Cho & Garcia-Molina 2003, §4.2): rounds of slots, each in a random permutation.
///
/// A round contains the fetches that [`EarliestDeadline`] makes in its slots. With n equal sources
/// and rounds of n slots, each source occurs once: Algorithm 4.2 of Cho. For other rates, no source
/// is a whole fetch ahead or behind at the end of a round.
#[derive(Clone, Debug)]
pub struct RandomOrder<R> {
    rounds: EarliestDeadline,
    round: Vec<Option<usize>>,
    next: usize,
    random: R,
}

impl<R: Rng> RandomOrder<R> {
    /// Creates a sequence with the given number of slots per round.
    pub fn new(rates: Rates<'_>, round: NonZeroUsize, random: R) -> Self {
        let rounds = EarliestDeadline::new(rates);
        Self { rounds, round: vec![None; round.get()], next: round.get(), random }
    }
}

impl<R: Rng> Iterator for RandomOrder<R> {
    type Item = Option<usize>;

    fn next(&mut self) -> Option<Option<usize>> {
        if self.next == self.round.len() {
            for (slot, decision) in self.round.iter_mut().zip(&mut self.rounds) {
                *slot = decision;
            }
            self.round.shuffle(&mut self.random);
            self.next = 0;
        }
        let decision = self.round[self.next];
        self.next += 1;
        Some(decision)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    // Cho & Garcia-Molina 2003, Algorithm 4.2.
    #[test]
    fn every_round_is_a_permutation_and_they_differ() {
        let rates = [0.1; 10];
        let round = NonZeroUsize::new(10).unwrap();
        let order = RandomOrder::new(Rates::new(&rates).unwrap(), round, Pcg64::seed_from_u64(1));
        let slots: Vec<usize> = order.take(1000).flatten().collect();
        let mut distinct = std::collections::BTreeSet::new();
        for round in slots.chunks(10) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            distinct.insert(round.to_vec());
        }
        assert!(distinct.len() > 95);
    }

    #[test]
    fn idle_slots_are_shuffled_too() {
        let rates = [0.25];
        let round = NonZeroUsize::new(4).unwrap();
        let order = RandomOrder::new(Rates::new(&rates).unwrap(), round, Pcg64::seed_from_u64(2));
        let slots: Vec<Option<usize>> = order.take(4000).collect();
        let mut places = [0; 4];
        for round in slots.chunks(4) {
            let place = round.iter().position(|slot| slot.is_some()).unwrap();
            assert_eq!(round.iter().flatten().count(), 1);
            places[place] += 1;
        }
        // Each place has 250 of 1000 rounds, with a standard deviation of 13.7.
        assert!(places.iter().all(|&count| (180..320).contains(&count)), "{places:?}");
    }
}
