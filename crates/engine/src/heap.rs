//! What is due when.

use serde::{Deserialize, Serialize};

/// Days and numbers, the earliest day first, equal days by number.
///
/// A heap with eight children to a node: few levels, each within two lines of the cache. Unlike a
/// queue in buckets it never has to move many entries at once, so that no step is long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Heap(Vec<Entry>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    day: f64,
    number: u32,
}

impl Entry {
    fn is_before(&self, other: &Self) -> bool {
        self.day < other.day || (self.day == other.day && self.number < other.number)
    }
}

const CHILDREN: usize = 8;

impl Heap {
    /// The first day; infinite if there is none.
    pub(crate) fn first(&self) -> f64 {
        self.0.first().map_or(f64::INFINITY, |entry| entry.day)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first day, and whose it is.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        self.0.first().map(|entry| (entry.day, entry.number))
    }

    /// An infinite day is never, and so is one that is not a number.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        if self.0.len() == self.0.capacity() {
            // Doubling would cost more memory than the entries are worth.
            self.0.reserve_exact(self.0.len() / 8 + 64);
        }
        self.0.push(Entry { day, number });
        self.rise(self.0.len() - 1);
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, u32)> {
        let first = *self.0.first()?;
        let last = self.0.pop()?;
        if !self.0.is_empty() {
            // The hole sinks to the bottom, where the last entry most likely belongs.
            let hole = self.sink();
            self.0[hole] = last;
            self.rise(hole);
        }
        Some((first.day, first.number))
    }

    pub(crate) fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// All numbers in it, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|entry| entry.number)
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.0[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !entry.is_before(&self.0[parent]) {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = entry;
    }

    fn sink(&mut self) -> usize {
        let mut hole = 0;
        loop {
            let start = CHILDREN * hole + 1;
            let end = (start + CHILDREN).min(self.0.len());
            let Some(children) = self.0.get(start..end).filter(|some| !some.is_empty()) else {
                return hole;
            };
            let mut best = 0;
            for (at, child) in children.iter().enumerate().skip(1) {
                if child.is_before(&children[best]) {
                    best = at;
                }
            }
            self.0[hole] = children[best];
            hole = start + best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_come_out_in_order(ops in prop::collection::vec((0..40_u32, any::<bool>()), 0..400)) {
            let mut heap = Heap::default();
            let mut sorted = std::collections::BTreeMap::new();
            for (number, (day, take)) in ops.into_iter().enumerate() {
                if take {
                    let first = sorted.pop_first().map(|((day, number), ())| (f64::from(day), number));
                    prop_assert_eq!(heap.pop(), first);
                } else {
                    heap.push(f64::from(day), number as u32);
                    sorted.insert((day, number as u32), ());
                }
                prop_assert_eq!(heap.len(), sorted.len());
            }
        }
    }

    #[test]
    fn never_is_not_kept() {
        let mut heap = Heap::default();
        heap.push(f64::INFINITY, 1);
        heap.push(f64::NAN, 2);
        assert_eq!((heap.len(), heap.first(), heap.pop_due(1e9)), (0, f64::INFINITY, None));
    }
}
