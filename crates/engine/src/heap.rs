//! What is due when.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::chunks::Chunks;

/// Days and numbers, the earliest day first, equal days by number.
///
/// A heap with eight children to a node, which lie side by side in two lines of the cache: few levels,
/// and one wait for memory at each. Unlike a queue in buckets it never has to move many entries at
/// once, so that no step is long.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Entry>")]
pub(crate) struct Heap {
    /// The children of entry `i`, counted over all groups, are group `i + 1`; the first group has no
    /// parent. Where there is no entry, there is one that never comes.
    groups: Chunks<Group, 256>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Group([Entry; CHILDREN]);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    day: f64,
    number: u32,
}

const CHILDREN: usize = 8;
const NEVER: Entry = Entry { day: f64::INFINITY, number: u32::MAX };

impl Entry {
    fn is_before(&self, other: &Self) -> bool {
        self.day < other.day || (self.day == other.day && self.number < other.number)
    }
}

impl Group {
    /// The place of the first entry.
    fn first(&self) -> usize {
        let mut best = 0;
        for at in 1..CHILDREN {
            if self.0[at].is_before(&self.0[best]) {
                best = at;
            }
        }
        best
    }
}

impl From<Vec<Entry>> for Heap {
    fn from(entries: Vec<Entry>) -> Self {
        let mut heap = Self::default();
        // In the order in which they were, they are a heap already; whatever they are, they are one
        // now.
        for entry in entries {
            heap.push(entry.day, entry.number);
        }
        heap
    }
}

impl Serialize for Heap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_seq(Some(self.len))?;
        self.entries().try_for_each(|entry| entries.serialize_element(entry))?;
        entries.end()
    }
}

impl Heap {
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.groups.iter().flat_map(|group| &group.0).take(self.len)
    }

    /// The first day, and whose it is.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        let group = self.groups.get(0).filter(|_| self.len > 0)?;
        let Entry { day, number } = group.0[group.first()];
        Some((day, number))
    }

    /// The first day; infinite if there is none.
    pub(crate) fn first(&self) -> f64 {
        self.peek().map_or(f64::INFINITY, |(day, _)| day)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An infinite day is never, and so is one that is not a number.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        if self.len == CHILDREN * self.groups.len() {
            self.groups.push(Group([NEVER; CHILDREN]));
        }
        self.len += 1;
        self.rise(self.len - 1, Entry { day, number });
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, u32)> {
        let group = self.groups.get(0).filter(|_| self.len > 0)?;
        let mut hole = group.first();
        let first = group.0[hole];
        // The hole sinks to the bottom, where the last entry most likely belongs.
        while let Some(children) = self.groups.get(hole + 1) {
            let best = children.first();
            if children.0[best].day == f64::INFINITY {
                break;
            }
            self.set(hole, children.0[best]);
            hole = CHILDREN * (hole + 1) + best;
        }
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, NEVER);
        if hole < self.len {
            self.rise(hole, last);
        }
        Some((first.day, first.number))
    }

    pub(crate) fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All numbers in it, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.entries().map(|entry| entry.number)
    }

    fn get(&self, at: usize) -> Entry {
        self.groups[at / CHILDREN].0[at % CHILDREN]
    }

    fn set(&mut self, at: usize, entry: Entry) {
        self.groups[at / CHILDREN].0[at % CHILDREN] = entry;
    }

    /// Puts an entry at a place, or above it where it belongs.
    fn rise(&mut self, mut at: usize, entry: Entry) {
        while at >= CHILDREN {
            let parent = at / CHILDREN - 1;
            let above = self.get(parent);
            if !entry.is_before(&above) {
                break;
            }
            self.set(at, above);
            at = parent;
        }
        self.set(at, entry);
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
