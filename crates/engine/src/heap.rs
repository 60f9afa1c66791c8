//! What is due when.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::chunks::Chunks;

/// Days and numbers, the earliest day first, equal days by number.
///
/// A heap with eight children to a node, which lie side by side in two lines of the cache: few levels,
/// and one wait for memory at each. The first entry is apart from it, at hand.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<Entry>")]
pub(crate) struct Heap {
    first: Entry,
    /// The children of entry `i`, counted over all groups, are group `i + 1`; the first group has no
    /// parent. Where there is no entry, there is one that never comes.
    groups: Chunks<Group, 256>,
    /// How many there are in groups.
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Group([Entry; CHILDREN]);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) day: f64,
    pub(crate) number: u32,
}

const CHILDREN: usize = 8;
const NEVER: Entry = Entry { day: f64::INFINITY, number: u32::MAX };

impl Entry {
    // Without branches, which nobody could foretell.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (self.day < other.day) | ((self.day == other.day) & (self.number < other.number))
    }
}

impl Group {
    /// The place of the first entry, and the entry.
    #[inline]
    fn first(&self) -> (usize, Entry) {
        let first = |(a, b): (usize, usize)| if self.0[b].is_before(&self.0[a]) { b } else { a };
        let pairs = (first((0, 1)), first((2, 3)), first((4, 5)), first((6, 7)));
        let place = first((first((pairs.0, pairs.1)), first((pairs.2, pairs.3))));
        (place, self.0[place])
    }
}

impl Default for Heap {
    fn default() -> Self {
        Self { first: NEVER, groups: Chunks::default(), len: 0 }
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
        let mut entries = serializer.serialize_seq(Some(self.len()))?;
        self.entries().try_for_each(|entry| entries.serialize_element(entry))?;
        entries.end()
    }
}

impl Heap {
    /// All of them, in no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let others = self.groups.iter().flat_map(|group| &group.0).take(self.len);
        std::iter::once(&self.first).filter(|it| it.day < f64::INFINITY).chain(others)
    }

    /// The first day, and whose it is.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        (!self.is_empty()).then_some((self.first.day, self.first.number))
    }

    /// The first day; infinite if there is none.
    pub(crate) fn first(&self) -> f64 {
        self.first.day
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.day == f64::INFINITY
    }

    /// An infinite day is never, and so is one that is not a number.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        let mut entry = Entry { day, number };
        if entry.is_before(&self.first) {
            std::mem::swap(&mut entry, &mut self.first);
            if entry.day == f64::INFINITY {
                return;
            }
        }
        if self.len == CHILDREN * self.groups.len() {
            self.groups.push(Group([NEVER; CHILDREN]));
        }
        self.len += 1;
        self.rise(self.len - 1, entry);
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, u32)> {
        let first = self.peek()?;
        self.first = NEVER;
        let Some(group) = self.groups.get(0).filter(|_| self.len > 0) else { return Some(first) };
        let mut hole;
        (hole, self.first) = group.first();
        // The hole sinks to the bottom, where the last entry most likely belongs.
        while let Some(children) = self.groups.get(hole + 1) {
            let (place, entry) = children.first();
            if entry.day == f64::INFINITY {
                break;
            }
            self.set(hole, entry);
            hole = CHILDREN * (hole + 1) + place;
        }
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, NEVER);
        if hole < self.len {
            self.rise(hole, last);
        }
        Some(first)
    }

    pub(crate) fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len + usize::from(!self.is_empty())
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
