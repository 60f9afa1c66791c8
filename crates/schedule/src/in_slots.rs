use std::iter::Peekable;

use crate::Fetch;

/// A sequence in continuous time, one fetch per slot: slot t = 1, 2, 3, … takes the first pending
/// fetch if its time is at most t. Fetches that are too close together are delayed, in
/// order.
#[derive(Clone, Debug)]
pub struct InSlots<I: Iterator<Item = Fetch>> {
    fetches: Peekable<I>,
    slot: u64,
}

impl<I: Iterator<Item = Fetch>> InSlots<I> {
    /// Creates a slotted sequence from fetches in order of time.
    pub fn new(fetches: I) -> Self {
        Self { fetches: fetches.peekable(), slot: 0 }
    }
}

impl<I: Iterator<Item = Fetch>> Iterator for InSlots<I> {
    type Item = Option<usize>;

    fn next(&mut self) -> Option<Option<usize>> {
        self.slot += 1;
        let now = self.slot as f64;
        Some(self.fetches.next_if(|fetch| fetch.time <= now).map(|fetch| fetch.source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FixedOrder, Rates};

    #[test]
    fn fetches_wait_for_a_free_slot() {
        let fetches =
            [(0.0, 3), (0.1, 1), (1.0, 2), (4.2, 0)].map(|(time, source)| Fetch { time, source });
        let slots: Vec<Option<usize>> = InSlots::new(fetches.into_iter()).take(6).collect();
        assert_eq!(slots, [Some(3), Some(1), Some(2), None, Some(0), None]);
    }

    // Cho & Garcia-Molina 2003, Algorithm 4.1: equal sources, the same order again and again.
    #[test]
    fn equal_sources_take_turns() {
        let rates = [0.125; 8];
        let order = InSlots::new(FixedOrder::new(Rates::new(&rates).unwrap()));
        let slots: Vec<Option<usize>> = order.take(80).collect();
        let mut first: Vec<usize> = slots[..8].iter().copied().flatten().collect();
        assert!(slots.chunks(8).all(|round| round == &slots[..8]));
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
